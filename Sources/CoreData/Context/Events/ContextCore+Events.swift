import Foundation
import StoreSchema

/// The end of an event, rollback and refresh.
extension ContextCore {
  func processPendingChanges() {
    checkQueue()
    checkInvariants()
    // The views hold their owners and members.
    if !orderedViews.isEmpty { orderedViews = [:] }
    defer { releaseRecentObjects() }
    let appliesRules = propagatesDeletesAtEndOfEvent || activity.isSaving
    if appliesRules { propagateDeletes() }
    tellObservers()
    // Observers may have deleted objects. Where this runs within the delete rules, the outer run applies them.
    while appliesRules && changes.hasUndeletedDependents && !activity.isPropagatingDeletes {
      propagateDeletes()
      tellObservers()
    }
    announceRefetched()
    if !changes.list.hasPending { return }
    // It needs the values before the event, which are dropped below.
    let registration = recordsUndo ? journalOfEvent() : nil
    let objects = changes.list.pending
    var isWhole = changes.list.isWhollyPending
    // Released at the end, because a release may run code of the client.
    let owners = changes.ownersInEvent
    defer { withExtendedLifetime(owners) {} }
    changes.ownersInEvent = []
    changes.endEvent()
    // An observer that is added during this notification still gets the notification of the save.
    let event =
      WatchedNotification.didChange.isWatched
      ? ChangedObjects(objects, room: changes.counts) { $0.flags.eventChange } : nil
    isWhole = isWhole && event != nil
    let isReported = event?.isEmpty == false
    objects.forEachUncounted { object in
      isWhole = isWhole && object.flags.eventChange == object.flags.savedChange
      ChangeTracker.endEvent(of: object, isReported: isReported)
      if !isReported { object.forgetEventBase() }
    }
    // Registered before observers may undo the event.
    registration?()
    guard let event else { return }
    if isWhole { changes.noteEvent(event) }
    if !isReported { return }
    post(.didChange) { event.userInfo }
    objects.forEachUncounted { $0.forgetEventBase() }
  }

  /// Processes pending changes, and ends the undo manager's group of the event.
  func endEvent() {
    processPendingChanges()
    endUndoGroup()
  }

  func endUndoGroup() { if recordsUndo { context?.undoManager?.endEvent() } }

  func rollback() {
    checkQueue()
    checkInvariants()
    defer { checkInvariants() }
    orderedViews = [:]
    faultError = nil
    let announcement = ReturnedChanges(changed)
    for omission in changes.omissions where omission.member.flags.isDisjoint(with: [.inaccessible, .gone]) {
      let relationship = omission.relationship
      omission.owner.toMany(relationship).restore(omission.member, isOrdered: relationship.isOrdered)
    }
    // Released when the rollback is complete: the `deinit` of a client's class must not see it half done.
    var unread: ContiguousArray<ToManyState> = []
    var values: [Any] = []
    var kept: ContiguousArray<NSManagedObject> = []
    forgetMembers(without: changes.omissions, &unread)
    let former = changes.restart()
    defer { withExtendedLifetime((unread, values, former)) {} }
    defer { announcement.post(self) }
    // All flags are written at once, before client code is called or anything is released.
    for object in former.objects { ChangeTracker.rollBack(object) }
    for deletion in preparingForDeletion where isDeletionReported(deletion.object) && isStillDeleted(deletion.object) {
      // The object was not listed yet.
      ChangeTracker.rollBack(deletion.object)
    }
    for object in former.objects {
      object.toManys.moveAll(to: &unread)
      if object.flags.contains(.gone) {
        registry.forget(object)
        if let extras = object.extras {
          values.append((extras.fetchedProperties, extras.eventBase, extras.formerTransients))
          (extras.fetchedProperties, extras.eventBase, extras.formerTransients) = ([:], nil, [:])
        }
        // The object may be inserted again, as a new one.
        object.core = nil
      } else {
        object.clearOverlay()
        if let extras = object.extras { values.append(extras.takeValues()) }
        kept.append(object)
      }
    }
    // Others have changed these. A row of version 0 is kept for the conflict of a save only.
    let outdated = former.outdatedDeletions.values + kept.filter { $0.row?.version == 0 }
    for object in outdated where object.core === self && !object.flags.isDeleted {
      turnIntoFault(object)
    }
    for object in kept where object.core === self { object.awake(fromSnapshotEvents: .rollback) }
  }

  func reset() {
    checkQueue()
    faultError = nil
    let ids = WatchedNotification.didChange.isWatched ? registry.all.map(\.ownID) : []
    let observed = observed.takeAll()
    forgetAll(emptiesObjects: true)
    endObservations(of: observed)
    post(.didChange) { [NSInvalidatedAllObjectsKey: ids] }
  }

  func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
    checkQueue()
    checkInvariants()
    defer { checkInvariants() }
    guard object.core === self else { return }
    if object.flags.contains(.inserted) {
      // The object stays inserted, without values, and no object links to it.
      if mergeChanges { return }
      for info in object.info.relationships { unlink(object, info.relationship) }
      return turnIntoFault(object)
    }
    lookAgain(for: object)
    dropRow(of: object)
    if mergeChanges && object.flags.hasChanges {
      // Before the object is read: what it sets itself when it awakes stays.
      object.forgetUnchangedValues(links: true)
      let kept = object.row
      let links = object.flags.isDeleted ? knownLinks(of: object) : [:]
      object.row = nil
      object.setFault(true)
      fire(object)
      if object.row == nil { object.row = kept }
      if let kept { object.forgetEndedLinks(kept, registry) }
      for relationship in object.info.entity.relationships { object.mergeMembers(relationship, keepsOrder: true) }
      object.extras?.fetchedProperties = [:]
      // The newer row may have links that the delete rules have not seen.
      if object.flags.isDeleted && object.row?.version != kept?.version && hasLinks(object, beside: links) {
        changes.propagateAgain(object)
      }
      object.awake(fromSnapshotEvents: .refresh)
      return
    }
    // An object whose `prepareForDeletion` is running stays marked as deleted.
    if object.flags.contains(.listed) && !mergeChanges {
      unlist([object], marks: isDeletionReported(object) ? [] : .deleted)
    }
    if !mergeChanges {
      for (owner, relationship) in takeOmissions(of: object) { owner.forget(object, in: relationship) }
    }
    turnIntoFault(object)
  }

  /// The destinations of each relationship of an object that has been read.
  private func knownLinks(of object: NSManagedObject) -> [Relationship: Set<ObjectReference>] {
    var links: [Relationship: Set<ObjectReference>] = [:]
    for relationship in object.info.entity.relationships {
      if !relationship.isToMany {
        links[relationship] = Set([object.reference(relationship)].compactMap { $0 })
      } else if let state = object.toManys[relationship], !state.isFault {
        links[relationship] = Set(state.members.map(\.reference))
      }
    }
    return links
  }

  /// Whether an object has a link that is not among these.
  private func hasLinks(_ object: NSManagedObject, beside links: [Relationship: Set<ObjectReference>]) -> Bool {
    object.info.entity.relationships.contains { relationship in
      let present =
        relationship.isToMany
        ? object.loadedToMany(relationship).members.map(\.reference)
        : [object.reference(relationship)].compactMap { $0 }
      return !Set(present).isSubset(of: links[relationship] ?? [])
    }
  }
}
