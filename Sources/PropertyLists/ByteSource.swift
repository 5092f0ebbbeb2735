/// Bytes of a file with access that throws where a pointer would read past them. Valid as long as the bytes are.
struct ByteSource {
  private let bytes: UnsafeRawBufferPointer
  /// The end of the readable part.
  let end: Int

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    end = bytes.count
  }

  func prefix(_ end: Int) -> ByteSource {
    ByteSource(UnsafeRawBufferPointer(rebasing: bytes.prefix(min(max(end, 0), self.end))))
  }

  @inline(__always)
  func slice(at offset: Int, count: Int) throws(PropertyListError) -> UnsafeRawBufferPointer {
    guard offset >= 0, count >= 0, offset <= end, count <= end - offset else {
      throw truncated(offset, count)
    }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  @inline(never)
  private func truncated(_ offset: Int, _ count: Int) -> PropertyListError {
    PropertyListError(
      .truncated, offset: offset, "\(count) bytes are needed, the data ends at \(end)")
  }

  @inline(__always)
  func byte(at offset: Int) throws(PropertyListError) -> UInt8 {
    guard offset >= 0, offset < end else { throw truncated(offset, 1) }
    return bytes[offset]
  }

  /// A big-endian unsigned integer of at most 8 bytes.
  @inline(__always)
  func unsigned(at offset: Int, width: Int) throws(PropertyListError) -> UInt64 {
    guard offset >= 0, offset <= end, width > 0, width <= 8, width <= end - offset else {
      throw truncated(offset, width)
    }
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
