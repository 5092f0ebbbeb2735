import Foundation
import StoreSchema
import Synchronization

/// Inserting, changing and deleting objects.
extension ContextCore {
  // MARK: Inserting

  func insertNewObject(_ entity: NSEntityDescription) -> NSManagedObject {
    let info = Self.info(of: entity, context)
    let object = info.objectClass.make(info.description)
    insert(object)
    return object
  }

  func insert(_ object: NSManagedObject) {
    checkQueue()
    // Inserting a deleted object again takes the deletion back.
    if !leave(object) {
      if object.flags.contains(.deleted) {
        revive(object)
        refreshOutdated(object)
      }
      return
    }
    beginInsertion(of: object)
    applyDefaults(object)
    list(object)
    callOut { object.awakeFromInsert() }
  }

  /// Inserts an object again that was in the context before: it gets no defaults, and `awakeFromInsert` is not called.
  func insertAgain(_ object: NSManagedObject, store: UInt16) {
    if !leave(object) { return }
    beginInsertion(of: object)
    if let former = self.store(store), coordinator?.takes(former, object.info.entity) == true {
      object.storeIndex = store
    }
    list(object)
  }

  /// Makes an object ready for an insertion: one whose deletion was saved, or whose insertion was rolled back or
  /// undone, keeps its values. Returns false where the object is in this context now.
  private func leave(_ object: NSManagedObject) -> Bool {
    if object.flags.contains(.gone) && (object.core === self || object.core == nil) {
      // Owners may still have it as a member; see `ToManyState.add(_:)`.
      _ = object.makeExtras()
      keepValues(of: object)
    } else if object.core === self {
      if !object.flags.contains(.inaccessible) { return false }
      becomeNew(object)
    }
    return true
  }

  /// Gives an object a temporary key and a store, and registers it.
  private func beginInsertion(of object: NSManagedObject) {
    if object.core != nil { misuse("The object belongs to another context; it cannot be inserted into this one.") }
    object.entityInfo._withUnsafeGuaranteedRef { info in
      if info.entity.isAbstract {
        misuse("The entity \(info.entity.name) is abstract; insert one of its sub-entities.")
      }
      if type(of: object) != info.objectClass { hasMismatchedClasses = true }
      object.core = self
      object.setTracked(tracksReads)
      object.key = family.nextTemporaryKey()
      object.cachedID = nil
      object.storeIndex = insertionStore(for: info.entity)
    }
    registry.add(object)
    // It was in a context before.
    if object.observers != nil { observe(object) }
  }

  /// Lists a registered object as inserted.
  func list(_ object: NSManagedObject) {
    beginPending(object)
    changes.insert(object) { registry.count }
  }

  /// Assigns a store to an object that was inserted before any store took its entity.
  func findStore(for object: NSManagedObject) {
    if object.storeIndex == .max { object.storeIndex = insertionStore(for: object.info.entity) }
  }

  private func applyDefaults(_ object: NSManagedObject) {
    if object.entityInfo._withUnsafeGuaranteedRef({ !$0.hasDefaults }) { return }
    let info = object.info
    for (slot, value) in info.defaults where object.changed(slot) == nil { object.setOverlay(value, slot) }
    if info.transientDefaults.isEmpty && info.transformableDefaults.isEmpty { return }
    let extras = object.makeExtras()
    for (slot, value) in info.transformableDefaults where object.changed(slot) == nil {
      extras.transformed[slot] = value
      object.setOverlay(TransformableCoding.pending, slot)
    }
    if info.transientDefaults.isEmpty { return }
    if extras.transients.isEmpty { extras.transients = Array(repeating: nil, count: info.transients.count) }
    for (index, value) in info.transientDefaults where extras.transients[index] == nil {
      extras.transients[index] = value
    }
  }

  /// Undoes the deletion of an object. The effects of its delete rules on other objects stay.
  func revive(_ object: NSManagedObject) {
    beginPending(object)
    changes.revive(object) { registry.count }
    for (owner, relationship) in takeOmissions(of: object) {
      // It was left out because it belongs to another owner.
      if let inverse = relationship.linkedInverse, !inverse.isToMany, object.toOne(inverse) !== owner {
        changes.omissions.append(.init(owner: owner, relationship: relationship, member: object))
        continue
      }
      owner.toMany(relationship).restore(object, isOrdered: relationship.isOrdered)
      if owner.flags.contains(.observed) { observed.touch(owner) }
    }
  }

  /// Makes an object whose row is gone a new one with the values that it had.
  private func becomeNew(_ object: NSManagedObject) {
    unlist([object])
    registry.forget(object)
    keepValues(of: object)
  }

  /// Keeps the values of the object's row as the values of a new object, which has no links. Values that are not in the
  /// row itself are read.
  private func keepValues(of object: NSManagedObject) {
    for info in object.info.attributes where info.attribute.type == .transformable {
      let slot = info.attribute.slot
      guard object.changed(slot) == nil, let value = object.modelledValue(forKey: info.attribute.name) else { continue }
      object.makeExtras().transformed[slot] = value
      object.setOverlay(TransformableCoding.pending, slot)
    }
    for (slot, kind) in object.info.entity.slots.enumerated() {
      switch kind {
      case .reference, .referenceEntity: if object.changed(slot) != nil { object.setOverlay(.null, slot) }
      case _ where object.changed(slot) != nil: continue
      case .externalData: if let data = object.externalData(slot) { object.setOverlay(.data([1] + data), slot) }
      default: if let row = object.row, !row.isNull(slot) { object.setOverlay(row.value(slot, kind), slot) }
      }
    }
    object.row = nil
    object.toManys.removeAll()
    object.core = nil
  }

  // MARK: Changing

  /// Marks an object as changed. Called before the change, because the values before the event are kept here. Fast
  /// where the object is marked already.
  @inline(__always)
  func markUpdated(_ object: NSManagedObject) {
    if object.flags.intersection([.listed, .pending, .observed, .tracked]) == [.listed, .pending]
      && object.flags.intersection([.updated, .inserted]) != []
    {
      return
    }
    markUpdatedSlowly(object)
  }

  private func markUpdatedSlowly(_ object: NSManagedObject) {
    if object.flags.contains(.observed) { observed.touch(object) }
    // An object whose row is gone cannot be saved.
    if !activity.isTracking || !object.flags.isDisjoint(with: [.gone, .inaccessible]) { return }
    checkQueue()
    beginPending(object)
    changes.update(object) { registry.count }
  }

  /// Called before an object changes. It drops the values from before an earlier event. That may run code of the
  /// client, so it is done before the tracker notes the change.
  @inline(__always)
  func beginPending(_ object: NSManagedObject) {
    if queue.confinement == .mainQueue && !changes.list.hasPending { changesBecamePending() }
    if object.flags.contains(.listed) {
      object.noteEventBase()
    } else if let extras = object.extras, extras.eventBase != nil {
      // The values of an event that a save has ended before all its observers were notified.
      extras.eventBase = nil
    }
  }

  /// Takes objects off the list of changes; they have nothing left to save.
  func unlist(_ objects: [NSManagedObject], marks: NSManagedObject.Flags = []) {
    changes.remove(objects, marks: marks)
    for object in objects where !object.flags.contains(.listed) { object.extras?.eventBase = nil }
  }

  // MARK: Deleting

  func delete(_ object: NSManagedObject) {
    checkQueue()
    guard object.core === self else { misuse("The object belongs to another context; delete it there.") }
    if object.flags.contains(.gone) { return }
    if activity.takings > 0 { activity.kept[ObjectIdentifier(object)] = nil }
    if recordsUndo { readForUndo(object) }
    // Before the flags change, as the event's base has them.
    object.noteEventBase()
    let isRepeated = object.flags.contains(.deleted)
    changes.beginDeletion(of: object)
    // Ends the recursion where objects delete each other in `prepareForDeletion`.
    if !isRepeated || !preparingForDeletion.contains(where: { $0.object === object }) {
      preparingForDeletion.append((object, isFirst: !isRepeated))
      object.prepareForDeletion()
      preparingForDeletion.removeLast()
    }
    if isRepeated || !isStillDeleted(object) { return }
    // The row was found to be gone: there is nothing to save.
    if object.flags.contains(.inaccessible) && !object.flags.contains(.listed) { return }
    beginPending(object)
    changes.delete(object) { registry.count }
  }

  /// Deletes an object without `prepareForDeletion`. With `followsRules` its delete rules are applied later.
  func deleteAlone(_ object: NSManagedObject, followsRules: Bool) {
    beginPending(object)
    changes.beginDeletion(of: object)
    changes.delete(object, followsRules: followsRules) { registry.count }
  }

  /// Whether `prepareForDeletion` of an object is running for its first deletion.
  func isDeletionReported(_ object: NSManagedObject) -> Bool {
    preparingForDeletion.contains { $0.isFirst && $0.object === object }
  }

  /// False where the deletion was undone, or the context has discarded all changes.
  func isStillDeleted(_ object: NSManagedObject) -> Bool { object.core === self && object.flags.contains(.deleted) }

  /// Applies the delete rules of all deleted objects, and of the objects that are deleted by them.
  func propagateDeletes() { applyDeleteRules { object in propagateDelete(of: object) } }

  func propagateDelete(of object: NSManagedObject) {
    let restarts = changes.restarts
    for info in object.info.relationships {
      let relationship = info.relationship
      switch info.deleteRule {
      case .cascadeDeleteRule:
        for destination in destinations(of: object, relationship)
        where destination.core === self && !destination.flags.isDeleted && !isKept(destination)
          && !hasLeft(destination, object, relationship)
        {
          delete(destination)
          // A callback may have undone the deletion. Where the object was deleted anew, its rules are applied anew.
          if changes.restarts != restarts || !isStillDeleted(object) { return }
        }
        unlink(object, relationship)
      case .nullifyDeleteRule: unlink(object, relationship)
      // The deny rule is checked at save. With no action the destinations keep their links.
      case .denyDeleteRule, .noActionDeleteRule: continue
      }
    }
  }

  /// Whether a member's own side, which has been read later, has another owner.
  private func hasLeft(_ member: NSManagedObject, _ owner: NSManagedObject, _ relationship: Relationship) -> Bool {
    guard relationship.isToMany, let inverse = relationship.linkedInverse, !inverse.isToMany else { return false }
    return member.toOne(inverse) !== owner
  }

  /// Whether a child has changed the object, whose save is being taken over.
  private func isKept(_ object: NSManagedObject) -> Bool {
    activity.takings > 0 && activity.kept[ObjectIdentifier(object)] != nil
  }

  private func destinations(of object: NSManagedObject, _ relationship: Relationship) -> [NSManagedObject] {
    if relationship.isToMany { return Array(object.loadedToMany(relationship).members) }
    return object.toOne(relationship).map { [$0] } ?? []
  }

  /// Takes a deleted object out of the inverse relationships of its destinations. Its own values stay readable.
  func unlink(_ object: NSManagedObject, _ relationship: Relationship) {
    guard let inverse = frozen?.schema.inverse(of: relationship) else { return }
    if !relationship.isToMany {
      guard let destination = registeredDestination(of: object, relationship, inverse) else { return }
      detach(object, from: destination, inverse)
      return
    }
    // The store removes the pairs of links together with the row. Here only members that have been read matter, and the
    // number of those that are left.
    if case .pairs = relationship.storage, !hasRead(inverse), inverse.definition.minCount == 0 {
      let state = object.toMany(relationship)
      if state.isFault && !state.hasChanges { return }
    }
    for destination in object.loadedToMany(relationship).members where !destination.flags.isDeleted {
      detach(object, from: destination, inverse)
    }
  }

  /// The to-one destination, if its inverse must be changed. If the inverse was never read, it needs no change: the
  /// deleted row stores the link. But where a minimum of members is required, the save counts those that are left.
  private func registeredDestination(
    of object: NSManagedObject, _ relationship: Relationship, _ inverse: Relationship
  ) -> NSManagedObject? {
    guard let reference = object.reference(relationship) else { return nil }
    if inverse.isToMany && inverse.storage == .inverseToOne && !inverse.isOrdered && inverse.definition.minCount == 0 {
      guard let known = registry.object(reference, store: object.storeIndex), !known.flags.isDeleted else { return nil }
      return known.toManys[inverse] != nil ? known : nil
    }
    guard let destination = self.object(reference, store: object.storeIndex), !destination.flags.isDeleted else {
      return nil
    }
    return destination
  }

  func detach(_ object: NSManagedObject, from destination: NSManagedObject, _ inverse: Relationship) {
    destination.prepareToRead()
    if inverse.isToMany {
      destination.readOrderForUndo(inverse)
      let state = destination.toMany(inverse)
      markUpdated(destination)
      if !state.lacks(object) { state.remove(object, keepsOrder: inverse.isOrdered) }
      if inverse.isOrdered { ChangeTracker.noteLinks(of: destination) }
    } else if let slot = inverse.slot, destination.toOne(inverse) === object {
      markUpdated(destination)
      destination.setReference(inverse, slot, nil)
    }
  }

  /// Notes that the members of a relationship have been read.
  func noteRead(_ relationship: Relationship) {
    let read = relationship.declaringEntity << 16 | (relationship.toManyIndex ?? 0)
    if read == lastReadToMany { return }
    lastReadToMany = read
    // Replaced as a whole, so that reads need no exclusivity checks: see decision 075.
    if !readToManys.contains(read) { readToManys = readToManys.union([read]) }
  }

  /// Whether any registered object may have read the members of a relationship.
  private func hasRead(_ relationship: Relationship) -> Bool {
    guard let index = relationship.toManyIndex else { return false }
    return readToManys.contains(relationship.declaringEntity << 16 | index)
  }
}
