import StoreSchema

/// Sorts objects of any kind. It defines the meaning of sort descriptors.
public enum SortEvaluation {
  /// The value at a path of the current object; null where a relationship in the path has no destination.
  public typealias Lookup = (SlotPath) -> Value

  /// Whether the object of `a` comes before the object of `b`; nil where the sorts do not decide.
  public static func precedes(_ sorts: [ResolvedSort], _ a: Lookup, _ b: Lookup) -> Bool? {
    for sort in sorts { if let isBefore = precedes(sort, a(sort.path), b(sort.path)) { return isBefore } }
    return nil
  }

  /// The same for the values of the sort keys, in their order.
  public static func precedes(_ sorts: [ResolvedSort], _ a: [Value], _ b: [Value]) -> Bool? {
    for (index, sort) in sorts.enumerated() { if let isBefore = precedes(sort, a[index], b[index]) { return isBefore } }
    return nil
  }

  private static func precedes(_ sort: ResolvedSort, _ a: Value, _ b: Value) -> Bool? {
    let order = SortComparison.compare(a, b, sort.comparison)
    return order == .same ? nil : (order == .ascending) == sort.isAscending
  }
}
