import Foundation
import StoreSchema
import StoreSupport

/// What an event has changed, and how to undo it. It holds the objects, so that an undo brings the same ones back.
struct EventJournal {
  let entries: [Entry]
  /// How often the context's changes had been saved or discarded.
  let restarts: Int

  struct Entry {
    let object: NSManagedObject
    let change: Change
    /// The changes that give the object what it had before the event.
    let former: ObjectChanges<NSManagedObject>
    /// Set for a deletion.
    let deleted: DeletedObject?
  }

  enum Change {
    case inserted, updated, deleted
    /// A deletion was taken back.
    case revived
  }

  /// Data of a deleted object that the object itself no longer has once its deletion is saved.
  final class DeletedObject {
    let reference: ObjectReference
    let store: UInt16
    /// The values that are in files of their own, and all links from before the event.
    let kept: ObjectChanges<NSManagedObject>
    /// Links to the object that a later event has ended. The undo of that event could not set them yet.
    var awaited: [(owner: NSManagedObject, relationship: Relationship)] = []

    init(_ object: NSManagedObject, _ kept: ObjectChanges<NSManagedObject>) {
      (reference, store, self.kept) = (object.reference, object.storeIndex, kept)
      object.makeExtras().deletion = self
    }
  }

  /// The journal of an event that is about to end; nil where nothing has changed.
  init?(_ objects: ContiguousArray<NSManagedObject>, restarts: Int) {
    self.restarts = restarts
    entries = objects.compactMap(Entry.init)
    if entries.isEmpty { return nil }
  }
}

extension EventJournal.Entry {
  fileprivate init?(_ object: NSManagedObject) {
    let (wasDeleted, isDeleted) = (object.extras?.eventBase?.isDeleted == true, object.flags.contains(.deleted))
    let isNew = object.flags.contains(.absent) && !wasDeleted
    self.object = object
    switch (isNew, wasDeleted, isDeleted) {
    case (true, _, true): return nil
    case (true, _, false): (change, former, deleted) = (.inserted, ObjectChanges(), nil)
    case (false, true, false): (change, former, deleted) = (.revived, object.changesBackToEvent(), nil)
    case (false, false, true):
      (change, former) = (.deleted, object.changesBackToEvent())
      deleted = EventJournal.DeletedObject(object, object.changesKeptOfDeletion())
    case (false, false, false), (false, true, true):
      (change, former, deleted) = (.updated, object.changesBackToEvent(), nil)
      if former.isEmpty { return nil }
    }
  }
}

extension ContextCore {
  /// Reads what an undo of a deletion needs, before the deletion and its rules change it. What cannot be read stays
  /// unknown, because the deletion does not need it.
  func readForUndo(_ object: NSManagedObject) {
    _ = look(at: object)
    _ = errors {
      if !object.flags.isDisjoint(with: [.inaccessible, .deleted]) { return }
      for info in object.info.relationships {
        let relationship = info.relationship
        let destinations =
          relationship.isToMany
          ? object.loadedToMany(relationship).members : ContiguousArray(object.toOne(relationship).map { [$0] } ?? [])
        // Their orders have the object's position.
        guard let inverse = relationship.linkedInverse, inverse.isOrdered else { continue }
        for destination in destinations where !destination.flags.isDeleted {
          _ = destination.loadedToMany(inverse)
          changes.ownersInEvent.append(destination)
        }
      }
    }
  }
}

extension NSManagedObject {
  /// The changes that give the object what it had at the start of the event. Called before the event ends.
  fileprivate final func changesBackToEvent() -> ObjectChanges<NSManagedObject> {
    var changes = ObjectChanges<NSManagedObject>()
    if flags.isFault { _ = core?.look(at: self) }
    // An object that could not be read has no known former values.
    if flags.isFault && row == nil && flags.contains(.stored) { return changes }
    var slots: [Int] = []
    overlay.forEachSlot(slotCount) { slots.append($0) }
    for slot in slots { addFormerValue(slot, to: &changes) }
    for slots in info.composites {
      let restored = Set(changes.values.map(\.slot) + changes.transformed.map(\.slot)).intersection(slots)
      if restored.isEmpty { continue }
      for slot in slots where !restored.contains(slot) { addFormerValue(slot, to: &changes, unchangedToo: true) }
    }
    if let extras, !extras.formerTransients.isEmpty {
      changes.transients = extras.formerTransients.filter { !hasTransient($1, $0) }.map { ($0, $1) }
    }
    for info in info.relationships {
      let relationship = info.relationship
      if let slot = relationship.slot {
        guard let present = changed(slot) else { continue }
        let former = eventReference(relationship, slot).flatMap { core?.present($0) }
        if case .reference(let reference) = present, reference.key == former?.key { continue }
        if present.isNull && former == nil { continue }
        changes.toOnes.append((relationship, former.flatMap { core?.object($0, store: storeIndex) }))
      } else if let state = toManys[relationship], let members = formerMembers(state, relationship) {
        changes.toManys.append(members)
      }
    }
    return changes
  }

  private func addFormerValue(
    _ slot: Int, to changes: inout ObjectChanges<NSManagedObject>, unchangedToo: Bool = false
  ) {
    let former = eventValue(slot)
    switch info.entity.slots[slot] {
    case .reference, .referenceEntity: return
    case .transformable:
      let object = object(of: former, eventObject(slot), slot)
      let present = self.object(of: stored(slot), extras?.transformed[slot], slot)
      if !unchangedToo && Self.areEqual(object, present) { return }
      if former == TransformableCoding.pending, let object { return changes.transformed.append((slot, object)) }
      changes.keep(former, slot, .transformable, of: self)
    case let kind: if unchangedToo || changed(slot) != former { changes.keep(former, slot, kind, of: self) }
    }
  }

  private func formerMembers(
    _ state: ToManyState, _ relationship: Relationship
  ) -> ObjectChanges<NSManagedObject>.Members? {
    let base = eventMembers(state.index)
    if !state.hasChanges(since: base) { return nil }
    let isOfMembers = relationship.storage == .inverseToOne
    let (come, gone) = state.notedChanges(since: base)
    var (order, isSavedOrder): ([NSManagedObject]?, Bool) = (nil, false)
    if relationship.isOrdered && !state.isFault {
      let former = state.members(before: base)
      // Where members were only appended, the order is known without.
      if !state.members.elementsEqual(gone.isEmpty ? former + come : former, by: ===) { order = Array(former) }
      isSavedOrder = former.elementsEqual(state.members(before: nil), by: ===)
    }
    if come.isEmpty && gone.isEmpty && order == nil { return nil }
    return ObjectChanges.Members(
      relationship: relationship, added: isOfMembers ? [] : Array(gone), removed: isOfMembers ? [] : Array(come),
      order: order, isSavedOrder: isSavedOrder)
  }

  /// The values and links of a deleted object that an insertion cannot find again once the deletion is saved.
  fileprivate final func changesKeptOfDeletion() -> ObjectChanges<NSManagedObject> {
    var changes = ObjectChanges<NSManagedObject>()
    for (slot, kind) in info.entity.slots.enumerated() where kind == .externalData || kind == .transformable {
      if let row, changed(slot) == nil, !row.isNull(slot) { changes.keep(row.value(slot, kind), slot, kind, of: self) }
    }
    for info in info.relationships {
      let relationship = info.relationship
      if let slot = relationship.slot {
        let former = changed(slot) == nil ? reference(relationship) : eventReference(relationship, slot)
        if let former, let core {
          changes.toOnes.append((relationship, core.object(core.present(former), store: storeIndex)))
        }
      } else if let state = toManys[relationship], !state.isFault {
        let members = Array(state.members(before: eventMembers(state.index)))
        if members.isEmpty { continue }
        changes.toManys.append(
          ObjectChanges.Members(
            relationship: relationship, added: members, removed: [], order: relationship.isOrdered ? members : nil,
            isSavedOrder: relationship.isOrdered && members.elementsEqual(state.members(before: nil), by: ===)))
      }
    }
    return changes
  }

  /// The object of a transformable value: the one that was set, else that of the stored bytes.
  private func object(of value: Value, _ given: Any?, _ slot: Int) -> Any? {
    if value == TransformableCoding.pending { return given }
    guard case .data(let bytes) = value, let info = info.attributes.first(where: { $0.attribute.slot == slot }) else {
      return nil
    }
    return TransformableCoding.decode(bytes, info.description)
  }
}

extension ObjectChanges<NSManagedObject> {
  /// Adds a value in a form that does not need a file that a save may remove, nor a store that keeps objects.
  fileprivate mutating func keep(_ value: Value, _ slot: Int, _ kind: SlotKind, of object: NSManagedObject) {
    guard case .data(let bytes) = value else { return values.append((slot, value)) }
    if kind == .transformable, let kept = RowObjects.object(bytes) { return transformed.append((slot, kept)) }
    var data: Data?
    if kind == .externalData && bytes.first == 2, let core = object.core {
      stored[slot] = value
      _ = core.errors { data = core.externalData(bytes.dropFirst(), of: object) }
    }
    values.append((slot, data.map { .data([1] + $0) } ?? value))
  }
}
