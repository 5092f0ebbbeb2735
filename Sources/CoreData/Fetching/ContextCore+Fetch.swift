import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// Running fetches: rows from the stores, pending changes laid over, then sorted and cut.
extension ContextCore {
  func fetchObjects(_ parameters: FetchParameters) throws -> [NSManagedObject] {
    checkQueue()
    processPendingChanges()
    let fetch = try ResolvedFetch(parameters, self)
    try ResolvedTable.checkProperties(fetch, self)
    for path in parameters.prefetchedKeyPaths { try checkPrefetch(path, from: fetch.plan.entities) }
    let stores = self.stores(for: fetch)
    let dirty = parameters.includesPendingChanges ? pendingObjects(fetch, stores) : []
    let needsFinishing = stores.count != 1 || !dirty.isEmpty || fetch.block != nil || !fetch.comparators.isEmpty
    if !needsFinishing {
      let objects = try self.objects(fetch, fetch.plan, from: stores[0])
      try finish(objects, parameters)
      return objects
    }
    var plan = fetch.plan
    // Each pending object may push one result out of the window or into it.
    plan.offset = 0
    let isCutHere = fetch.block != nil || !fetch.comparators.isEmpty
    plan.limit = isCutHere ? nil : fetch.plan.limit.flatMap { Self.sum($0, fetch.plan.offset, dirty.count) }
    var objects: [NSManagedObject] = []
    for store in stores { objects += try self.objects(fetch, plan, from: store) }
    objects = layOver(dirty, on: objects, fetch)
    if let block = fetch.block { objects = objects.filter { block.evaluate(with: $0) } }
    sort(&objects, fetch)
    let tail = objects.dropFirst(fetch.plan.offset)
    let result = Array(fetch.plan.limit.map { tail.prefix($0) } ?? tail)
    try finish(result, parameters)
    return result
  }

  /// Nil, which is no limit, where the sum is too large to be one.
  private static func sum(_ numbers: Int...) -> Int? {
    var total = 0
    for number in numbers {
      let (sum, isTooLarge) = total.addingReportingOverflow(number)
      if isTooLarge { return nil }
      total = sum
    }
    return total
  }

  func stores(for fetch: ResolvedFetch) -> [NSPersistentStore] {
    guard let coordinator else { return [] }
    let affected = fetch.parameters.affectedStores
    return coordinator.persistentStores.filter { store in
      (affected?.contains { $0 === store } ?? true)
        && fetch.plan.entities.contains {
          coordinator.takes(
            store, fetch.info.entity.index == $0 ? fetch.info.entity : frozen?.schema.entities[$0] ?? fetch.info.entity)
        }
    }
  }

  /// The objects of the rows that one store gives for a plan.
  private func objects(
    _ fetch: ResolvedFetch, _ plan: FetchPlan, from store: NSPersistentStore
  ) throws -> [NSManagedObject] {
    // A fetch sees the newest state, and so do the faults that it makes.
    snapshots[store.index] = nil
    do {
      if let incremental = try store.openIncremental() {
        let objects = try incremental.fetch(fetch, offset: plan.offset, limit: plan.limit, self)
        rememberBatches(of: objects.map(\.reference), fetch, store)
        if fetch.parameters.shouldRefresh { try refresh(objects, store) }
        return objects
      }
      return try reading(store) { (snapshot) throws(StoreError) in
        let execution = FetchExecution(snapshot)
        if !fetch.parameters.includesPropertyValues || fetch.parameters.batchSize > 0 {
          let references = try self.references(execution, plan)
          self.rememberBatches(of: references, fetch, store)
          return references.compactMap { self.object($0, store: UInt16(store.index)) }
        }
        var maker = ObjectMaker(
          self, store, root: fetch.info.root, view: snapshot.commitNumber, refreshes: fetch.parameters.shouldRefresh)
        try execution.fetch(plan) { (row: consuming Row) in
          maker.add(row)
          if maker.asksForCount, let count = execution.estimatedCount(plan) { maker.expect(count) }
        }
        return maker.finish()
      }
    } catch let error as StoreError { throw CoreDataError.make(error) }
  }

  /// Gives unchanged objects of an incremental store the rows that it has now.
  private func refresh(_ objects: [NSManagedObject], _ store: NSPersistentStore) throws(StoreError) {
    let inUse = objects.filter { !$0.isFault && !$0.hasChanges }
    try reading(store) { (snapshot) throws(StoreError) in
      for (root, objects) in Dictionary(grouping: inUse, by: \.info.root) {
        var maker = ObjectMaker(self, store, root: root, view: snapshot.commitNumber, refreshes: true)
        try snapshot.rows(of: root, keys: objects.map(\.key)) { maker.add($0) }
        _ = maker.finish()
      }
    }
  }

  private func rememberBatches(
    of references: [ObjectReference], _ fetch: ResolvedFetch, _ store: NSPersistentStore
  ) {
    let size = fetch.parameters.batchSize
    guard size > 0, fetch.parameters.includesPropertyValues, references.count > 1 else { return }
    fetchBatches.remember(references.map(\.key), store: store.index, root: fetch.info.root, size: size)
  }

  private func references(_ execution: FetchExecution, _ plan: FetchPlan) throws(StoreError) -> [ObjectReference] {
    var result: [ObjectReference] = []
    try execution.references(plan) { result.append($0) }
    return result
  }

  /// What a fetch promises of its results beyond their identity.
  private func finish(_ objects: [NSManagedObject], _ parameters: FetchParameters) throws {
    if !parameters.returnsObjectsAsFaults { for object in objects { object.prepareToRead() } }
    for path in parameters.prefetchedKeyPaths { try prefetch(path, objects) }
  }

  // MARK: Pending changes

  private func layOver(
    _ dirty: [NSManagedObject], on objects: [NSManagedObject], _ fetch: ResolvedFetch
  ) -> [NSManagedObject] {
    if dirty.isEmpty { return objects }
    let changed = Set(dirty.map(ObjectIdentifier.init))
    var result = objects.filter { !changed.contains(ObjectIdentifier($0)) }
    let selects = CompiledPredicate(fetch.plan.predicate, ManagedSource())
    for object in dirty where !object.isDeleted && selects(object) { result.append(object) }
    return result
  }

  func sort(_ objects: inout [NSManagedObject], _ fetch: ResolvedFetch) {
    objects.sort { precedes($0, $1, fetch) }
  }

  /// Whether one object stands before another in the fetch's order.
  func precedes(_ a: NSManagedObject, _ b: NSManagedObject, _ fetch: ResolvedFetch) -> Bool {
    let source = ManagedSource()
    for step in fetch.comparators {
      switch step {
      case .path(let sort):
        let isBefore = SortEvaluation.precedes([sort], { source.value(at: $0, of: a) }, { source.value(at: $0, of: b) })
        if let isBefore { return isBefore }
      case .comparator(let descriptor):
        let order = descriptor.compare(a, to: b)
        if order != .orderedSame { return order == .orderedAscending }
      }
    }
    return SortEvaluation.precedes(fetch.plan.sort, { source.value(at: $0, of: a) }, { source.value(at: $0, of: b) })
      ?? a.isBefore(b)
  }

  // MARK: IDs and counts

  func fetchIDs(_ parameters: FetchParameters) throws -> [NSManagedObjectID] {
    var keysOnly = parameters
    keysOnly.includesPropertyValues = false
    return try fetchObjects(keysOnly).map(\.objectID)
  }

  func count(_ parameters: FetchParameters) throws -> Int {
    checkQueue()
    processPendingChanges()
    let fetch = try ResolvedFetch(parameters, self)
    let stores = self.stores(for: fetch)
    let isSimple =
      stores.count == 1 && fetch.block == nil
      && (!parameters.includesPendingChanges || pendingObjects(fetch, stores).isEmpty)
    guard isSimple else { return try fetchObjects(parameters).count }
    do {
      if let incremental = try stores[0].openIncremental() { return try incremental.count(fetch, self) }
      return try reading(stores[0]) { (snapshot) throws(StoreError) in
        try FetchExecution(snapshot).count(fetch.plan)
      }
    } catch let error as StoreError { throw CoreDataError.make(error) }
  }
}
