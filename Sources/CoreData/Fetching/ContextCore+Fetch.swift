import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// Running fetches: rows from the stores, pending changes laid over, then sorted and cut.
extension ContextCore {
  func fetchObjects(_ parameters: FetchParameters) throws -> [NSManagedObject] {
    let run = try fetchRun(parameters)
    try ResolvedTable.checkProperties(run.fetch, self)
    for path in parameters.prefetchedKeyPaths { try checkPrefetch(path, from: run.fetch.plan.entities) }
    if run.isPlain {
      let objects = try self.objects(run, from: run.stores[0])
      try finish(objects, run)
      return objects
    }
    return try objects(of: results(run), run)
  }

  /// The results, those that are finished in memory not cut yet.
  private func results(_ run: FetchRun) throws -> [FoundObject] {
    do {
      return run.results(try run.stores.map { try results(run, run.reader(of: $0), from: $0) }, areCut: run.isPlain)
    } catch let error as StoreError { throw CoreDataError.make(error) }
  }

  private func results(
    _ run: FetchRun, _ reader: FetchReader, from store: NSPersistentStore
  ) throws -> [FoundObject] {
    // A fetch sees the newest state, and so do the faults that it makes.
    sharedReads.drop(store)
    if let incremental = try store.openIncremental() {
      let objects = try objects(run, reader, from: incremental, of: store)
      if !run.isMerged { return objects.map { FoundObject($0, keys: []) } }
      return keepingRows { sorted(objects, run.fetch.plan.sort) }
    }
    var results: [FoundObject] = []
    try reading(store) { (view) throws(StoreError) in
      try reader.read(view, store: UInt16(store.index)) { results.append($0) }
    }
    return results
  }

  /// What an incremental store gives, with the rows that the fetch promises. Such a store has no views that last: what
  /// is read is of one moment because nobody else calls the store meanwhile.
  private func objects(
    _ run: FetchRun, _ reader: FetchReader, from engine: IncrementalEngine, of store: NSPersistentStore
  ) throws -> [NSManagedObject] {
    let (root, refreshes) = (run.fetch.info.root, run.fetch.parameters.shouldRefresh)
    // Known to the context before the store is called: that is told which of its objects the context uses.
    _ = self.store(UInt16(store.index))
    var rows: [Row] = []
    let (objects, view) = try engine.calling { _ in
      let objects = try engine.fetch(run.fetch, offset: reader.plan.offset, limit: reader.plan.limit, self)
      let view = StoreView(store.cache) { engine.snapshot(for: self) }
      if !reader.readsRows || !run.readsWholeObjects { return (objects, view.stamp) }
      var (unknown, seen): ([Int64], Set<Int64>) = ([], [])
      for object in objects where object.flags.isFault || refreshes && !object.flags.hasChanges {
        guard seen.insert(object.key).inserted else { continue }
        if !refreshes, let row = store.cache.row(root, object.key) {
          rows.append(row)
        } else {
          unknown.append(object.key)
        }
      }
      try view.snapshot.rows(of: root, keys: unknown) { rows.append($0) }
      return (objects, view.stamp)
    }
    var maker = ObjectMaker(self, store, root: root, view: view, refreshes: refreshes)
    for row in rows { maker.add(row) }
    _ = maker.finish()
    return objects
  }

  /// The objects that one store gives as the result of a fetch.
  private func objects(_ run: FetchRun, from store: NSPersistentStore) throws -> [NSManagedObject] {
    if !run.readsRows || store.custom?.incremental != nil {
      let reader = FetchReader(plan: run.plan(of: store), readsRows: run.readsRows, readsSortKeys: false)
      do {
        let results = try results(run, reader, from: store)
        let objects = results.compactMap { object($0) }
        try settle(objects, run)
        if store.isRemoved { throw store.removed }
        return objects
      } catch let error as StoreError { throw CoreDataError.make(error) }
    }
    sharedReads.drop(store)
    do {
      return try reading(store) { (view) throws(StoreError) in
        let (execution, plan) = (FetchExecution(view.snapshot), run.plan(of: store))
        var maker = ObjectMaker(
          self, store, root: run.fetch.info.root, view: view.stamp,
          refreshes: run.fetch.parameters.shouldRefresh)
        try execution.fetch(plan) { (row: consuming Row) in
          maker.add(row)
          if maker.asksForCount, let count = execution.estimatedCount(plan) { maker.expect(count) }
        }
        let objects = maker.finish()
        // Before they were registered, another store may have got the index, which they would be taken to be of.
        if store.isRemoved { throw store.removed }
        return objects
      }
    } catch { throw CoreDataError.make(error) }
  }

  // MARK: From results to objects

  private func object(_ found: FoundObject) -> NSManagedObject? {
    if case .object(let object) = found.content { return object }
    return object(found.reference, store: found.store)
  }

  /// The objects that the results of a fetch are, with all that the fetch promises of them.
  func objects(of results: [FoundObject], _ run: FetchRun) throws -> [NSManagedObject] {
    var made: [UInt16: ArraySlice<NSManagedObject>] = [:]
    for store in run.stores { made[UInt16(store.index)] = objects(ofRows: results, store, run)[...] }
    var objects = results.compactMap { found in
      if case .row = found.content { made[found.store]?.popFirst() } else { object(found) }
    }
    for store in run.stores where store.isRemoved { throw CoreDataError.make(store.removed) }
    if run.isFinishedInMemory {
      keepingRows {
        if let block = run.fetch.block { objects = objects.filter { block.evaluate(with: $0) } }
        if !run.fetch.comparators.isEmpty { sort(&objects, run.fetch) }
      }
      objects = run.fetch.plan.cut(objects)
    }
    do { try settle(objects, run) } catch { throw CoreDataError.make(error) }
    try finish(objects, run)
    return objects
  }

  /// The objects of those results that are rows of one store.
  private func objects(
    ofRows results: [FoundObject], _ store: NSPersistentStore, _ run: FetchRun
  ) -> [NSManagedObject] {
    let index = UInt16(store.index)
    let rows = results.lazy.compactMap { found in
      if case .row(let row, let view) = found.content, found.store == index { (row: row, view: view) } else { nil }
    }
    guard let first = rows.first else { return [] }
    var maker = ObjectMaker(
      self, store, root: run.fetch.info.root, view: first.view, refreshes: run.fetch.parameters.shouldRefresh)
    for (row, _) in rows { maker.add(row) }
    return maker.finish()
  }

  /// What is done for objects of which the fetch has read no rows: they are remembered in batches, and refreshed.
  private func settle(_ objects: [NSManagedObject], _ run: FetchRun) throws(StoreError) {
    let parameters = run.fetch.parameters
    for store in run.stores where !run.readsRows || store.custom?.incremental != nil {
      let own = run.stores.count == 1 ? objects : objects.filter { $0.storeIndex == store.index }
      let keys = own.filter { $0.flags.contains(.stored) }.map(\.key)
      if parameters.batchSize > 0 && parameters.includesPropertyValues {
        // What faults have at hand is older than this fetch.
        for object in own where object.flags.isFault && object.row != nil { object.forgetRow() }
        // A single object is no batch, and pushes none out.
        if objects.count > 1 {
          fetchBatches.remember(
            keys, store: store.index, root: run.fetch.info.root, size: parameters.batchSize, run.options)
        }
      }
      if parameters.shouldRefresh && !(run.readsRows && run.readsWholeObjects) {
        try refresh(own, run.fetch.info.root, store)
      }
    }
  }

  /// Gives unchanged objects what the store has now, and lets faults ask for it.
  private func refresh(_ objects: [NSManagedObject], _ root: Int, _ store: NSPersistentStore) throws(StoreError) {
    let unchanged = objects.filter { $0.flags.contains(.stored) && !$0.flags.hasChanges }
    store.cache.remove(root, unchanged.map(\.key))
    for object in unchanged where object.flags.isFault { object.forgetRow() }
    let inUse = unchanged.filter { !$0.flags.isFault }
    if inUse.isEmpty { return }
    try reading(store) { (view) throws(StoreError) in
      var maker = ObjectMaker(self, store, root: root, view: view.stamp, refreshes: true)
      try view.snapshot.rows(of: root, keys: inUse.map(\.key)) { maker.add($0) }
      _ = maker.finish()
    }
  }

  /// What a fetch promises of its results beyond their identity. Faults in batches have it when their batch is read.
  private func finish(_ objects: [NSManagedObject], _ run: FetchRun) throws {
    let options = run.options
    if options.isEmpty { return }
    let isLater = !run.readsRows && run.fetch.parameters.includesPropertyValues && objects.count > 1
    try apply(options, isLater ? objects.filter { !$0.flags.isFault } : objects, haveRows: run.readsRows)
  }

  // MARK: IDs and counts

  /// IDs are made of keys: no object is made, refreshed or prefetched for.
  func fetchIDs(_ parameters: FetchParameters) throws -> [NSManagedObjectID] {
    let run = try fetchRun(parameters.forIDs)
    let results = try results(run)
    return run.isFinishedInMemory ? try objects(of: results, run).map(\.ownID) : ids(of: results)
  }

  func ids(of results: [FoundObject]) -> [NSManagedObjectID] {
    results.compactMap { found in
      if case .object(let object) = found.content { return object.ownID }
      return (frozen?.infos[found.reference.entity]).map {
        NSManagedObjectID($0, key: found.reference.key, store: store(found.store), context: nil)
      }
    }
  }

  /// The number of results. Objects are made only where a block has to see them.
  func count(_ parameters: FetchParameters) throws -> Int {
    let run = try fetchRun(parameters)
    if run.fetch.block != nil {
      var unsorted = parameters.forIDs
      unsorted.sortDescriptors = []
      return try fetchObjects(unsorted).count
    }
    do {
      let isPlain = run.stores.count == 1 && run.dirty.isEmpty
      if isPlain, let incremental = try run.stores[0].openIncremental() {
        return try incremental.count(run.fetch, self)
      }
      let counts = try run.stores.map { try count(run, of: $0) }
      return run.fetch.plan.cut(counts.reduce(run.selected.count, +))
    } catch let error as StoreError { throw CoreDataError.make(error) }
  }

  /// How many objects a store selects besides those on which its verdict may be old, before offset and limit.
  private func count(_ run: FetchRun, of store: NSPersistentStore) throws -> Int {
    let index = UInt16(store.index)
    let old = run.dirty.filter { $0.storeIndex == index && $0.flags.contains(.stored) }
    var plan = run.selection(of: store)
    (plan.sort, plan.offset, plan.limit) = ([], 0, nil)
    if try store.openIncremental() != nil {
      let reader = FetchReader(plan: plan, readsRows: false, readsSortKeys: false)
      let known = Set(old.map(ObjectIdentifier.init))
      return try results(run, reader, from: store).count {
        if case .object(let object) = $0.content { !known.contains(ObjectIdentifier(object)) } else { true }
      }
    }
    if !old.isEmpty {
      let isOld = ResolvedPredicate.member(
        .path(SlotPath(leaf: .object)), of: .constants(old.map { .reference($0.reference) }), [])
      plan.predicate = .and([plan.predicate, .not(isOld)])
    }
    sharedReads.drop(store)
    return try reading(store) { (view) throws(StoreError) in try FetchExecution(view.snapshot).count(plan) }
  }
}
