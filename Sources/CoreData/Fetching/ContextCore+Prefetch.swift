import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// Reads the rows and relationships that a fetch's options ask for.
extension ContextCore {
  /// Applies the options of a fetch to its results. `haveRows` says whether the fetch has given the faults among them
  /// their rows.
  func apply(_ options: FetchBatches.Options, _ objects: [NSManagedObject], haveRows: Bool) throws {
    if options.realizes {
      if !haveRows { do { try readRows(of: objects) } catch { throw CoreDataError.make(error) } }
      // A save while a client's code awakens one object does not change the rows of the others.
      keepingRows { for object in objects { object.prepareToRead() } }
    }
    for path in options.prefetchedKeyPaths { try prefetch(path, objects) }
  }

  /// Applies options to the batches of an object that has just been read. Objects that nobody retains are left out.
  ///
  /// An object that is read for one batch may be in a second one, and that may lead to a third, through all objects. So
  /// a second batch waits until the first one is done.
  func applyOptions(of object: NSManagedObject) {
    guard object.flags.contains(.stored) else { return }
    fetchBatches.takeOptions(object.key, store: object.storeIndex, root: object.info.root)
    if fetchBatches.isApplying { return }
    fetchBatches.isApplying = true
    while let due = fetchBatches.due.popLast() { apply(due) }
    fetchBatches.isApplying = false
  }

  private func apply(_ due: FetchBatches.Due) {
    let objects = due.keys.compactMap { registry.object(ObjectReference(entity: due.root, key: $0), store: due.store) }
    do {
      try keepingRowsOfParent {
        try readRows(of: objects)
        try apply(due.options, objects, haveRows: true)
      }
    } catch {
      // Reading a value cannot throw. What is missing is read again when it is used, and that use fails.
      report("a batch of a fetch could not be read: \(error)")
    }
  }

  /// Gives faults of one root entity their rows: the newest cached rows, and the others by one request for each store.
  /// Faults that keep their rows do not change; see ``RowKeeping``.
  func readRows(of objects: [NSManagedObject]) throws(StoreError) {
    let faults = objects.filter { $0.flags.isSuperset(of: [.fault, .stored]) }
    for (index, faults) in Dictionary(grouping: faults, by: \.storeIndex) {
      if let origin = origin(index) { try readRows(of: faults, faults[0].info.root, origin) }
    }
  }

  private func readRows(
    of objects: [NSManagedObject], _ root: Int, _ origin: RowOrigin
  ) throws(StoreError) {
    var faults: [Int64: NSManagedObject] = [:]
    for object in objects {
      if object.row != nil && keepsRow(of: object) { continue }
      if let row = origin.cache.row(root, object.key), row.entity == object.info.entity.index {
        takeCached(row, object, origin)
      } else if object.row == nil || origin.isOfChild {
        faults[object.key] = object
      }
    }
    if faults.isEmpty { return }
    var read: [NSManagedObject] = []
    try origin.rows(faults.keys.sorted(), root: root, self) { row in
      guard let object = faults[row.key], object.info.entity.index == row.entity else { return }
      object.take(row)
      read.append(object)
    }
    noteRows(of: read)
  }

  /// Reads the relationships of a dotted path for all objects, by one request for each step.
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
          // Several objects may lead to one destination; it is read once.
          next += destinations.filter { seen.insert(ObjectIdentifier($0)).inserted }
        }
      }
      current = next
    }
  }

  /// Throws for a key path that neither the fetched entities nor their destinations have.
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
    // The fetched objects stay faults and keep their rows.
    let faults = objects.compactMap { object -> NSManagedObject? in
      guard let row = object.row, object.changed(relationship.slot ?? 0) == nil else {
        return object.toOne(relationship)
      }
      guard let slot = relationship.slot else { return nil }
      return row.reference(slot, entitySlot: relationship.entitySlot, destination: relationship.destination)
        .flatMap { self.object($0, store: object.storeIndex) }
    }.filter { object in
      let isOld = parent != nil && object.flags.isFault && !keepsRow(of: object)
      return object.flags.contains(.stored) && (object.row == nil || isOld)
    }
    for (index, faults) in Dictionary(grouping: faults, by: \.storeIndex) {
      guard let origin = origin(index), let entity = frozen?.schema.entities[relationship.destination] else { continue }
      let byKey = Dictionary(faults.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
      var read: [NSManagedObject] = []
      do {
        try origin.rows(Array(byKey.keys), root: entity.root, self) { row in
          guard let object = byKey[row.key], object.info.entity.index == row.entity else { return }
          object.take(row)
          read.append(object)
        }
      } catch { throw CoreDataError.make(error) }
      noteRows(of: read)
    }
  }

  func prefetchToMany(_ relationship: Relationship, _ objects: [NSManagedObject]) throws {
    let faults = objects.filter { $0.flags.contains(.stored) && $0.toMany(relationship).isFault }
    for (index, owners) in Dictionary(grouping: faults, by: \.storeIndex) {
      guard let origin = origin(index) else { continue }
      do {
        // Rows must not be newer than members; see `loadedToMany`.
        try readRows(of: owners)
        try origin.loadMembers(of: relationship, owners, self)
      } catch { throw CoreDataError.make(error) }
      noteRead(relationship)
    }
  }
}
