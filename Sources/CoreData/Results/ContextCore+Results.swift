import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// The functions of a context for its fetched results controllers.
extension ContextCore {
  /// The objects among `objects` that a fetch selects.
  func matching(_ objects: Set<NSManagedObject>, _ parameters: FetchParameters) throws -> [NSManagedObject] {
    let fetch = try ResolvedFetch(parameters, self)
    let selects = selection(fetch)
    return objects.filter { object in
      guard fetch.plan.entities.contains(object.info.entity.index), !object.flags.isDeleted,
        isIn(parameters.affectedStores, object)
      else { return false }
      return selects(object) && fetch.block?.evaluate(with: object) ?? true
    }
  }

  /// Sorted objects, merged with others in the order of the fetch.
  func merged(
    _ kept: [NSManagedObject], with others: [NSManagedObject], _ parameters: FetchParameters
  ) throws -> [NSManagedObject] {
    let fetch = try ResolvedFetch(parameters, self)
    var sorted = others
    sort(&sorted, fetch)
    if kept.isEmpty || sorted.isEmpty { return kept + sorted }
    var result: [NSManagedObject] = []
    result.reserveCapacity(kept.count + sorted.count)
    var rest = sorted[...]
    for object in kept {
      while let next = rest.first, precedes(next, object, fetch) {
        result.append(next)
        rest = rest.dropFirst()
      }
      result.append(object)
    }
    return result + rest
  }
}
