/// The objects of incremental stores that a context has begun to use or no longer uses, since their stores were
/// notified. It belongs to the context's identity maps, and the same lock guards it.
struct ObjectInterest {
  struct Changes {
    var come: [Int64] = []
    var gone: [Int64] = []
  }

  /// By the store's index; nil for stores that are not notified.
  private var stores: [Changes?] = []
  private(set) var isEmpty = true

  mutating func watch(_ store: UInt16) {
    while stores.count <= Int(store) { stores.append(nil) }
    if stores[Int(store)] == nil { stores[Int(store)] = Changes() }
  }

  func watches(_ store: UInt16) -> Bool { Int(store) < stores.count && stores[Int(store)] != nil }

  mutating func come(_ key: Int64, _ store: UInt16) {
    guard watches(store) else { return }
    stores[Int(store)]?.come.append(key)
    isEmpty = false
  }

  mutating func go(_ key: Int64, _ store: UInt16) {
    guard watches(store) else { return }
    stores[Int(store)]?.gone.append(key)
    isEmpty = false
  }

  /// The changes that the stores have not been notified of yet. Returned once.
  mutating func take() -> [(store: UInt16, changes: Changes)] {
    isEmpty = true
    var result: [(store: UInt16, changes: Changes)] = []
    for index in stores.indices {
      guard let changes = stores[index], !changes.come.isEmpty || !changes.gone.isEmpty else { continue }
      result.append((UInt16(index), changes))
      stores[index] = Changes()
    }
    return result
  }
}

extension ContextCore {
  /// Notifies incremental stores which of their objects the context has begun to use, and which it no longer uses.
  ///
  /// The new ones come first, so that a store that counts its users keeps the row of an object that was released and
  /// fetched again.
  func tellStoresOfObjects() {
    guard registry.watchesObjects else { return }
    for (index, changes) in registry.takeInterest() {
      guard let store = store(index) as? NSIncrementalStore, store.root != nil,
        let engine = store.custom?.incremental
      else { continue }
      func ids(_ keys: [Int64]) -> [NSManagedObjectID] { keys.compactMap(engine.id(of:)) }
      engine.calling { store in
        if !changes.come.isEmpty { store.managedObjectContextDidRegisterObjects(with: ids(changes.come)) }
        if !changes.gone.isEmpty { store.managedObjectContextDidUnregisterObjects(with: ids(changes.gone)) }
      }
    }
  }
}
