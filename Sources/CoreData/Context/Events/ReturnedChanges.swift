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

  func post(_ core: ContextCore) {
    if !sets.isEmpty { core.post(.didChange) { sets } }
  }
}

extension ContextCore {
  /// Refreshes an object and announces that.
  func refreshAlone(_ object: NSManagedObject, mergeChanges: Bool) {
    // Links that it loses belong to other objects, too.
    if !mergeChanges && object.flags.hasChanges { observed.touchAll() }
    let (wasDeleted, wasAbsent) = (
      object.flags.contains(.deleted), object.flags.isSuperset(of: [.absent, .deleted])
    )
    refresh(object, mergeChanges: mergeChanges)
    if wasAbsent && !object.flags.contains(.deleted) { return announce([object], as: NSInsertedObjectsKey) }
    // Its row was found to be gone.
    if !wasDeleted && object.flags.contains(.deleted) { return announce([object], as: NSDeletedObjectsKey) }
    announceRefresh([object])
  }

  /// Observers of properties are notified of all `objects`. New and deleted ones are not announced as refreshed.
  func announceRefresh(_ objects: [NSManagedObject]) { announce(objects, as: NSRefreshedObjectsKey) }

  private func announce(_ objects: [NSManagedObject], as key: String) {
    for object in objects where object.flags.contains(.observed) { observed.touch(object) }
    tellObservers()
    let isRefresh = key == NSRefreshedObjectsKey
    let announced = objects.filter { object in
      object.core === self && !(isRefresh && !object.flags.isDisjoint(with: [.inserted, .deleted]))
    }
    if !announced.isEmpty { post(.didChange) { [key: Set(announced)] } }
  }
}
