import StoreProtocol

/// The views that a burst of reads shares, one for each store, with what was read along in each.
struct SharedViews {
  /// A view, and the trees of entities of which rows were read along in it.
  final class Kept {
    /// Another store may have had its index.
    fileprivate let store: NSPersistentStore
    let view: StoreView
    @exclusivity(unchecked) private var trees: ContiguousArray<ReadAhead> = []

    fileprivate init(_ view: StoreView, of store: NSPersistentStore) { (self.view, self.store) = (view, store) }

    /// What was read along with faults of a tree, nil where nobody has begun.
    @inline(__always)
    func ahead(root: Int) -> ReadAhead? { trees.first { $0.root == root } }

    /// The same, made if need be.
    func madeAhead(root: Int, subtree: Range<Int>) -> ReadAhead {
      if let known = ahead(root: root) { return known }
      let made = ReadAhead(root: root, subtree: subtree)
      trees.append(made)
      return made
    }
  }

  /// By index of the store.
  private var kept: ContiguousArray<Kept?> = []

  /// Nil where none is kept, or one of an engine that the store has no more.
  @inline(__always)
  subscript(store: NSPersistentStore) -> Kept? {
    let index = store.index
    guard index < kept.count, let found = kept[index], found.store === store, store.cache.isOfEngine(found.view.stamp)
    else { return nil }
    return found
  }

  mutating func keep(_ view: StoreView, of store: NSPersistentStore) {
    while store.index >= kept.count { kept.append(nil) }
    kept[store.index] = Kept(view, of: store)
  }

  mutating func drop(_ store: NSPersistentStore) {
    if store.index < kept.count { kept[store.index] = nil }
  }

  mutating func removeAll() { if !kept.isEmpty { kept = [] } }
}
