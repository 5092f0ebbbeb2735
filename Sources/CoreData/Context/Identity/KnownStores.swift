import StoreProtocol
import StoreSchema
import Synchronization

/// The stores of the coordinator that a context has used, by index, as it has found them.
final class KnownStores {
  /// A removed one stays here; using it is an error of its own.
  @exclusivity(unchecked) private var stores: ContiguousArray<NSPersistentStore?> = []
  /// What each of them read and wrote with when it was found. Rows that the context has were read there, or later.
  @exclusivity(unchecked) private var engines: ContiguousArray<(any Store)?> = []
  /// The stores that take new objects, by entity; nil for not asked yet.
  @exclusivity(unchecked) private var takers: ContiguousArray<UInt16?> = []
  /// The version of the coordinator's list that `takers` are of.
  @exclusivity(unchecked) private var takersVersion = 0

  /// A store that was found and is not removed.
  @inline(__always)
  subscript(index: UInt16) -> NSPersistentStore? {
    if Int(index) < stores.count, let known = stores[Int(index)], !known.isRemoved { known } else { nil }
  }

  /// A store that was found, also where it has been removed since.
  func found(_ index: UInt16) -> NSPersistentStore? { Int(index) < stores.count ? stores[Int(index)] : nil }

  /// Where the context's rows of a store come from, also after the store has moved, until the context knows that.
  func engine(_ index: UInt16) -> (any Store)? { Int(index) < engines.count ? engines[Int(index)] : nil }

  /// The index of the store of an ID, nil where it is none of those that were found.
  @inline(__always)
  func index(of id: NSManagedObjectID) -> UInt16? {
    for index in stores.indices where stores[index]?.isRemoved == false && id.isMade(of: stores[index]) {
      return UInt16(index)
    }
    return nil
  }

  /// They are looked up again when they are next used.
  func forget() { (stores, engines, takers) = ([], [], []) }

  func add(_ store: NSPersistentStore, _ engine: (any Store)?, at index: UInt16) {
    while stores.count <= Int(index) {
      stores.append(nil)
      engines.append(nil)
    }
    stores[Int(index)] = store
    engines[Int(index)] = engine
  }

  /// Whether a store reads and writes elsewhere than when it was found. Versions of its rows, and names of large
  /// values, may mean something else there.
  var haveMoved: Bool {
    stores.indices.contains { index in
      guard let store = stores[index], !store.isRemoved, let engine = engines[index],
        let now = try? store.requireEngine()
      else { return false }
      return now !== engine
    }
  }

  /// The store that takes new objects of an entity, remembered until stores are added or removed; `.max` for none.
  func taker(of entity: Entity, _ coordinator: NSPersistentStoreCoordinator) -> UInt16 {
    let version = coordinator.storeListVersion.load(ordering: .acquiring)
    if takersVersion != version || entity.index >= takers.count {
      takersVersion = version
      takers = ContiguousArray(repeating: nil, count: coordinator.model.entities.count)
    }
    if entity.index < takers.count, let known = takers[entity.index] { return known }
    let found = coordinator.storeIndex(for: entity) ?? .max
    if entity.index < takers.count { takers[entity.index] = found }
    return found
  }
}
