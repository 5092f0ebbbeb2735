import StoreQuery
import StoreSchema

/// A fetch plan that a snapshot has prepared: translated once, and then run, counted or explained.
///
/// It belongs to its snapshot and is used like it, by one caller at a time.
public protocol PreparedFetch {
  /// The part of the plan that the caller applies to the rows in memory. The store runs the other parts.
  var residual: FetchResidual { get }

  /// Calls `body` with each row that the store selects: in the plan's order, ties in key order, unless the sorts are
  /// left over.
  func fetch(_ body: (consuming Row) -> Void) throws(StoreError)

  /// Calls `body` with the entity and the key of each row, otherwise like ``fetch(_:)``.
  func references(_ body: (ObjectReference) -> Void) throws(StoreError)

  /// The number of rows that ``fetch(_:)`` gives.
  func count() throws(StoreError) -> Int

  /// The store's steps, as lines in its own words; empty where it has none.
  func explanation() throws(StoreError) -> [String]
}

extension PreparedFetch {
  /// Reads the rows.
  public func references(_ body: (ObjectReference) -> Void) throws(StoreError) { try fetch { body($0.reference) } }

  /// Counts the references.
  public func count() throws(StoreError) -> Int {
    var count = 0
    try references { _ in count += 1 }
    return count
  }

  /// No lines.
  public func explanation() throws(StoreError) -> [String] { [] }
}

/// A table of values that a snapshot has prepared; see ``PreparedFetch``.
public protocol PreparedTable {
  /// Calls `body` with the values of each row, in the order of the plan's columns.
  func run(_ body: ([Value]) -> Void) throws(StoreError)
}

/// The part of a fetch plan that a store leaves over, in the order in which it is applied.
///
/// The store runs no step that comes after a part left over. For example, it must not apply a limit to rows that the
/// caller still selects or sorts.
public struct FetchResidual: Hashable, Sendable {
  /// The conditions that rows still have to meet; nil for none.
  public var predicate: ResolvedPredicate?
  /// The sorts that are still to be applied.
  public var sort: [ResolvedSort]
  /// How many of the first rows are still to be left out.
  public var offset: Int
  /// The most rows to keep; nil for no limit.
  public var limit: Int?

  /// Nothing is left over.
  public static let none = FetchResidual(predicate: nil, sort: [], offset: 0, limit: nil)

  /// Sorts and window of a plan, and conditions before them.
  public init(of plan: FetchPlan, predicate: ResolvedPredicate?) {
    self.init(predicate: predicate, sort: plan.sort, offset: plan.offset, limit: plan.limit)
  }

  private init(predicate: ResolvedPredicate?, sort: [ResolvedSort], offset: Int, limit: Int?) {
    (self.predicate, self.sort, self.offset, self.limit) = (predicate, sort, offset, limit)
  }

  /// Whether the store runs the whole plan.
  public var isEmpty: Bool { self == .none }
}

extension FetchPlan {
  /// The part of the plan that a store runs, and the part that it leaves over. `condition` and `takesSort` say which
  /// conditions and sorts the store takes.
  ///
  /// Of a conjunction the store runs the conditions that it takes. It must also take every conjunction of them.
  public func split(
    takes condition: (ResolvedPredicate) -> Bool, _ takesSort: (ResolvedSort) -> Bool
  ) -> (plan: FetchPlan, residual: FetchResidual) {
    var (taken, rest): ([ResolvedPredicate], [ResolvedPredicate]) = ([], [])
    for part in predicate.conjuncts { if condition(part) { taken.append(part) } else { rest.append(part) } }
    if rest.isEmpty && sort.allSatisfy(takesSort) { return (self, .none) }
    return (
      FetchPlan(entities: entities, predicate: rest.isEmpty ? predicate : .and(taken)),
      FetchResidual(of: self, predicate: rest.isEmpty ? nil : .and(rest))
    )
  }
}

extension ResolvedPredicate {
  /// The conditions that all have to be met: the parts of a conjunction, or the predicate itself.
  public var conjuncts: [ResolvedPredicate] { if case .and(let parts) = self { parts } else { [self] } }
}
