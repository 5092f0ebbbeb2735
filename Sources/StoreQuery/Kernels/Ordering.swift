/// The result of a three-way comparison.
public enum Ordering: Int, Hashable, Sendable {
  /// The left operand comes first.
  case ascending = -1
  /// Neither comes before the other.
  case same = 0
  /// The right operand comes first.
  case descending = 1

  /// The ordering with the operands exchanged.
  public var reversed: Ordering { Ordering(rawValue: -rawValue) ?? .same }

  /// The order of two values of a type whose `<` is exact.
  static func of<T: Comparable>(_ a: T, _ b: T) -> Ordering {
    a < b ? .ascending : a == b ? .same : .descending
  }
}
