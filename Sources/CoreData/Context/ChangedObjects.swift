import CRuntime
import Foundation

/// What an event or a save does to an object.
enum ObjectChange: Int {
  case inserted, updated, deleted
}

extension ContiguousArray where Element == NSManagedObject {
  /// Calls `body` with each object. The array holds them, so they are not counted one by one: an atomic instruction
  /// each, which is felt in saves of a hundred thousand. The caller holds the array in a constant.
  @inline(__always)
  func forEachUncounted(_ body: (NSManagedObject) throws -> Void) rethrows {
    try withUnsafeBytes { addresses in
      let objects = addresses.bindMemory(to: Unmanaged<NSManagedObject>.self)
      for index in objects.indices {
        // Of many, those that come are out of the processor's reach: they are asked for, each before its row.
        if index &+ 8 < objects.count {
          cd_prefetch(objects[index &+ 8].toOpaque())
          cd_prefetch(objects[index &+ 8].toOpaque() + 64)
          objects[index &+ 4]._withUnsafeGuaranteedRef {
            cd_prefetch(unsafeBitCast($0.row, to: UnsafeRawPointer?.self))
          }
        }
        try objects[index]._withUnsafeGuaranteedRef { try body($0) }
      }
    }
  }
}

extension Set where Element: NSObject {
  /// Makes room for twice as many objects: in a fuller table more are compared, and to compare two costs as much as to
  /// hash one.
  fileprivate mutating func makeRoom(for count: Int) {
    if count > 0 { reserveCapacity(2 * count) }
  }
}

/// How many objects have been changed.
struct ChangeCounts {
  var inserted, updated, deleted: Int
}

extension ContextCore {
  var changeCounts: ChangeCounts {
    ChangeCounts(inserted: insertedCount, updated: updatedCount, deleted: deletedCount)
  }
}

/// Objects by what happened to them, as notifications carry them.
struct ChangedObjects {
  private(set) var inserted: Set<NSManagedObject> = []
  private(set) var updated: Set<NSManagedObject> = []
  private(set) var deleted: Set<NSManagedObject> = []

  /// `room` is how many there may be: a set that grows hashes its members again.
  init(
    _ objects: ContiguousArray<NSManagedObject>, room: ChangeCounts, change: (NSManagedObject) -> ObjectChange?
  ) {
    inserted.makeRoom(for: min(room.inserted, objects.count))
    updated.makeRoom(for: min(room.updated, objects.count))
    deleted.makeRoom(for: min(room.deleted, objects.count))
    objects.forEachUncounted { object in
      switch change(object) {
      case .inserted?: inserted.insert(object)
      case .updated?: updated.insert(object)
      case .deleted?: deleted.insert(object)
      case nil: return
      }
    }
  }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
  var counts: ChangeCounts { ChangeCounts(inserted: inserted.count, updated: updated.count, deleted: deleted.count) }

  var userInfo: [AnyHashable: Any] {
    let sets = [(NSInsertedObjectsKey, inserted), (NSUpdatedObjectsKey, updated), (NSDeletedObjectsKey, deleted)]
    return Dictionary(uniqueKeysWithValues: sets.filter { !$1.isEmpty }.map { ($0, $1) })
  }
}

/// The IDs of the objects of one save, for its notification.
struct SavedIDs {
  private var inserted: Set<NSManagedObjectID> = []
  private var updated: Set<NSManagedObjectID> = []
  private var deleted: Set<NSManagedObjectID> = []

  init(room: ChangeCounts) {
    inserted.makeRoom(for: room.inserted)
    updated.makeRoom(for: room.updated)
    deleted.makeRoom(for: room.deleted)
  }

  mutating func add(_ object: NSManagedObject) {
    switch object.flags.savedChange {
    case .inserted?: inserted.insert(object.ownID)
    case .updated?: updated.insert(object.ownID)
    case .deleted?: deleted.insert(object.ownID)
    case nil: return
    }
  }

  var userInfo: [AnyHashable: Any] {
    let sets: [(NSManagedObjectContext.NotificationKey, Set<NSManagedObjectID>)] = [
      (.insertedObjectIDs, inserted), (.updatedObjectIDs, updated), (.deletedObjectIDs, deleted),
    ]
    return Dictionary(uniqueKeysWithValues: sets.filter { !$1.isEmpty }.map { ($0.rawValue, $1) })
  }
}

/// What the object's own properties of these names say, whatever a subclass says of it: the library asks these.
extension NSManagedObject.Flags {
  var isInserted: Bool { contains(.inserted) && !contains(.deleted) }
  var isUpdated: Bool { contains(.updated) && isDisjoint(with: [.inserted, .deleted]) }
  var isDeleted: Bool { contains(.deleted) }
  var hasChanges: Bool { isInserted || isUpdated || isDeleted }
  var isFault: Bool { contains(.fault) }

  /// What a save does to the object in its store, before the save has settled it.
  var savedChange: ObjectChange? {
    switch (contains(.inserted), contains(.deleted)) {
    case (true, true): nil
    case (true, false): .inserted
    case (false, true): .deleted
    case (false, false): contains(.updated) ? .updated : nil
    }
  }

  /// What happened to the object since the last event.
  var eventChange: ObjectChange? {
    switch (contains(.pendingInsert), contains(.deleted)) {
    case (true, true): nil
    case (true, false): .inserted
    case (false, true): .deleted
    case (false, false): .updated
    }
  }
}
