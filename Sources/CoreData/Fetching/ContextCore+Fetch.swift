import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// Runs fetches: reads rows from the stores, applies pending changes, sorts, and applies offset and limit.
extension ContextCore {
  func fetchObjects(_ parameters: FetchParameters) throws -> [NSManagedObject] {
    try withRun(parameters) { run in
      try ResolvedTable.checkProperties(run.fetch, self)
      try checkPrefetches(run)
      return try fetchObjects(run)
    }
  }

  /// Runs a fetch. In a child context it is run again if objects have got permanent keys meanwhile: the request may
  /// name them by their temporary ones.
  private func withRun<R>(_ parameters: FetchParameters, _ body: (FetchRun) throws -> R) throws -> R {
    if queue.depth == 0 { releaseRecentObjects() }
    while true {
      let run = try fetchRun(parameters)
      let known = keysTakenUp
      let result = try keepingRowsOfParent { try body(run) }
      if keysTakenUp == known || parent == nil { return result }
    }
  }

  func fetchObjects(_ run: FetchRun) throws -> [NSManagedObject] {
    guard run.isPlain, run.origins[0].givesViews, run.readsRows else { return try objects(of: results(run), run) }
    // Rows of one store become objects as they are read, if there are no pending changes to apply.
    let objects: [NSManagedObject]
    do { objects = try run.origins[0].objects(run, self) } catch { throw CoreDataError.make(error) }
    try finish(objects, run)
    return objects
  }

  /// Throws for an unknown key path to prefetch.
  func checkPrefetches(_ run: FetchRun) throws {
    for path in run.fetch.parameters.relationshipKeyPathsForPrefetching ?? [] {
      try checkPrefetch(path, from: run.fetch.plan.entities)
    }
  }

  /// The results. If a block or comparator must see them, offset and limit are not applied yet.
  func results(_ run: FetchRun) throws -> [FoundObject] {
    do {
      return run.results(try run.origins.map { try $0.results(run, run.reader(of: $0), self) }, areCut: run.isPlain)
    } catch let error as StoreError { throw CoreDataError.make(error) }
  }

  // MARK: From results to objects

  private func object(_ found: FoundObject) -> NSManagedObject? {
    if case .object(let object) = found.content { return object }
    return object(found.reference, store: found.store)
  }

  /// The objects of the results, with the fetch's options applied.
  func objects(of results: [FoundObject], _ run: FetchRun) throws -> [NSManagedObject] {
    var made: [UInt16: ArraySlice<NSManagedObject>] = [:]
    for origin in run.origins { made[origin.index] = objects(ofRows: results, origin, run)[...] }
    var objects = results.compactMap { found in
      if case .row = found.content { made[found.store]?.popFirst() } else { object(found) }
    }
    for origin in run.origins where origin.store.isRemoved { throw CoreDataError.make(origin.store.removed) }
    if run.isFinishedInMemory {
      keepingRows {
        if let block = run.fetch.block { objects = objects.filter { block.evaluate(with: $0) } }
        if !run.fetch.comparators.isEmpty { sort(&objects, run.fetch) }
      }
      objects = run.fetch.plan.cut(objects)
    }
    do { try rememberFaults(objects, run) } catch { throw CoreDataError.make(error) }
    try finish(objects, run)
    return objects
  }

  /// The objects of the results that are rows of one store.
  private func objects(
    ofRows results: [FoundObject], _ origin: RowOrigin, _ run: FetchRun
  ) -> [NSManagedObject] {
    let index = origin.index
    let rows = results.lazy.compactMap { found in
      if case .row(let row, let view) = found.content, found.store == index { (row: row, view: view) } else { nil }
    }
    guard let first = rows.first else { return [] }
    var maker = ObjectMaker(
      self, origin, root: run.fetch.info.root, view: first.view,
      refreshes: run.fetch.parameters.shouldRefreshRefetchedObjects)
    for (row, _) in rows { maker.add(row) }
    return maker.finish()
  }

  /// Remembers objects whose rows the fetch has not read in batches, and refreshes them.
  private func rememberFaults(_ objects: [NSManagedObject], _ run: FetchRun) throws(StoreError) {
    let parameters = run.fetch.parameters
    for origin in run.origins where !origin.givesRows(run) {
      let own = run.origins.count == 1 ? objects : objects.filter { $0.storeIndex == origin.index }
      let keys = own.filter { $0.flags.contains(.stored) }.map(\.key)
      if parameters.fetchBatchSize > 0 && parameters.includesPropertyValues {
        // The rows that these faults keep are older than this fetch.
        for object in own where object.flags.isFault && object.row != nil { object.forgetRow() }
        // A single object needs no batch, and a batch of it would replace an older one.
        if objects.count > 1 {
          fetchBatches.remember(
            keys, store: Int(origin.index), root: run.fetch.info.root, size: parameters.fetchBatchSize, run.options)
        }
      }
      if parameters.shouldRefreshRefetchedObjects && !(run.readsRows && run.readsWholeObjects) {
        try refresh(own, run.fetch.info.root, origin)
      }
    }
  }

  /// Gives unchanged objects the store's present values. Faults forget their rows, and read them when they fire.
  private func refresh(_ objects: [NSManagedObject], _ root: Int, _ origin: RowOrigin) throws(StoreError) {
    let unchanged = objects.filter { $0.flags.contains(.stored) && !$0.flags.hasChanges }
    origin.cache.remove(root, unchanged.map(\.key))
    for object in unchanged where object.flags.isFault { object.forgetRow() }
    let inUse = unchanged.filter { !$0.flags.isFault }
    if inUse.isEmpty { return }
    try origin.refresh(inUse.map(\.key), root: root, self)
  }

  /// Applies the fetch's options to its results. Faults in batches get them when their batch is read. What the context
  /// knew as gone exists after all: a parent may have taken its deletion back.
  private func finish(_ objects: [NSManagedObject], _ run: FetchRun) throws {
    if changes.hasInaccessible { for object in objects { lookAgain(for: object) } }
    let options = run.options
    if options.isEmpty { return }
    let isLater = !run.readsRows && run.fetch.parameters.includesPropertyValues && objects.count > 1
    try apply(options, isLater ? objects.filter { !$0.flags.isFault } : objects, haveRows: run.readsRows)
  }

  // MARK: IDs and counts

  /// The IDs of the results. They are made from keys: no object is made or refreshed, and nothing is prefetched.
  func fetchIDs(_ parameters: FetchParameters) throws -> [NSManagedObjectID] {
    try withRun(parameters.forIDs) { run in
      let results = try results(run)
      return run.isFinishedInMemory ? try objects(of: results, run).map(\.ownID) : ids(of: results)
    }
  }

  func ids(of results: [FoundObject]) -> [NSManagedObjectID] {
    results.compactMap { found in
      if case .object(let object) = found.content { return object.ownID }
      return (frozen?.infos[found.reference.entity]).map {
        NSManagedObjectID($0, key: found.reference.key, store: store(found.store), family: family.number)
      }
    }
  }

  /// The number of results. Objects are made only if a block must see them.
  func count(_ parameters: FetchParameters) throws -> Int {
    let count = try withRun(parameters) { run in run.fetch.block == nil ? try self.count(run) : nil }
    if let count { return count }
    var unsorted = parameters.forIDs
    unsorted.sortDescriptors = []
    return try fetchObjects(unsorted).count
  }

  func count(_ run: FetchRun) throws -> Int {
    do {
      let isPlain = run.origins.count == 1 && run.dirty.isEmpty
      if isPlain, let count = try run.origins[0].requestedCount(run, self) { return count }
      let counts = try run.origins.map { try $0.count(run, self) }
      return run.fetch.plan.cut(counts.reduce(run.selected.count, +))
    } catch let error as StoreError { throw CoreDataError.make(error) }
  }
}
