import StoreProtocol

/// What the reads within a block of a context share, so that their results are of one moment: a view of each store,
/// with what was read along in it.
struct SharedReads {
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

  mutating func dropAll() { if !kept.isEmpty { kept = [] } }

  // MARK: Rows at hand

  /// Whether objects were read since the outermost block began. Faults keep the rows that such a read gave them until
  /// it ends, so that the results of a fetch agree with each other. Else they fire with the newest row.
  private var haveRowsCome = false
  /// How many fetches are at work on objects to which they have given rows.
  private(set) var fetches = 0

  /// Whether faults fire with the rows that they have at hand, rather than with newer ones that others have read or
  /// saved.
  @inline(__always)
  var keepsRows: Bool { haveRowsCome || fetches > 0 }

  /// Objects have got rows from a store, within a block or not.
  mutating func noteRows(isInBlock: Bool) { haveRowsCome = isInBlock }

  mutating func beginFetch() { fetches += 1 }

  mutating func endFetch() { fetches -= 1 }

  /// The outermost block has ended.
  mutating func end() {
    dropAll()
    haveRowsCome = false
  }
}
