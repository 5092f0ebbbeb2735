import StoreQuery
import StoreSchema

/// The objects of a context as they are now, unsaved changes included.
struct ManagedSource: EvaluationSource {
  func value(at path: SlotPath, of object: NSManagedObject) -> Value {
    var current = object
    for hop in path.hops {
      guard let next = current.toOne(hop) else { return .null }
      current = next
    }
    switch path.leaf {
    case .attribute(let slot, _, _): return current.stored(slot)
    case .toOne(let relationship): return current.toOne(relationship).map { .reference($0.reference) } ?? .null
    case .object: return .reference(current.reference)
    case .entity: return .int(Int64(current.info.entity.index))
    case .column: return .null
    }
  }

  func objects(over hops: [Relationship], from object: NSManagedObject) -> [NSManagedObject] {
    var objects = [object]
    for hop in hops {
      objects = objects.flatMap { object in
        hop.isToMany ? Array(object.loadedToMany(hop).members) : object.toOne(hop).map { [$0] } ?? []
      }
    }
    return objects
  }
}
