import Foundation

/// The checksum CRC-64/XZ. It is computed eight bytes at a time, in three lanes at once where there are many.
public struct CRC64 {
  private var state: UInt64 = .max
  /// The checksum of the bytes that were added.
  public var value: UInt64 { ~state }

  /// The checksum of no bytes.
  public init() {}

  /// Adds bytes behind those that were added before.
  public mutating func add(_ data: Data) { data.withUnsafeBytes { add($0) } }

  /// Adds bytes behind those that were added before.
  public mutating func add(_ bytes: UnsafeRawBufferPointer) {
    Self.tables.withUnsafeBufferPointer { tables in
      guard let table = tables.baseAddress else { return }
      var (state, index) = (state, 0)
      while bytes.count - index >= 3 * Self.lane {
        let lanes = UnsafeRawBufferPointer(rebasing: bytes[index..<index + 3 * Self.lane])
        state = Self.add(lanes, state, table)
        index += 3 * Self.lane
      }
      while index + 8 <= bytes.count {
        state = Self.step(state, bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self), table)
        index += 8
      }
      while index < bytes.count {
        state = table[Int(truncatingIfNeeded: (state ^ UInt64(bytes[index])) & 0xFF)] ^ state &>> 8
        index += 1
      }
      self.state = state
    }
  }

  /// Bytes of a lane. A step waits only for the step before it in the same lane.
  private static let lane = 8192

  private static func add(
    _ lanes: UnsafeRawBufferPointer, _ state: UInt64, _ table: UnsafePointer<UInt64>
  ) -> UInt64 {
    var (first, second, third) = (state, UInt64(0), UInt64(0))
    var index = 0
    while index < lane {
      first = step(first, lanes.loadUnaligned(fromByteOffset: index, as: UInt64.self), table)
      second = step(second, lanes.loadUnaligned(fromByteOffset: index &+ lane, as: UInt64.self), table)
      third = step(third, lanes.loadUnaligned(fromByteOffset: index &+ 2 &* lane, as: UInt64.self), table)
      index &+= 8
    }
    return product(first, laneShifts.two) ^ product(second, laneShifts.one) ^ third
  }

  @inline(__always)
  private static func step(_ state: UInt64, _ bytes: UInt64, _ table: UnsafePointer<UInt64>) -> UInt64 {
    let word = UInt64(littleEndian: bytes) ^ state
    @inline(__always) func entry(_ part: Int) -> UInt64 {
      table[(7 &- part) &<< 8 | Int(truncatingIfNeeded: word &>> UInt64(part &<< 3) & 0xFF)]
    }
    return entry(0) ^ entry(1) ^ entry(2) ^ entry(3) ^ entry(4) ^ entry(5) ^ entry(6) ^ entry(7)
  }

  // MARK: Sums of parts

  /// Updates the sum for bytes that were added before and have changed. `bytes` is the exclusive or of the old and the
  /// new bytes; `count` bytes follow them.
  ///
  /// The sum is linear: the sum of `bytes`, moved over the bytes behind them, is the change of the whole sum.
  public mutating func change(by bytes: Data, before count: Int64) {
    var change = CRC64()
    change.state = 0
    change.add(bytes)
    state ^= Self.product(change.state, Self.shift(over: count))
  }

  /// The factor that moves a sum over `count` zero bytes: x to the power of eight times the count.
  private static func shift(over count: Int64) -> UInt64 {
    var (result, power, rest) = (UInt64(1) << 63, UInt64(1) << 55, count)
    while rest > 0 {
      if rest & 1 == 1 { result = product(result, power) }
      power = product(power, power)
      rest >>= 1
    }
    return result
  }

  private static let laneShifts = (one: shift(over: Int64(lane)), two: shift(over: Int64(2 * lane)))

  /// The product of two polynomials, whose lowest powers are the highest bits, modulo the generator.
  private static func product(_ a: UInt64, _ b: UInt64) -> UInt64 {
    var (result, multiple, rest) = (UInt64(0), b, a)
    while rest != 0 {
      if rest >> 63 == 1 { result ^= multiple }
      multiple = multiple & 1 == 1 ? multiple >> 1 ^ generator : multiple >> 1
      rest <<= 1
    }
    return result
  }

  private static let generator: UInt64 = 0xC96C_5795_D787_0F42

  /// Eight tables: the effect of a byte on the sum, with none to seven bytes behind it.
  private static let tables: [UInt64] = {
    var tables = [UInt64](repeating: 0, count: 8 << 8)
    for byte in 0..<256 {
      var value = UInt64(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value &>> 1 ^ generator : value &>> 1 }
      tables[byte] = value
    }
    for table in 1..<8 {
      for byte in 0..<256 {
        let former = tables[(table - 1) << 8 | byte]
        tables[table << 8 | byte] = tables[Int(former & 0xFF)] ^ former &>> 8
      }
    }
    return tables
  }()
}
