/// One sort key with its direction. Null sorts first ascending and last descending.
public struct ResolvedSort: Hashable, Sendable {
  /// The value to sort by.
  public var path: SlotPath
  /// Whether lesser values come first.
  public var isAscending: Bool
  /// How texts are ordered.
  public var comparison: SortComparison.TextOrder

  /// A sort by the value at a path.
  public init(path: SlotPath, isAscending: Bool, comparison: SortComparison.TextOrder = .literal) {
    self.path = path
    self.isAscending = isAscending
    self.comparison = comparison
  }
}

/// A fetch as a store runs it: which entities, which rows, in which order, which part of them.
public struct FetchPlan: Hashable, Sendable {
  /// Indices of the entities of one hierarchy whose rows are fetched.
  public var entities: Range<Int>
  /// Which rows of the entities.
  public var predicate: ResolvedPredicate
  /// The order of the rows: each sort orders those that the ones before it leave equal. Ties come in the order of keys.
  public var sort: [ResolvedSort]
  /// How many of the first rows to leave out.
  public var offset: Int
  /// Nil for no limit.
  public var limit: Int?

  /// A plan for all rows of the entities unless more is given.
  public init(
    entities: Range<Int>, predicate: ResolvedPredicate = .constant(true), sort: [ResolvedSort] = [], offset: Int = 0,
    limit: Int? = nil
  ) {
    self.entities = entities
    self.predicate = predicate
    self.sort = sort
    self.offset = offset
    self.limit = limit
  }
}
