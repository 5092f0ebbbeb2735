import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// Reading what a fetch is told to have at hand.
extension ContextCore {
  /// Reads the relationships of a dotted path for all objects, one request for each step.
  func prefetch(_ path: String, _ objects: [NSManagedObject]) throws {
    var current = objects
    let names = path.split(separator: ".").map(String.init)
    for (step, name) in names.enumerated() {
      var groups: [Int: [NSManagedObject]] = [:]
      for object in current { groups[object.info.entity.index, default: []].append(object) }
      var next: [NSManagedObject] = []
      var seen: Set<ObjectIdentifier> = []
      for group in groups.values {
        guard case .relationship(let index)? = group[0].info.keys[name] else { continue }
        let relationship = group[0].info.relationships[index].relationship
        if relationship.isToMany {
          try prefetchToMany(relationship, group)
        } else {
          try prefetchToOne(relationship, group)
        }
        if step == names.count - 1 { continue }
        for object in group {
          let destinations =
            relationship.isToMany
            ? Array(object.loadedToMany(relationship).members) : object.toOne(relationship).map { [$0] } ?? []
          // Many may lead to one object; it is asked once.
          next += destinations.filter { seen.insert(ObjectIdentifier($0)).inserted }
        }
      }
      current = next
    }
  }

  /// Throws for a key path that no entity of the fetched ones and their destinations has.
  func checkPrefetch(_ path: String, from entities: Range<Int>) throws {
    guard let frozen else { return }
    var current = Set(entities)
    for name in path.split(separator: ".").map(String.init) {
      var next: Set<Int> = []
      for entity in current {
        guard case .relationship(let index)? = frozen.infos[entity].keys[name] else { continue }
        let destination = frozen.schema.entities[frozen.infos[entity].relationships[index].relationship.destination]
        next.formUnion(destination.subtree)
      }
      if next.isEmpty {
        throw CocoaError(
          .coreData,
          userInfo: [
            NSLocalizedDescriptionKey:
              "Nothing can be prefetched at '\(path)': no entity on the way has a relationship '\(name)'."
          ])
      }
      current = next
    }
  }

  private func prefetchToOne(_ relationship: Relationship, _ objects: [NSManagedObject]) throws {
    // The fetched objects stay faults: their rows are at hand.
    let faults = objects.compactMap { object -> NSManagedObject? in
      guard let row = object.row, object.changed(relationship.slot ?? 0) == nil else {
        return object.toOne(relationship)
      }
      guard let slot = relationship.slot else { return nil }
      return row.reference(slot, entitySlot: relationship.entitySlot, destination: relationship.destination)
        .flatMap { self.object($0, store: object.storeIndex) }
    }.filter { $0.row == nil && $0.key > 0 }
    for (index, faults) in Dictionary(grouping: faults, by: \.storeIndex) {
      guard let store = store(index), let entity = frozen?.schema.entities[relationship.destination] else { continue }
      let byKey = Dictionary(faults.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
      do {
        try reading(store) { (snapshot) throws(StoreError) in
          try snapshot.rows(of: entity.root, keys: Array(byKey.keys)) {
            byKey[$0.key]?.row = store.cache.merge(entity.root, $0, view: snapshot.commitNumber)
          }
        }
      } catch { throw CoreDataError.make(error) }
    }
  }

  private func prefetchToMany(_ relationship: Relationship, _ objects: [NSManagedObject]) throws {
    let faults = objects.filter { $0.key > 0 && $0.toMany(relationship).isFault }
    for (index, owners) in Dictionary(grouping: faults, by: \.storeIndex) {
      guard let store = store(index) else { continue }
      // The rows of all owners, and where each owner's end.
      var (rows, ends): (ContiguousArray<Row>, [(owner: Int64, end: Int)]) = ([], [])
      let view: UInt64
      do {
        view = try reading(store) { (snapshot) throws(StoreError) in
          try snapshot.destinations(of: relationship, owners: owners.map(\.key)) { owner, row in
            rows.append(row)
            if ends.last?.owner == owner { ends[ends.count - 1].end += 1 } else { ends.append((owner, rows.count)) }
          }
          return snapshot.commitNumber
        }
      } catch { throw CoreDataError.make(error) }
      readToManys.insert(relationship.declaringEntity << 16 | (relationship.toManyIndex ?? 0))
      load(owners, relationship, store, rows, ends, view: view)
    }
  }

  /// Gives each owner the objects of its stretch of rows; owners without one have no members.
  private func load(
    _ owners: [NSManagedObject], _ relationship: Relationship, _ store: NSPersistentStore,
    _ rows: ContiguousArray<Row>, _ ends: [(owner: Int64, end: Int)], view: UInt64
  ) {
    var stretches: [Int64: Range<Int>] = [:]
    stretches.reserveCapacity(ends.count)
    var start = 0
    for (owner, end) in ends {
      stretches[owner] = start..<end
      start = end
    }
    // A destination with one owner comes once, so that all objects can be made together.
    let all = relationship.storage == .inverseToOne ? members(rows, relationship, store, view: view) : nil
    for owner in owners {
      let stretch = stretches[owner.key] ?? 0..<0
      let found = all.map { ContiguousArray($0[stretch]) }
      let read = found ?? members(ContiguousArray(rows[stretch]), relationship, store, view: view)
      owner.toMany(relationship).load(living(read, relationship, of: owner))
    }
  }
}
