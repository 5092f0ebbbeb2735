import StoreQuery
import StoreSchema

/// Finds the objects for which a store's answer may be wrong because of unsaved changes.
extension ContextCore {
  /// Changed objects of the fetched entities, and unchanged ones from which a key path of the predicate or a sort leads
  /// to changed objects.
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

  /// Whether an object belongs to one of the stores that a request names. A new object belongs to the store that it is
  /// assigned to, if any.
  func isIn(_ affected: [NSPersistentStore]?, _ object: NSManagedObject) -> Bool {
    guard let affected else { return true }
    findStore(for: object)
    return affected.contains { $0 === store(object.storeIndex) }
  }

  /// The objects that relationships reach from changed objects, step by step. Removed links need no step: they have
  /// changed the object that had them. A deleted object is still linked to its owners, whose rows its deletion may
  /// leave as they are.
  private func reached(over relationships: Set<Relationship>, steps: Int) -> [NSManagedObject] {
    let source = ManagedSource()
    var frontier = changed.filter(\.flags.hasChanges)
    var known = Set(frontier.map(ObjectIdentifier.init))
    var found = frontier
    // No key path is longer than the number of relationships that the predicate names.
    for _ in 0..<steps {
      var next: [NSManagedObject] = []
      for relationship in relationships {
        let owners = frontier.filter { $0.info.has(relationship) }
        // Where this fails, reading the members one by one fails too.
        if relationship.isToMany && owners.count > 1 { _ = errors { try? prefetchToMany(relationship, owners) } }
        for object in owners {
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
  /// Whether objects of the entity have the relationship.
  fileprivate func has(_ relationship: Relationship) -> Bool {
    relationships.indices.contains(relationship.index)
      && relationships[relationship.index].relationship == relationship
  }
}
