import StoreProtocol
import StoreSchema
import Synchronization

/// The origins that a context has used, by the index of their stores.
final class RowOrigins {
  /// The origin of a removed store stays here: using it is an error of its own.
  @exclusivity(unchecked) private var origins: ContiguousArray<RowOrigin?> = []
  /// The indices of the stores that take new objects, by entity; nil if the coordinator was not asked yet.
  @exclusivity(unchecked) private var takers: ContiguousArray<UInt16?> = []
  /// The version of the coordinator's list of stores that `takers` belongs to.
  @exclusivity(unchecked) private var takersVersion = 0

  /// The origin of a store that was found and is not removed.
  @inline(__always)
  subscript(index: UInt16) -> RowOrigin? {
    if Int(index) < origins.count, let known = origins[Int(index)], !known.store.isRemoved { known } else { nil }
  }

  /// The origin of a store that was found, even if the store has been removed since.
  func found(_ index: UInt16) -> RowOrigin? { Int(index) < origins.count ? origins[Int(index)] : nil }

  /// The index of the store of an ID, nil if it is none of those that were found.
  @inline(__always)
  func index(of id: NSManagedObjectID) -> UInt16? {
    for case let origin? in origins where !origin.store.isRemoved && id.isMade(of: origin.store) { return origin.index }
    return nil
  }

  /// Every store is looked up again when it is next used. Others may hold the origins that were known; their views are
  /// dropped.
  func forget() {
    dropViews()
    (origins, takers) = ([], [])
  }

  func add(_ origin: RowOrigin) {
    while origins.count <= Int(origin.index) { origins.append(nil) }
    origins[Int(origin.index)] = origin
  }

  /// The next read of each store takes a new view.
  func dropViews() { for origin in origins { origin?.dropView() } }

  /// Whether a store has another engine than when it was found. Versions of its rows and names of large values may mean
  /// something else there.
  var haveMoved: Bool {
    origins.contains { origin in
      guard let origin, !origin.store.isRemoved, let engine = origin.engine, let now = try? origin.store.requireEngine()
      else { return false }
      return now !== engine
    }
  }

  /// The index of the store that takes new objects of an entity; `.max` for none. It is remembered until stores are
  /// added or removed.
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
