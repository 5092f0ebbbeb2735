import Foundation
import StoreProtocol
import StoreSchema

/// Checks uniqueness constraints for an incremental store that a client implements. It sends the store a fetch for the
/// objects that have the values of the save.
///
/// Apple's reference does not say who enforces constraints of such stores. Here merge policies and errors are those of
/// every other store. There is one fetch for each constraint that a save touches, of the form `attribute IN …`; see
/// ``IncrementalEngine/commit(_:)``.
struct IncrementalUniqueness {
  private let engine: IncrementalEngine
  private let snapshot: IncrementalSnapshot
  private let changes: SealedChanges

  init(_ engine: IncrementalEngine, _ changes: SealedChanges) {
    self.engine = engine
    self.changes = changes
    snapshot = engine.snapshot(for: nil)
  }

  private struct Claim {
    let reference: ObjectReference
    let versionRead: Int64
    let row: Row
  }

  /// The conflicts in the state after the save.
  func conflicts() throws(StoreError) -> [Conflict] {
    var result: [Conflict] = []
    for entity in engine.schema.entities {
      for slots in entity.uniquenessConstraints { try judge(slots, of: entity, &result) }
    }
    return result
  }

  private func judge(_ slots: [Int], of entity: Entity, _ result: inout [Conflict]) throws(StoreError) {
    let claims = claims(of: entity, slots)
    if claims.isEmpty { return }
    let kinds = slots.map { entity.slots[$0] }
    var holders: [[Value]: Claim] = [:]
    for claim in claims {
      guard let values = values(claim.row, slots, kinds) else { continue }
      if let other = holders[values] {
        result.append(conflict(claim, slots, other.reference, nil))
      } else {
        holders[values] = claim
      }
    }
    if holders.isEmpty { return }
    let changed = Set(updates(of: slots).map(\.row.key) + changes.deletions.map(\.reference.key))
    for row in try rows(with: holders.keys.map { $0[0] }, slots[0], of: entity) where !changed.contains(row.key) {
      guard let values = values(row, slots, kinds), let claim = holders[values], claim.reference != row.reference else {
        continue
      }
      result.append(conflict(claim, slots, row.reference, row))
    }
  }

  /// The objects of an entity and its sub-entities to which the save gives these values.
  private func claims(of entity: Entity, _ slots: [Int]) -> [Claim] {
    updates(of: slots).filter { entity.subtree.contains($0.row.entity) }.map {
      Claim(reference: $0.row.reference, versionRead: $0.versionRead, row: $0.row)
    }
      + changes.insertions.filter { entity.subtree.contains($0.entity) }.map {
        Claim(reference: $0.reference, versionRead: 0, row: $0)
      }
  }

  private func updates(of slots: [Int]) -> [SealedChanges.Update] {
    changes.updates.filter { update in slots.contains(where: update.changed.contains) }
  }

  private func conflict(_ claim: Claim, _ slots: [Int], _ other: ObjectReference, _ row: Row?) -> Conflict {
    Conflict(
      reference: claim.reference, versionRead: claim.versionRead,
      kind: .constraint(slots: slots, other: other, persisted: row))
  }

  /// The values in slots; nil where one of them is null, because such objects all count as different, as in SQL.
  private func values(_ row: Row, _ slots: [Int], _ kinds: [SlotKind]) -> [Value]? {
    if slots.contains(where: row.isNull) { return nil }
    return zip(slots, kinds).map { row.value($0, $1) }
  }

  /// The stored objects that have one of the values.
  private func rows(with values: [Value], _ slot: Int, of entity: Entity) throws(StoreError) -> [Row] {
    let info = engine.frozen.infos[entity.index]
    let required: (name: String, values: [Any])
    if let attribute = info.attributes.first(where: { $0.attribute.slot == slot }) {
      required = (
        attribute.attribute.name, values.compactMap { AttributeCoding.decode($0, attribute.attribute.type) }
      )
    } else if let relationship = entity.relationships.first(where: { $0.slot == slot }) {
      required = (
        relationship.name,
        values.compactMap { value in if case .int(let key) = value { engine.id(of: key) } else { nil } }
      )
    } else {
      return []
    }
    let predicate = NSPredicate(format: "%K IN %@", required.name, required.values as NSArray)
    return try snapshot.rows(of: entity.index, where: predicate)
  }
}
