import StoreProtocol

/// A view of a store, with its stamp for the store's row cache.
struct StoreView {
  let snapshot: any StoreSnapshot
  let stamp: ViewStamp

  /// Takes a view by calling `take`. The view belongs to the store with that cache.
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
  /// Numbers before and after the view was taken, counted from 1 by the store's row cache. If two views overlap, either
  /// may be the newer one, and may show a commit of another process.
  let start: UInt64
  let end: UInt64
}
