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
