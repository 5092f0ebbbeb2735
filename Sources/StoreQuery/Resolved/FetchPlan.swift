/// One sort key with its direction. Null sorts first ascending and last descending.
public struct ResolvedSort: Hashable, Sendable {
  public var path: SlotPath
  public var isAscending: Bool
  /// How texts are ordered.
  public var comparison: SortComparison.TextOrder

  public init(path: SlotPath, isAscending: Bool, comparison: SortComparison.TextOrder = .literal) {
    self.path = path
    self.isAscending = isAscending
    self.comparison = comparison
  }
}

/// A fetch as a store runs it: which entities, which rows, in which order, which part of them.
public struct FetchPlan: Hashable, Sendable {
  /// Indices of the entities of one tree whose rows are wanted.
  public var entities: Range<Int>
  public var predicate: ResolvedPredicate
  public var sort: [ResolvedSort]
  public var offset: Int
  /// Nil for no limit.
  public var limit: Int?

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
