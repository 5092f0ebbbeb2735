import StoreProtocol
import StoreQuery
import StoreSchema

/// A fetch of one context: the resolved request, the stores to read, and the objects for which the stores' answers may
/// be wrong because of unsaved changes.
struct FetchRun {
  let fetch: ResolvedFetch
  let origins: [RowOrigin]
  /// The predicate for each store. They differ only in the references to objects that the predicate names.
  let predicates: [ResolvedPredicate]
  let dirty: [NSManagedObject]
  /// The dirty objects that the fetch selects with their unsaved changes, in its order. A block is evaluated later.
  let selected: [FoundObject]
  /// Whether a child context merges the results with objects of its own.
  var isForMerging = false

  /// Whether a block or a comparator must see the objects before the results are known.
  var isFinishedInMemory: Bool { fetch.block != nil || !fetch.comparators.isEmpty }
  /// Whether the answer of the only store is the result.
  var isPlain: Bool { origins.count == 1 && dirty.isEmpty && !isFinishedInMemory }
  /// Whether whole rows are read, and not only keys. Blocks and comparators need all rows.
  var readsRows: Bool {
    isFinishedInMemory || fetch.parameters.includesPropertyValues && fetch.parameters.fetchBatchSize == 0
  }
  /// Whether values of the objects are read before the fetch ends.
  var readsWholeObjects: Bool { isFinishedInMemory || !fetch.parameters.returnsObjectsAsFaults }
  /// Whether results of several origins are put into one order.
  var isMerged: Bool { origins.count > 1 || !selected.isEmpty }

  var options: FetchBatches.Options {
    .init(
      realizes: !fetch.parameters.returnsObjectsAsFaults,
      prefetchedKeyPaths: fetch.parameters.relationshipKeyPathsForPrefetching ?? [])
  }

  /// The plan for one store.
  func plan(of origin: RowOrigin) -> FetchPlan {
    if isPlain { return selection(of: origin) }
    // Each pending object may move one result into or out of the range of offset and limit.
    var plan = selection(of: origin).widened(by: dirty.count)
    if isFinishedInMemory { plan.limit = nil }
    return plan
  }

  /// The fetch's plan with the predicate for one store.
  func selection(of origin: RowOrigin) -> FetchPlan {
    var plan = fetch.plan
    if let index = origins.firstIndex(where: { $0 === origin }) { plan.predicate = predicates[index] }
    return plan
  }

  func reader(of origin: RowOrigin) -> StoreFetcher {
    StoreFetcher(plan: plan(of: origin), readsRows: readsRows, readsSortKeys: isMerged || isForMerging)
  }

  /// Combines the answers of all stores. If a block or comparator must see the results, offset and limit are not
  /// applied yet. `areCut` says whether the only store has applied them.
  func results(_ answers: [[FoundObject]], areCut: Bool) -> [FoundObject] {
    if isPlain && areCut { return answers.first ?? [] }
    let old = Set(dirty.map(FoundObject.Identity.init))
    var merged: [FoundObject] = []
    for answer in answers {
      let clean = old.isEmpty ? answer : answer.filter { !old.contains($0.identity) }
      merged = FoundObject.merged(merged, clean, fetch.plan.sort)
    }
    merged = FoundObject.merged(merged, selected, fetch.plan.sort)
    return isFinishedInMemory ? merged : fetch.plan.cut(merged)
  }
}

extension ContextCore {
  /// Prepares a fetch. Throws if a name of its request is not in the model.
  func fetchRun(_ parameters: FetchParameters) throws -> FetchRun {
    endEventToRead()
    return fetchRun(try ResolvedFetch(parameters, self))
  }

  /// The same for a resolved request.
  func fetchRun(_ fetch: ResolvedFetch) -> FetchRun {
    let origins = self.origins(for: fetch)
    let dirty = fetch.parameters.includesPendingChanges ? pendingObjects(fetch, origins.map(\.store)) : []
    let selects = selection(fetch)
    return FetchRun(
      fetch: fetch, origins: origins, predicates: origins.map { fetch.predicate(at: $0.index, in: self) },
      dirty: dirty, selected: sorted(dirty.filter { !$0.flags.isDeleted && selects($0) }, fetch.plan.sort))
  }

  /// A function that says whether the fetch selects an object with its unsaved changes.
  func selection(_ fetch: ResolvedFetch) -> (NSManagedObject) -> Bool {
    var compiled: [UInt16: CompiledPredicate<ManagedSource>] = [:]
    return { object in
      let store = object.storeIndex
      let selects =
        compiled[store] ?? CompiledPredicate<ManagedSource>(fetch.predicate(at: store, in: self))
      compiled[store] = selects
      return selects(object, in: ManagedSource())
    }
  }

  /// The origins of the stores that a fetch reads.
  func origins(for fetch: ResolvedFetch) -> [RowOrigin] {
    guard let coordinator else { return [] }
    let affected = fetch.parameters.affectedStores
    return coordinator.openStores.filter { store in
      (affected?.contains { $0 === store } ?? true)
        && fetch.plan.entities.contains {
          coordinator.takes(
            store, fetch.info.entity.index == $0 ? fetch.info.entity : frozen?.schema.entities[$0] ?? fetch.info.entity)
        }
    }.map(origin(of:))
  }

  // MARK: Order

  /// Objects in the order of sorts. The sort keys of each object are read once.
  func sorted(_ objects: [NSManagedObject], _ sorts: [ResolvedSort]) -> [FoundObject] {
    objects.map { FoundObject($0, keys: sortKeys(of: $0, sorts)) }.sorted { $0.precedes($1, sorts) }
  }

  /// The sort keys of an object. A fault stays a fault if its row has them.
  func sortKeys(of object: NSManagedObject, _ sorts: [ResolvedSort]) -> [Value] {
    if sorts.isEmpty { return [] }
    if object.flags.isFault, sorts.allSatisfy(\.path.isOwn), let row = rowAtHand(of: object) {
      return sorts.map { row.value(of: $0.path.leaf) }
    }
    let source = ManagedSource()
    return sorts.map { source.value(at: $0.path, of: object) }
  }

  /// The row that a fault would fire with. The fault does not fire. Nil if firing would be an error.
  func rowAtHand(of object: NSManagedObject) -> Row? {
    guard object.flags.contains(.stored), let origin = origin(object.storeIndex) else { return nil }
    let cached = origin.cache.row(object.info.root, object.key)
    if let row = rowKeeping.keepsRows ? object.row ?? cached : cached ?? object.row { return row }
    return (try? origin.row(object.key, root: object.info.root, self)) ?? nil
  }

  /// Whether one object is before another in the fetch's order. Without comparators faults stay faults; see
  /// ``sortKeys(of:_:)``.
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
    let sorts = fetch.plan.sort
    return FoundObject(a, keys: sortKeys(of: a, sorts)).precedes(FoundObject(b, keys: sortKeys(of: b, sorts)), sorts)
  }

  func sort(_ objects: inout [NSManagedObject], _ fetch: ResolvedFetch) {
    if !fetch.comparators.isEmpty { return objects.sort { precedes($0, $1, fetch) } }
    objects = sorted(objects, fetch.plan.sort).compactMap {
      if case .object(let object) = $0.content { object } else { nil }
    }
  }
}
