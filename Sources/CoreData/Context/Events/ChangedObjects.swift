import CRuntime
import Foundation

/// How an event or a save changes an object.
enum ObjectChange: Int {
  case inserted, updated, deleted
}

extension ContiguousArray where Element == NSManagedObject {
  /// Calls `body` with each object, without reference counting of each: the array holds the objects, and an atomic
  /// instruction for each is noticeable in saves of a hundred thousand. The caller must hold the array in a constant.
  @inline(__always)
  func forEachUncounted(_ body: (NSManagedObject) throws -> Void) rethrows {
    try withUnsafeBytes { addresses in
      let objects = addresses.bindMemory(to: Unmanaged<NSManagedObject>.self)
      for index in objects.indices {
        // In long lists the next objects are not in the processor's cache. Each object is prefetched, and then its row.
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
  /// Reserves one and a half times the room: in a full table more members are compared, and comparing two costs as much
  /// as hashing one.
  fileprivate mutating func makeRoom(for count: Int) {
    if count > 0 { reserveCapacity(count + count / 2) }
  }

  /// A set of the objects of a list. All are retained first: an atomic instruction after each object would wait until
  /// its part of the table has come from memory.
  fileprivate init(of objects: ContiguousArray<Element>) {
    self.init()
    makeRoom(for: objects.count)
    for object in objects { _ = Unmanaged.passRetained(object) }
    objects.withUnsafeBytes {
      for object in $0.bindMemory(to: Unmanaged<Element>.self) { update(with: object.takeRetainedValue()) }
    }
  }
}

/// How many objects have been changed.
struct ChangeCounts: Equatable {
  var inserted, updated, deleted: Int

  @inline(__always)
  subscript(_ change: ObjectChange) -> Int {
    get {
      switch change {
      case .inserted: inserted
      case .updated: updated
      case .deleted: deleted
      }
    }
    set {
      switch change {
      case .inserted: inserted = newValue
      case .updated: updated = newValue
      case .deleted: deleted = newValue
      }
    }
  }
}

/// The objects of a notification, by kind of change.
struct ChangedObjects {
  private(set) var inserted: Set<NSManagedObject> = []
  private(set) var updated: Set<NSManagedObject> = []
  private(set) var deleted: Set<NSManagedObject> = []

  /// `room` says how many objects to expect: a set that grows hashes its members again.
  init(
    _ objects: ContiguousArray<NSManagedObject>, room: ChangeCounts, change: (NSManagedObject) -> ObjectChange?
  ) {
    inserted.makeRoom(for: min(room.inserted, objects.count))
    updated.makeRoom(for: min(room.updated, objects.count))
    deleted.makeRoom(for: min(room.deleted, objects.count))
    // Retained first, as in a set of a list.
    objects.forEachUncounted { if change($0) != nil { _ = Unmanaged.passRetained($0) } }
    objects.forEachUncounted { object in
      let counted = Unmanaged.passUnretained(object)
      switch change(object) {
      case .inserted?: inserted.update(with: counted.takeRetainedValue())
      case .updated?: updated.update(with: counted.takeRetainedValue())
      case .deleted?: deleted.update(with: counted.takeRetainedValue())
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
  private var inserted: ContiguousArray<NSManagedObjectID> = []
  private var updated: ContiguousArray<NSManagedObjectID> = []
  private var deleted: ContiguousArray<NSManagedObjectID> = []
  /// The store of the last object. Objects of one store are mostly adjacent.
  private var store: NSPersistentStore?
  private var storeIndex = UInt16.max

  init(room: ChangeCounts) {
    inserted.reserveCapacity(room.inserted)
    updated.reserveCapacity(room.updated)
    deleted.reserveCapacity(room.deleted)
  }

  mutating func add(_ object: NSManagedObject) {
    guard let change = object.flags.savedChange else { return }
    if object.storeIndex != storeIndex || store == nil {
      storeIndex = object.storeIndex
      store = object.withCore { $0.store(storeIndex) } ?? nil
    }
    let id = object.ownID(in: store)
    switch change {
    case .inserted: inserted.append(id)
    case .updated: updated.append(id)
    case .deleted: deleted.append(id)
    }
  }

  var userInfo: [AnyHashable: Any] {
    let lists: [(NSManagedObjectContext.NotificationKey, ContiguousArray<NSManagedObjectID>)] = [
      (.insertedObjectIDs, inserted), (.updatedObjectIDs, updated), (.deletedObjectIDs, deleted),
    ]
    return Dictionary(uniqueKeysWithValues: lists.filter { !$1.isEmpty }.map { ($0.rawValue, Set(of: $1)) })
  }
}

/// The change properties of an object by its flags. The library uses these, because a subclass may override the
/// properties of the object.
extension NSManagedObject.Flags {
  var isInserted: Bool { contains(.inserted) && !contains(.deleted) }
  var isUpdated: Bool { contains(.updated) && isDisjoint(with: [.inserted, .deleted]) }
  var isDeleted: Bool { contains(.deleted) }
  /// Inserted and deleted again without a save in between.
  var isAnnihilated: Bool { isSuperset(of: [.inserted, .deleted]) }
  /// The deletion of a new object was reported. A new object is never marked as updated, so the bit is free for this.
  static let endReported: Self = .updated
  var hasChanges: Bool { isInserted || isUpdated || isDeleted }
  var isFault: Bool { contains(.fault) }

  /// Whether a save writes no links to the object: it is deleted, or was deleted before it was ever stored.
  var leavesNoLinks: Bool { contains(.deleted) || intersection([.gone, .stored]) == .gone }

  /// The change that a save makes to the object in its store. Valid until the save has updated the flags.
  var savedChange: ObjectChange? {
    switch (contains(.inserted), contains(.deleted)) {
    case (true, true): nil
    case (true, false): .inserted
    case (false, true): .deleted
    case (false, false): contains(.updated) ? .updated : nil
    }
  }

  /// The change as which the object is counted in its context.
  @inline(__always)
  var countedChange: ObjectChange? { contains(.listed) ? savedChange : nil }

  /// The change of the object since the last event.
  var eventChange: ObjectChange? {
    switch (contains(.absent), contains(.deleted)) {
    case (true, true): isAnnihilated && !contains(.endReported) ? .deleted : nil
    case (true, false): .inserted
    case (false, true): .deleted
    case (false, false): .updated
    }
  }
}
