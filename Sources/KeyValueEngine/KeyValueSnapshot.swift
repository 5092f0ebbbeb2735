import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema
import StoreSupport

/// A view of a store: one read transaction.
///
/// Sendable, unchecked: used by one caller at a time, as all snapshots are.
final class KeyValueSnapshot: FetchingSnapshot, VerifyingSnapshot, @unchecked Sendable {
  let commitNumber: UInt64
  let reader: KeyValueReader
  private let externalData: ExternalDataView?
  /// Whether this view has the indexes of the model; nil until it was looked up.
  private var hasIndexes: Bool?

  /// `commitNumber` counts the commits of the opened store. Other processes may have made more.
  init(
    _ transaction: any KeyValueReading, _ shape: KeyValueShape, commitNumber: UInt64, _ externalData: ExternalDataView?
  ) {
    self.externalData = externalData
    self.commitNumber = commitNumber
    reader = KeyValueReader(transaction, shape)
  }

  /// Whether the indexes in this view are those of the model: another process may have made others.
  func usesIndexes() throws(StoreError) -> Bool {
    if let hasIndexes { return hasIndexes }
    let catalogue = Array(reader.shape.indexes.catalogue.utf8)
    if catalogue.isEmpty { return false }
    let found =
      try KeyValueHeader(reader.transaction).content(KeyValueFact.indexes).map { Array($0) == catalogue } ?? false
    hasIndexes = found
    return found
  }

  /// Calls `body` once where the medium is damaged.
  func findings(_ body: (StoreFinding) -> Void) throws(StoreError) {
    do { try reader.transaction.verify() } catch {
      guard error.code == .corrupt else { throw error }
      body(StoreFinding(.integrity, error.message))
    }
  }

  func externalDataNames(_ schema: Schema, _ body: (Data) -> Bool) throws(StoreError) {
    var goesOn = true
    let slots = schema.entities.map(\.externalNameSlots)
    for root in schema.entities where root.root == root.index && goesOn {
      if !slots[root.subtree].contains(where: { !$0.isEmpty }) { continue }
      try reader.scan(root.subtree, from: 0) { row in
        for slot in slots[row.entity] where goesOn && row.mayHoldExternalName(slot) { goesOn = body(row.data(slot)) }
        return goesOn
      }
    }
  }

  func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError) {
    try reader.transaction.check()
    for key in keys { if let row = try reader.row(of: entity, key) { body(row) } }
  }

  func row(of entity: Int, key: Int64) throws(StoreError) -> Row? {
    try reader.transaction.check()
    return try reader.row(of: entity, key)
  }

  func rows(
    of entity: Int, between keys: ClosedRange<Int64>, _ body: (consuming Row) -> Void
  ) throws(StoreError) -> Bool {
    try reader.transaction.check()
    try reader.rows(of: entity, between: keys, body)
    return true
  }

  func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {
    try reader.transaction.check()
    try reader.scan(entities, body)
  }

  func destinations(
    of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError) {
    guard let table = reader.shape.store.table(of: relationship) else { return }
    try reader.transaction.check()
    for owner in owners {
      for key in try reader.destinations(table, owner) {
        if let row = try reader.row(of: relationship.destination, key) { body(owner, row) }
      }
    }
  }
}
