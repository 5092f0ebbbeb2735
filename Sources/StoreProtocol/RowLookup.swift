import StoreQuery
import StoreSchema

/// Values at paths of rows, following to-one relationships through the snapshot.
final class RowLookup {
  private let snapshot: any StoreSnapshot
  private let schema: Schema
  private var rows: [ObjectReference: Row] = [:]

  init(_ snapshot: any StoreSnapshot, _ schema: Schema) {
    self.snapshot = snapshot
    self.schema = schema
  }

  /// Reads the rows that the path from `row` follows.
  func load(_ row: Row, _ path: SlotPath) throws(StoreError) {
    var current = row
    for hop in path.hops {
      guard let target = reference(current, hop) else { return }
      if rows[target] == nil {
        var found: Row?
        try snapshot.rows(of: hop.destination, keys: [target.key]) { found = $0 }
        guard let found else { return }
        rows[target] = found
      }
      guard let next = rows[target] else { return }
      current = next
    }
  }

  func value(_ row: Row, _ path: SlotPath) -> Value {
    var current = row
    for hop in path.hops {
      guard let target = reference(current, hop), let next = rows[target] else { return .null }
      current = next
    }
    return current.value(of: path.leaf)
  }

  private func reference(_ row: Row, _ relationship: Relationship) -> ObjectReference? {
    row.reference(of: relationship)
  }
}

extension Row {
  /// The value of a path without hops.
  package func value(of leaf: SlotPath.Leaf) -> Value {
    switch leaf {
    case .attribute(let slot, let kind, _): value(slot, kind)
    case .toOne(let relationship): reference(of: relationship).map(Value.reference) ?? .null
    case .object: .reference(reference)
    }
  }

  fileprivate func reference(of relationship: Relationship) -> ObjectReference? {
    relationship.slot.flatMap {
      reference($0, entitySlot: relationship.entitySlot, destination: relationship.destination)
    }
  }
}
