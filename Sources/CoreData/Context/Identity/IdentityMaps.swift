import Foundation
import StoreSchema

/// The identity maps of a context, guarded by ``ObjectRegistry``.
struct IdentityMaps {
  /// One map for each store and root entity; the maps of one store are adjacent. Allocated by hand, because an array
  /// would be reference-counted at each look-up.
  private var maps = UnsafeMutableBufferPointer<IdentityMap>(start: nil, count: 0)
  /// The number of entities of the model; each may be a root entity.
  private(set) var entityCount = 0
  private var temporaries = IdentityMap()
  /// The objects in use that incremental stores must be notified of; nil without such stores.
  var interest: ObjectInterest?
  /// The registered objects, where the context keeps them alive.
  var retained: [ObjectIdentifier: NSManagedObject]?

  /// Frees the maps of saved objects, and prepares for a model with `entityCount` entities.
  mutating func restart(entityCount: Int) {
    for index in maps.indices { maps[index].removeAll() }
    maps.deinitialize()
    maps.deallocate()
    maps = UnsafeMutableBufferPointer(start: nil, count: 0)
    self.entityCount = entityCount
  }

  /// The map of a root entity in a store, nil where there is none yet.
  @inline(__always)
  private func map(_ store: UInt16, _ root: Int) -> UnsafeMutablePointer<IdentityMap>? {
    let index = Int(store) &* entityCount &+ root
    return index < maps.count ? maps.baseAddress.unsafelyUnwrapped + index : nil
  }

  /// The same, made if necessary.
  @inline(__always)
  private mutating func madeMap(_ store: UInt16, _ root: Int) -> UnsafeMutablePointer<IdentityMap> {
    if let map = map(store, root) { return map }
    let larger = UnsafeMutableBufferPointer<IdentityMap>.allocate(capacity: (Int(store) + 1) * entityCount)
    let moved = larger.moveInitialize(fromContentsOf: maps)
    larger[moved...].initialize(repeating: IdentityMap())
    maps.deallocate()
    maps = larger
    return larger.baseAddress.unsafelyUnwrapped + (Int(store) * entityCount + root)
  }

  mutating func set(_ object: NSManagedObject) {
    guard object.key > 0 else {
      temporaries.set(object.key, object)
      return
    }
    if madeMap(object.storeIndex, object.info.root).pointee.set(object.key, object) {
      interest?.come(object.key, object.storeIndex)
    }
  }

  /// Registers saved objects of one store and one root entity.
  mutating func set(_ objects: ArraySlice<NSManagedObject>, like object: NSManagedObject) {
    if interest?.watches(object.storeIndex) == true {
      for object in objects { set(object) }
    } else {
      madeMap(object.storeIndex, object.info.root).pointee.set(objects)
    }
  }

  mutating func expect(_ count: Int, store: UInt16, root: Int) {
    let map = madeMap(store, root)
    map.pointee.reserve(max(0, count - map.pointee.count))
  }

  mutating func reserve(_ more: Int, store: UInt16, root: Int) { madeMap(store, root).pointee.reserve(more) }

  func objects(_ rows: RowChunk, store: UInt16, root: Int) -> ContiguousArray<NSManagedObject?> {
    let map = map(store, root)?.pointee ?? IdentityMap()
    var result: ContiguousArray<NSManagedObject?> = []
    result.reserveCapacity(rows.rows.count)
    for index in rows.rows.indices { result.append(map.object(rows.key(index))) }
    return result
  }

  var count: Int { maps.reduce(temporaries.count) { $0 + $1.count } }

  /// New objects count for every store: only their context's queue knows which store takes them.
  func hasObjects(ofStore store: UInt16) -> Bool {
    temporaries.count > 0 || (0..<entityCount).contains { count(store: store, root: $0) > 0 }
  }

  func count(store: UInt16, root: Int) -> Int { map(store, root)?.pointee.count ?? 0 }

  @inline(__always)
  func object(_ key: Int64, store: UInt16, root: Int) -> NSManagedObject? {
    key < 0 ? temporaries.object(key) : map(store, root)?.pointee.object(key)
  }

  mutating func removeTemporary(_ key: Int64, _ object: NSManagedObject) { temporaries.remove(key, object) }

  @inline(__always)
  mutating func remove(_ object: NSManagedObject) {
    if let temporary = object.extras?.temporaryKey, temporary < 0 { temporaries.remove(temporary, object) }
    if object.key > 0 {
      let removed = map(object.storeIndex, object.info.root)?.pointee.remove(object.key, object)
      if removed == true { interest?.go(object.key, object.storeIndex) }
    } else {
      temporaries.remove(object.key, object)
    }
  }

  /// No object is listed twice, although new objects with permanent IDs are registered under both keys.
  var all: [NSManagedObject] { maps.flatMap(\.all) + temporaries.all.filter { $0.key < 0 } }

  mutating func clear() {
    for index in maps.indices {
      let store = UInt16(index / entityCount)
      if interest?.watches(store) == true { for key in maps[index].keys { interest?.go(key, store) } }
      maps[index].removeAll()
    }
    temporaries.removeAll()
  }
}
