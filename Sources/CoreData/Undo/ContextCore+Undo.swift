import Foundation
import StoreSchema

/// Recording events with the context's undo manager, and undoing them.
extension ContextCore {
  /// Describes how to undo the pending changes. Returns a closure that registers this with the undo manager, to be
  /// called when the event has ended; nil where there is nothing to register.
  func journalOfEvent() -> (() -> Void)? {
    guard let context, let manager = context.undoManager else { return nil }
    defer { forgetFormerTransients() }
    if !manager.isUndoRegistrationEnabled || activity.isMerging { return nil }
    var journal: EventJournal?
    // To read files and to compare values may run code of the client, which may change more.
    for _ in 0..<16 {
      let objects = changes.list.pending
      journal = EventJournal(objects, restarts: changes.restarts)
      if changes.list.pending.count == objects.count { break }
    }
    guard let journal else { return nil }
    return {
      let isAlone = !manager.groupsByEvent && manager.groupingLevel == 0
      if isAlone { manager.beginUndoGrouping() }
      manager.registerUndo(withTarget: context) { $0.core.undo(journal) }
      if isAlone { manager.endUndoGrouping() }
    }
  }

  private func forgetFormerTransients() {
    for object in changes.list.pending { object.extras?.formerTransients = [:] }
  }

  // MARK: Undoing

  /// Undoes an event, as changes of a new event. That one is recorded like any other, so it can be undone in turn.
  ///
  /// Objects that have gone since, and those that others have deleted, are left out. A deletion that was saved becomes
  /// an insertion, an insertion that was saved a deletion.
  private func undo(_ journal: EventJournal) {
    checkQueue()
    takeUpKeys()
    checkInvariants()
    defer { checkInvariants() }
    processPendingChanges()
    orderedViews = [:]
    bringBack(journal.entries)
    let present = journal.entries.filter { isPresent($0.object) }
    for entry in present where entry.change != .inserted { setValues(entry.former, of: entry.object) }
    let living = present.filter { !$0.object.flags.isDeleted && $0.change != .inserted }
    var done: Set<SetLink> = []
    for entry in living { if let deleted = entry.deleted { setKeptLinks(deleted, of: entry.object, &done) } }
    // Backwards, because the last member of a relationship is removed fastest.
    setLinks(living.reversed().lazy.map { (object: $0.object, changes: $0.former) }, done: &done, found)
    let isUnsaved = journal.restarts == changes.restarts
    for entry in living {
      if let deleted = entry.deleted { setOrders(deleted.kept, of: entry.object, isUnsaved: isUnsaved, found) }
    }
    for entry in living { setOrders(entry.former, of: entry.object, isUnsaved: isUnsaved, found) }
    for entry in living { if let deleted = entry.deleted { setAwaitedLinks(deleted, to: entry.object) } }
    for entry in living { awaitDestinations(of: entry) }
    takeAway(present.filter { $0.change == .inserted || $0.change == .revived })
    for entry in present where isPresent(entry.object) { entry.object.awake(fromSnapshotEvents: entry.change.event) }
    let touched = changes.list.pending
    processPendingChanges()
    // What is as it was last saved has no changes any more.
    for object in touched {
      object.forgetUnchangedLinks()
      object.forgetUnchangedValues(links: false)
    }
    forgetUnchanged(touched.filter { !$0.hasTransients })
    tellObserversOfAll()
  }

  /// Whether the context has the object, and its row can be read.
  private func isPresent(_ object: NSManagedObject) -> Bool {
    if object.core !== self || object.flags.contains(.gone) { return false }
    if object.flags.isFault { _ = look(at: object) }
    return !object.flags.contains(.inaccessible)
  }

  private func found(_ object: NSManagedObject) -> NSManagedObject? {
    object.core === self && object.flags.isDisjoint(with: [.gone, .deleted, .inaccessible]) ? object : nil
  }

  /// Deletes objects by their delete rules, which also reach what others have linked meanwhile. Those of an undone
  /// insertion are applied at once, and its links without a rule end too: nothing shows the object any more.
  private func takeAway(_ entries: [EventJournal.Entry]) {
    let leaving = entries.filter { isPresent($0.object) && !$0.object.flags.isDeleted }
    if recordsUndo { for entry in leaving { readForUndo(entry.object) } }
    // All are marked before the first loses its links, so that links between them stay readable.
    for entry in leaving { deleteAlone(entry.object, followsRules: entry.change == .revived) }
    for entry in leaving where entry.change == .inserted && isStillDeleted(entry.object) {
      propagateDelete(of: entry.object)
      for info in entry.object.info.relationships
      where info.deleteRule == .noActionDeleteRule && isStillDeleted(entry.object) {
        unlink(entry.object, info.relationship)
      }
    }
  }

  // MARK: Objects that come back

  /// Takes deletions back. Where one was saved, the object becomes a new one with its former values.
  private func bringBack(_ entries: [EventJournal.Entry]) {
    var successors: [Location: NSManagedObject] = [:]
    for entry in entries {
      guard let deleted = entry.deleted else { continue }
      let object = entry.object
      if object.core === self && object.flags.isDisjoint(with: [.gone, .inaccessible]) {
        if !object.flags.contains(.deleted) { continue }
        revive(object)
        refreshOutdated(object)
        dropLostLinks(of: object, deleted.kept)
      } else if object.flags.isDisjoint(with: [.gone, .inaccessible]) || isBackInParent(deleted) {
        continue
      } else {
        insertAgain(object, deleted)
        successors[Location(deleted.store, present(deleted.reference))] = object
      }
    }
    if !successors.isEmpty { setLinksOfOthers(successors) }
    // What was inserted and deleted in the event has no entry that would take it out of its relationships.
    for entry in entries where entry.deleted != nil && entry.object.core === self {
      entry.object.toManys.forEachRetained { $0.forget { $0.flags.isAnnihilated } }
    }
  }

  /// Whether the parent of this context has an object again whose deletion it had taken over.
  private func isBackInParent(_ deleted: EventJournal.DeletedObject) -> Bool {
    guard parent != nil, let object = object(present(deleted.reference), store: deleted.store) else { return false }
    return isPresent(object) && !object.flags.isDeleted
  }

  private func insertAgain(_ object: NSManagedObject, _ deleted: EventJournal.DeletedObject) {
    for (slot, value) in deleted.kept.values where object.changed(slot) == nil && deleted.kept.stored[slot] != value {
      object.setOverlay(value, slot)
    }
    // The insertion sets the values of all transformable attributes.
    for (slot, value) in deleted.kept.transformed where object.changed(slot) == nil {
      object.makeExtras().transformed[slot] = value
    }
    insertAgain(object, store: deleted.store)
  }

  /// Removes the links of an object to objects that no longer link back, because it was deleted.
  func dropLostLinks(of object: NSManagedObject, _ kept: ObjectChanges<NSManagedObject>) {
    for relationship in object.info.entity.relationships {
      guard let inverse = relationship.linkedInverse else { continue }
      if let slot = relationship.slot {
        guard let destination = object.toOne(relationship) else { continue }
        if object.hasLost(destination, relationship, inverse) { object.setReference(relationship, slot, nil) }
        continue
      }
      let state = object.toMany(relationship)
      let unread = kept.toManys.first { $0.relationship === relationship }?.added ?? []
      for member in state.isFault ? ContiguousArray(unread) : state.members
      where object.hasLost(member, relationship, inverse) && !state.lacks(member) {
        // Where the members are unread, only a link that is saved, or was added, is to be taken away.
        if state.isFault && !state.added.contains(where: { $0 === member }) && !object.hasSaved(member, inverse) {
          continue
        }
        state.remove(member, keepsOrder: relationship.isOrdered)
        object.noteLinkChange(relationship)
      }
    }
  }

  /// Links an object that has come back to what it was linked to, except for objects that are linked to others now.
  private func setKeptLinks(
    _ deleted: EventJournal.DeletedObject, of object: NSManagedObject, _ done: inout Set<SetLink>
  ) {
    let former = present(deleted.reference)
    func free(_ other: NSManagedObject, _ relationship: Relationship) -> NSManagedObject? {
      guard let other = found(other), let inverse = relationship.linkedInverse, let slot = inverse.slot else {
        return found(other)
      }
      guard let reference = other.reference(inverse), reference != object.reference else { return other }
      // A link to the row that is gone, which a rule without action has left.
      if reference != former { return nil }
      other.markUpdated()
      other.setReference(inverse, slot, nil)
      return other
    }
    for (relationship, destination) in deleted.kept.toOnes {
      // The row's link is newer than the deletion.
      if object.row != nil, let slot = relationship.slot, object.changed(slot) == nil { continue }
      if let destination, let free = free(destination, relationship), object.toOne(relationship) == nil {
        object.setToOne(relationship, free)
      }
    }
    for members in deleted.kept.toManys {
      // A link that was not lost is not set again: the redo of this undo would end it.
      _ = errors { _ = object.loadedToMany(members.relationship) }
      let links = ObjectChanges.Members(
        relationship: members.relationship, added: members.added.compactMap { free($0, members.relationship) },
        removed: [], order: nil)
      setLinks([(object: object, changes: ObjectChanges(toManys: [links]))], done: &done, found)
    }
  }

  /// Notes links to objects whose deletion was saved. An undo of an earlier event may bring such an object back: where
  /// a save has met links that others had made, it has applied the delete rules in an event of its own, after the event
  /// of the deletion.
  private func awaitDestinations(of entry: EventJournal.Entry) {
    for (relationship, destination) in entry.former.toOnes + (entry.deleted?.kept.toOnes ?? []) {
      guard let destination, destination.flags.contains(.gone) else { continue }
      destination.extras?.deletion?.awaited.append((entry.object, relationship))
    }
  }

  private func setAwaitedLinks(_ deleted: EventJournal.DeletedObject, to destination: NSManagedObject) {
    defer { deleted.awaited = [] }
    for link in deleted.awaited where isPresent(link.owner) && link.owner.toOne(link.relationship) == nil {
      link.owner.setToOne(link.relationship, destination)
    }
  }

  private struct Location: Hashable {
    let (store, reference): (UInt16, ObjectReference)

    init(_ store: UInt16, _ reference: ObjectReference) { (self.store, self.reference) = (store, reference) }
  }

  /// Makes links without an inverse lead to objects that have come back with another key. Only registered objects are
  /// searched: the context does not know which other objects have such links.
  private func setLinksOfOthers(_ successors: [Location: NSManagedObject]) {
    let entities = Set(successors.values.map { $0.info.entity.index })
    let back = Set(successors.values.map(ObjectIdentifier.init))
    for owner in registry.all where owner.flags.isDisjoint(with: [.deleted, .inaccessible]) {
      let relationships = owner.info.entity.relationships.filter {
        $0.linkedInverse == nil && !entities.isDisjoint(with: $0.destinations)
      }
      if owner.flags.isFault && owner.row == nil && !relationships.allSatisfy(\.isToMany) { _ = look(at: owner) }
      for relationship in relationships {
        if relationship.isToMany {
          guard let state = owner.toManys[relationship] else { continue }
          let former = state.members
          let members = former.filter { back.contains(ObjectIdentifier($0)) }
          for member in members {
            state.forget { $0 === member }
            owner.add(member, to: relationship)
          }
          if relationship.isOrdered && !former.elementsEqual(state.members, by: ===) {
            state.reorder(former)
            owner.noteLinkChange(relationship)
          }
        } else if let reference = owner.knownReference(relationship),
          let successor = successors[Location(owner.storeIndex, present(reference))]
        {
          owner.setToOne(relationship, successor)
        }
      }
    }
  }
}

extension NSManagedObject {
  /// Takes the mark of changed links away where all members are as they were last saved.
  fileprivate func forgetUnchangedLinks() {
    toManys.forEach { $0.forgetUnchangedOrder() }
    if !toManys.hasChanges { ChangeTracker.forgetLinks(of: self) }
  }

  /// Whether the other side of a link no longer has it. If the members of the other side are unread, it has the saved
  /// links.
  fileprivate func hasLost(_ other: NSManagedObject, _ relationship: Relationship, _ inverse: Relationship) -> Bool {
    if !inverse.isToMany { return other.toOne(inverse) !== self }
    if let state = other.toManys[inverse] {
      if !state.isFault { return !state.contains(self) }
      if state.added.contains(where: { $0 === self }) { return false }
      if state.removed.contains(where: { $0 === self }) { return true }
    }
    if let slot = relationship.slot { return changed(slot) != nil && changedSlots().contains(slot) || row == nil }
    return toManys[relationship]?.added.contains { $0 === other } == true
  }

  /// Whether a link is saved that the other side no longer has.
  fileprivate func hasSaved(_ other: NSManagedObject, _ inverse: Relationship) -> Bool {
    guard let slot = inverse.slot else { return other.toManys[inverse]?.removed.contains { $0 === self } == true }
    let saved = other.row?.reference(slot, entitySlot: inverse.entitySlot, destination: inverse.destination)
    return saved == reference
  }

  /// The destination of a to-one relationship, without reading the object.
  fileprivate func knownReference(_ relationship: Relationship) -> ObjectReference? {
    guard let slot = relationship.slot else { return nil }
    if let value = changed(slot) {
      if case .reference(let reference) = value { return reference }
      return nil
    }
    return row?.reference(slot, entitySlot: relationship.entitySlot, destination: relationship.destination)
  }
}

extension EventJournal.Change {
  /// Why an object awakes whose change is undone.
  fileprivate var event: NSSnapshotEventType {
    switch self {
    case .inserted, .revived: .undoInsertion
    case .updated: .undoUpdate
    case .deleted: .undoDeletion
    }
  }
}
