/// One sort key with its direction. Null sorts first ascending and last descending.
public struct ResolvedSort: Hashable, Sendable {
  /// The value to sort by.
  public var path: SlotPath
  /// Whether lesser values come first.
  public var isAscending: Bool
  /// The order of texts.
  public var comparison: SortComparison.TextOrder

  /// A sort by the value at a path.
  public init(path: SlotPath, isAscending: Bool, comparison: SortComparison.TextOrder = .literal) {
    self.path = path
    self.isAscending = isAscending
    self.comparison = comparison
  }
}

/// A fetch as a store runs it: entities, predicate, order, offset and limit.
public struct FetchPlan: Hashable, Sendable {
  /// Indices of the entities of one hierarchy whose rows are fetched.
  public var entities: Range<Int>
  /// The predicate that selects rows of the entities.
  public var predicate: ResolvedPredicate
  /// The order of the rows. Each sort orders the rows that the sorts before it leave equal. Rows that are still equal
  /// are in the order of their keys.
  public var sort: [ResolvedSort]
  /// The number of first rows to leave out.
  public var offset: Int
  /// The maximum number of rows; nil for no limit.
  public var limit: Int?

  /// A plan. By default it selects all rows of the entities.
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
