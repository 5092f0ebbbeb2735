/// Splits a format string into tokens. It works on UTF-8 bytes; offsets in errors are UTF-8 offsets.
struct Lexer {
  let bytes: [UInt8]
  var index = 0

  init(_ format: String) { bytes = Array(format.utf8) }

  /// All tokens of the format, followed by one of kind `end`.
  static func tokens(of format: String) throws(FormatError) -> [Token] {
    var lexer = Lexer(format)
    var tokens: [Token] = []
    repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private mutating func next() throws(FormatError) -> Token {
    skipWhitespace()
    let start = index
    let kind = try kind()
    return Token(kind: kind, range: start..<index)
  }

  private mutating func kind() throws(FormatError) -> Token.Kind {
    guard let byte = peek() else { return .end }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try quoted())
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case UInt8(ascii: ".") where isDigit(peek(1)): return try number()
    case UInt8(ascii: "#"): return .escaped(try name(after: "#"))
    case UInt8(ascii: "$"): return .variable(try name(after: "$"))
    case UInt8(ascii: "@"): return .operatorKey("@" + (try name(after: "@")))
    case UInt8(ascii: "%") where peek(1) != UInt8(ascii: "%"): return .substitution(try substitution())
    default: return try nameOrSign()
    }
  }

  private mutating func nameOrSign() throws(FormatError) -> Token.Kind {
    if let name = identifier() { return .identifier(name + selectorRest()) }
    guard let sign = sign() else {
      throw failure(expected: "a name, a value or an operator")
    }
    return .sign(sign)
  }

  private mutating func sign() -> Token.Sign? {
    for length in [2, 1] where index + length <= bytes.count {
      let text = String(decoding: bytes[index..<index + length], as: UTF8.self)
      if let sign = Token.Sign(rawValue: text) {
        index += length
        return sign
      }
    }
    return nil
  }

  // MARK: Bytes

  func peek(_ offset: Int = 0) -> UInt8? {
    index + offset < bytes.count ? bytes[index + offset] : nil
  }

  func isDigit(_ byte: UInt8?) -> Bool {
    guard let byte else { return false }
    return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// The Unicode scalar at `index` and its length in bytes; nil at the end.
  func scalar() -> (scalar: Unicode.Scalar, length: Int)? {
    guard let byte = peek() else { return nil }
    guard byte >= 0x80 else { return (Unicode.Scalar(byte), 1) }
    let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
    let text = String(decoding: bytes[index..<min(index + length, bytes.count)], as: UTF8.self)
    return text.unicodeScalars.first.map { ($0, length) }
  }

  private mutating func skipWhitespace() {
    while let (scalar, length) = scalar(), scalar.properties.isWhitespace { index += length }
  }

  func failure(expected: String, message: String? = nil) -> FormatError {
    let found = scalar().map { "'\($0.scalar)'" } ?? "the end"
    return FormatError(position: index, expected: expected, found: found, message: message)
  }
}
