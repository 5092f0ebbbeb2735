import StoreProtocol

/// A view of a store, with what the store's row cache asks of it.
struct StoreView {
  let snapshot: any StoreSnapshot
  let stamp: ViewStamp

  /// `order` is taken before the view is; see ``RowCache/nextView()``.
  init(_ snapshot: any StoreSnapshot, order: UInt64) {
    self.snapshot = snapshot
    stamp = ViewStamp(commitNumber: snapshot.commitNumber, order: order)
  }
}

/// When a view was taken.
struct ViewStamp {
  /// The last commit of this process that the view shows.
  let commitNumber: UInt64
  /// The place of the view among those of its store, the first of which is 1. What other processes have committed may show in a later view.
  let order: UInt64
}
