import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Objects as packed rows.
extension ContextCore {
  /// What a packed row says of new objects.
  enum NewObjects {
    /// Their numbers among the insertions of a save.
    case ofSave
    /// Their temporary keys, for the contexts of the family.
    case ofFamily
  }

  /// The present state of an object, which has changes, as a row for this context or its children.
  func packPresent(_ object: NSManagedObject) throws -> Row {
    // No store has such a version: a packed row is a state of this context, not of a store.
    let version = -max(1, abs(object.row?.version ?? 1))
    let draft = try pack(object, version: version, .ofFamily)
    if !draft.seal(key: object.key, version: version) { misuse("A row was packed twice.") }
    return draft.sealedRow
  }

  /// The complete state of an object as a row. Values that only the context can encode are encoded here.
  func pack(_ object: NSManagedObject, version: Int64, _ newObjects: NewObjects = .ofSave) throws -> RowDraft {
    if object.entityInfo._withUnsafeGuaranteedRef({ $0.hasTransformables }) { try encodeTransformables(object) }
    if let patched = patchedRow(object, version: version) { return patched }
    // Held once, not for each value.
    let (entity, builder) = (object.info.entity, builder ?? makeBuilder())
    builder.begin(slots: entity.slots.count)
    let base = object.row
    for slot in 0..<object.slotCount {
      if let address = object.overlay.address(slot) {
        switch address.pointee {
        case .reference(let reference)?:
          if let key = try key(of: reference, object, slot, newObjects) { builder.setInt(slot, key) }
        case .int(let x)?: builder.setInt(slot, x)
        case .bool(let x)?: builder.setInt(slot, x ? 1 : 0)
        case .double(let x)?, .date(let x)?: builder.setDouble(slot, x)
        case .string(let x)?: builder.setString(slot, x)
        case .decimal? where entity.slots[slot] != .decimal:
          // A child sees what is stored. Its reads and saves do not fail because of its parent's number.
          if newObjects == .ofSave { throw unstorable(object, slot) }
          if let base { builder.copy(slot, entity.slots[slot], from: base) }
        case let value?: builder.set(slot, value)
        case nil: break
        }
      } else if let base {
        builder.copy(slot, entity.slots[slot], from: base)
      }
    }
    // The draft is sealed with its key.
    do { return try builder.finishCheckedDraft(key: max(object.key, 0), entity: entity, version: version) } catch {
      throw CoreDataError.make(error)
    }
  }

  /// The error of a number that no integer can have.
  private func unstorable(_ object: NSManagedObject, _ slot: Int) -> any Error {
    let key = object.info.leaves.first { $0.slot == slot }?.key ?? ""
    return Self.rangeError(object.stored(slot), slot, object, key)
      ?? CoreDataError.validation(.managedObjectValidation, object, key, nil)
  }

  private func makeBuilder() -> RowBuilder {
    let made = RowBuilder()
    builder = made
    return made
  }

  /// The stored row with its changed words, where no changed value needs variable bytes.
  private func patchedRow(_ object: NSManagedObject, version: Int64) -> RowDraft? {
    if object.overlay.isEmpty || object.row == nil { return nil }
    let count = object.slotCount
    let needsBytes = object.overlay.contains(count) { slot, address in
      switch address.pointee {
      case .string?, .uri?, .uuid?, .data?, .decimal?: true
      case .null?: object.info.entity.slots[slot].isBytes
      case .reference(let reference)?: reference.key < 0 || isGone(reference, object)
      case .bool?, .int?, .double?, .date?, nil: false
      }
    }
    if needsBytes { return nil }
    guard let row = object.row.view?.draft(version: version) else { return nil }
    object.overlay.forEach(count) { slot, value in _ = row.patch(slot, value) }
    return row
  }

  /// Whether an object will not exist in the store after the save: its row is known to be gone, or it is deleted.
  private func isGone(_ reference: ObjectReference, _ owner: NSManagedObject) -> Bool {
    if !changes.hasInaccessible && changes.counts.deleted == 0 { return false }
    return registry.object(reference, store: owner.storeIndex)?.flags.isDisjoint(with: [.inaccessible, .deleted])
      == false
  }

  /// The key of a to-one destination in a packed row; nil for one that will not exist.
  private func key(
    of reference: ObjectReference, _ owner: NSManagedObject, _ slot: Int, _ newObjects: NewObjects
  ) throws -> Int64? {
    if newObjects == .ofFamily {
      let key = registry.object(reference, store: owner.storeIndex)?.key ?? family.present(reference.key)
      // A link that has not changed stays as it was read.
      let isUnchanged = owner.row.map { !$0.isNull(slot) && $0.int(slot) == key } ?? false
      return !isUnchanged && isGone(reference, owner) ? nil : key
    }
    if reference.key > 0 { return isGone(reference, owner) ? nil : reference.key }
    guard let object = registry.object(reference, store: owner.storeIndex), !object.flags.contains(.deleted) else {
      return nil
    }
    if object.storeIndex != owner.storeIndex,
      let info = owner.info.relationships.first(where: { $0.relationship.slot == slot })
    {
      try checkStores(owner, info.relationship, object)
    }
    return object.key > 0 || object.ordinal >= 0 ? SavePlan.key(object) : nil
  }

  private func encodeTransformables(_ object: NSManagedObject) throws {
    guard let values = object.extras?.transformed else { return }
    let keepsObjects = self.keepsObjects(object)
    for info in object.info.attributes where info.attribute.type == .transformable {
      let slot = info.attribute.slot
      guard case .data(let bytes)? = object.changed(slot), let value = values[slot],
        bytes.isEmpty || RowObjects.object(bytes) != nil
      else { continue }
      if keepsObjects {
        object.setOverlay(.data(token(for: value, of: object, slot)), slot)
        continue
      }
      guard let data = TransformableCoding.encode(value, info.description) else {
        throw CocoaError(
          .persistentStoreSave,
          userInfo: [
            NSLocalizedDescriptionKey:
              "The value of the transformable attribute \(info.attribute.name) cannot be encoded; register its transformer and check its class.",
            NSAffectedObjectsErrorKey: [object],
          ])
      }
      object.setOverlay(.data(data), slot)
    }
  }

  /// The token of an equal object that the row already has, or a new one.
  private func token(for value: Any, of object: NSManagedObject, _ slot: Int) -> Data {
    if let row = object.row, !row.isNull(slot) {
      let token = row.data(slot)
      if let old = RowObjects.object(token) as? NSObject, old.isEqual(value) { return token }
    }
    let owner = RowObject(value)
    object.makeExtras().rowObjects[slot] = owner
    return owner.token
  }

  /// Whether the store of an object keeps the objects of transformable attributes in memory.
  private func keepsObjects(_ object: NSManagedObject) -> Bool {
    store(object.storeIndex)?.keepsObjects ?? false
  }
}
