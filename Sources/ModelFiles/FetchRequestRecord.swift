import StoreQuery

/// A fetch request template of a model, or the request of a fetched property.
public struct FetchRequestRecord: Hashable, Sendable {
  /// The template's name. Nil for the request of a fetched property: compiled models have no name for it.
  public var name: String?
  /// The entity whose objects are fetched; empty if none is set yet.
  public var entityName: String
  /// The condition for objects to be fetched; nil for all. May contain variables that the caller substitutes.
  public var predicate: Predicate?
  /// The order of the result, the first key first; empty for no order.
  public var sortDescriptors: [SortRecord]
  /// The maximum number of rows; 0 for no limit.
  public var fetchLimit: Int
  /// The number of rows to skip.
  public var fetchOffset: Int
  /// The number of rows to load at a time; 0 for all at once.
  public var fetchBatchSize: Int
  /// The raw value of the result type: 0 objects, 1 object IDs, 2 dictionaries, 4 count.
  public var resultType: Int
  /// Whether objects of sub-entities are found too.
  public var includesSubentities: Bool
  /// Whether property values are read together with the object IDs.
  public var includesPropertyValues: Bool
  /// Whether unsaved changes of the context are included.
  public var includesPendingChanges: Bool
  /// Whether objects come back as faults.
  public var returnsObjectsAsFaults: Bool
  /// Whether only one of several equal rows is returned.
  public var returnsDistinctResults: Bool
  /// Whether objects in memory are updated with the rows that the store has now.
  public var shouldRefreshRefetchedObjects: Bool
  /// The names of the properties of a dictionary result; nil for all.
  public var propertiesToFetch: [String]?
  /// The properties by which rows are grouped.
  public var propertiesToGroupBy: [String]
  /// The condition for groups to be returned.
  public var havingPredicate: Predicate?
  /// The key paths of relationships whose objects are fetched, too.
  public var relationshipKeyPathsForPrefetching: [String]

  /// A request with the framework's defaults: object ID requests do not include property values, and dictionary
  /// requests do not include pending changes.
  public init(name: String?, entityName: String, predicate: Predicate? = nil, resultType: Int = 0) {
    self.name = name
    self.entityName = entityName
    self.predicate = predicate
    self.resultType = resultType
    sortDescriptors = []
    (fetchLimit, fetchOffset, fetchBatchSize) = (0, 0, 0)
    includesSubentities = true
    includesPropertyValues = resultType != 1
    includesPendingChanges = resultType != 2
    returnsObjectsAsFaults = true
    returnsDistinctResults = false
    shouldRefreshRefetchedObjects = false
    (propertiesToGroupBy, relationshipKeyPathsForPrefetching) = ([], [])
    (propertiesToFetch, havingPredicate) = (nil, nil)
  }
}

/// One key of a sort order.
public struct SortRecord: Hashable, Sendable {
  /// The key path that is compared.
  public var key: String
  /// Whether smaller values come first.
  public var isAscending: Bool
  /// The name of the comparison method, such as `compare:`; nil when the archive names none.
  public var selector: String?

  /// A key that is compared with `compare:` unless another method is named.
  public init(key: String, isAscending: Bool = true, selector: String? = "compare:") {
    self.key = key
    self.isAscending = isAscending
    self.selector = selector
  }
}

/// An index that a store keeps for an entity.
public struct FetchIndexRecord: Hashable, Sendable {
  /// The name, which becomes part of the name of the index in a SQLite store.
  public var name: String
  /// The columns, the most significant first.
  public var elements: [FetchIndexElementRecord]
  /// The rows that the index covers; nil for all.
  public var partialPredicate: Predicate?

  /// An index over all rows unless a predicate is given.
  public init(name: String, elements: [FetchIndexElementRecord], partialPredicate: Predicate? = nil) {
    self.name = name
    self.elements = elements
    self.partialPredicate = partialPredicate
  }
}

/// One column of a fetch index: a property or an expression.
public struct FetchIndexElementRecord: Hashable, Sendable {
  /// The property; nil when the column is an expression.
  public var propertyName: String?
  /// The expression; nil when the column is a property.
  public var expression: Expression?
  /// 0 binary, 1 R-tree.
  public var type: Int
  /// Whether the order of the column is ascending.
  public var isAscending: Bool

  /// A binary, ascending column unless stated otherwise.
  public init(propertyName: String?, expression: Expression? = nil, type: Int = 0, isAscending: Bool = true) {
    self.propertyName = propertyName
    self.expression = expression
    self.type = type
    self.isAscending = isAscending
  }
}
