import StoreQuery
import StoreSchema

/// The objects on which a store's verdict may be old, because of what is not saved yet.
extension ContextCore {
  /// Changed objects of the fetched entities, and unchanged ones that a predicate or a sort leads from to changed
  /// objects.
  func pendingObjects(_ fetch: ResolvedFetch, _ stores: [NSPersistentStore]) -> [NSManagedObject] {
    if changed.isEmpty { return [] }
    let own = changed.filter {
      fetch.plan.entities.contains($0.info.entity.index) && $0.flags.hasChanges
        && isIn(fetch.parameters.affectedStores, $0)
    }
    let followed = fetch.plan.predicate.relationships + fetch.plan.sort.flatMap(\.path.hops)
    let inverses = Set(followed.compactMap { frozen?.schema.inverse(of: $0) })
    if inverses.isEmpty { return own }
    let known = Set(own.map(ObjectIdentifier.init))
    let indices = Set(stores.map { UInt16($0.index) })
    return own
      + reached(over: inverses, steps: followed.count).filter { object in
        fetch.plan.entities.contains(object.info.entity.index) && !known.contains(ObjectIdentifier(object))
          && indices.contains(object.storeIndex)
      }
  }

  /// Whether a request that names its stores is about an object. A new one belongs to the store that is to take it; one
  /// that none takes yet belongs to none.
  func isIn(_ affected: [NSPersistentStore]?, _ object: NSManagedObject) -> Bool {
    guard let affected else { return true }
    findStore(for: object)
    return affected.contains { $0 === store(object.storeIndex) }
  }

  /// What relationships lead to from changed objects, step by step. A link that is gone has changed the object that had
  /// it.
  private func reached(over relationships: Set<Relationship>, steps: Int) -> [NSManagedObject] {
    let source = ManagedSource()
    var frontier = changed.filter { $0.flags.hasChanges && !$0.flags.isDeleted }
    var known = Set(frontier.map(ObjectIdentifier.init))
    var found = frontier
    // No way is longer than all relationships that the predicate names.
    for _ in 0..<steps {
      var next: [NSManagedObject] = []
      for object in frontier {
        for relationship in relationships where object.info.has(relationship) {
          for other in source.objects(over: [relationship], from: object)
          where known.insert(ObjectIdentifier(other)).inserted {
            next.append(other)
          }
        }
      }
      if next.isEmpty { break }
      found += next
      frontier = next
    }
    return found
  }
}

extension EntityInfo {
  /// Whether objects of the entity have a relationship.
  fileprivate func has(_ relationship: Relationship) -> Bool {
    relationships.indices.contains(relationship.index)
      && relationships[relationship.index].relationship == relationship
  }
}
