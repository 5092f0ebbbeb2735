import Foundation

/// The character level of ``XMLScanner``: a position in bytes that are valid UTF-8.
struct XMLBytes {
  let source: [UInt8]
  private(set) var position = 0

  init(_ data: Data) { source = [UInt8](data) }

  func failure(_ code: PropertyListError.Code, _ message: String) -> PropertyListError {
    PropertyListError(code, offset: position, message)
  }

  var peek: UInt8? { position < source.count ? source[position] : nil }

  private func starts(with word: String.UTF8View) -> Bool {
    source.dropFirst(position).starts(with: word)
  }

  /// Skips `word` if it comes next.
  mutating func skip(_ word: String) -> Bool {
    guard starts(with: word.utf8) else { return false }
    position += word.utf8.count
    return true
  }

  @discardableResult
  mutating func skipSpace() -> Bool {
    let start = position
    while let byte = peek, Self.isSpace(byte) { position += 1 }
    return position > start
  }

  /// The text before `end`, unchanged except for line ends. Skips `end`.
  mutating func through(_ end: String) throws(PropertyListError) -> String {
    var buffer: [UInt8] = []
    while position < source.count {
      if skip(end) { return String(decoding: buffer, as: UTF8.self) }
      appendByte(to: &buffer)
    }
    throw failure(.truncated, "\(end) is missing")
  }

  mutating func name() throws(PropertyListError) -> String {
    let start = position
    while let byte = peek, Self.isNameByte(byte) { position += 1 }
    guard position > start else { throw failure(.malformed, "a name is missing") }
    return String(decoding: source[start..<position], as: UTF8.self)
  }

  mutating func attributeValue() throws(PropertyListError) -> String {
    guard let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      throw failure(.malformed, "an attribute value is not quoted")
    }
    position += 1
    let value = try text(until: quote, inAttribute: true)
    guard peek == quote else { throw failure(.truncated, "an attribute value is not closed") }
    position += 1
    return value
  }

  /// Text with its references replaced, up to `end` or the end of the data.
  mutating func text(until end: UInt8, inAttribute: Bool = false) throws(PropertyListError) -> String {
    var buffer: [UInt8] = []
    while let byte = peek, byte != end {
      switch byte {
      case UInt8(ascii: "&"):
        buffer.append(contentsOf: try reference())
      case UInt8(ascii: "<"):
        throw failure(.malformed, "< inside an attribute value")
      case 0x09, 0x0A, 0x0D:
        appendByte(to: &buffer)
        // Line ends in attribute values become spaces: XML 1.0, section 3.3.3.
        if inAttribute { buffer[buffer.endIndex - 1] = 0x20 }
      case ..<0x20:
        throw failure(.malformed, "a control character")
      default:
        buffer.append(byte)
        position += 1
      }
    }
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Copies one byte. A carriage return, alone or before a line feed, becomes a line feed.
  private mutating func appendByte(to buffer: inout [UInt8]) {
    guard let byte = peek else { return }
    position += 1
    if byte == 0x0D {
      if peek == 0x0A { position += 1 }
      buffer.append(0x0A)
    } else {
      buffer.append(byte)
    }
  }

  private mutating func reference() throws(PropertyListError) -> String.UTF8View {
    let start = position
    guard let end = source.dropFirst(position).prefix(16).firstIndex(of: UInt8(ascii: ";")) else {
      throw failure(.malformed, "& begins no reference")
    }
    let name = String(decoding: source[(start + 1)..<end], as: UTF8.self)
    position = end + 1
    switch name {
    case "lt": return "<".utf8
    case "gt": return ">".utf8
    case "amp": return "&".utf8
    case "quot": return "\"".utf8
    case "apos": return "'".utf8
    default: break
    }
    let number =
      name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
    guard let number, number >= 0x20 || [0x9, 0xA, 0xD].contains(number), let scalar = Unicode.Scalar(number) else {
      throw failure(.malformed, "the reference &\(name); is unknown")
    }
    return String(Character(scalar)).utf8
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  /// Whether a byte may be in a name. Every byte of a non-ASCII character may, which is laxer than XML and harmless
  /// here.
  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
    case UInt8(ascii: ":"), 0x80...: true
    default: false
    }
  }
}
