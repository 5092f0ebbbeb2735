import StoreProtocol

/// The views that a burst of reads shares, by index of the store.
struct SharedViews {
  private var views: ContiguousArray<(any StoreSnapshot)?> = []

  subscript(index: Int) -> (any StoreSnapshot)? {
    get { index < views.count ? views[index] : nil }
    set {
      if newValue == nil && index >= views.count { return }
      while index >= views.count { views.append(nil) }
      views[index] = newValue
    }
  }

  mutating func removeAll() { if !views.isEmpty { views = [] } }
}
