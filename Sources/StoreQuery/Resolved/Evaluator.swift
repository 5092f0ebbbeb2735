import StoreSchema

/// Evaluates resolved predicates and sorts over objects of any kind: the definition of what they mean.
public struct Evaluator {
  /// The value at a path of the object at hand; null where a relationship on the way leads nowhere.
  public typealias Lookup = (SlotPath) -> Value

  /// Whether the object behind `value` meets the predicate.
  public static func evaluate(_ predicate: ResolvedPredicate, _ value: Lookup) -> Bool {
    switch predicate {
    case .constant(let constant): constant
    case .and(let parts): parts.allSatisfy { evaluate($0, value) }
    case .or(let parts): parts.contains { evaluate($0, value) }
    case .not(let inner): !evaluate(inner, value)
    case .comparison(let left, let op, let right, let options): compare(left, op, right, options, value)
    }
  }

  private static func compare(
    _ left: ResolvedExpression, _ op: Predicate.Operator, _ right: ResolvedExpression, _ options: Predicate.Options,
    _ value: Lookup
  ) -> Bool {
    switch (left, right) {
    case (.list(let list), _):
      ComparisonKernel.evaluate(op, options, left: list, right: single(right, value))
    case (_, .list(let list)):
      ComparisonKernel.evaluate(op, options, left: single(left, value), right: list)
    default: ComparisonKernel.evaluate(op, options, left: single(left, value), right: single(right, value))
    }
  }

  private static func single(_ expression: ResolvedExpression, _ value: Lookup) -> Value {
    switch expression {
    case .constant(let constant): constant
    case .path(let path): value(path)
    case .list: .null
    }
  }

  /// Whether the object behind `a` comes before the one behind `b`; nil where the sorts do not tell.
  public static func precedes(_ sorts: [ResolvedSort], _ a: Lookup, _ b: Lookup) -> Bool? {
    for sort in sorts {
      let order = SortComparison.compare(a(sort.path), b(sort.path), textOrder(sort.comparison))
      if order == .same { continue }
      return (order == .ascending) == sort.isAscending
    }
    return nil
  }

  private static func textOrder(_ comparison: ResolvedSort.Comparison) -> SortComparison.TextOrder {
    switch comparison {
    case .literal: .literal
    case .caseInsensitive: .caseInsensitive
    case .localized: .localized
    case .localizedCaseInsensitive: .localizedCaseInsensitive
    case .localizedStandard: .localizedStandard
    }
  }
}
