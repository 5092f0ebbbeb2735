import StoreSchema

/// Sorts objects of any kind: the definition of what sort descriptors mean.
public enum SortEvaluation {
  /// The value at a path of the object at hand; null where a relationship on the way leads nowhere.
  public typealias Lookup = (SlotPath) -> Value

  /// Whether the object behind `a` comes before the one behind `b`; nil where the sorts do not tell.
  public static func precedes(_ sorts: [ResolvedSort], _ a: Lookup, _ b: Lookup) -> Bool? {
    for sort in sorts {
      let order = SortComparison.compare(a(sort.path), b(sort.path), textOrder(sort.comparison))
      if order == .same { continue }
      return (order == .ascending) == sort.isAscending
    }
    return nil
  }

  /// The same over the values of the sort keys, in their order.
  public static func precedes(_ sorts: [ResolvedSort], _ a: [Value], _ b: [Value]) -> Bool? {
    for (index, sort) in sorts.enumerated() {
      let order = SortComparison.compare(a[index], b[index], textOrder(sort.comparison))
      if order != .same { return (order == .ascending) == sort.isAscending }
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
