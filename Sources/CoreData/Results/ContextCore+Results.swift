import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// The functions of a context for its fetched results controllers.
extension ContextCore {
  /// Whether an object exists for the results of fetches. It may have gone since it was announced.
  func exists(_ object: NSManagedObject) -> Bool {
    object.core === self && object.flags.isDisjoint(with: [.deleted, .gone])
  }

  /// The objects among `objects` that a fetch selects.
  func matching(_ objects: Set<NSManagedObject>, _ parameters: FetchParameters) throws -> [NSManagedObject] {
    let fetch = try ResolvedFetch(parameters, self)
    let selects = selection(fetch)
    return objects.filter { object in
      guard fetch.plan.entities.contains(object.info.entity.index), exists(object),
        isIn(parameters.affectedStores, object)
      else { return false }
      return selects(object) && fetch.block?.evaluate(with: object) ?? true
    }
  }

  /// Objects in the order of a fetch, without those that are found gone: the order requires their values. Faults whose
  /// rows exist stay faults, where the rows have these values.
  func sorted(_ objects: [NSManagedObject], _ parameters: FetchParameters) throws -> [NSManagedObject] {
    let fetch = try ResolvedFetch(parameters, self)
    if parameters.sortDescriptors?.isEmpty == false {
      for object in objects where object.flags.isFault && rowAtHand(of: object) == nil { _ = look(at: object) }
    }
    var sorted = objects.filter(exists)
    sort(&sorted, fetch)
    return sorted
  }

  /// Whether an object is before another in the order of a fetch.
  func order(_ parameters: FetchParameters) throws -> (NSManagedObject, NSManagedObject) -> Bool {
    let fetch = try ResolvedFetch(parameters, self)
    return { self.precedes($0, $1, fetch) }
  }
}
