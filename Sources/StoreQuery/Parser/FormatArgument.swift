import StoreSchema

/// One argument of a format string, in the order of its substitutions.
///
/// `%@` accepts every kind. `%K` accepts ``keyPath(_:)`` or a string value. The printf types accept a value of their
/// kind.
public indirect enum FormatArgument: Hashable, Sendable {
  /// A constant; for `%K` a string value is a key path.
  case value(Value)
  /// A collection: a constant aggregate of its elements.
  case array([FormatArgument])
  /// A key path, its keys joined by dots, taken literally: reserved words need no `#`.
  case keyPath(String)
  /// An expression, inserted as if written there in parentheses.
  case expression(Expression)
  /// A predicate, inserted as if written there in parentheses.
  case predicate(Predicate)
}

extension FormatArgument {
  /// The substitutions of a format, in their order: the text after each percent sign, such as `@`, `K` or `lld`.
  public static func substitutions(in format: String) throws(FormatError) -> [String] {
    let bytes = Array(format.utf8)
    return try Lexer.tokens(of: format).compactMap { token in
      guard case .substitution = token.kind else { return nil }
      return String(decoding: bytes[token.range.dropFirst()], as: UTF8.self)
    }
  }
}
