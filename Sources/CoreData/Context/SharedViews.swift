import StoreProtocol

/// The views that a burst of reads shares, one for each store, with what was read along in each.
struct SharedViews {
  private struct Kept {
    /// Another store may have had its index.
    var store: NSPersistentStore
    var view: any StoreSnapshot
    /// The store may have moved to another engine.
    var generation: UInt64
    var ahead: ContiguousArray<ReadAhead> = []
  }

  /// By index of the store.
  private var kept: ContiguousArray<Kept?> = []

  /// Nil where none is kept, or one of an engine that the store has no more.
  subscript(store: NSPersistentStore) -> (any StoreSnapshot)? {
    guard let index = index(of: store), kept[index]?.generation == store.cache.generation else { return nil }
    return kept[index]?.view
  }

  /// Keeps a view of the engine that the store had when its cache was of that generation.
  mutating func keep(_ view: any StoreSnapshot, of store: NSPersistentStore, _ generation: UInt64) {
    while store.index >= kept.count { kept.append(nil) }
    kept[store.index] = Kept(store: store, view: view, generation: generation)
  }

  mutating func drop(_ store: NSPersistentStore) {
    if store.index < kept.count { kept[store.index] = nil }
  }

  @inline(__always)
  private func index(of store: NSPersistentStore) -> Int? {
    let index = store.index
    return index < kept.count && kept[index]?.store === store ? index : nil
  }

  /// What was read along with faults of a tree, nil where nobody has begun.
  @inline(__always)
  func ahead(_ store: NSPersistentStore, root: Int) -> ReadAhead? {
    index(of: store).flatMap { kept[$0]?.ahead.first { $0.root == root } }
  }

  /// The same, made if need be; nil where no view is kept.
  mutating func madeAhead(_ store: NSPersistentStore, root: Int, subtree: Range<Int>) -> ReadAhead? {
    if let known = ahead(store, root: root) { return known }
    guard let index = index(of: store) else { return nil }
    let made = ReadAhead(root: root, subtree: subtree)
    kept[index]?.ahead.append(made)
    return made
  }

  mutating func removeAll() { if !kept.isEmpty { kept = [] } }
}
