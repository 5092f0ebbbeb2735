import StoreProtocol
import StoreQuery
import StoreSchema

/// Fetches from one store.
extension RowOrigin {
  /// Whether the store is read by views. Any thread may read it then: reading calls no code of the client.
  var givesViews: Bool { if case .views? = try? access() { true } else { false } }

  /// Whether a fetch gives rows to its objects, rather than references only.
  func givesRows(_ run: FetchRun) -> Bool { run.readsRows && (givesViews || isOfChild) }

  /// The same as ``givesViews``; throws where the store cannot be read.
  func canBeReadAnywhere() throws(StoreError) -> Bool { if case .views = try access() { true } else { false } }

  /// A view for one read on any thread.
  func viewForAnyThread() throws(StoreError) -> StoreView { try store.view() }

  /// The results of a fetch. They are in the order of its sort descriptors where they will be merged with the results
  /// of other stores.
  func results(_ run: FetchRun, _ reader: StoreFetcher, _ core: ContextCore) throws -> [FoundObject] {
    // A fetch and the faults that it makes show the newest state.
    dropView()
    switch try access() {
    case .parent: return try resultsOfParent(run, reader, core)
    case .requests(let engine):
      let objects = try objects(run, reader, from: engine, core)
      if !reader.readsSortKeys { return objects.map { FoundObject($0, keys: []) } }
      return core.keepingRows { core.sorted(objects, run.fetch.plan.sort) }
    case .views:
      var results: [FoundObject] = []
      try read(core) { (view) throws(StoreError) in
        try reader.read(view, store: index) { results.append($0) }
      }
      return results
    }
  }

  /// The objects that a client's store returns, with the rows that the fetch requires. Such a store has no lasting
  /// views. The rows agree with each other because no other thread calls the store meanwhile.
  private func objects(
    _ run: FetchRun, _ reader: StoreFetcher, from engine: IncrementalEngine, _ core: ContextCore
  ) throws -> [NSManagedObject] {
    let (root, refreshes) = (run.fetch.info.root, run.fetch.parameters.shouldRefreshRefetchedObjects)
    var rows: [Row] = []
    let (objects, view) = try engine.calling { _ in
      let objects = try engine.fetch(run.fetch, offset: reader.plan.offset, limit: reader.plan.limit, core)
      let view = StoreView(cache) { engine.snapshot(for: core) }
      if !reader.readsRows || !run.readsWholeObjects { return (objects, view.stamp) }
      var (unknown, seen): ([Int64], Set<Int64>) = ([], [])
      for object in objects where object.flags.isFault || refreshes && !object.flags.hasChanges {
        guard seen.insert(object.key).inserted else { continue }
        if !refreshes, let row = cache.row(root, object.key) {
          rows.append(row)
        } else {
          unknown.append(object.key)
        }
      }
      try view.snapshot.rows(of: root, keys: unknown) { rows.append($0) }
      return (objects, view.stamp)
    }
    var maker = ObjectMaker(core, self, root: root, view: view, refreshes: refreshes)
    for row in rows { maker.add(row) }
    _ = maker.finish()
    return objects
  }

  /// The objects of a fetch that only this store answers, with rows. The results need no merging.
  func objects(_ run: FetchRun, _ core: ContextCore) throws(StoreError) -> [NSManagedObject] {
    dropView()
    return try read(core) { (view) throws(StoreError) in
      let (execution, plan) = (FetchExecution(view.snapshot), run.plan(of: self))
      var maker = ObjectMaker(
        core, self, root: run.fetch.info.root, view: view.stamp,
        refreshes: run.fetch.parameters.shouldRefreshRefetchedObjects)
      try execution.fetch(plan) { (row: consuming Row) in
        maker.add(row)
        if maker.asksForCount, let count = execution.estimatedCount(plan) { maker.expect(count) }
      }
      let objects = maker.finish()
      // The store may have been removed before the objects were registered. Then another store may have its index, and
      // they would seem to belong to that one.
      if store.isRemoved { throw store.removed }
      return objects
    }
  }

  /// The number of objects that the store selects, before offset and limit. Changed objects do not count, because the
  /// stored rows may judge them wrongly.
  func count(_ run: FetchRun, _ core: ContextCore) throws -> Int {
    // Includes new objects with a permanent ID: the store may contain them, if a save has failed late.
    // An object with a temporary key may be in this store; see ``FoundObject/Identity``.
    let old = run.dirty.filter { $0.key > 0 ? $0.storeIndex == index : $0.flags.contains(.stored) }
    var plan = run.selection(of: self)
    (plan.sort, plan.offset, plan.limit) = ([], 0, nil)
    if case .requests = try access() {
      let reader = StoreFetcher(plan: plan, readsRows: false, readsSortKeys: false)
      let known = Set(old.map(ObjectIdentifier.init))
      return try results(run, reader, core).count {
        if case .object(let object) = $0.content { !known.contains(ObjectIdentifier(object)) } else { true }
      }
    }
    if isOfChild && store.custom != nil && !old.isEmpty { return try countOfParent(run, plan, core, without: old) }
    if !old.isEmpty {
      let isOld = ResolvedPredicate.member(
        .path(SlotPath(leaf: .object)), of: .constants(old.map { .reference($0.reference) }), [])
      plan.predicate = .and([plan.predicate, .not(isOld)])
    }
    if isOfChild { return try countOfParent(run, plan, core) }
    dropView()
    return try read(core) { (view) throws(StoreError) in try FetchExecution(view.snapshot).count(plan) }
  }

  /// The count of a fetch that only this store answers, offset and limit included; nil if the store does not count such
  /// fetches.
  func requestedCount(_ run: FetchRun, _ core: ContextCore) throws -> Int? {
    guard case .requests(let engine) = try access() else { return nil }
    return try engine.count(run.fetch, core)
  }
}
