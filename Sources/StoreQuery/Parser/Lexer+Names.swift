extension Lexer {
  /// Whether the lexer reads the whole `text` as one name.
  static func isName(_ text: String) -> Bool {
    var lexer = Lexer(text)
    return lexer.identifier() != nil && lexer.index == lexer.bytes.count
  }

  /// A name at `index`, or nil if none starts there.
  mutating func identifier() -> String? {
    let start = index
    guard !isDigit(peek()) else { return nil }
    while let (scalar, length) = scalar(), Self.isNameScalar(scalar) { index += length }
    return index > start ? String(decoding: bytes[start..<index], as: UTF8.self) : nil
  }

  /// The rest of a selector such as `add:to:`, from its first colon; empty if no colon follows. `:=` does not count as
  /// a colon.
  mutating func selectorRest() -> String {
    let start = index
    while peek() == UInt8(ascii: ":"), peek(1) != UInt8(ascii: "=") {
      index += 1
      _ = identifier()
    }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  /// A name after a one-byte sign. After `#` or `$#`, a quoted string gives a name with any characters.
  mutating func name(after sign: Unicode.Scalar) throws(FormatError) -> String {
    index += 1
    if sign == "$", peek() == UInt8(ascii: "#") { index += 1 }
    if sign != "@", peek() == UInt8(ascii: "\"") || peek() == UInt8(ascii: "'") { return try quoted() }
    guard let name = identifier() else { throw failure(expected: "a name after '\(sign)'") }
    return name
  }

  /// Letters, digits, `_`, and every scalar outside of ASCII except spaces, punctuation and mathematical signs: a
  /// typographic quotation mark must be an error, not part of a key.
  private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII {
      return scalar == "_" || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
        || ("0"..."9").contains(scalar)
    }
    switch scalar.properties.generalCategory {
    case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .mathSymbol: return false
    case .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation, .finalPunctuation,
      .otherPunctuation:
      return false
    default: return true
    }
  }
}
