import StoreProtocol
import StoreQuery
import StoreSchema

/// A view of a store: one read transaction.
///
/// Sendable, unchecked: used by one caller at a time, as all snapshots are.
final class KeyValueSnapshot<Transaction: KeyValueReading>: FetchingSnapshot, @unchecked Sendable {
  let commitNumber: UInt64
  private let reader: KeyValueReader<Transaction>

  /// `commitNumber` counts the commits of the opened store, which are not all that there are.
  init(_ transaction: Transaction, _ shape: KeyValueShape, commitNumber: UInt64) {
    self.commitNumber = commitNumber
    reader = KeyValueReader(transaction, shape)
  }

  func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError) {
    for key in keys { if let row = try reader.row(of: entity, key) { body(row) } }
  }

  func row(of entity: Int, key: Int64) throws(StoreError) -> Row? { try reader.row(of: entity, key) }

  func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {
    try reader.scan(entities, body)
  }

  func destinations(
    of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError) {
    guard let table = reader.shape.store.table(of: relationship) else { return }
    for owner in owners {
      for key in try reader.destinations(table, owner) {
        if let row = try reader.row(of: relationship.destination, key) { body(owner, row) }
      }
    }
  }
}

/// Plans that select all objects run without a detour. Predicates and sorts are left to those who ask.
extension KeyValueSnapshot {
  func canPush(_ predicate: ResolvedPredicate, of entities: Range<Int>) -> Bool {
    switch predicate {
    case .constant: true
    case .and(let parts): parts.isEmpty
    default: false
    }
  }

  func canPush(_ sort: ResolvedSort, of entities: Range<Int>) -> Bool { false }

  func fetch(_ plan: FetchPlan, _ body: (consuming Row) -> Void) throws(StoreError) {
    guard selectsAll(plan) else { return }
    guard plan.offset > 0 || plan.limit != nil else { return try reader.scan(plan.entities, body) }
    for key in try keys(plan) { if let row = try reader.row(of: key.entity, key.key) { body(row) } }
  }

  func fetchReferences(_ plan: FetchPlan, _ body: (ObjectReference) -> Void) throws(StoreError) {
    for key in try keys(plan) { body(key) }
  }

  func count(_ plan: FetchPlan) throws(StoreError) -> Int { try keys(plan).count }

  /// What a plan selects, without its rows.
  private func keys(_ plan: FetchPlan) throws(StoreError) -> [ObjectReference] {
    var (keys, skipped) = ([ObjectReference](), 0)
    if !selectsAll(plan) || plan.limit == 0 { return [] }
    try reader.scanKeys(plan.entities) { key in
      if skipped < plan.offset { skipped += 1 } else { keys.append(key) }
      return keys.count != plan.limit
    }
    return keys
  }

  private func selectsAll(_ plan: FetchPlan) -> Bool {
    if case .constant(false) = plan.predicate { return false }
    return true
  }
}
