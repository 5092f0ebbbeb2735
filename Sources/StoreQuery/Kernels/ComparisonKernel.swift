import StoreSchema

/// The operators of a comparison over known values. The result is always true or false.
///
/// Null equals only null. The orderings and the string operators give false with null on either side (also `nil <= nil`
/// [K]). `!=` is the negation of `==`, so it matches null. Operands of types that cannot be compared give false, except
/// for `!=`.
public enum ComparisonKernel {
  /// Evaluates an operator over two values. IN means here that the left text occurs in the right one. BETWEEN and
  /// custom selectors give false, and so does MATCHES with an invalid pattern; ``RegularExpression`` checks a pattern
  /// beforehand.
  public static func evaluate(
    _ op: Predicate.Operator, _ options: Predicate.Options = [], left: Value, right: Value
  ) -> Bool {
    switch op {
    case .equalTo: ValueComparison.areEqual(left, right, options: options)
    case .notEqualTo: !ValueComparison.areEqual(left, right, options: options)
    case .lessThan: ValueComparison.compare(left, right, options: options) == .ascending
    case .greaterThan: ValueComparison.compare(left, right, options: options) == .descending
    case .lessThanOrEqualTo: isOneOf(left, right, options, .ascending)
    case .greaterThanOrEqualTo: isOneOf(left, right, options, .descending)
    case .in: evaluate(.contains, options, left: right, right: left)
    default: evaluateText(op, options, left, right)
    }
  }

  /// Evaluates IN and BETWEEN over a collection on the right: whether an element equals the value, or whether the value
  /// is between exactly two bounds, both included. Other operators give false.
  public static func evaluate(
    _ op: Predicate.Operator, _ options: Predicate.Options = [], left: Value, right: [Value]
  ) -> Bool {
    switch op {
    case .in: right.contains { ValueComparison.areEqual(left, $0, options: options) }
    case .between:
      right.count == 2 && isOneOf(right[0], left, options, .ascending) && isOneOf(left, right[1], options, .ascending)
    default: false
    }
  }

  /// Evaluates CONTAINS over a collection on the left: whether an element equals the value. Other operators give false.
  public static func evaluate(
    _ op: Predicate.Operator, _ options: Predicate.Options = [], left: [Value], right: Value
  ) -> Bool {
    op == .contains && left.contains { ValueComparison.areEqual($0, right, options: options) }
  }

  private static func isOneOf(
    _ a: Value, _ b: Value, _ options: Predicate.Options, _ strict: Ordering
  ) -> Bool {
    let order = ValueComparison.compare(a, b, options: options)
    return order == .same || order == strict
  }

  private static func evaluateText(
    _ op: Predicate.Operator, _ options: Predicate.Options, _ left: Value, _ right: Value
  ) -> Bool {
    guard let text = left.text, let pattern = right.text else { return false }
    return switch op {
    case .contains: StringComparison.contains(text, pattern, options: options)
    case .beginsWith: StringComparison.beginsWith(text, pattern, options: options)
    case .endsWith: StringComparison.endsWith(text, pattern, options: options)
    case .like: StringComparison.like(text, pattern, options: options)
    case .matches: (try? StringComparison.matches(text, pattern, options: options)) ?? false
    default: false
    }
  }
}
