import StoreProtocol
import StoreSchema
import StoreSupport

/// Links of to-many relationships: links that follow from rows, pairs, one-way links, and orders.
extension KeyValueCommit {
  /// Removes links, over the whole change set, before any link is added: a member that moves must not lose its new
  /// owner.
  func takeLinksAway() throws(StoreError) {
    for row in deleted {
      for (slot, table) in shape.store.backLinks[row.entity] where !row.isNull(slot) {
        try unlink(table, row.int(slot), row.key)
      }
    }
    for (update, old) in zip(changes.updates, replaced) {
      guard let old else { continue }
      let row = update.row
      for (slot, table) in shape.store.backLinks[row.entity] where update.changed.contains(slot) {
        // A link that stays keeps its position in an order.
        if old.isNull(slot) == row.isNull(slot) && old.int(slot) == row.int(slot) { continue }
        if !old.isNull(slot) { try unlink(table, old.int(slot), row.key) }
        if !row.isNull(slot) { link(table, row.int(slot), row.key) }
      }
    }
    for row in changes.insertions {
      for (slot, table) in shape.store.backLinks[row.entity] where !row.isNull(slot) {
        link(table, row.int(slot), row.key)
      }
    }
    for change in changes.links { try takeLinksAway(change) }
    try removeLinks()
  }

  /// Removes the links of deleted objects that are in no row.
  func dropLinks() throws(StoreError) {
    for row in deleted { try takeLinksAway(of: row) }
    try removeLinks()
  }

  /// Removes what ``unlink(_:_:_:)`` has collected.
  private func removeLinks() throws(StoreError) {
    for table in removed.indices {
      KeyValueLink.sortByOwner(&removed[table])
      try forEachOwner(removed[table]) { (owner, destinations) throws(StoreError) in
        if !isAscending(destinations) { destinations = Set(destinations).sorted() }
        try destinations.withUnsafeBufferPointer { (all) throws(StoreError) in try links.remove(table, owner, all) }
      }
    }
    removed = []
  }

  // MARK: Links that must not be left

  func judgeTargets(_ targets: [ObjectReference]) throws(StoreError) {
    for target in targets where try reader.version(of: target.entity, target.key) == nil {
      conflicts.append(Conflict(reference: target, versionRead: 0, kind: .version(persisted: nil)))
    }
  }

  func judgeDeletions() throws(StoreError) {
    for row in deleted {
      let entity = shape.schema.entities[row.entity]
      for relationship in entity.guardedMembers + entity.guardedLinks {
        guard let table = shape.store.table(of: relationship) else { continue }
        var referrers: [ObjectReference] = []
        for key in try reader.destinations(table, row.key) {
          // A link to a missing object does not count.
          guard let found = try reader.version(of: relationship.destination, key) else { continue }
          referrers.append(ObjectReference(entity: found.entity, key: key))
        }
        if referrers.isEmpty { continue }
        conflicts.append(
          Conflict(
            reference: row.reference, versionRead: row.version,
            kind: .referrers(relationship: relationship.index, referrers)))
      }
    }
  }

  /// Removes the links of a deleted object that are in no row.
  private func takeLinksAway(of row: Row) throws(StoreError) {
    for table in shape.store.ownTables[row.entity] {
      for destination in try reader.destinations(table, row.key) {
        try unlink(table, row.key, destination)
        if let inverse = shape.store.inverseTables[table] { try unlink(inverse, destination, row.key) }
      }
    }
    for table in shape.store.oneWaysInto[row.entity] {
      if let owner = try reader.owner(table, of: row.key) { try unlink(table, owner, row.key) }
    }
  }

  private func takeLinksAway(_ change: ChangeSet.LinkChange) throws(StoreError) {
    guard let table = table(of: change), !shape.isInRows[table] else { return }
    let owner = changes.permanentKey(change.owner)
    let inverse = shape.store.inverseTables[table]
    if !change.removed.isEmpty {
      let stays = Set(change.added.map { changes.permanentKey($0.key) })
      for destination in change.removed {
        let key = changes.permanentKey(destination.key)
        if stays.contains(key) { continue }
        try unlink(table, owner, key)
        if let inverse { try unlink(inverse, key, owner) }
      }
    }
    let isOneWay = shape.isOneWay[table]
    for destination in change.added {
      let key = changes.permanentKey(destination.key)
      // A former owner loses the object, as where the link is in the destination's row.
      if isOneWay, let former = try reader.owner(table, of: key), former != owner { try unlink(table, former, key) }
      link(table, owner, key)
      if let inverse { link(inverse, key, owner) }
    }
  }

  func table(of change: ChangeSet.LinkChange) -> Int? { shape.linkTables[change.entity][change.relationship] }

  private func link(_ table: Int, _ owner: Int64, _ destination: Int64) {
    note(table, owner)
    if added.isEmpty { added = Array(repeating: [], count: shape.store.toManys.count) }
    added[table].append(KeyValueLink(owner: owner, destination: destination))
  }

  private func unlink(_ table: Int, _ owner: Int64, _ destination: Int64) throws(StoreError) {
    note(table, owner)
    if shape.isOneWay[table], try reader.owner(table, of: destination) == owner {
      try links.removeOwner(table, of: destination)
    }
    if removed.isEmpty { removed = Array(repeating: [], count: shape.store.toManys.count) }
    removed[table].append(KeyValueLink(owner: owner, destination: destination))
  }

  private func note(_ table: Int, _ owner: Int64) {
    if !shape.store.derivations.isEmpty { changedOwners[table, default: []].insert(owner) }
  }

  /// Adds links by table and owner, so that adjacent links are written together.
  func addLinks() throws(StoreError) {
    for table in added.indices {
      KeyValueLink.sortByOwner(&added[table])
      let isOrdered = shape.store.toManys[table].isOrdered
      try forEachOwner(added[table]) { (owner, destinations) throws(StoreError) in
        if isOrdered { return try addBehind(table, owner, destinations) }
        if !isAscending(destinations) { destinations = Set(destinations).sorted() }
        try destinations.withUnsafeBufferPointer { (all) throws(StoreError) in try links.add(table, owner, all) }
      }
      guard shape.isOneWay[table] else { continue }
      for link in added[table] { try links.setOwner(table, of: link.destination, link.owner) }
    }
  }

  /// Adds ordered links behind the existing ones, in the order in which they come.
  private func addBehind(_ table: Int, _ owner: Int64, _ destinations: [Int64]) throws(StoreError) {
    var (last, existing) = (OrderKeys.first - OrderKeys.step, Set<Int64>())
    try reader.links(table, owner) { destination, order in
      last = max(last, order)
      existing.insert(destination)
    }
    var new: [(destination: Int64, order: Int64)] = []
    for destination in destinations where existing.insert(destination).inserted {
      if last > Int64.max - OrderKeys.step { throw KeyValueEntry.damaged }
      last += OrderKeys.step
      new.append((destination, last))
    }
    try setOrders(table, owner, new)
  }

  private func setOrders(
    _ table: Int, _ owner: Int64, _ orders: [(destination: Int64, order: Int64)]
  ) throws(StoreError) {
    let sorted = orders.sorted { $0.destination < $1.destination }
    let numbers = sorted.flatMap { [$0.destination, $0.order] }
    try numbers.withUnsafeBufferPointer { (all) throws(StoreError) in try links.add(table, owner, all) }
  }

  /// Calls `body` with the destinations of each owner, of links that are sorted by owner.
  private func forEachOwner(
    _ links: [KeyValueLink], _ body: (_ owner: Int64, _ destinations: inout [Int64]) throws(StoreError) -> Void
  ) throws(StoreError) {
    var destinations: [Int64] = []
    var start = 0
    while start < links.count {
      let owner = links[start].owner
      destinations.removeAll(keepingCapacity: true)
      while start < links.count && links[start].owner == owner {
        destinations.append(links[start].destination)
        start += 1
      }
      try body(owner, &destinations)
    }
  }

  /// Whether each number is greater than the one before.
  private func isAscending(_ numbers: [Int64]) -> Bool {
    var index = 1
    while index < numbers.count {
      if numbers[index - 1] >= numbers[index] { return false }
      index += 1
    }
    return true
  }

  func orderLinks() throws(StoreError) {
    for change in changes.links {
      guard let order = change.order, let table = table(of: change), shape.store.toManys[table].isOrdered else {
        continue
      }
      let owner = changes.permanentKey(change.owner)
      var existing: [Int64: Int64] = [:]
      try reader.links(table, owner) { destination, order in existing[destination] = order }
      // Members that the order does not name come last.
      var required: [Int64] = []
      var seen: Set<Int64> = []
      let rest = existing.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
      for destination in order.map({ changes.permanentKey($0.key) }) + rest
      where existing[destination] != nil && seen.insert(destination).inserted {
        required.append(destination)
      }
      let changed = OrderKeys.assign(required, existing: existing).filter { existing[$0.member] != $0.key }
      try setOrders(table, owner, changed.map { ($0.member, $0.key) })
    }
  }
}
