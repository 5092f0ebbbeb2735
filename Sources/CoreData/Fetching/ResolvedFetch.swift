import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// A fetch request with its names resolved against a context's model.
struct ResolvedFetch {
  let info: EntityInfo
  private(set) var plan: FetchPlan
  /// The part of the predicate that is evaluated in memory, for the objects that the rest selects. It has the blocks.
  private(set) var block: NSPredicate?
  /// The whole order if it has a comparator, which no store can sort by. Otherwise empty.
  private(set) var comparators: [Step]

  enum Step {
    case path(ResolvedSort)
    case comparator(NSSortDescriptor)
  }
  private(set) var parameters: FetchParameters
  /// The resolver of the request's names.
  let resolver: PredicateResolver
  /// The predicate before it was resolved, if it names objects.
  private var treeOfObjects: StoreQuery.Predicate?
  /// The value of `now()`.
  private let now = Date().timeIntervalSinceReferenceDate

  init(_ parameters: FetchParameters, _ core: ContextCore) throws {
    guard let frozen = core.frozen else {
      throw CocoaError(
        .coreData,
        userInfo: [NSLocalizedDescriptionKey: "The context has no coordinator with a valid model to fetch from."])
    }
    try parameters.checkNumbers()
    guard let name = parameters.entityName, let entity = frozen.schema.entity(named: name) else {
      throw Self.error(
        parameters.entityName.map { "the model has no entity '\($0)'." }
          ?? "the request has no entity. Make the persistent container or coordinator before a class is asked for a request, and name the class in managedObjectClassName."
      )
    }
    info = frozen.infos[entity.index]
    parameters.note(info.description)
    self.parameters = parameters
    let resolver = Self.resolver(frozen.schema, entity, now, core)
    var predicate = ResolvedPredicate.constant(true)
    var block: NSPredicate?
    var treeOfObjects: StoreQuery.Predicate?
    if let given = parameters.predicate {
      do {
        let (tree, rest) = try PredicateTree.forFetch(given, ofObjects: core.namesOfObjectValues(parameters))
        block = rest
        predicate = try resolver.resolve(tree)
        if PredicateWalk.namesObjects(tree) { treeOfObjects = tree }
      } catch { throw Self.error(error.message, error) }
    }
    var sorts: [ResolvedSort] = []
    var steps: [Step] = []
    for descriptor in parameters.sortDescriptors ?? [] {
      guard let key = descriptor.key, !descriptor.comparesByBlock else {
        steps.append(.comparator(descriptor))
        continue
      }
      guard let order = SortComparison.TextOrder(selector: descriptor.selector) else {
        throw Self.error(
          "The sort descriptor of \(key) compares by \(descriptor.selector?.description ?? ""), which no store knows.")
      }
      do {
        let path = try resolver.path(key)
        sorts.append(ResolvedSort(path: path, isAscending: descriptor.ascending, comparison: order))
      } catch { throw Self.error(error.message, error) }
      sorts.last.map { steps.append(.path($0)) }
    }
    let comparators = sorts.count == steps.count ? [] : steps
    self.block = block
    self.resolver = resolver
    self.treeOfObjects = treeOfObjects
    self.comparators = comparators
    plan = FetchPlan(
      entities: parameters.includesSubentities ? entity.subtree : entity.index..<(entity.index + 1),
      predicate: predicate, sort: comparators.isEmpty ? sorts : [], offset: max(0, parameters.fetchOffset),
      limit: parameters.fetchLimit > 0 ? parameters.fetchLimit : nil)
  }

  private static func resolver(
    _ schema: Schema, _ entity: Entity, _ now: Double, _ core: ContextCore, at store: UInt16? = nil
  ) -> PredicateResolver {
    PredicateResolver(schema, entity, now: now, nested: NestedFetch.literal) {
      ObjectInPredicate($0)?.reference(in: core, at: store) ?? ObjectReference(entity: 0, key: 0)
    }
  }

  /// The predicate for one of several stores. If it names objects, it is resolved for this store, because their keys
  /// belong to other objects in other stores.
  func predicate(at store: UInt16, in core: ContextCore) -> ResolvedPredicate {
    guard let treeOfObjects, let coordinator = core.coordinator, coordinator.openStores.count > 1,
      let schema = core.frozen?.schema
    else { return plan.predicate }
    // This cannot fail: the same names were resolved before.
    return (try? Self.resolver(schema, info.entity, now, core, at: store).resolve(treeOfObjects)) ?? plan.predicate
  }

  /// The fetch that a child context's parent runs: the part of one store, which is evaluated with the parent's unsaved
  /// changes. `plan` has the references of that store already. Blocks and comparators are called by the child.
  func part(_ plan: FetchPlan, of store: NSPersistentStore, readsRows: Bool) -> ResolvedFetch {
    var part = self
    (part.plan, part.block, part.comparators, part.treeOfObjects) = (plan, nil, [], nil)
    part.parameters = readsRows ? parameters : parameters.forIDs
    part.parameters.includesPropertyValues = readsRows
    part.parameters.affectedStores = [store]
    (part.parameters.includesPendingChanges, part.parameters.fetchBatchSize) = (true, 0)
    part.parameters.relationshipKeyPathsForPrefetching = nil
    (part.parameters.returnsObjectsAsFaults, part.parameters.shouldRefreshRefetchedObjects) = (true, false)
    return part
  }

  private static func error(_ reason: String, _ cause: (any Error)? = nil) -> CocoaError {
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: "The fetch cannot be run: \(reason)"]
    userInfo[NSUnderlyingErrorKey] = cause
    return CocoaError(.coreData, userInfo: userInfo)
  }
}
