import Foundation
import StoreProtocol
import StoreSchema

/// Applies one change set inside a transaction, which its caller ends.
///
/// The steps, in order: keys, versions, indexes, links taken away, rows, links added, orders, derived attributes. Where it reports
/// conflicts the caller drops the transaction.
final class KeyValueCommit<Transaction: KeyValueWriting> {
  let transaction: Transaction
  let reader: KeyValueReader<Transaction>
  let shape: KeyValueShape
  let changes: ChangeSet
  private(set) var keys: [Int64] = []
  private var conflicts: [Conflict] = []
  /// The stored rows of deleted objects, and of those updated ones whose links or indexed values change.
  private var deleted: [Row] = []
  private var replaced: [Row?] = []
  private(set) var touched: Set<ObjectReference> = []
  /// Owners whose links have changed, by table; only where something counts them.
  private(set) var changedOwners: [Int: Set<Int64>] = [:]
  private var added: [NewLink] = []

  let key = KeyBuffer()
  let entry = KeyBuffer()

  /// A link to be written, in the order in which they come.
  private struct NewLink {
    let table: Int
    let owner: Int64
    let destination: Int64
  }

  enum Result {
    case conflicts([Conflict])
    case written(keys: [Int64], touched: [ObjectReference])
  }

  init(_ transaction: Transaction, _ shape: KeyValueShape, _ changes: ChangeSet) {
    self.transaction = transaction
    reader = KeyValueReader(transaction, shape)
    self.shape = shape
    self.changes = changes
  }

  func run() throws(StoreError) -> Result {
    try assignKeys()
    try checkVersions()
    if !conflicts.isEmpty { return .conflicts(conflicts) }
    if !shape.indexes.all.isEmpty { try changeIndexes() }
    if !conflicts.isEmpty { return .conflicts(conflicts) }
    try takeLinksAway()
    try writeRows()
    try addLinks()
    try orderLinks()
    let derivation = KeyValueDerivation(self)
    touched = try derivation.run()
    return .written(keys: keys, touched: touched.sorted { ($0.entity, $0.key) < ($1.entity, $1.key) })
  }

  // MARK: Keys

  private func assignKeys() throws(StoreError) {
    var next: [Int: Int64] = [:]
    var counts: [Int: Int] = [:]
    var highest: [Int: Int64] = [:]
    for row in changes.insertions {
      let root = shape.schema.entities[row.entity].root
      if row.key <= 0 { counts[root, default: 0] += 1 } else { highest[root] = max(highest[root] ?? 0, row.key) }
    }
    for (root, key) in highest { try Self.noteKey(key, root: root, shape, transaction) }
    for (root, count) in counts {
      next[root] = try Self.takeKeys(count, root: root, shape, transaction).lowerBound
    }
    keys.reserveCapacity(changes.insertions.count)
    // Rows of one tree come together: its next key is looked up once.
    var (root, free) = (-1, Int64(1))
    for row in changes.insertions {
      let own = shape.schema.entities[row.entity].root
      if own != root {
        if root >= 0 { next[root] = free }
        (root, free) = (own, next[own] ?? 1)
      }
      if row.key > 0 {
        if try reader.version(of: row.entity, row.key) != nil {
          throw StoreError(.invalidArgument, "There is an object with the key \(row.key) already.")
        }
        keys.append(row.key)
      } else {
        keys.append(free)
        free += 1
      }
    }
    for (row, key) in zip(changes.insertions, keys) {
      row.resolve(key: key, version: 1, referenceSlots: shape.store.referenceSlots[row.entity], keys: keys)
    }
    for update in changes.updates {
      let row = update.row
      row.resolve(
        key: row.key, version: row.version, referenceSlots: shape.store.referenceSlots[row.entity], keys: keys)
    }
  }

  /// The next `count` keys of a root's tree, recorded as taken.
  static func takeKeys(
    _ count: Int, root: Int, _ shape: KeyValueShape, _ transaction: Transaction
  ) throws(StoreError) -> Range<Int64> {
    let fact = KeyValueFact.highestKey(shape.schema.entities[root].name)
    let highest = try KeyValueFacts(transaction).integer(fact) ?? 0
    let (last, overflow) = highest.addingReportingOverflow(Int64(count))
    guard highest >= 0, !overflow, last < Int64.max else {
      throw StoreError(
        .corrupt, "The highest key of the entity tree is \(highest); no further keys can be given.",
        context: ["entity": shape.schema.entities[root].name])
    }
    try transaction.setFact(fact, last)
    return (highest + 1)..<(last + 1)
  }

  /// Makes sure that a key is not handed out again.
  private static func noteKey(
    _ key: Int64, root: Int, _ shape: KeyValueShape, _ transaction: Transaction
  ) throws(StoreError) {
    let fact = KeyValueFact.highestKey(shape.schema.entities[root].name)
    if try KeyValueFacts(transaction).integer(fact) ?? 0 < key { try transaction.setFact(fact, key) }
  }

  func final(_ key: Int64) -> Int64 { key < 0 ? keys[Int(-(key + 1))] : key }

  // MARK: Versions

  private func checkVersions() throws(StoreError) {
    replaced.reserveCapacity(changes.updates.count)
    for update in changes.updates {
      let row = update.row
      try check(row.reference, update.versionRead)
      let isWatched = update.changed.intersects(shape.watchedSlots[row.entity])
      replaced.append(isWatched ? try reader.row(of: row.entity, row.key) : nil)
    }
    for deletion in changes.deletions {
      let reference = deletion.reference
      if try check(reference, deletion.versionRead), let row = try reader.row(of: reference.entity, reference.key) {
        deleted.append(row)
      }
    }
    for check in changes.checks { try self.check(check.reference, check.versionRead) }
  }

  @discardableResult
  private func check(_ reference: ObjectReference, _ versionRead: Int64) throws(StoreError) -> Bool {
    let stored = try reader.version(of: reference.entity, reference.key)
    if let stored, stored.version == versionRead, stored.entity == reference.entity { return true }
    let row = try reader.row(of: reference.entity, reference.key)
    conflicts.append(Conflict(reference: reference, versionRead: versionRead, kind: .version(persisted: row)))
    return false
  }

  // MARK: Indexes

  /// Uniqueness is judged on the state after the save: all old values go before the first new one comes.
  private func changeIndexes() throws(StoreError) {
    for row in deleted { try takeOut(row, shape.indexes.ofEntity[row.entity]) }
    for (update, old) in zip(changes.updates, replaced) {
      if let old { try takeOut(old, changedIndexes(update)) }
    }
    for (update, old) in zip(changes.updates, replaced) where old != nil {
      try enter(update.row, changedIndexes(update), versionRead: update.versionRead)
    }
    for row in changes.insertions { try enter(row, shape.indexes.ofEntity[row.entity], versionRead: 0) }
  }

  private func changedIndexes(_ update: ChangeSet.Update) -> [Int] {
    shape.indexes.ofEntity[update.row.entity].filter {
      shape.indexes.all[$0].slots.contains(where: update.changed.contains)
    }
  }

  func takeOut(_ row: Row, _ indexes: [Int]) throws(StoreError) {
    for index in indexes where shape.indexes.key(of: row, in: index, key) {
      key.append(row.key)
      _ = try transaction.remove(.indexes, key.view)
    }
  }

  private func enter(_ row: Row, _ indexes: [Int], versionRead: Int64) throws(StoreError) {
    for index in indexes where shape.indexes.key(of: row, in: index, key) {
      if shape.indexes.all[index].isUnique, let other = try reader.holder(of: key.view, besides: row.key) {
        return try constraintConflict(row, versionRead, shape.indexes.all[index].slots, other)
      }
      try putIndexEntry(row.key)
    }
  }

  /// Completes the index key in ``key`` and writes it.
  func putIndexEntry(_ object: Int64) throws(StoreError) {
    key.append(object)
    entry.clear()
    entry.append(integer: UInt64(0))
    KeyValueEntry.seal(entry, key.view)
    try transaction.put(.indexes, key.view, entry.view)
  }

  private func constraintConflict(
    _ row: Row, _ versionRead: Int64, _ slots: [Int], _ other: Int64
  ) throws(StoreError) {
    let persisted = try reader.row(of: row.entity, other)
    let tree = shape.store.tree[row.entity]
    let new = changes.insertions.first { $0.key == other && shape.store.tree[$0.entity] == tree }
    let entity = persisted?.entity ?? new?.entity ?? row.entity
    conflicts.append(
      Conflict(
        reference: row.reference, versionRead: versionRead,
        kind: .constraint(slots: slots, other: ObjectReference(entity: entity, key: other), persisted: persisted)))
  }

  // MARK: Rows

  private func writeRows() throws(StoreError) {
    for row in deleted {
      KeyValueReader<Transaction>.setRowKey(key, shape.tree(row.entity), row.key)
      _ = try transaction.remove(.rows, key.view)
    }
    for update in changes.updates { try put(update.row) }
    for row in changes.insertions { try put(row) }
  }

  func put(_ row: Row) throws(StoreError) {
    KeyValueReader<Transaction>.setRowKey(key, shape.tree(row.entity), row.key)
    entry.clear()
    entry.append(integer: UInt64(0))
    entry.append(integer: EntryChecksum.of(key.view).littleEndian)
    entry.append(integer: (UInt32(truncatingIfNeeded: row.entity) << 8 | UInt32(KeyValueEntry.format)).littleEndian)
    entry.append(integer: row.version.littleEndian)
    row.withPackedBytes { entry.append($0) }
    KeyValueEntry.seal(entry, key.view)
    try transaction.put(.rows, key.view, entry.view)
  }

  // MARK: Links

  /// Everything that goes, over the whole change set, before anything comes: a member that moves must not lose its new owner.
  private func takeLinksAway() throws(StoreError) {
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
        if !row.isNull(slot) { added.append(NewLink(table: table, owner: row.int(slot), destination: row.key)) }
      }
    }
    for row in changes.insertions {
      for (slot, table) in shape.store.backLinks[row.entity] where !row.isNull(slot) {
        added.append(NewLink(table: table, owner: row.int(slot), destination: row.key))
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
      added.append(NewLink(table: table, owner: owner, destination: key))
      if let inverse { added.append(NewLink(table: inverse, owner: key, destination: owner)) }
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
  private func addLinks() throws(StoreError) {
    let isOrdered = shape.store.toManys.map(\.isOrdered)
    var plain: [NewLink] = []
    var ordered: [NewLink] = []
    for link in added { if isOrdered[link.table] { ordered.append(link) } else { plain.append(link) } }
    plain.sort { ($0.table, $0.owner, $0.destination) < ($1.table, $1.owner, $1.destination) }
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

  private func add(_ link: NewLink, order: Int64?) throws(StoreError) {
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

  private func orderLinks() throws(StoreError) {
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
