import Foundation

/// Reused memory for bytes, such as keys of a map. Used by one caller at a time.
final class KeyBuffer {
  private var bytes: UnsafeMutableRawPointer
  private var capacity = 512
  private(set) var count = 0

  init() { bytes = .allocate(byteCount: capacity, alignment: 8) }
  deinit { bytes.deallocate() }

  /// Valid until the buffer changes or ends. A caller that holds the view keeps the buffer alive with
  /// `withExtendedLifetime`.
  var view: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }
  var data: Data { Data(view) }

  func clear() { count = 0 }

  /// Makes a number and an object's key the only content.
  @inline(__always)
  func set(_ number: UInt16, _ object: Int64) {
    bytes.storeBytes(of: number.bigEndian, as: UInt16.self)
    bytes.storeBytes(of: object.bigEndian, toByteOffset: 2, as: Int64.self)
    count = 10
  }

  func append(_ value: UInt8) { append(integer: value) }
  func append(_ value: UInt16) { append(integer: value.bigEndian) }
  func append(_ value: UInt64) { append(integer: value.bigEndian) }
  /// Appends the key of an object. Keys are positive, so their order is that of their bytes.
  func append(_ key: Int64) { append(integer: key.bigEndian) }

  func append(_ source: UnsafeRawBufferPointer) {
    grow(by: source.count)
    if let start = source.baseAddress { (bytes + count).copyMemory(from: start, byteCount: source.count) }
    count += source.count
  }

  /// Appends an integer of a value, in the machine's own byte order.
  @inline(__always)
  func append<T: FixedWidthInteger>(integer: T) {
    grow(by: MemoryLayout<T>.size)
    (bytes + count).storeBytes(of: integer, as: T.self)
    count += MemoryLayout<T>.size
  }

  /// Makes the content the least bytes greater than everything that begins with it. False where there are none.
  func increment() -> Bool {
    while count > 0 {
      let last = bytes.load(fromByteOffset: count - 1, as: UInt8.self)
      if last < .max {
        bytes.storeBytes(of: last + 1, toByteOffset: count - 1, as: UInt8.self)
        return true
      }
      count -= 1
    }
    return false
  }

  func truncate(to count: Int) {
    precondition(count <= self.count, "nothing to take away")
    self.count = count
  }

  @inline(__always)
  private func grow(by more: Int) { if count + more > capacity { enlarge(to: count + more) } }

  @inline(never)
  private func enlarge(to needed: Int) {
    let size = max(needed, capacity * 2)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
    larger.copyMemory(from: bytes, byteCount: count)
    bytes.deallocate()
    (bytes, capacity) = (larger, size)
  }
}

extension UnsafeRawBufferPointer {
  /// The object key at `offset`, nil where there are not enough bytes.
  func objectKey(at offset: Int) -> Int64? {
    offset >= 0 && offset + 8 <= count ? Int64(bigEndian: loadUnaligned(fromByteOffset: offset, as: Int64.self)) : nil
  }

  /// An integer of a value. The caller knows that the bytes are there.
  func integer<T: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: T.Type) -> T {
    loadUnaligned(fromByteOffset: offset, as: type)
  }

  /// Compares byte by byte; a shorter buffer comes first.
  func precedes(_ other: UnsafeRawBufferPointer) -> Bool {
    let common = Swift.min(count, other.count)
    if common > 0, let mine = baseAddress, let theirs = other.baseAddress {
      let order = memcmp(mine, theirs, common)
      if order != 0 { return order < 0 }
    }
    return count < other.count
  }

  func hasPrefix(_ prefix: UnsafeRawBufferPointer) -> Bool {
    guard count >= prefix.count else { return false }
    guard let mine = baseAddress, let theirs = prefix.baseAddress else { return true }
    return memcmp(mine, theirs, prefix.count) == 0
  }
}
