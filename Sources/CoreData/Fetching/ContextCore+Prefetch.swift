import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// Reading what a fetch is told to have at hand.
extension ContextCore {
  /// Does what a fetch wants of its results. `haveRows` says that the faults among them have been given their rows by
  /// it.
  func apply(_ options: FetchBatches.Options, _ objects: [NSManagedObject], haveRows: Bool) throws {
    if options.realizes {
      if !haveRows { do { try readRows(of: objects) } catch { throw CoreDataError.make(error) } }
      // Whoever saves while clients' code awakes them changes none of the others.
      keepingRows { for object in objects { object.prepareToRead() } }
    }
    for path in options.prefetchedKeyPaths { try prefetch(path, objects) }
  }

  /// Does for the batches of an object that has just been read what their fetches want of them. Objects that nobody
  /// holds are left out.
  ///
  /// An object that is read for one batch may be in another, whose options would be applied within, and so on through
  /// all objects that there are. So the other batch waits until the first is done.
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
      try readRows(of: objects)
      try apply(due.options, objects, haveRows: true)
    } catch {
      // Whoever reads a value cannot be told. What was not read is read when it is used, and fails then.
      report("a batch of a fetch could not be read: \(error)")
    }
  }

  /// Gives the faults among objects of one tree the newest rows that are known, the others in one request for each
  /// store. Faults that keep their rows are left alone; see ``SharedReads``.
  private func readRows(of objects: [NSManagedObject]) throws(StoreError) {
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
      if object.row != nil && sharedReads.keepsRows { continue }
      if let row = origin.cache.row(root, object.key), row.entity == object.info.entity.index {
        takeCached(row, object, origin)
      } else if object.row == nil {
        faults[object.key] = object
      }
    }
    if faults.isEmpty { return }
    try origin.read(self) { (view) throws(StoreError) in
      try view.snapshot.rows(of: root, keys: faults.keys.sorted()) { row in
        guard let object = faults[row.key], object.info.entity.index == row.entity else { return }
        object.take(origin.cache.merge(root, row, view: view.stamp))
      }
    }
  }

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
    }.filter { $0.row == nil && $0.flags.contains(.stored) }
    for (index, faults) in Dictionary(grouping: faults, by: \.storeIndex) {
      guard let origin = origin(index), let entity = frozen?.schema.entities[relationship.destination] else { continue }
      let byKey = Dictionary(faults.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
      do {
        try origin.read(self) { (view) throws(StoreError) in
          try view.snapshot.rows(of: entity.root, keys: Array(byKey.keys)) {
            byKey[$0.key]?.take(origin.cache.merge(entity.root, $0, view: view.stamp))
          }
        }
      } catch { throw CoreDataError.make(error) }
    }
  }

  private func prefetchToMany(_ relationship: Relationship, _ objects: [NSManagedObject]) throws {
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
