extension Lexer {
  // MARK: Strings

  /// A string in either kind of quotation mark, with C escapes. `%` has no meaning inside.
  mutating func quoted() throws(FormatError) -> String {
    let mark = bytes[index]
    let start = index
    var content: [UInt8] = []
    index += 1
    while let byte = peek() {
      index += 1
      if byte == mark { return String(decoding: content, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") { content += try escape().utf8 } else { content.append(byte) }
    }
    let message = "The string that begins at offset \(start) has no closing quotation mark."
    throw failure(expected: "a closing quotation mark", message: message)
  }

  /// The text of an escape after its backslash. An unknown escape gives the character itself.
  private mutating func escape() throws(FormatError) -> String {
    guard let (scalar, length) = scalar() else { throw failure(expected: "an escaped character") }
    if ("0"..."7").contains(scalar) { return try octalEscape() }
    index += length
    switch scalar {
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "a": return "\u{07}"
    case "b": return "\u{08}"
    case "f": return "\u{0C}"
    case "v": return "\u{0B}"
    case "e": return "\u{1B}"
    case "x": return try character(hexadecimal(upTo: 2))
    case "u": return try unicodeEscape()
    case "U": return try character(hexadecimal(exactly: 8))
    default: return String(scalar)
    }
  }

  private mutating func octalEscape() throws(FormatError) -> String {
    var value: UInt32 = 0
    for _ in 0..<3 {
      guard let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(byte) else { break }
      value = value * 8 + UInt32(byte - UInt8(ascii: "0"))
      index += 1
    }
    return try character(value)
  }

  /// `\uXXXX`. Two of them that form a surrogate pair give one character.
  private mutating func unicodeEscape() throws(FormatError) -> String {
    let first = try hexadecimal(exactly: 4)
    guard (0xD800...0xDBFF).contains(first), peek() == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") else {
      return try character(first)
    }
    index += 2
    let second = try hexadecimal(exactly: 4)
    guard (0xDC00...0xDFFF).contains(second) else { return try character(first) }
    return try character(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
  }

  private func character(_ value: UInt32) throws(FormatError) -> String {
    guard let scalar = Unicode.Scalar(value) else {
      throw failure(expected: "a Unicode scalar value", message: "An escape in a string is no Unicode scalar value.")
    }
    return String(Character(scalar))
  }

  private mutating func hexadecimal(upTo count: Int) throws(FormatError) -> UInt32 {
    var value: UInt32 = 0
    var digits = 0
    while digits < count, let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue {
      value = value << 4 | UInt32(digit)
      digits += 1
      index += 1
    }
    guard digits > 0 else { throw failure(expected: "a hexadecimal digit") }
    return value
  }

  private mutating func hexadecimal(exactly count: Int) throws(FormatError) -> UInt32 {
    let start = index
    let value = try hexadecimal(upTo: count)
    guard index - start == count else { throw failure(expected: "\(count) hexadecimal digits") }
    return value
  }

  // MARK: Numbers

  /// The text of a number: digits with fraction and exponent, or `0x`, `0o`, `0b` with digits of that base.
  mutating func number() throws(FormatError) -> Token.Kind {
    let start = index
    if peek() == UInt8(ascii: "0"), let letter = peek(1), "xXoObB".utf8.contains(letter) {
      index += 2
      while let (scalar, length) = scalar(), scalar.isASCII, scalar.properties.isASCIIHexDigit { index += length }
    } else {
      skipDigits()
      if peek() == UInt8(ascii: "."), isDigit(peek(1)) {
        index += 1
        skipDigits()
      }
      skipExponent()
    }
    return .number(String(decoding: bytes[start..<index], as: UTF8.self))
  }

  private mutating func skipDigits() {
    while isDigit(peek()) { index += 1 }
  }

  private mutating func skipExponent() {
    guard peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") else { return }
    let signed = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-")
    guard isDigit(peek(signed ? 2 : 1)) else { return }
    index += signed ? 2 : 1
    skipDigits()
  }

  // MARK: Substitutions

  /// `%@`, `%K` or a printf type with its length letters.
  mutating func substitution() throws(FormatError) -> Token.Substitution {
    index += 1
    while let byte = peek(), "hlqLzjt".utf8.contains(byte) { index += 1 }
    guard let byte = peek() else { throw failure(expected: "a substitution type after '%'") }
    let kind: Token.Substitution
    switch Unicode.Scalar(byte) {
    case "@": kind = .object
    case "K": kind = .keyPath
    case "d", "D", "i", "u", "U", "o", "O", "x", "X", "c", "C": kind = .integer
    case "a", "A", "e", "E", "f", "F", "g", "G": kind = .real
    case "s", "S": kind = .text
    case "p": kind = .pointer
    default: throw failure(expected: "a substitution type such as '@', 'K' or 'd' after '%'")
    }
    index += 1
    return kind
  }
}
