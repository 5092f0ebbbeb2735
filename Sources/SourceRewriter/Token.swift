/// A token of a Swift source. Spaces and comments are no tokens.
struct Token: Hashable {
  enum Kind: Hashable {
    /// A name or a keyword, in backticks or not.
    case word
    /// A literal number.
    case number
    /// One character of an operator, or a bracket, comma, colon, semicolon or backslash.
    case mark
    /// `@` with the name of an attribute.
    case attribute
    /// `#` with a name: a directive, a macro, a literal such as `#file`.
    case directive
    /// The beginning of a string literal with its quotes, up to the first interpolation or the end.
    case string
    /// The text of a string literal between two interpolations, or behind the last one.
    case stringPart
    /// A regular expression literal.
    case regex
  }

  var kind: Kind
  /// Offsets of bytes in the source.
  var range: Range<Int>
  /// The line of the first byte, from 1.
  var line: Int
  /// Whether no other token begins on the line before it.
  var isFirstOnLine: Bool
  /// Whether space, a line end or a comment is between the token and the one before it.
  var followsSpace: Bool
}
