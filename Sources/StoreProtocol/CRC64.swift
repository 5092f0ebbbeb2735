import Foundation

/// CRC-64/XZ, eight bytes at a time.
package struct CRC64 {
  private var state: UInt64 = .max

  package init() {}

  package var value: UInt64 { ~state }

  package mutating func add(_ data: Data) { data.withUnsafeBytes { add($0) } }

  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    Self.tables.withUnsafeBufferPointer { table in
      var state = self.state
      var index = 0
      while index + 8 <= bytes.count {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ state
        var next: UInt64 = 0
        for part in 0..<8 {
          next ^= table[(7 - part) << 8 | Int(truncatingIfNeeded: word &>> UInt64(part << 3) & 0xFF)]
        }
        state = next
        index += 8
      }
      while index < bytes.count {
        state = table[Int(truncatingIfNeeded: (state ^ UInt64(bytes[index])) & 0xFF)] ^ state &>> 8
        index += 1
      }
      self.state = state
    }
  }

  /// Eight tables: what a byte does to the sum with none to seven bytes behind it.
  private static let tables: [UInt64] = {
    var tables = [UInt64](repeating: 0, count: 8 << 8)
    for byte in 0..<256 {
      var value = UInt64(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value &>> 1 ^ 0xC96C_5795_D787_0F42 : value &>> 1 }
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
