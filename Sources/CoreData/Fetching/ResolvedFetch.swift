import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// A fetch request with its names resolved against a context's model.
struct ResolvedFetch {
  let info: EntityInfo
  let plan: FetchPlan
  /// A predicate that only blocks can evaluate; the store gives all rows then.
  let block: NSPredicate?
  /// The whole order where a comparator, which no store knows, has part in it; else empty.
  let comparators: [Step]

  enum Step {
    case path(ResolvedSort)
    case comparator(NSSortDescriptor)
  }
  let parameters: FetchParameters
  /// What resolved the names.
  let resolver: PredicateResolver

  init(_ parameters: FetchParameters, _ core: ContextCore) throws {
    guard let frozen = core.frozen else {
      throw CocoaError(
        .coreData,
        userInfo: [NSLocalizedDescriptionKey: "The context has no coordinator with a valid model to fetch from."])
    }
    guard let name = parameters.entityName, let entity = frozen.schema.entity(named: name) else {
      misuse(
        "A fetch request must have an entity of the model; \(parameters.entityName.map { "'\($0)'" } ?? "it") is none.")
    }
    info = frozen.infos[entity.index]
    parameters.note(info.description)
    self.parameters = parameters
    let resolver = PredicateResolver(frozen.schema, entity, nested: NestedFetch.literal) {
      NewObject($0)?.reference(in: core) ?? ObjectReference(entity: 0, key: 0)
    }
    var predicate = ResolvedPredicate.constant(true)
    var block: NSPredicate?
    if let given = parameters.predicate {
      do {
        if let tree = try PredicateTree.forFetch(given) {
          predicate = try resolver.resolve(tree)
        } else {
          block = given
        }
      } catch { throw Self.error(error.message, error) }
    }
    var sorts: [ResolvedSort] = []
    var steps: [Step] = []
    for descriptor in parameters.sortDescriptors {
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
    self.comparators = comparators
    plan = FetchPlan(
      entities: parameters.includesSubentities ? entity.subtree : entity.index..<(entity.index + 1),
      predicate: predicate, sort: comparators.isEmpty ? sorts : [], offset: max(0, parameters.offset),
      limit: parameters.limit > 0 ? parameters.limit : nil)
  }

  private static func error(_ reason: String, _ cause: (any Error)? = nil) -> CocoaError {
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: "The fetch cannot be run: \(reason)"]
    userInfo[NSUnderlyingErrorKey] = cause
    return CocoaError(.coreData, userInfo: userInfo)
  }
}
