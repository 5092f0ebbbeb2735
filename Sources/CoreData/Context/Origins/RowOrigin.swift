import StoreProtocol
import StoreSchema

/// Where a context reads rows and saves changes: one store of its coordinator, as the context has found it; in a child
/// context, the parent's state of the objects of that store.
///
/// A context reads, fetches and saves through its origins alone (decision 071). Only an origin knows how its store
/// works. Every function that takes a context's core is called on that context's queue.
final class RowOrigin {
  let store: NSPersistentStore
  /// The store's index among those of the coordinator.
  let index: UInt16
  /// The parent of a child context; nil in a root context.
  private let parent: ContextCore?
  /// The rows of the store that contexts share. Child contexts share none.
  let cache: RowCache
  /// The engine of the store when the context found it; nil if the store was closed. The context's rows were read from
  /// this engine or from a later one.
  let engine: (any Store)?
  @exclusivity(unchecked) private var sharedView: SharedView?

  /// How a store is read.
  enum Access {
    /// By views.
    case views
    /// By requests, which the client's store answers.
    case requests(IncrementalEngine)
    /// From the parent, on the parent's queue.
    case parent
  }

  init(_ store: NSPersistentStore, _ parent: ContextCore?) {
    self.store = store
    self.parent = parent
    index = UInt16(store.index)
    cache = parent == nil ? store.cache : .withoutRows()
    engine = try? store.requireEngine()
  }

  var isOfChild: Bool { parent != nil }

  /// Throws `closed` after the store was removed from its coordinator.
  func access() throws(StoreError) -> Access {
    if parent == nil { return try store.openIncremental().map { .requests($0) } ?? .views }
    if store.isRemoved { throw store.removed }
    return .parent
  }

  // MARK: Views

  /// A view, and the rows that were read ahead in it, by root entity.
  private final class SharedView {
    let view: StoreView
    @exclusivity(unchecked) var ahead: ContiguousArray<ReadAhead> = []

    init(_ view: StoreView) { self.view = view }
  }

  /// The view that the reads of a block share; nil if there is none, or if the store has another engine now.
  @inline(__always)
  private var shared: SharedView? {
    guard let sharedView, cache.isOfEngine(sharedView.view.stamp) else { return nil }
    return sharedView
  }

  /// The stamp of the view that the reads of a block share, nil if there is none.
  var sharedStamp: ViewStamp? { shared?.view.stamp }

  /// Calls `body` with the view that the reads of a block share. Not for a child context, which has no views.
  ///
  /// The view is kept until the outermost block ends, or until this process commits to the store. All faults that fire
  /// meanwhile cost one read transaction.
  func read<R>(
    _ core: ContextCore, _ body: (StoreView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    if let shared, cache.isCurrent(shared.view.stamp) { return try body(shared.view) }
    sharedView = nil
    switch try access() {
    case .parent: misuse("A child context has no views of its stores; it reads through its parent.")
    case .requests(let engine): return try body(StoreView(cache) { engine.snapshot(for: core) })
    case .views:
      let view = try store.view()
      if core.queue.depth > 0 && store.keepsSnapshots { sharedView = SharedView(view) }
      return try body(view)
    }
  }

  /// Makes the next read take a new view, which shows the newest state.
  func dropView() { if sharedView != nil { sharedView = nil } }

  // MARK: Rows

  /// A row that was read ahead; nil if there is none, or if the store has had another commit since.
  @inline(__always)
  func rowReadAlong(_ key: Int64, root: Int) -> Row? {
    guard let shared, let ahead = shared.ahead.first(where: { $0.root == root }), cache.isCurrent(shared.view.stamp),
      let row = ahead.take(key)
    else { return nil }
    return cache.merge(root, row, view: shared.view.stamp)
  }

  /// The newest row of a key; nil where there is none.
  func row(_ key: Int64, root: Int, _ core: ContextCore) throws(StoreError) -> Row? {
    var found: Row?
    try rows([key], root: root, core) { found = $0 }
    return found
  }

  /// Calls `body` with the newest row of each key that exists.
  func rows(
    _ keys: [Int64], root: Int, _ core: ContextCore, _ body: (Row) -> Void
  ) throws(StoreError) {
    if case .parent = try access() {
      for row in try rowsOfParent(keys, root: root, core) { body(row) }
      return
    }
    try read(core) { (view) throws(StoreError) in
      if keys.count == 1 {
        if let row = try view.snapshot.row(of: root, key: keys[0]) { body(cache.merge(root, row, view: view.stamp)) }
        return
      }
      try view.snapshot.rows(of: root, keys: keys) { body(cache.merge(root, $0, view: view.stamp)) }
    }
  }

  /// The same for the row of a fault. Rows with near keys may be read ahead.
  func rowOfFault(_ key: Int64, root: Int, _ core: ContextCore) throws(StoreError) -> Row? {
    if case .parent = try access() { return try row(key, root: root, core) }
    return try read(core) { (view) throws(StoreError) in
      try row(key, root: root, in: view, core).map { cache.merge(root, $0, view: view.stamp) }
    }
  }

  private func row(
    _ key: Int64, root: Int, in view: StoreView, _ core: ContextCore
  ) throws(StoreError) -> Row? {
    guard let shared, let frozen = core.frozen else { return try view.snapshot.row(of: root, key: key) }
    if let known = shared.ahead.first(where: { $0.root == root }) { return try known.row(key, in: view.snapshot) }
    let made = ReadAhead(root: root, subtree: frozen.schema.entities[root].subtree)
    // Replaced as a whole, so that reads need no exclusivity checks: see decision 075.
    shared.ahead = shared.ahead + [made]
    return try made.row(key, in: view.snapshot)
  }

  /// Drops the shared view if it is older than rows of `owners` that come from the cache: members must not be older
  /// than the row of their owner (decision 062).
  func catchUp(with owners: [NSManagedObject]) throws(StoreError) {
    let doubtful = owners.filter { $0.flags.contains(.rowOfOthers) }
    if doubtful.isEmpty { return }
    for (root, owners) in Dictionary(grouping: doubtful, by: \.info.root) {
      guard let shared else { break }
      var versions: [Int64: Int64] = [:]
      try shared.view.snapshot.rows(of: root, keys: owners.map(\.key)) { versions[$0.key] = $0.version }
      let isBehind = owners.contains { owner in
        versions[owner.key].map { $0 < owner.row?.version ?? 0 } ?? true
      }
      if isBehind { dropView() }
    }
    for owner in doubtful { owner.setRowOfOthers(false) }
  }
}
