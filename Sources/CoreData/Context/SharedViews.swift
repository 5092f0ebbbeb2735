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

  /// What was read along with faults of a tree, nil where nobody has begun.
  @inline(__always)
  func ahead(_ index: Int, root: Int) -> ReadAhead? {
    if index >= kept.count { return nil }
    for place in kept[index].ahead.indices where kept[index].ahead[place].root == root {
      return kept[index].ahead[place]
    }
    return nil
  }

  /// The same, made if need be; nil where no view is kept.
  mutating func madeAhead(_ index: Int, root: Int, subtree: Range<Int>) -> ReadAhead? {
    if let known = ahead(index, root: root) { return known }
    guard index < kept.count, kept[index].view != nil else { return nil }
    let made = ReadAhead(root: root, subtree: subtree)
    kept[index].ahead.append(made)
    return made
  }

  mutating func removeAll() { if !kept.isEmpty { kept = [] } }
}
