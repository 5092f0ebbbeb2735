import StoreSchema

/// One argument of a format string, in the order of its substitutions.
///
/// `%@` takes every kind. `%K` takes ``keyPath(_:)`` or a string value. The printf types take a value of their kind.
public indirect enum FormatArgument: Hashable, Sendable {
  /// A constant; under `%K` a string value is a key path.
  case value(Value)
  /// A collection: a constant aggregate of its elements.
  case array([FormatArgument])
  /// A key path, its keys joined by dots, taken literally: reserved words need no `#`.
  case keyPath(String)
  /// An expression, inserted as if it stood there in parentheses.
  case expression(Expression)
  /// A predicate, inserted as if it stood there in parentheses.
  case predicate(Predicate)
}

extension FormatArgument {
  /// What the substitutions of a format take, in their order: the text of each behind its percent sign, such as `@`,
  /// `K` or `lld`.
  public static func substitutions(in format: String) throws(FormatError) -> [String] {
    let bytes = Array(format.utf8)
    return try Lexer.tokens(of: format).compactMap { token in
      guard case .substitution = token.kind else { return nil }
      return String(decoding: bytes[token.range.dropFirst()], as: UTF8.self)
    }
  }
}
