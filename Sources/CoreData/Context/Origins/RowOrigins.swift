import StoreProtocol
import StoreSchema
import Synchronization

/// The origins that a context has used, by the index of their stores.
final class RowOrigins {
  /// The origin of a removed store stays in the list, because using it throws its own error.
  @exclusivity(unchecked) private var origins: ContiguousArray<RowOrigin?> = []
  /// The indices of the stores that take new objects, by entity; nil until the coordinator has looked one up.
  private var takers: ContiguousArray<UInt16?> = []
  /// The version of the coordinator's list of stores that `takers` belongs to.
  private var takersVersion = 0

  /// The origin of a store that was found and is not removed.
  @inline(__always)
  subscript(index: UInt16) -> RowOrigin? {
    if Int(index) < origins.count, let known = origins[Int(index)], !known.store.isRemoved { known } else { nil }
  }

  /// The origin with an index, even if its store has been removed.
  func found(_ index: UInt16) -> RowOrigin? { Int(index) < origins.count ? origins[Int(index)] : nil }

  /// The index of the store of an ID; nil if the context has no origin for it.
  @inline(__always)
  func index(of id: NSManagedObjectID) -> UInt16? {
    for case let origin? in origins where !origin.store.isRemoved && id.isMade(of: origin.store) { return origin.index }
    return nil
  }

  /// Makes every store be looked up again at its next use. Other code may hold the former origins; their views are
  /// dropped.
  func forget() {
    dropViews()
    (origins, takers) = ([], [])
  }

  func add(_ origin: RowOrigin) {
    // Replaced as a whole, so that reads need no exclusivity checks: see decision 075.
    var longer = origins
    while longer.count <= Int(origin.index) { longer.append(nil) }
    longer[Int(origin.index)] = origin
    origins = longer
  }

  /// Makes the next read of each store take a new view.
  func dropViews() { for origin in origins { origin?.dropView() } }

  /// Whether a store has another engine than when it was found. In the new engine, row versions and names of large
  /// values may have other meanings.
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
    if entity.index < takers.count {
      var known = takers
      known[entity.index] = found
      takers = known
    }
    return found
  }
}
