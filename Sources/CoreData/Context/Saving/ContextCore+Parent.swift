import Foundation
import StoreSchema
import StoreSupport

/// The save of a child context: its changes become unsaved changes of its parent.
///
/// There is no optimistic locking between the two. A property that the child has changed gets the child's value; other
/// properties keep the parent's. Transient values reach the parent too, as on Apple's platforms. Where the parent no
/// longer has an object, the child's merge policy decides. Where the parent reads an object only now, its row may have
/// other values than the child's row. Unless the root has saved or merged that row, the root's save has a conflict.
extension ContextCore {
  /// Saves the changes to the parent. Returns false, with nothing saved, where code of the client has changed this
  /// context meanwhile: these changes belong to the save too.
  func push(to parent: ContextCore) throws -> Bool {
    var met: Set<Set<SaveConflicts.Mark>> = []
    while true {
      let stamp = self.changes.stamp
      func isChanged() -> Bool { self.changes.stamp != stamp }
      processPendingChanges()
      if isChanged() { return false }
      let saved = changed
      try checkLinks(of: saved)
      // Packed first, because values that cannot be encoded must be found before the parent changes.
      let rows = try presentRows(of: saved)
      let changes = ChildChanges(saved, misplaced: self.changes.misplacedObjects)
      // It may have read orders.
      try throwReadError()
      if isChanged() { return false }
      // A merge in the parent would call observers, which may change this context again.
      let outcome = try parent.runForChild(takesUpMarks: false) {
        try parent.tracking { () -> PushOutcome in
          let targets = try parent.find(changes)
          // Reading them has called code of the client.
          if isChanged() { return .changed }
          if !targets.gone.isEmpty { return .gone(targets.gone) }
          activity.isWriting = true
          parent.activity.deferredAwakenings = []
          let waiting = parent.take(changes, targets)
          // This context is saved before more code of the client is called, which may change it again.
          let finished = beginFinish {
            for (object, row) in zip(saved, rows) { if let row { object.row = row } }
            takeUpKeys()
            // The rows were packed before the parent was called, and keys may have been taken up meanwhile.
            for object in saved { replaceTemporaryKeys(of: object) }
          }
          parent.complete(waiting)
          parent.endEvent()
          return .saved(finished)
        }
      }
      switch outcome {
      case .saved(let finished):
        finish(finished)
        return true
      case .changed: return false
      case .gone(let gone):
        let missing = Set(gone)
        let objects = saved.filter { missing.contains(ChildChanges.Target($0)) }
        if objects.isEmpty {
          // Other contexts have given the objects permanent keys meanwhile.
          takeUpKeys()
          continue
        }
        let conflicts = SaveConflicts(gone: Array(objects))
        if !resolvesConflicts { throw conflicts.error }
        try resolve(conflicts, 0, &met)
      }
    }
  }

  private enum PushOutcome {
    case saved(FinishedSave)
    /// The parent no longer has some objects.
    case gone([ChildChanges.Target])
    /// Code of the client has changed the child.
    case changed
  }

  /// The rows that the saved objects have after the save; nil for deleted ones.
  private func presentRows(of objects: ContiguousArray<NSManagedObject>) throws -> [Row?] {
    try objects.map { object in
      guard let change = object.flags.savedChange, change != .deleted else { return nil }
      if object.row == nil && change == .updated {
        fire(object)
        try throwReadError()
        if object.flags.contains(.inaccessible) { return nil }
        if object.row == nil { throw SavePlan.unread(object) }
      }
      return object.overlay.isEmpty && object.row != nil ? object.row : try packPresent(object)
    }
  }

  // MARK: In the parent

  /// The objects of a child's changes in this context; nil for one that is gone.
  private struct FoundTargets {
    var updates: [Found?] = []
    var deletions: [Found?] = []
    /// The updated ones that this context no longer has.
    var gone: [ChildChanges.Target] = []
  }

  /// Finds and reads the objects of a child's changes, and changes nothing. Called on the parent's queue.
  ///
  /// Throws where this context is writing its own changes, which an observer or an object has interrupted.
  private func find(_ changes: ChildChanges) throws -> FoundTargets {
    if activity.isWriting { throw CoreDataError.writesAlready }
    takeUpStores()
    takeUpKeys()
    try throwReadError()
    for _ in 0..<Self.mostPushes {
      let stamp = self.changes.stamp
      var found = FoundTargets()
      found.updates = try changes.updated.map(existing)
      found.deletions = try changes.deleted.map(existing)
      found.gone = zip(found.updates, changes.updated).filter { $0.0 == nil && $0.1.isNeeded }.map(\.1.target)
      // Reading them may have called code of the client, which may have removed an object that was found.
      if self.changes.stamp == stamp { return found }
    }
    throw Self.changesWithoutEnd("awakeFromFetch", Self.mostPushes)
  }

  /// What is left to do when the child is saved, because it calls code of the client.
  private struct WaitingChanges {
    let deletions: [NSManagedObject]
    /// The objects that the child has changed. Delete rules do not delete them, because the changes are later.
    let living: [NSManagedObject]
  }

  /// Takes over the changes of a child, as the present changes of this context, except for deletions.
  private func take(_ changes: ChildChanges, _ targets: FoundTargets) -> WaitingChanges {
    for (found, update) in zip(targets.updates, changes.updated) where !update.changes.isUnsaved {
      keepBase(update, of: found)
    }
    for (found, deletion) in zip(targets.deletions, changes.deleted) { keepBase(deletion, of: found) }
    var changed = changes.inserted.map { (object: insert($0), child: $0) }
    self.changes.misplacedObjects += changed.filter { changes.misplaced.contains($0.child.target) }.map(\.object)
    for case (let update?, let child) in zip(targets.updates, changes.updated) {
      changed.append((update.object, child))
    }
    let living = changed.filter(\.child.isNeeded).map(\.object)
    reviveDeleted(living)
    changed.removeAll { $0.object.flags.isDeleted }
    for (object, child) in changed { setValues(child.changes, of: object) }
    var done: Set<SetLink> = []
    setLinks(changed.lazy.map { (object: $0.object, changes: $0.child.changes) }, done: &done, found)
    for (object, child) in changed { setOrders(child.changes, of: object, found) }
    let deletions = targets.deletions.compactMap { $0?.object }
    // A save within another one may change objects that the other is about to delete: it is later.
    if !activity.waitingDeletions.isEmpty {
      let names = Set(living.map(ObjectIdentifier.init))
      activity.waitingDeletions.removeAll { names.contains(ObjectIdentifier($0.object)) }
    }
    return WaitingChanges(deletions: deletions, living: living)
  }

  /// Calls the code of the client that has waited, deletes, and applies the delete rules. That code may discard all of
  /// it, by a rollback or a reset.
  private func complete(_ waiting: WaitingChanges) {
    let (restarts, level) = (changes.restarts, activity.takings)
    activity.takings += 1
    activity.waitingDeletions += waiting.deletions.reversed().map { (level, $0) }
    if level > 0 || !waiting.deletions.isEmpty || changes.hasUndeletedDependents {
      for object in waiting.living { activity.kept[ObjectIdentifier(object)] = object }
    }
    callDeferredAwakenings()
    for object in waiting.living where object.core === self && !object.flags.isDeleted { refreshOutdated(object) }
    while let next = activity.waitingDeletions.last, next.level == level {
      activity.waitingDeletions.removeLast()
      if changes.restarts == restarts && next.object.core === self && !next.object.flags.isDeleted {
        delete(next.object)
      }
    }
    if changes.restarts == restarts { propagateDeletes() }
    activity.takings = level
    if level == 0 { activity.kept = [:] }
  }

  /// Takes the deletions of objects back. Two kinds of links end: those that the other side has lost, and those to
  /// objects that stay deleted. The delete rules of these did nothing while both objects were deleted.
  private func reviveDeleted(_ objects: [NSManagedObject]) {
    let deleted = objects.filter { $0.flags.isDeleted && $0.core === self }
    for object in deleted { revive(object) }
    for object in deleted {
      dropLostLinks(of: object, ObjectChanges())
      for relationship in object.info.entity.relationships where relationship.linkedInverse != nil {
        if !relationship.isToMany {
          if let destination = object.toOne(relationship), endsLinks(destination, relationship) {
            object.setToOne(relationship, nil)
          }
        } else if let state = object.toManys[relationship], !state.isFault {
          for member in state.members where endsLinks(member, relationship) {
            object.removeUnread(member, from: relationship)
          }
        }
      }
    }
  }

  /// Whether an object is deleted, and its delete rule ends the links to it.
  private func endsLinks(_ other: NSManagedObject, _ relationship: Relationship) -> Bool {
    guard other.flags.isDeleted, let inverse = relationship.linkedInverse else { return false }
    let rule = other.info.relationships.first { $0.relationship == inverse }?.deleteRule
    return rule == .nullifyDeleteRule || rule == .cascadeDeleteRule
  }

  private func found(_ target: ChildChanges.Target) -> NSManagedObject? {
    let (reference, store) = present(target.reference, store: target.store)
    return object(reference, store: store)
  }

  /// An object that exists, with its values read. `wasUnread` says that they were not read before.
  private typealias Found = (object: NSManagedObject, wasUnread: Bool)

  /// The object of an update or a deletion; nil if it is gone.
  private func existing(_ change: ChildChanges.Object) throws -> Found? {
    guard let object = found(change.target) else { return nil }
    if object.flags.contains(.inaccessible) && !object.flags.contains(.listed) {
      // Looking again at an object that is gone would change its partners each time.
      if try storedRow(of: object) == nil { return nil }
      lookAgain(for: object)
    }
    let wasUnread = object.flags.isFault
    if let error = look(at: object) { throw CoreDataError.make(error) }
    return object.flags.contains(.inaccessible) ? nil : (object, wasUnread)
  }

  /// Makes what others have saved since the child read an object a conflict of the root's save.
  private func keepBase(_ change: ChildChanges.Object, of found: Found?) {
    guard let found, found.wasUnread, let base = change.base, isForeign(found.object) else { return }
    let orders = change.changes.toManys.contains { $0.order != nil }
    keep(base, of: found.object, changing: change.changes.values.map(\.slot), changesOrder: orders)
  }

  /// Whether the row of an object that was just read may be one that the root has neither saved nor merged. A packed
  /// row has a negative version.
  private func isForeign(_ object: NSManagedObject) -> Bool {
    guard let row = object.row, row.version > 0 else { return false }
    return !family.isKnown(row, root: object.info.root, store: object.storeIndex)
  }

  /// A new object with the key that it has in the child. It gets no defaults, and `awakeFromInsert` is not called: both
  /// have happened in the child.
  private func insert(_ new: ChildChanges.Object) -> NSManagedObject {
    let target = new.target
    let reference = present(target.reference)
    if let known = registry.object(reference, store: target.store) {
      if !known.flags.contains(.inserted) { becomeInserted(known, store: target.store) }
      return known
    }
    let info = frozen?.infos[reference.entity]
    guard let info else { misuse("A child context and its parent have different models.") }
    let object = info.objectClass.make(info.description)
    object.core = self
    object.setTracked(tracksReads)
    object.key = reference.key
    object.storeIndex = target.store
    registry.add(object)
    list(object)
    return object
  }

  /// Makes a new object of a fault that was made by its ID before the child saved the object.
  private func becomeInserted(_ object: NSManagedObject, store: UInt16) {
    unlist([object])
    object.forgetValues()
    // The child may have assigned it since.
    (object.storeIndex, object.cachedID) = (store, nil)
    list(object)
  }
}
