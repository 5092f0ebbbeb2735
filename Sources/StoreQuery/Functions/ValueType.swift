/// The type of an expression's values as far as functions need it: what a store knows about a column before it reads
/// the column.
public enum ValueType: Hashable, Sendable {
  /// Always null.
  case null
  /// An integer or a real number; truth values are integers.
  case number
  /// A real number.
  case real
  /// A date.
  case date
  /// A decimal number.
  case decimal
  /// The result of a function with decimals among its operands: a decimal, or a real number if there is no exact
  /// decimal.
  case decimalOrDouble
  /// A string.
  case text
  /// A URI.
  case uri
  /// A UUID.
  case uuid
  /// Bytes.
  case data
  /// A type that no function accepts.
  case other

  /// Whether functions of numbers accept it.
  public var isNumeric: Bool { self == .number || self == .real || self == .date || hasDecimals }

  /// Whether decimals may be among the values.
  public var hasDecimals: Bool { self == .decimal || self == .decimalOrDouble }
}
