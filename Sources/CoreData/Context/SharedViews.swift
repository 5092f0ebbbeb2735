import StoreProtocol

/// The views that a burst of reads shares, by index of the store, with what was read along in each.
struct SharedViews {
  private struct Kept {
    var view: (any StoreSnapshot)?
    var ahead: ContiguousArray<ReadAhead> = []
  }

  private var kept: ContiguousArray<Kept> = []

  subscript(index: Int) -> (any StoreSnapshot)? {
    get { index < kept.count ? kept[index].view : nil }
    set {
      if newValue == nil && index >= kept.count { return }
      while index >= kept.count { kept.append(Kept()) }
      kept[index] = Kept(view: newValue)
    }
  }

  /// What is read along with faults of a tree, nil where no view is kept.
  @inline(__always)
  mutating func ahead(_ index: Int, root: Int, subtree: Range<Int>) -> ReadAhead? {
    guard index < kept.count, kept[index].view != nil else { return nil }
    for ahead in kept[index].ahead where ahead.root == root { return ahead }
    let made = ReadAhead(root: root, subtree: subtree)
    kept[index].ahead.append(made)
    return made
  }

  mutating func removeAll() { if !kept.isEmpty { kept = [] } }
}
