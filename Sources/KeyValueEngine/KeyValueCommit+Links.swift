import StoreProtocol
import StoreSchema

/// Links of to-many relationships: those that rows tell of, pairs, one-way links and orders.
extension KeyValueCommit {
  /// Everything that goes, over the whole change set, before anything comes: a member that moves must not lose its new owner.
  func takeLinksAway() throws(StoreError) {
    for row in deleted {
      for (slot, table) in shape.store.backLinks[row.entity] where !row.isNull(slot) {
        try unlink(table, row.int(slot), row.key)
      }
      try takeLinksAway(of: row)
    }
    for (update, old) in zip(changes.updates, replaced) {
      guard let old else { continue }
      let row = update.row
      for (slot, table) in shape.store.backLinks[row.entity] where update.changed.contains(slot) {
        // One that stays keeps its place in an order.
        if old.isNull(slot) == row.isNull(slot) && old.int(slot) == row.int(slot) { continue }
        if !old.isNull(slot) { try unlink(table, old.int(slot), row.key) }
        if !row.isNull(slot) { added.append(KeyValueLink(table: table, owner: row.int(slot), destination: row.key)) }
      }
    }
    for row in changes.insertions {
      for (slot, table) in shape.store.backLinks[row.entity] where !row.isNull(slot) {
        added.append(KeyValueLink(table: table, owner: row.int(slot), destination: row.key))
      }
    }
    for change in changes.links { try takeLinksAway(change) }
  }

  /// Takes away the links of a deleted object that are in no row.
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
    guard let table = table(of: change), shape.store.toManys[table].storage != .inverseToOne else { return }
    let owner = final(change.owner)
    let inverse = shape.store.inverseTables[table]
    let stays = Set(change.added.map { final($0.key) })
    for destination in change.removed {
      let key = final(destination.key)
      if stays.contains(key) { continue }
      try unlink(table, owner, key)
      if let inverse { try unlink(inverse, key, owner) }
    }
    for destination in change.added {
      let key = final(destination.key)
      // Another owner loses it, as where the link is in the destination's row.
      if shape.store.toManys[table].storage == .destination, let former = try reader.owner(table, of: key),
        former != owner
      {
        try unlink(table, former, key)
      }
      added.append(KeyValueLink(table: table, owner: owner, destination: key))
      if let inverse { added.append(KeyValueLink(table: inverse, owner: key, destination: owner)) }
    }
  }

  func table(of change: ChangeSet.LinkChange) -> Int? {
    shape.store.table(of: shape.schema.entities[change.entity].relationships[change.relationship])
  }

  private func unlink(_ table: Int, _ owner: Int64, _ destination: Int64) throws(StoreError) {
    note(table, owner)
    if shape.store.toManys[table].storage == .destination, try reader.owner(table, of: destination) == owner {
      KeyValueReader<Transaction>.setWayBackKey(key, table, destination)
      _ = try transaction.remove(.links, key.view)
    }
    KeyValueReader<Transaction>.setLinkKey(key, table, owner, destination)
    _ = try transaction.remove(.links, key.view)
  }

  private func note(_ table: Int, _ owner: Int64) {
    if !shape.store.derivations.counted.isEmpty { changedOwners[table, default: []].insert(owner) }
  }

  /// In the order of their keys, so that those that lie together are written together; ordered ones in the order in which they come.
  func addLinks() throws(StoreError) {
    let (plain, ordered) = KeyValueLink.sorted(added, shape.store.toManys.map(\.isOrdered))
    for link in plain { try add(link, order: nil) }
    var last: [Int: [Int64: Int64]] = [:]
    for link in ordered {
      KeyValueReader<Transaction>.setLinkKey(key, link.table, link.owner, link.destination)
      if try transaction.value(.links, key.view) != nil { continue }
      var order = OrderKeys.step
      if let known = last[link.table]?[link.owner] {
        order += known
      } else {
        order += try highestOrder(link.table, link.owner)
      }
      last[link.table, default: [:]][link.owner] = order
      try add(link, order: order)
    }
  }

  /// What the order of an owner's last destination is.
  private func highestOrder(_ table: Int, _ owner: Int64) throws(StoreError) -> Int64 {
    var highest = OrderKeys.first - OrderKeys.step
    try reader.links(table, owner) { (_, order) throws(StoreError) in highest = max(highest, order) }
    if highest > Int64.max - OrderKeys.step { throw KeyValueEntry.damaged }
    return highest
  }

  private func add(_ link: KeyValueLink, order: Int64?) throws(StoreError) {
    note(link.table, link.owner)
    KeyValueReader<Transaction>.setLinkKey(key, link.table, link.owner, link.destination)
    try putLink(order)
    if shape.store.toManys[link.table].storage == .destination {
      KeyValueReader<Transaction>.setWayBackKey(key, link.table, link.destination)
      try putLink(link.owner)
    }
  }

  /// Writes the link whose key is in ``key``, with its order, or its owner.
  private func putLink(_ number: Int64?) throws(StoreError) {
    entry.clear()
    entry.append(integer: UInt64(0))
    if let number { entry.append(integer: number.littleEndian) }
    KeyValueEntry.seal(entry, key.view)
    try transaction.put(.links, key.view, entry.view)
  }

  func orderLinks() throws(StoreError) {
    for change in changes.links {
      guard let order = change.order, let table = table(of: change), shape.store.toManys[table].isOrdered else {
        continue
      }
      let owner = final(change.owner)
      var existing: [Int64: Int64] = [:]
      try reader.links(table, owner) { (destination, order) throws(StoreError) in existing[destination] = order }
      // What the order does not name stays behind.
      var wanted: [Int64] = []
      var seen: Set<Int64> = []
      let rest = existing.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
      for destination in order.map({ final($0.key) }) + rest
      where existing[destination] != nil && seen.insert(destination).inserted {
        wanted.append(destination)
      }
      for (destination, order) in OrderKeys.assign(wanted, existing: existing) where existing[destination] != order {
        KeyValueReader<Transaction>.setLinkKey(key, table, owner, destination)
        try putLink(order)
      }
    }
  }
}
