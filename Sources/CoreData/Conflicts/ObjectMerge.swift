import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Merges the present rows of the stores into objects of a save, as a merge policy other than `error` says.
struct ObjectMerge {
  private let core: ContextCore
  private let policy: NSMergePolicyType
  private var gone: [NSManagedObject] = []
  /// Objects that may have no changes left: the merged objects, and those that were linked to an object whose deletion
  /// was undone.
  private var touched: [NSManagedObject] = []
  /// The objects in `gone` that nobody has reported as deleted before.
  private var lost: [NSManagedObject] = []
  /// Objects whose deletion was undone after it was reported.
  private var returned: [NSManagedObject] = []

  private init(_ core: ContextCore, _ policy: NSMergePolicyType) { (self.core, self.policy) = (core, policy) }

  /// Merges the objects of conflicts. New objects, and objects that no longer belong to a context, are left alone.
  static func merge(_ conflicts: [NSMergeConflict], _ policy: NSMergePolicyType) throws {
    guard let core = conflicts.lazy.compactMap(\.content.object.core).first else { return }
    var merge = ObjectMerge(core, policy)
    for conflict in conflicts {
      let object = conflict.content.object
      guard object.core === core, object.flags.isDisjoint(with: [.inserted, .gone]) else { continue }
      // The row that the conflict reports is used, even if the store has a newer one now: a subclass may rely on its
      // values.
      let isReportedGone = conflict.persisted == nil && conflict.content.storedVersion == 0
      try merge.merge(object, isReportedGone ? nil : conflict.persisted ?? core.storedRow(of: object))
    }
    merge.end()
    merge.tell(conflicts.map(\.content.object))
  }

  /// Gives saved objects the values of their store, and discards the changes in their context.
  static func rollBack(_ objects: [NSManagedObject]) throws {
    guard let core = objects.first?.core else { return }
    var merge = ObjectMerge(core, .rollbackMergePolicyType)
    for object in objects { try merge.merge(object, core.storedRow(of: object)) }
    merge.end()
    merge.tell(objects)
  }

  private func end() {
    core.becomeDeletedElsewhere(gone)
    core.forgetUnchanged(touched)
    // Values from before the merge.
    for object in touched where !object.flags.contains(.pending) { object.extras?.eventBase = nil }
  }

  private func tell(_ objects: [NSManagedObject]) {
    let present = objects.filter { $0.core != nil && !$0.flags.isDeleted }
    for object in present { object.awake(fromSnapshotEvents: .mergePolicy) }
    var sets: [AnyHashable: Any] = [:]
    let back = Set(returned.filter { $0.core != nil && !$0.flags.isDeleted })
    let refreshed = Set(present).subtracting(back)
    if !refreshed.isEmpty { sets[NSRefreshedObjectsKey] = refreshed }
    if !back.isEmpty { sets[NSInsertedObjectsKey] = back }
    for object in back { ChangeTracker.noteReturn(of: object) }
    if !lost.isEmpty { sets[NSDeletedObjectsKey] = Set(lost) }
    if sets.isEmpty { return }
    core.announcing(sets) { core.tellObserversOfAll() }
    core.post(.didChange) { sets }
  }

  /// Whether this context's changes win over the store's.
  private var prefersChanges: Bool {
    policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType
  }

  private mutating func merge(_ object: NSManagedObject, _ stored: Row?) throws {
    touched.append(object)
    core.dropRow(of: object)
    guard let stored else { return becomeDeleted(object) }
    if !object.flags.isDeleted {
      // An object that is only checked gets the stored values, whatever the policy. But a link that a change of its
      // partner has made stays.
      let isChanged = object.flags.hasChanges || object.info.oneToOnes.contains { isLinkedByPartner(object, $0) }
      let policy = isChanged ? policy : .mergeByPropertyStoreTrumpMergePolicyType
      try ObjectMerge(core, policy).mergeValues(object, stored)
    } else if prefersChanges {
      deleteAgain(object, stored)
    } else {
      try bringBack(object, stored)
    }
    object.extras?.fetchedProperties = [:]
  }

  /// Marks an object as deleted whose row is gone. Objects of the context that link to it lose the link.
  private mutating func becomeDeleted(_ object: NSManagedObject) {
    if !object.flags.isDeleted {
      for relationship in object.info.entity.relationships { core.unlink(object, relationship) }
      lost.append(object)
    }
    gone.append(object)
    // It counts as deleted from here on. It is taken off the list together with the others.
    core.changes.becomeInaccessible(object)
  }

  /// Keeps the deletion, and applies its delete rules to the objects that are linked now.
  private func deleteAgain(_ object: NSManagedObject, _ stored: Row) {
    takeStored(object, stored)
    core.changes.propagateAgain(object)
  }

  private func takeStored(_ object: NSManagedObject, _ stored: Row) {
    ChangeTracker.forgetLinks(of: object)
    object.row = stored
    object.clearOverlay()
    object.extras?.transformed = [:]
    object.toManys.removeAll()
  }

  /// Undoes a deletion, and the deletions that its delete rules have caused.
  private mutating func bringBack(_ object: NSManagedObject, _ stored: Row) throws {
    var waiting = [(object, stored)]
    var back: [NSManagedObject] = []
    while let (object, stored) = waiting.popLast() {
      if !object.flags.isDeleted { continue }
      if object.flags.contains(.absent) { returned.append(object) }
      core.revive(object)
      takeStored(object, stored)
      back.append(object)
      for info in object.info.relationships where info.deleteRule == .cascadeDeleteRule {
        for member in deleted(info.relationship, object) {
          if let row = try core.storedRow(of: member) { waiting.append((member, row)) }
        }
      }
    }
    for object in back {
      for relationship in object.info.entity.relationships {
        guard let inverse = relationship.linkedInverse else { continue }
        if relationship.isToMany {
          linkMembers(of: object, relationship, inverse)
        } else {
          linkDestination(of: object, relationship, inverse)
        }
      }
    }
    touched += back
  }

  /// The deleted destinations of a relationship in the store.
  private func deleted(_ relationship: Relationship, _ object: NSManagedObject) -> [NSManagedObject] {
    var found = relationship.isToMany ? [] : object.toOne(relationship).map { [$0] } ?? []
    if relationship.isToMany {
      _ = object.loadedToMany(relationship)
      found = core.changes.omissions.filter { $0.owner === object && $0.relationship === relationship }.map(\.member)
    }
    return found.filter { $0.flags.isDeleted && $0.flags.isDisjoint(with: [.inserted, .inaccessible]) }
  }

  /// Links members whose to-one relationship the deletion has set to nil. They were left out when the members were
  /// read.
  private mutating func linkOmitted(of object: NSManagedObject, _ relationship: Relationship, _ inverse: Relationship) {
    guard let slot = inverse.slot else { return }
    _ = object.loadedToMany(relationship)
    let unlinked = core.changes.omissions.filter {
      $0.owner === object && $0.relationship === relationship && !$0.member.flags.isDeleted
        && $0.member.toOne(inverse) == nil
    }.map(\.member)
    if unlinked.isEmpty { return }
    for member in unlinked { member.setReference(inverse, slot, object) }
    touched += unlinked
    let names = Set(unlinked.map(ObjectIdentifier.init))
    core.changes.omissions.removeAll { $0.owner === object && names.contains(ObjectIdentifier($0.member)) }
    object.toMany(relationship).unload()
  }

  /// Links members again that the deletion has unlinked. Members that have another owner now keep that one.
  private mutating func linkMembers(of object: NSManagedObject, _ relationship: Relationship, _ inverse: Relationship) {
    linkOmitted(of: object, relationship, inverse)
    let state = object.loadedToMany(relationship)
    for member in state.members {
      member.prepareToRead()
      touched.append(member)
      if inverse.isToMany {
        member.takeBackRemoval(of: object, inverse)
      } else if member.toOne(inverse) == nil, let slot = inverse.slot {
        member.setReference(inverse, slot, object)
      } else if member.toOne(inverse) !== object {
        state.remove(member, keepsOrder: relationship.isOrdered)
      }
    }
  }

  private mutating func linkDestination(
    of object: NSManagedObject, _ relationship: Relationship, _ inverse: Relationship
  ) {
    guard let slot = relationship.slot, let destination = object.toOne(relationship) else { return }
    destination.prepareToRead()
    if !destination.flags.isDeleted {
      touched.append(destination)
      if inverse.isToMany { return destination.takeBackRemoval(of: object, inverse) }
      let present = destination.toOne(inverse)
      if present === object { return }
      if present == nil, let inverseSlot = inverse.slot {
        return destination.setReference(inverse, inverseSlot, object)
      }
    }
    core.markUpdated(object)
    object.setReference(relationship, slot, nil)
  }

  // MARK: Changed objects

  private func mergeValues(_ object: NSManagedObject, _ stored: Row) throws {
    object.noteEventBase()
    let toOnes = try object.info.entity.relationships.compactMap { try destination(object, $0, stored) }
    mergeAttributes(object, stored)
    object.row = stored
    for toOne in toOnes { set(toOne, object) }
    if policy == .rollbackMergePolicyType { takeBackLinks(object) }
    for relationship in object.info.entity.relationships {
      object.mergeMembers(relationship, keepsOrder: prefersChanges)
    }
    if object.changedSlots().isEmpty { object.clearOverlay() } else { core.markUpdated(object) }
  }

  /// Merges the attributes. Afterwards the overlay has the kept values of the context. For others it may hold the
  /// stored values, which count as no change.
  private func mergeAttributes(_ object: NSManagedObject, _ stored: Row) {
    let (base, changed, info) = (object.row, object.changedSlots(), object.info)
    for attribute in info.entity.attributes {
      let slots = attribute.slots
      let isChanged = slots.contains(where: changed.contains)
      let isStoredAnew = slots.contains { slot in
        base?.value(slot, info.entity.slots[slot]) != stored.value(slot, info.entity.slots[slot])
      }
      let keeps =
        isChanged ? keepsChange(isStoredAnew: isStoredAnew) : policy == .overwriteMergePolicyType && isStoredAnew
      if keeps && attribute.derivation == nil {
        // If an element of a composite is kept, all elements are.
        for slot in slots where isStoredAnew { keep(object, slot, stored) }
        continue
      }
      for slot in slots where object.changed(slot) != nil {
        object.setOverlay(stored.value(slot, info.entity.slots[slot]), slot)
      }
      object.extras?.transformed[attribute.slot] = nil
    }
  }

  private func keepsChange(isStoredAnew: Bool) -> Bool {
    prefersChanges || policy == .mergeByPropertyStoreTrumpMergePolicyType && !isStoredAnew
  }

  /// Keeps the value that the object was read with. Data outside the row was removed with the row that named it; then
  /// the stored value is used. An object that only the former row holds is given to the save as a new one.
  private func keep(_ object: NSManagedObject, _ slot: Int, _ stored: Row) {
    let value = object.stored(slot)
    if case .data(let bytes) = value, object.info.entity.slots[slot] == .transformable,
      let kept = RowObjects.object(bytes)
    {
      object.makeExtras().transformed[slot] = kept
      object.setOverlay(TransformableCoding.pending, slot)
    } else if object.info.externalSlots.contains(slot), case .data(let bytes) = value, bytes.first == 2 {
      object.setOverlay(stored.value(slot, object.info.entity.slots[slot]), slot)
    } else {
      object.setOverlay(value, slot)
    }
  }

  private struct ToOne {
    let relationship: Relationship
    let slot: Int
    let (present, stored, merged): (NSManagedObject?, NSManagedObject?, NSManagedObject?)
  }

  /// Nil for an unchanged relationship, and for one that leads to another store.
  private func destination(_ object: NSManagedObject, _ relationship: Relationship, _ stored: Row) throws -> ToOne? {
    guard let slot = relationship.slot else { return nil }
    func reference(_ row: Row?) -> ObjectReference? {
      row?.reference(slot, entitySlot: relationship.entitySlot, destination: relationship.destination)
    }
    let present = object.toOne(relationship)
    if let present, present.storeIndex != object.storeIndex { return nil }
    let isStoredAnew = reference(object.row) != reference(stored)
    let isChanged = object.changedSlots().contains(slot) || isLinkedByPartner(object, relationship)
    if !isStoredAnew && (!isChanged || policy != .rollbackMergePolicyType) { return nil }
    let destination = reference(stored).flatMap { core.object($0, store: object.storeIndex) }
    if isStoredAnew, relationship.linkedInverse?.isToMany == false {
      // The inverses have changed together with this relationship.
      for partner in [present, destination].compactMap({ $0 }) where !partner.isToBeWritten && !partner.flags.isDeleted
      {
        core.refresh(partner, mergeChanges: true)
      }
    }
    let keeps =
      isChanged ? keepsChange(isStoredAnew: isStoredAnew) : policy == .overwriteMergePolicyType
    let living = destination.flatMap { $0.flags.isDeleted ? nil : $0 }
    return ToOne(
      relationship: relationship, slot: slot, present: present, stored: destination,
      merged: keeps ? try kept(present, relationship) ?? living : living)
  }

  /// Whether the partner in a one-to-one relationship has been linked to an object here, although the object's row
  /// named that partner already. The row may be out of date, so the link counts as the object's own change.
  private func isLinkedByPartner(_ object: NSManagedObject, _ relationship: Relationship) -> Bool {
    guard let inverse = relationship.linkedInverse, let slot = inverse.slot, relationship.slot != nil,
      let partner = object.toOne(relationship), !partner.flags.isDeleted
    else { return false }
    return partner.changedSlots().contains(slot) && partner.toOne(inverse) === object
  }

  /// The destination that a relationship keeps or gets, `.some(nil)` for none. Nil where the destination no longer
  /// exists: then another save has changed the relationship, perhaps because the destination was deleted. The commit
  /// checks that the destination still exists.
  private func kept(_ destination: NSManagedObject?, _ relationship: Relationship) throws -> NSManagedObject?? {
    guard let destination else { return .some(nil) }
    if destination.flags.isDeleted { return nil }
    if destination.flags.isInserted { return .some(destination) }
    guard let row = try core.storedRow(of: destination) else { return nil }
    // A changed destination is checked by its own update, and merged by itself.
    if destination.isToBeWritten { return destination }
    if relationship.linkedInverse?.isToMany == false { core.refresh(destination, mergeChanges: true) }
    if destination.row == nil { destination.take(row) }
    core.changes.dependedOn.append(destination)
    return destination
  }

  /// Sets the destination and both inverses. If the stored destination is another object, its inverse is corrected too.
  private func set(_ toOne: ToOne, _ object: NSManagedObject) {
    object.setReference(toOne.relationship, toOne.slot, toOne.present)
    if hasOtherPartner(toOne, object) {
      object.setReference(toOne.relationship, toOne.slot, nil)
      return core.markUpdated(object)
    }
    object.setToOne(toOne.relationship, toOne.merged)
    if toOne.merged === toOne.present, let inverse = toOne.relationship.linkedInverse, inverse.isToMany {
      toOne.merged?.withToMany(inverse) { if !$0.isFault && !$0.contains(object) { $0.add(object) } }
    }
    guard let stored = toOne.stored, stored !== toOne.merged, !stored.flags.isDeleted,
      let inverse = toOne.relationship.linkedInverse
    else { return }
    core.detach(object, from: stored, inverse)
  }

  /// Whether the stored destination of a one-to-one relationship has been given to another object here. That link is
  /// kept.
  private func hasOtherPartner(_ toOne: ToOne, _ object: NSManagedObject) -> Bool {
    guard let destination = toOne.merged, destination !== toOne.present, let inverse = toOne.relationship.linkedInverse,
      let slot = inverse.slot
    else { return false }
    guard destination.changedSlots().contains(slot), let partner = destination.toOne(inverse) else { return false }
    return partner !== object
  }

  /// Undoes added and removed links that belong to the object and not to the rows of its members. On the other side it
  /// only undoes the same changes of this object. Changes of other objects to the same pairs stay.
  private func takeBackLinks(_ object: NSManagedObject) {
    for relationship in object.info.entity.relationships where relationship.storage != .inverseToOne {
      guard let state = object.toManys[relationship] else { continue }
      if let inverse = relationship.linkedInverse, inverse.isToMany {
        for member in state.added { member.takeBackAddition(of: object, inverse) }
        for member in state.removed where !member.flags.isDeleted { member.takeBackRemoval(of: object, inverse) }
      }
      object.toManys.remove(relationship)
    }
    ChangeTracker.forgetLinks(of: object)
  }
}

extension ContextCore {
  /// The row of an object in the store now; nil where it is gone.
  func storedRow(of object: NSManagedObject) throws -> Row? {
    guard let origin = origin(object.storeIndex) else { return nil }
    let root = object.info.root
    dropRow(of: object)
    do {
      let row = try origin.row(object.key, root: root, self)
      return row?.entity == object.info.entity.index ? row : nil
    } catch { throw CoreDataError.make(error) }
  }

  /// Removes an object's row from the cache, so that the next read takes it from the store.
  func dropRow(of object: NSManagedObject) {
    guard let origin = origin(object.storeIndex) else { return }
    origin.cache.remove(object.info.root, [object.key])
    origin.dropView()
  }

  /// Takes objects without changes off the list of changes.
  func forgetUnchanged(_ objects: some Sequence<NSManagedObject>) {
    let idle = objects.filter { object in
      object.flags.contains(.listed) && object.flags.isDisjoint(with: [.inserted, .deleted, .linksChanged])
        && object.changedSlots().isEmpty && !object.toManys.hasChanges
    }
    unlist(idle)
    // What was set is as it is stored, but need not stay so.
    for object in idle { object.clearOverlay() }
  }
}
