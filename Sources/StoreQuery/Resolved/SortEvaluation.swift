import StoreSchema

/// Sorts objects of any kind: the definition of what sort descriptors mean.
public enum SortEvaluation {
  /// The value at a path of the object at hand; null where a relationship on the way leads nowhere.
  public typealias Lookup = (SlotPath) -> Value

  /// Whether the object behind `a` comes before the one behind `b`; nil where the sorts do not tell.
  public static func precedes(_ sorts: [ResolvedSort], _ a: Lookup, _ b: Lookup) -> Bool? {
    for sort in sorts { if let isBefore = precedes(sort, a(sort.path), b(sort.path)) { return isBefore } }
    return nil
  }

  /// The same over the values of the sort keys, in their order.
  public static func precedes(_ sorts: [ResolvedSort], _ a: [Value], _ b: [Value]) -> Bool? {
    for (index, sort) in sorts.enumerated() { if let isBefore = precedes(sort, a[index], b[index]) { return isBefore } }
    return nil
  }

  private static func precedes(_ sort: ResolvedSort, _ a: Value, _ b: Value) -> Bool? {
    let order = SortComparison.compare(a, b, sort.comparison)
    return order == .same ? nil : (order == .ascending) == sort.isAscending
  }
}
