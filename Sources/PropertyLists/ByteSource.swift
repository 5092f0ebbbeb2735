/// The bytes of a file. Reading past their end throws. Valid as long as the bytes are.
struct ByteSource {
  private let bytes: UnsafeRawBufferPointer
  /// The end of the readable part.
  let end: Int
  private let gap: UnsafePointer<ByteGap>

  /// `gap` must stay valid as long as the bytes.
  init(_ bytes: UnsafeRawBufferPointer, _ gap: UnsafePointer<ByteGap>? = nil) {
    self.bytes = bytes
    end = bytes.count
    self.gap = gap ?? ByteGap.none
  }

  func prefix(_ end: Int) -> ByteSource {
    ByteSource(UnsafeRawBufferPointer(rebasing: bytes.prefix(min(max(end, 0), self.end))), gap)
  }

  @inline(__always)
  func slice(at offset: Int, count: Int) throws(PropertyListError) -> UnsafeRawBufferPointer {
    try check(offset, count)
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  /// Throws unless all bytes of the range are in the data and outside the gap.
  @inline(__always)
  func check(_ offset: Int, _ count: Int) throws(PropertyListError) {
    guard offset >= 0, count >= 0, offset <= end, count <= end - offset,
      offset + count <= gap.pointee.start || offset >= gap.pointee.end
    else { throw truncated(offset, count) }
  }

  @inline(never)
  private func truncated(_ offset: Int, _ count: Int) -> PropertyListError {
    let isInside = offset >= 0 && count >= 0 && offset <= end && count <= end - offset
    if isInside { UnsafeMutablePointer(mutating: gap).pointee.wasMissed = true }
    return PropertyListError(
      .truncated, offset: offset, "\(count) bytes are needed, the data ends at \(end)")
  }

  @inline(__always)
  func byte(at offset: Int) throws(PropertyListError) -> UInt8 {
    try check(offset, 1)
    return bytes[offset]
  }

  /// A byte at an offset that the caller has checked.
  @inline(__always)
  func known(at offset: Int) -> UInt8 { bytes[offset] }

  /// Four bytes, big-endian, at an offset that the caller has checked.
  @inline(__always)
  func four(at offset: Int) -> UInt32 {
    UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// A big-endian unsigned integer of at most 8 bytes.
  @inline(__always)
  func unsigned(at offset: Int, width: Int) throws(PropertyListError) -> UInt64 {
    guard width > 0, width <= 8 else { throw truncated(offset, width) }
    try check(offset, width)
    switch width {
    case 1: return UInt64(bytes[offset])
    case 2:
      return UInt64(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    case 4:
      return UInt64(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    case 8: return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    default: return bytes[offset..<offset + width].reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
}

/// A range of the file whose bytes were released.
struct ByteGap {
  var start: Int
  var end: Int
  /// Whether a caller has requested bytes of the gap.
  var wasMissed = false

  /// An empty gap. This memory is never freed.
  nonisolated(unsafe) static let none: UnsafePointer<ByteGap> = {
    let gap = UnsafeMutablePointer<ByteGap>.allocate(capacity: 1)
    gap.initialize(to: ByteGap(start: .max, end: .max))
    return UnsafePointer(gap)
  }()
}

extension UnsafeRawBufferPointer {
  /// Whether no byte is above 0x7F.
  var isASCII: Bool {
    var index = 0
    while index + 8 <= count {
      if loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
        return false
      }
      index += 8
    }
    while index < count {
      if self[index] & 0x80 != 0 { return false }
      index += 1
    }
    return true
  }
}
