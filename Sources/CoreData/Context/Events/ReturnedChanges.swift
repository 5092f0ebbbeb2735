import Foundation

/// The notification of a rollback: new objects are deleted, deleted objects are inserted, changed objects are
/// refreshed. A deletion of the event that has not ended was never announced, and is not taken back.
struct ReturnedChanges {
  private var sets: [String: Set<NSManagedObject>] = [:]

  /// Called before the objects are rolled back.
  init(_ objects: some Sequence<NSManagedObject>) {
    if !WatchedNotification.didChange.isWatched { return }
    for object in objects {
      switch (object.flags.contains(.inserted), object.flags.contains(.absent)) {
      // Its deletion was announced, or it was new. An insertion may be known before it is announced.
      case (true, true) where object.flags.contains(.deleted): continue
      // The object's row is gone; the object stays deleted.
      case (false, _) where object.flags.isSuperset(of: [.inaccessible, .deleted]): continue
      case (true, _): sets[NSDeletedObjectsKey, default: []].insert(object)
      case (false, true): sets[NSInsertedObjectsKey, default: []].insert(object)
      case (false, false): sets[NSRefreshedObjectsKey, default: []].insert(object)
      }
    }
  }

  /// Notifies observers of properties, and posts the notification.
  func post(_ core: ContextCore) {
    core.announcing(sets) { core.tellObserversOfAll() }
    if !sets.isEmpty { core.post(.didChange) { sets } }
  }
}

extension ContextCore {
  /// Refreshes an object and announces that.
  func refreshAlone(_ object: NSManagedObject, mergeChanges: Bool) {
    // Links that it loses belong to other objects, too.
    if !mergeChanges && object.flags.hasChanges { observed.touchAll() }
    refreshEach([object], mergeChanges: mergeChanges)
  }

  /// Refreshes objects and announces that: those whose rows are found to be gone as deleted, those that were announced
  /// as deleted and are found again as inserted. Observers of properties are notified of all `objects`. New and deleted
  /// ones are not announced as refreshed.
  func refreshEach(_ objects: [NSManagedObject], mergeChanges: Bool) {
    // A value that the event has set back is dropped below, and an undo of the event must know it.
    if mergeChanges { endEventToRead() }
    var announcement = RefreshAnnouncement()
    for object in objects {
      let former = object.flags
      refresh(object, mergeChanges: mergeChanges)
      // Whether it is there again must be known.
      if former.isSuperset(of: [.inaccessible, .absent]) { _ = look(at: object) }
      announcement.add(object, former)
    }
    for object in objects where object.flags.contains(.observed) { observed.touch(object) }
    announcement.post(self) { tellObservers() }
  }

  /// Announces the objects that a fetch has refreshed, when it has ended. They have other values now, or become faults
  /// that will have them.
  func announceRefetched(_ parameters: FetchParameters) {
    if parameters.shouldRefreshRefetchedObjects { announceRefetched() }
  }

  /// Announces what fetches have refreshed so far. While an object is incomplete, observers are not notified: then the
  /// end of the event announces it.
  func announceRefetched() {
    if refetched.isEmpty || activity.isCallingOut { return }
    let announcement = refetched
    refetched = RefreshAnnouncement()
    announcement.post(self) { tellObserversOfAll() }
  }
}

/// What a refresh of objects, by the client, a fetch, a merge or the end of a save, is announced as.
struct RefreshAnnouncement {
  private var keys: [NSManagedObject: String] = [:]

  var isEmpty: Bool { keys.isEmpty }

  /// The objects by their keys, without those that observers have deleted or removed meanwhile.
  func sets(_ core: ContextCore) -> [AnyHashable: Any] {
    var sets: [String: Set<NSManagedObject>] = [:]
    for (object, key) in keys
    where object.core === core && (key == NSDeletedObjectsKey || !object.flags.contains(.deleted)) {
      sets[key, default: []].insert(object)
    }
    return sets
  }

  /// Notifies observers of properties by `tell`, and posts the notification.
  func post(_ core: ContextCore, _ tell: () -> Void) {
    core.announcing(sets(core), tell)
    let sets = sets(core)
    if !sets.isEmpty { core.post(.didChange) { sets } }
  }

  /// Adds an object that was refreshed. `former` are its flags from before.
  mutating func add(_ object: NSManagedObject, _ former: NSManagedObject.Flags) {
    if object.flags.contains(.inaccessible) { return addGone(object, former) }
    if !object.flags.isDisjoint(with: [.inserted, .deleted]) || keys[object] == NSInsertedObjectsKey { return }
    keys[object] = former.isSuperset(of: [.absent, .deleted]) ? NSInsertedObjectsKey : NSRefreshedObjectsKey
  }

  /// Adds an object with a change of an event; nil for one that no event reports.
  mutating func add(_ object: NSManagedObject, _ change: ObjectChange?) {
    keys[object] = change.map {
      switch $0 {
      case .inserted: NSInsertedObjectsKey
      case .updated: NSUpdatedObjectsKey
      case .deleted: NSDeletedObjectsKey
      }
    }
  }

  /// Adds an object that the context did not have.
  mutating func addNew(_ object: NSManagedObject) {
    if object.flags.contains(.inaccessible) { return ChangeTracker.noteAbsence(of: object) }
    keys[object] = NSInsertedObjectsKey
  }

  /// Adds an object whose row is gone, unless that was announced before.
  mutating func addGone(_ object: NSManagedObject, _ former: NSManagedObject.Flags) {
    // The client has deleted it, and the end of the event reports that.
    if object.flags.contains(.listed) { return }
    keys[object] = former.isSuperset(of: [.absent, .deleted]) ? nil : NSDeletedObjectsKey
    ChangeTracker.noteAbsence(of: object)
  }
}
