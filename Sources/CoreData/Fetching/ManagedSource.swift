import StoreQuery
import StoreSchema

/// The objects of a context, with their unsaved changes.
struct ManagedSource: EvaluationSource {
  func value(at path: SlotPath, of object: NSManagedObject) -> Value {
    var current = object
    for hop in path.hops {
      guard let next = current.toOne(hop) else { return .null }
      current = next
    }
    switch path.leaf {
    // As in rows, the result has no leading byte.
    case .attribute(let slot, .externalData, _):
      let value = current.stored(slot)
      if case .data(let data) = value, data.first == 1 { return .data(data.dropFirst()) }
      return value
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
        hop.isToMany ? members(hop, of: object) : object.toOne(hop).map { [$0] } ?? []
      }
    }
    return objects
  }

  /// The members of a relationship. Those of an unordered one have the order that stores give them.
  private func members(_ hop: Relationship, of object: NSManagedObject) -> [NSManagedObject] {
    let members = Array(object.loadedToMany(hop).members)
    return hop.isOrdered ? members : members.sorted { $0.isBefore($1) }
  }
}

extension NSManagedObject {
  /// The order of objects without another order: saved ones by store and key, then new ones in the order of their
  /// insertion.
  func isBefore(_ other: NSManagedObject) -> Bool {
    if (key > 0) != (other.key > 0) { return key > 0 }
    if storeIndex != other.storeIndex { return storeIndex < other.storeIndex }
    return key > 0 ? key < other.key : key > other.key
  }
}
