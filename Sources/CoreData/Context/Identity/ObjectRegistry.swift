import StoreSchema
import Synchronization

/// The objects of a context by their keys. Each object exists once.
///
/// Any thread may use it, because the last release of an object may happen on any thread. One lock guards the maps.
/// Nothing is released while the lock is held, because an object that is deinitialized calls ``forget(_:)``. A thread
/// that is not on the context's queue may find an object but must not read it.
final class ObjectRegistry: @unchecked Sendable {
  private let lock = Mutex(())
  @exclusivity(unchecked) private var maps = IdentityMaps()

  // Used only on the context's queue:

  /// The root entity of each entity of the model.
  private var roots: ContiguousArray<Int> = []
  /// Whether there are stores that are notified of the objects in use.
  private(set) var watchesObjects = false

  deinit {
    maps.clear()
    maps.restart(entityCount: 0)
  }

  /// Prepares for another model, given by the root entity of each entity. No saved object may be registered.
  func restart(roots: ContiguousArray<Int>) {
    self.roots = roots
    lock.withLock { _ in maps.restart(entityCount: roots.count) }
  }

  // MARK: Adding

  func add(_ object: NSManagedObject) {
    lock.withLock { _ in
      maps.set(object)
      if maps.retained != nil { maps.retained?[ObjectIdentifier(object)] = object }
    }
  }

  /// Adds saved objects of one store and one root entity.
  func add(_ objects: ArraySlice<NSManagedObject>) {
    guard let first = objects.first else { return }
    lock.withLock { _ in
      maps.set(objects, like: first)
      if maps.retained != nil { for object in objects { maps.retained?[ObjectIdentifier(object)] = object } }
    }
  }

  /// Makes room for `count` saved objects of one store and one root entity in all.
  func expect(_ count: Int, store: UInt16, root: Int) {
    lock.withLock { _ in maps.expect(count, store: store, root: root) }
  }

  /// Makes room for `more` saved objects of one store and one root entity, beside those that are there.
  func reserve(_ more: Int, store: UInt16, root: Int) {
    lock.withLock { _ in maps.reserve(more, store: store, root: root) }
  }

  // MARK: Finding

  @inline(__always)
  func object(_ reference: ObjectReference, store: UInt16) -> NSManagedObject? {
    guard reference.entity < roots.count, reference.key < 0 || store != .max else { return nil }
    let root = roots[reference.entity]
    return lock.withLock { _ in maps.object(reference.key, store: store, root: root) }
  }

  /// The object with a temporary key, or that had it before it got its permanent one.
  func object(temporary key: Int64) -> NSManagedObject? {
    lock.withLock { _ in maps.object(key, store: .max, root: 0) }
  }

  /// The object of a permanent key.
  func object(_ key: Int64, root: Int, store: UInt16) -> NSManagedObject? {
    lock.withLock { _ in root < maps.entityCount ? maps.object(key, store: store, root: root) : nil }
  }

  /// The registered objects of rows, nil for rows without one.
  func objects(of rows: RowChunk, root: Int, store: UInt16) -> ContiguousArray<NSManagedObject?> {
    lock.withLock { _ in maps.objects(rows, store: store, root: root) }
  }

  var all: [NSManagedObject] { lock.withLock { _ in maps.all } }

  var count: Int { lock.withLock { _ in maps.count } }

  /// How many saved objects of a root entity are registered.
  func count(store: UInt16, root: Int) -> Int { lock.withLock { _ in maps.count(store: store, root: root) } }

  func hasObjects(ofStore index: UInt16) -> Bool { lock.withLock { _ in maps.hasObjects(ofStore: index) } }

  // MARK: Forgetting

  /// Also called by the object's deinitializer.
  func forget(_ object: NSManagedObject) {
    var kept: NSManagedObject?
    lock.withLock { _ in
      maps.remove(object)
      if maps.retained != nil { kept = maps.retained?.removeValue(forKey: ObjectIdentifier(object)) }
    }
    withExtendedLifetime(kept) {}
  }

  /// Returns all objects, and forgets them. Objects that are added later are kept alive as before.
  func takeAll() -> [NSManagedObject] {
    let objects = all
    lock.withLock { _ in
      maps.clear()
      // `objects` keeps them alive.
      if maps.retained != nil { maps.retained = [:] }
    }
    return objects
  }

  var retainsObjects: Bool {
    get { lock.withLock { _ in maps.retained != nil } }
    set {
      let objects = all
      var kept = newValue ? Dictionary(objects.map { (ObjectIdentifier($0), $0) }) { first, _ in first } : nil
      lock.withLock { _ in swap(&maps.retained, &kept) }
      withExtendedLifetime((objects, kept)) {}
    }
  }

  // MARK: Permanent keys

  /// Gives an object its permanent key. With `keepsTemporaryKey`, before a save, the object can still be found by its
  /// temporary key until the save or the end of the object, because others may still refer to it.
  func becomePermanent(_ object: NSManagedObject, key: Int64, keepsTemporaryKey: Bool) {
    if keepsTemporaryKey {
      object.makeExtras().temporaryKey = object.key
    } else {
      forget(object)
    }
    object.key = key
    var former = object.cachedID
    object.cachedID = nil
    if former != nil && !isKnownUniquelyReferenced(&former) { former?.successor = object.ownID }
    add(object)
  }

  func forgetTemporaryKey(_ object: NSManagedObject) {
    guard let extras = object.extras, extras.temporaryKey < 0 else { return }
    lock.withLock { _ in maps.removeTemporary(extras.temporaryKey, object) }
    extras.temporaryKey = 0
  }

  // MARK: Stores that are notified of objects

  /// From now on notes when objects of a store begin and end to be in use.
  func watch(_ store: UInt16) {
    watchesObjects = true
    lock.withLock { _ in
      if maps.interest == nil { maps.interest = ObjectInterest() }
      maps.interest?.watch(store)
    }
  }

  /// The changes that the watched stores have not been notified of yet.
  func takeInterest() -> [(store: UInt16, changes: ObjectInterest.Changes)] {
    lock.withLock { _ in maps.interest?.take() ?? [] }
  }
}
