import StoreSchema

/// A predicate whose names are resolved to slots: what stores translate and the evaluator runs.
public indirect enum ResolvedPredicate: Hashable, Sendable {
  case constant(Bool)
  case and([ResolvedPredicate])
  case or([ResolvedPredicate])
  case not(ResolvedPredicate)
  case comparison(ResolvedExpression, Predicate.Operator, ResolvedExpression, Predicate.Options)
}

/// An expression whose names are resolved to slots.
public indirect enum ResolvedExpression: Hashable, Sendable {
  case constant(Value)
  /// The right side of `IN` and `BETWEEN`.
  case list([Value])
  case path(SlotPath)
}

/// A key path from an object over to-one relationships to one value.
public struct SlotPath: Hashable, Sendable {
  /// The to-one relationships to follow, in order. Each is of the entity that the one before leads to.
  public var hops: [Relationship]
  public var leaf: Leaf

  public init(hops: [Relationship] = [], leaf: Leaf) {
    self.hops = hops
    self.leaf = leaf
  }

  public enum Leaf: Hashable, Sendable {
    /// A stored value.
    case attribute(slot: Int, kind: SlotKind, declaringEntity: Int)
    /// A to-one relationship, compared as a reference.
    case toOne(Relationship)
    /// The object itself, compared as a reference.
    case object
  }
}

/// One sort key with its direction. Null sorts first ascending and last descending.
public struct ResolvedSort: Hashable, Sendable {
  public var path: SlotPath
  public var isAscending: Bool
  public var comparison: Comparison

  public init(path: SlotPath, isAscending: Bool, comparison: Comparison = .literal) {
    self.path = path
    self.isAscending = isAscending
    self.comparison = comparison
  }

  /// How strings are ordered.
  public enum Comparison: String, Hashable, Sendable {
    /// By their UTF-8 bytes.
    case literal
    case caseInsensitive
    case localized
    case localizedCaseInsensitive
    case localizedStandard
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
