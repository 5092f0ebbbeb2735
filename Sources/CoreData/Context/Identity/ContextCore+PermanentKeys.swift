import Foundation
import StoreProtocol
import StoreSchema

/// Giving new objects their permanent keys: before they are saved, or when another context of the family has saved
/// them.
extension ContextCore {
  func obtainPermanentKeys(_ objects: [NSManagedObject]) throws {
    checkQueue()
    // The save may have planned other keys for them already.
    if activity.isWriting { throw CoreDataError.writesAlready }
    // A commit reserves the keys, and a view of this context must not block it.
    origins.dropViews()
    var seen: Set<ObjectIdentifier> = []
    let new = objects.filter { object in
      object.key < 0 && object.core === self && !object.flags.contains(.gone)
        && seen.insert(ObjectIdentifier(object)).inserted
    }
    try obtainKeysFromParent(new.filter { $0.flags.contains(.stored) })
    let own = new.filter { $0.key < 0 && !$0.flags.contains(.stored) }
    own.forEach(findStore)
    for (index, objects) in Dictionary(grouping: own, by: \.storeIndex) {
      guard let origin = origin(index) else {
        throw CocoaError(
          .persistentStoreSave,
          userInfo: [NSLocalizedDescriptionKey: "The objects have no store; add one before requesting permanent IDs."])
      }
      var keys: ContiguousArray<ContextFamily.NewKey> = []
      for (object, key) in zip(objects, try origin.permanentKeys(for: objects, self)) {
        keys.append(.init(temporary: object.key, permanent: key, store: index))
        registry.becomePermanent(object, key: key, keepsTemporaryKey: true)
      }
      note(keys)
    }
  }

  /// The context that will save the objects obtains their keys: no two contexts may do that at once.
  private func obtainKeysFromParent(_ objects: [NSManagedObject]) throws {
    guard let parent, !objects.isEmpty else { return }
    let targets = objects.map(ChildChanges.Target.init)
    try parent.runForChild {
      parent.takeUpKeys()
      try parent.obtainPermanentKeys(
        targets.compactMap { target in
          let (reference, store) = parent.present(target.reference, store: target.store)
          return parent.object(reference, store: store)
        })
    }
    takeUpKeys()
    let unknown = objects.filter { $0.key < 0 }
    if unknown.isEmpty { return }
    throw CocoaError(
      .managedObjectReferentialIntegrity,
      userInfo: [
        NSAffectedObjectsErrorKey: unknown,
        NSLocalizedDescriptionKey: "The parent context no longer has the objects; they have no permanent IDs.",
      ])
  }

  // MARK: Keys of the family

  /// Notes keys that this context has given to its objects, for the other contexts of its family.
  func note(_ keys: ContiguousArray<ContextFamily.NewKey>) {
    if keys.isEmpty { return }
    let isUpToDate = keysTakenUp == family.count
    family.note(keys)
    // Otherwise another context may have noted keys meanwhile, and all are looked at later.
    if isUpToDate && family.count == keysTakenUp + keys.count { haveTakenUp(family.count) }
  }

  private func haveTakenUp(_ count: Int) {
    keysTakenUp = count
    family.noteTakenUp(count, by: link)
  }

  /// The reference with the permanent key, once the family knows it.
  func present(_ reference: ObjectReference) -> ObjectReference {
    if reference.key > 0 || family.count == 0 { return reference }
    return ObjectReference(entity: reference.entity, key: family.present(reference.key))
  }

  /// The same with the index of the object's store: it may have been assigned to another one before it was saved.
  func present(_ reference: ObjectReference, store: UInt16) -> (reference: ObjectReference, store: UInt16) {
    guard let new = family.newKey(of: reference.key) else { return (reference, store) }
    return (ObjectReference(entity: reference.entity, key: new.permanent), new.store)
  }

  /// The same for an ID. The ID of a new object may be older than its store.
  func present(_ id: NSManagedObjectID) -> (reference: ObjectReference, store: UInt16) {
    let store = storeIndex(of: id)
    return present(id.reference, store: store == .max && id.key < 0 ? insertionStore(for: id.info.entity) : store)
  }

  /// Gives objects the permanent keys that other contexts of the family have noted, and replaces the temporary keys in
  /// the links of all objects. It changes no values, and runs no code of the client.
  func takeUpKeys() {
    if keysTakenUp == family.count { return }
    let keys = family.keys(from: keysTakenUp)
    for key in keys {
      guard let object = registry.object(temporary: key.temporary), object.key < 0 else { continue }
      object.storeIndex = key.store
      registry.becomePermanent(object, key: key.permanent, keepsTemporaryKey: false)
    }
    for object in registry.all { replaceTemporaryKeys(of: object) }
    haveTakenUp(keysTakenUp + keys.count)
  }

  func replaceTemporaryKeys(of object: NSManagedObject) {
    let entity = object.info.entity
    for slot in entity.referenceSlots where !object.overlay.isEmpty {
      guard case .reference(let reference)? = object.changed(slot), reference.key < 0 else { continue }
      let present = present(reference)
      if present.key > 0 { object.setOverlay(.reference(present), slot) }
    }
    guard let row = object.row else { return }
    let slots = entity.referenceSlots.filter { row.int($0) < 0 && family.present(row.int($0)) > 0 }
    if row.key == object.key && slots.isEmpty { return }
    let draft = row.draft(version: row.version)
    for slot in slots { _ = draft.patch(slot, .int(family.present(row.int(slot)))) }
    draft.setKey(object.key)
    _ = draft.seal(key: object.key, version: row.version)
    object.row = draft.sealedRow
  }

  /// Makes the other contexts of the family take up new keys: now where nobody uses them, else at their next use.
  func announceKeys() {
    for other in family.contexts where other !== self { other.takeUpKeysIfFree() }
  }

  private func takeUpKeysIfFree() {
    switch queue.confinement {
    case .client: return
    case .mainQueue: if MainQueue.isCurrent { runHere(takesUpMarks: false, takeUpKeys) }
    case .lock:
      if queue.lock.try() {
        // A merge might wait for a context above, whose thread may be waiting for this one.
        runHere(takesUpMarks: false, takeUpKeys)
        queue.lock.unlock()
      }
    }
  }
}
