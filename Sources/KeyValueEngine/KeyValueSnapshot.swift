import StoreProtocol
import StoreSchema

/// A view of a store: one read transaction.
///
/// Sendable, unchecked: used by one caller at a time, as all snapshots are.
final class KeyValueSnapshot<Transaction: KeyValueReading>: StoreSnapshot, @unchecked Sendable {
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
