import StoreProtocol

/// A view of a store, with what the store's row cache asks of it.
struct StoreView {
  let snapshot: any StoreSnapshot
  let stamp: ViewStamp

  /// Calls `take`, which takes the view, of a store with that cache.
  init<E>(_ cache: RowCache, _ take: () throws(E) -> any StoreSnapshot) throws(E) {
    let start = cache.nextView()
    snapshot = try take()
    let end = cache.lastView == start ? start : cache.nextView()
    stamp = ViewStamp(commitNumber: snapshot.commitNumber, start: start, end: end)
  }
}

/// When a view was taken.
struct ViewStamp {
  /// The last commit of this process that the view shows.
  let commitNumber: UInt64
  /// When the store was asked for the view, and when it had given it: counted from 1, by the store's row cache. Where
  /// two views were taken at the same time, either may be the newer one, and may show a commit of another process.
  let start: UInt64
  let end: UInt64
}
