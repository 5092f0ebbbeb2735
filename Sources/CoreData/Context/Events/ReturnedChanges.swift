import Foundation

/// What a rollback undoes, for those who watch: new objects go, deleted ones come back, others have their old values.
struct ReturnedChanges {
  private var sets: [String: Set<NSManagedObject>] = [:]

  /// Of whom `isToldOfDeletion` holds, nobody has been told that it is deleted.
  init(_ objects: some Sequence<NSManagedObject>, isToldOfDeletion: (NSManagedObject) -> Bool) {
    if !WatchedNotification.didChange.isWatched { return }
    for object in objects {
      let isDeleted = object.flags.contains(.deleted) && !isToldOfDeletion(object)
      switch (object.flags.contains(.inserted), isDeleted) {
      case (true, true): continue
      // It is gone, and stays so.
      case (false, true) where object.flags.contains(.inaccessible): continue
      case (true, false): sets[NSDeletedObjectsKey, default: []].insert(object)
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
  func announceRefresh(_ objects: [NSManagedObject]) {
    let refreshed = objects.filter { $0.core === self && !$0.flags.contains(.inserted) }
    if !refreshed.isEmpty { post(.didChange) { [NSRefreshedObjectsKey: Set(refreshed)] } }
  }
}
