import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport
import Synchronization

/// Saving a context, as a list of named steps.
extension ContextCore {
  func save() throws {
    checkQueue()
    checkInvariants()
    defer {
      endUndoGroup()
      checkInvariants()
    }
    if activity.isSaving { throw CoreDataError.savesAlready }
    if activity.isPropagatingDeletes || activity.takings > 0 || !preparingForDeletion.isEmpty {
      throw CoreDataError.savesHalfADeletion
    }
    takeUpStores()
    takeUpKeys()
    try throwReadError()
    guard let coordinator else {
      if changes.isEmpty { return }
      throw CocoaError(
        .persistentStoreSave,
        userInfo: [NSLocalizedDescriptionKey: "The context has no persistent store coordinator to save to."])
    }
    propagateDeletes()
    processPendingChanges()
    activity.isSaving = true
    defer {
      (activity.isSaving, activity.isWriting) = (false, false)
      changes.dependedOn = []
      builder = nil
      callDidSaveOfEarlyOnes()
    }
    post(.willSave) { [:] }
    // An observer may have changed objects.
    if changes.list.hasPending || changes.hasUndeletedDependents { processPendingChanges() }
    do {
      for _ in 0..<Self.mostPushes {
        if changes.isEmpty && !checksUnchangedObjects { return try saveNothing(coordinator) }
        try runWillSave()
        reconcilePartners()
        try validateAll()
        // Unread objects got no `willSave` and were not validated.
        try throwReadError()
        guard let parent else { return try commit(coordinator) }
        if try push(to: parent) { return }
      }
      throw Self.changesWithoutEnd("Code that is called during the save", Self.mostPushes)
    } catch {
      // The next attempt calls `willSave` of each object again.
      for object in changed { ChangeTracker.forgetWillSaveCalled(object) }
      throw error
    }
  }

  /// Whether the client has requested the detection of conflicts of objects. A child's save detects none.
  private var checksUnchangedObjects: Bool { parent == nil && !changes.checkedObjects.isEmpty }

  private func callDidSaveOfEarlyOnes() {
    if activity.savedEarly.isEmpty { return }
    let early = activity.savedEarly
    activity.savedEarly = []
    for object in early { object.didSave() }
  }

  /// Saves no objects. Observers are notified nevertheless, as on Apple's platforms.
  private func saveNothing(_ coordinator: NSPersistentStoreCoordinator) throws {
    forgetAnnihilated()
    if parent == nil { try saveMetadata(coordinator) }
    activity.isSaving = false
    tellStreams(WatchedNotification.didSaveIDs.name, [:])
    post(.didSave) { [:] }
    post(.didSaveIDs) { [:] }
  }

  /// Plans and commits, and repeats that where a merge policy has resolved conflicts.
  private func commit(_ coordinator: NSPersistentStoreCoordinator) throws {
    var met: Set<Set<SaveConflicts.Mark>> = []
    // The stores that earlier attempts have written to, and those that are left.
    var (saved, unsaved): ([NSPersistentStore], [NSPersistentStore]) = ([], [])
    var propagations = 0
    do {
      while true {
        guard let plan = try plan(coordinator) else { continue }
        // Client code may have changed objects of stores that are written.
        unsaved = plan.parts.map(\.store)
        // A view of this context must not block the commit.
        origins.dropViews()
        let outcome = try plan.commit(self)
        // A merge policy may change the context, and save children of it.
        if case .committed = outcome {} else { activity.isWriting = false }
        switch outcome {
        case .committed(let receipts):
          finish(
            publishing: {
              for (part, receipt) in zip(plan.parts, receipts) { receipt.map { part.publish($0, in: self) } }
            },
            finally: {
              zip(plan.parts, receipts).flatMap { part, receipt in
                receipt.map { part.derived + part.refreshTouched($0, in: self) } ?? []
              }
            })
          return plan.parts.isEmpty ? try saveMetadata(coordinator) : ()
        case .conflicts(let conflicts, let remaining):
          saved += plan.written(without: remaining)
          unsaved = remaining
          if !conflicts.referrers.isEmpty { propagations += 1 }
          try resolve(conflicts, propagations, &met)
        case .moved(let remaining):
          saved += plan.written(without: remaining)
          unsaved = remaining
          try followStores()
        }
      }
    } catch { throw saved.isEmpty ? error : CoreDataError.incomplete(error, saved: saved, unsaved: unsaved) }
  }

  /// Makes a plan; nil where a store has moved, and its former URL accepts no commit any more.
  private func plan(_ coordinator: NSPersistentStoreCoordinator) throws -> SavePlan? {
    // A merge policy may have inserted objects.
    if coordinator.hasCustomStores.load(ordering: .relaxed) { try nameInsertions() }
    // The plan may read faults, which calls client code.
    activity.isWriting = true
    do { return try SavePlan(self, coordinator) } catch {
      activity.isWriting = false
      if !origins.haveMoved { throw error }
      try followStores()
      return nil
    }
  }

  /// Makes the next plan start from what the stores contain at their present URLs.
  private func followStores() throws {
    forgetStores()
    try throwReadError()
  }

  /// Throws the error that has kept objects from being read: a save must not depend on them. Only a rollback or a reset
  /// ends that state (decision 004).
  func throwReadError() throws {
    if let error = faultError { throw CoreDataError.unread(error) }
  }

  /// How often a save calls `willSave` again, because it has changed objects.
  private static let mostRounds = 1000
  /// How often a child's save begins again, because code of the client has changed objects during it.
  static let mostPushes = 100

  static func changesWithoutEnd(_ code: String, _ rounds: Int) -> any Error {
    CocoaError(
      .persistentStoreSave,
      userInfo: [
        NSLocalizedDescriptionKey:
          "\(code) has changed objects for \(rounds) rounds; let it set a value only if the value differs, or set primitive values."
      ])
  }

  /// Calls `willSave`, in which objects may change themselves and others, until no object changes. A changed object is
  /// called again, as on Apple's platforms.
  private func runWillSave() throws {
    for _ in 0..<Self.mostRounds {
      // Objects that change others append to the list while it is walked.
      var index = 0
      var hasCalled = false
      let (removals, restarts) = (changes.removals, changes.restarts)
      while index < changed.count {
        let object = changed[index]
        index += 1
        if object.flags.contains(.willSaveCalled) || !object.flags.hasChanges || object.flags.isAnnihilated { continue }
        ChangeTracker.noteWillSaveCalled(object)
        hasCalled = true
        callOut { object.willSave() }
      }
      // An object that changes in `willSave` is pending again.
      let isWhole = changes.removals == removals && changes.restarts == restarts
      if !changes.list.hasPending && (!hasCalled || isWhole) {
        readDeletedFaults()
        if !changes.list.hasPending { return }
      }
      changes.list.pending.forEachUncounted { ChangeTracker.forgetWillSaveCalled($0) }
      processPendingChanges()
    }
    throw Self.changesWithoutEnd("willSave", Self.mostRounds)
  }

  /// Reads deleted faults, whose versions the plan of the save needs. This may call code of the client, whose changes
  /// belong to the save. A parent needs no versions.
  private func readDeletedFaults() {
    if changes.counts.deleted == 0 || parent != nil { return }
    changed.forEachUncounted {
      if $0.flags.isSuperset(of: [.deleted, .fault]) && $0.flags.isDisjoint(with: [.inserted, .inaccessible]) {
        $0.prepareToRead()
      }
    }
  }

  /// Gives new objects permanent keys where a client's store assigns them. This happens before the save.
  private func nameInsertions() throws {
    let new = changed.filter { object in
      if !object.flags.isInserted || object.key > 0 { return false }
      findStore(for: object)
      return origin(object.storeIndex)?.namesObjects ?? false
    }
    if !new.isEmpty { try obtainPermanentKeys(Array(new)) }
  }

  /// Forgets objects that were inserted and deleted without ever being saved.
  private func forgetAnnihilated() {
    var leaving = Leaving()
    for object in changes.annihilate() {
      registry.forget(object)
      leaving.members.append(object)
      object.toManys.moveAll(to: &leaving.states)
    }
    withExtendedLifetime(leaving) {}
  }

  private func saveMetadata(_ coordinator: NSPersistentStoreCoordinator) throws {
    origins.dropViews()
    for store in coordinator.openStores where store.pendingMetadata != nil {
      try saveMetadata(of: store.current)
    }
  }

  private func saveMetadata(of store: NSPersistentStore) throws {
    // The commit adds the metadata to the changes.
    let changes = ChangeSet(time: Date.timeIntervalSinceReferenceDate)
    do {
      let result = try store.commit(changes, madeFor: store.requireEngine(), CustomSave(context: context))
      // The store has moved, together with its new metadata.
      if result == nil { return try saveMetadata(of: store.current) }
    } catch {
      throw store.cocoaError(error)
    }
  }

  /// Ends a save: clears the lists and notifies observers. `publishing` gives the saved objects their rows and keys.
  /// `finally` is called when the lists are clear and another save may begin, before `didSave()` and the notifications.
  /// It returns the objects with values that the save has computed.
  private func finish(publishing: () -> Void, finally: () -> [NSManagedObject]) {
    finish(beginFinish(publishing: publishing), finally: finally)
  }

  /// What the end of a save still needs when the lists are clear.
  struct FinishedSave {
    fileprivate let objects: ChangedObjects?
    fileprivate let late: ContiguousArray<LateChange>
    fileprivate let ids: [AnyHashable: Any]?
    fileprivate let former: ChangeTracker
    fileprivate let leaving: Leaving
    fileprivate let registration: (() -> Void)?
  }

  /// The first part of the end: clears the lists. It calls no code of the client.
  func beginFinish(publishing: () -> Void) -> FinishedSave {
    // What validation and partners have changed since the last event.
    let registration = recordsUndo ? journalOfEvent() : nil
    let late = lateChanges(of: changes.list.hasPending ? changes.list.pending : [])
    publishing()
    let objects = takeSavedObjects()
    var ids = WatchedNotification.didSaveIDs.isWatched ? SavedIDs(room: changes.counts) : nil
    let former = changes.restart()
    var leaving = Leaving()
    former.objects.forEachUncounted { object in
      ids?.add(object)
      endSave(of: object, &leaving)
    }
    former.list.forgetEventBases()
    forgetMembers(without: former.omissions, &leaving.states)
    // Client code that is called from here on may save again.
    (activity.isSaving, activity.isWriting) = (false, false)
    let userInfo = ids?.userInfo
    if let userInfo { tellStreams(WatchedNotification.didSaveIDs.name, userInfo) }
    return FinishedSave(
      objects: objects, late: late, ids: userInfo, former: former, leaving: leaving, registration: registration)
  }

  /// The second part: notifies observers.
  func finish(_ save: FinishedSave, finally: () -> [NSManagedObject] = { [] }) {
    save.registration?()
    announce(save.late, computed: finally())
    callDidSaveOfEarlyOnes()
    // What was inserted and deleted again is no part of the save.
    save.former.objects.forEachUncounted {
      if $0.flags.isDisjoint(with: .gone) || $0.flags.contains(.stored) { $0.didSave() }
    }
    if let objects = save.objects { post(.didSave) { objects.userInfo } }
    if let ids = save.ids { post(.didSaveIDs) { ids } }
    withExtendedLifetime(save) {}
    announceKeys()
  }

  /// A change of an object since the last event: by validation, by a partner, or by a merge policy.
  fileprivate typealias LateChange = (object: NSManagedObject, change: ObjectChange?)

  private func lateChanges(of objects: ContiguousArray<NSManagedObject>) -> ContiguousArray<LateChange> {
    let pending = objects.filter { $0.flags.contains(.pending) }
    for object in pending { object.observers?.keepChangedKeys(of: object) }
    return ContiguousArray(pending.map { ($0, $0.flags.eventChange) })
  }

  /// Announces what a save has changed after its last event. `computed` are the objects with derived values, which the
  /// context or the stores have computed.
  private func announce(_ late: ContiguousArray<LateChange>, computed: [NSManagedObject]) {
    if late.isEmpty && computed.isEmpty || !WatchedNotification.didChange.isWatched { return tellObserversOfAll() }
    var announcement = RefreshAnnouncement()
    for object in computed { announcement.add(object, object.flags) }
    for (object, change) in late { announcement.add(object, change) }
    announcement.post(self) { tellObserversOfAll() }
  }

  /// Values that saved objects no longer need. They are released after the save: the `deinit` of a client's class must
  /// not see a half-finished save, nor change an object whose changes are about to be forgotten.
  fileprivate struct Leaving {
    var states: ContiguousArray<ToManyState> = []
    var members: ContiguousArray<NSManagedObject> = []
  }

  /// The objects of the save, if anybody observes it. Taken from the last event where that reported the same objects.
  private func takeSavedObjects() -> ChangedObjects? {
    if !WatchedNotification.didSave.isWatched { return nil }
    if !changes.list.hasPending, let event = changes.lastEvent { return event }
    return ChangedObjects(changed, room: changes.counts) { $0.flags.savedChange }
  }

  /// Finishes the save for the objects of the stores that it has reached before another store failed.
  func finishCommitted(_ committed: [(part: SavePlan.Part, receipt: Receipt)]) {
    let saved = committed.flatMap { $0.part.inserted + $0.part.updated + $0.part.deleted }
    let objects = ChangedObjects(ContiguousArray(saved), room: changes.counts) { $0.flags.savedChange }
    var ids = SavedIDs(room: objects.counts)
    let late = lateChanges(of: ContiguousArray(saved))
    for (part, receipt) in committed { part.publish(receipt, in: self) }
    var leaving = Leaving()
    for object in saved { ids.add(object) }
    unlist(saved)
    for object in saved { endSave(of: object, &leaving) }
    announce(late, computed: committed.flatMap { $0.part.derived + $0.part.refreshTouched($0.receipt, in: self) })
    activity.savedEarly += saved
    let idInfo = ids.userInfo
    tellStreams(WatchedNotification.didSaveIDs.name, idInfo)
    post(.didSave) { objects.userInfo }
    post(.didSaveIDs) { idInfo }
    withExtendedLifetime(leaving) {}
    announceKeys()
  }

  /// Sets the object's state after a save.
  private func endSave(of object: NSManagedObject, _ leaving: inout Leaving) {
    if object.flags.contains(.deleted) {
      registry.forget(object)
      ChangeTracker.endSave(of: object)
      // Members hold their owners: a deleted object must not keep a cycle of them alive.
      object.toManys.moveAll(to: &leaving.states)
      object.extras?.fetchedProperties = [:]
      return
    }
    object.clearOverlay()
    object.extras?.changedTransients = []
    ChangeTracker.endSave(of: object)
    object.toManys.forEach { $0.didSave(&leaving.members) }
  }
}
