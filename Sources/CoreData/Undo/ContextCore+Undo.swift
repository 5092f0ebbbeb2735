import Foundation
import StoreSchema

/// Recording events with the context's undo manager, and undoing them.
extension ContextCore {
  /// The manager that records the event that is about to end; nil for none.
  var recordingManager: UndoManager? {
    guard recordsUndo, let manager = context?.undoManager, manager.isUndoRegistrationEnabled else { return nil }
    return manager
  }

  /// Registers how to undo an event.
  func register(_ journal: EventJournal, _ manager: UndoManager) {
    guard let context else { return }
    let isAlone = !manager.groupsByEvent && manager.groupingLevel == 0
    if isAlone { manager.beginUndoGrouping() }
    manager.registerUndo(withTarget: context) { $0.core.undo(journal) }
    if isAlone { manager.endUndoGrouping() }
  }

  /// Undoes an event, as changes of a new event. That one is recorded like any other, so it can be undone in turn.
  ///
  /// Objects that have gone since, and those that others have deleted, are left out. A deletion that was saved becomes an
  /// insertion, an insertion that was saved a deletion.
  private func undo(_ journal: EventJournal) {
    checkQueue()
    takeUpKeys()
    checkInvariants()
    defer { checkInvariants() }
    processPendingChanges()
    orderedViews = [:]
    let entries = journal.entries
    for entry in entries { if let deleted = entry.deleted { bringBack(entry.object, deleted) } }
    let living = entries.filter { $0.change != .inserted && isLiving($0.object) }
    for entry in living { setValues(entry.former, of: entry.object) }
    for entry in living { if let deleted = entry.deleted { setKeptLinks(deleted, of: entry.object) } }
    for entry in living { setLinks(entry.former, of: entry.object, found) }
    for entry in living { if let deleted = entry.deleted { setOrders(deleted.kept, of: entry.object, found) } }
    for entry in living { setOrders(entry.former, of: entry.object, found) }
    for entry in entries where entry.change == .inserted || entry.change == .revived {
      if isLiving(entry.object) { deleteAlone(entry.object) }
    }
    for entry in entries where entry.object.core === self {
      entry.object.awake(fromSnapshotEvents: entry.change.event)
    }
    let touched = changes.list.pending
    processPendingChanges()
    if activity.isSaving { return }
    // What is as it was last saved has no changes any more.
    for object in touched { object.forgetUnchangedLinks() }
    forgetUnchanged(touched.filter { $0.extras?.transients.allSatisfy { $0 == nil } ?? true })
  }

  /// Whether the context has the object, and its row can be read.
  private func isLiving(_ object: NSManagedObject) -> Bool {
    if object.core !== self || object.flags.contains(.gone) { return false }
    if object.flags.isFault { _ = look(at: object) }
    return object.flags.isDisjoint(with: [.deleted, .inaccessible])
  }

  private func found(_ object: NSManagedObject) -> NSManagedObject? {
    object.core === self && object.flags.isDisjoint(with: [.gone, .deleted, .inaccessible]) ? object : nil
  }

  /// Takes a deletion back. Where it was saved, the object becomes a new one with its former values.
  private func bringBack(_ object: NSManagedObject, _ deleted: EventJournal.DeletedObject) {
    if object.core === self && object.flags.isDisjoint(with: [.gone, .inaccessible]) {
      if !object.flags.contains(.deleted) { return }
      revive(object)
      return dropLostLinks(of: object, deleted.kept)
    }
    if object.core != nil && object.core !== self { return }
    for (slot, value) in deleted.kept.values where object.changed(slot) == nil { object.setOverlay(value, slot) }
    for (slot, value) in deleted.kept.transformed where object.changed(slot) == nil {
      object.makeExtras().transformed[slot] = value
      object.setOverlay(TransformableCoding.pending, slot)
    }
    insertAgain(object, store: deleted.store)
  }

  /// Removes the links of an object to those that have lost theirs to it, because it was deleted.
  private func dropLostLinks(of object: NSManagedObject, _ kept: ObjectChanges<NSManagedObject>) {
    for (relationship, destination) in kept.toOnes {
      guard let slot = relationship.slot, let inverse = relationship.linkedInverse, let destination else { continue }
      if destination.lacks(object, in: inverse) { object.setReference(relationship, slot, nil) }
    }
    for members in kept.toManys {
      guard let inverse = members.relationship.linkedInverse else { continue }
      let state = object.toMany(members.relationship)
      for member in members.added where member.lacks(object, in: inverse) && !state.lacks(member) {
        state.remove(member, keepsOrder: members.relationship.isOrdered)
        object.noteLinkChange(members.relationship)
      }
    }
  }

  /// Links an object that has come back to what it was linked to, except for objects that are linked to others now.
  private func setKeptLinks(_ deleted: EventJournal.DeletedObject, of object: NSManagedObject) {
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
      if let destination, let free = free(destination, relationship), object.toOne(relationship) == nil {
        object.setToOne(relationship, free)
      }
    }
    for members in deleted.kept.toManys {
      let links = ObjectChanges.Members(
        relationship: members.relationship, added: members.added.compactMap { free($0, members.relationship) },
        removed: [], order: nil)
      setLinks(ObjectChanges(toManys: [links]), of: object, found)
    }
  }
}

extension NSManagedObject {
  /// Takes the mark of changed links away where all members are as they were last saved.
  fileprivate func forgetUnchangedLinks() {
    toManys.forEach { $0.forgetUnchangedOrder() }
    if !toManys.hasChanges { ChangeTracker.forgetLinks(of: self) }
  }

  /// Whether an object is known not to be linked by a relationship of this one.
  fileprivate func lacks(_ object: NSManagedObject, in relationship: Relationship) -> Bool {
    if flags.isFault { return false }
    return relationship.isToMany ? toManys[relationship]?.lacks(object) == true : toOne(relationship) !== object
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

extension NSManagedObjectContext {
  final func useUndoManager(insteadOf former: UndoManager?) {
    former?.removeAllActions(withTarget: self)
    core.undoCheckpoints = undoManager.map { UndoCheckpoints(of: $0, core) }
    for object in core.changed { object.extras?.formerTransients = [:] }
  }
}

/// Ends the event of a context when its undo manager requires it; see `NSUndoManagerCheckpoint`.
final class UndoCheckpoints {
  private let observer: any NSObjectProtocol

  init(of manager: UndoManager, _ core: ContextCore) {
    let link = core.link
    observer = NotificationCenter.default.addObserver(forName: .NSUndoManagerCheckpoint, object: manager, queue: nil) {
      _ in
      // Another thread may use the manager for other contexts.
      guard let core = link.core, core.queue.isCurrent, !core.activity.isCallingOut else { return }
      core.processPendingChanges()
    }
  }

  deinit { NotificationCenter.default.removeObserver(observer) }
}
