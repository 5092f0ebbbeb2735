import Foundation

/// Bytes of a file with access that throws where an array's subscript would trap.
struct ByteSource {
  let bytes: [UInt8]
  /// The end of the readable part.
  let end: Int

  init(_ data: Data) {
    bytes = [UInt8](data)
    end = bytes.count
  }

  private init(_ bytes: [UInt8], end: Int) {
    self.bytes = bytes
    self.end = end
  }

  func prefix(_ end: Int) -> ByteSource { ByteSource(bytes, end: min(max(end, 0), self.end)) }

  func slice(at offset: Int, count: Int) throws(PropertyListError) -> ArraySlice<UInt8> {
    guard offset >= 0, count >= 0, offset <= end, count <= end - offset else {
      throw PropertyListError(.truncated, offset: offset, "\(count) bytes are needed, the data ends at \(end)")
    }
    return bytes[offset..<offset + count]
  }

  func byte(at offset: Int) throws(PropertyListError) -> UInt8 {
    guard offset >= 0, offset < end else {
      throw PropertyListError(.truncated, offset: offset, "the data ends at \(end)")
    }
    return bytes[offset]
  }

  /// A big-endian unsigned integer of at most 8 bytes.
  func unsigned(at offset: Int, width: Int) throws(PropertyListError) -> UInt64 {
    guard width <= 8 else { throw PropertyListError(.malformed, offset: offset, "an integer of \(width) bytes") }
    return try slice(at: offset, count: width).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
