import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Applies one change set inside a transaction, which its caller ends.
///
/// The steps, in order: versions, indexes, links taken away, rows, links added, orders, what links must not be
/// left, links of deleted objects, derived attributes. Where it reports conflicts the caller drops the transaction.
final class KeyValueCommit {
  let transaction: any KeyValueWriting
  let reader: KeyValueReader
  let shape: KeyValueShape
  let changes: SealedChanges
  /// The stored objects that new links lead to.
  private let targets: [ObjectReference]
  var conflicts: [Conflict] = []
  /// The stored rows of deleted objects, and of updated objects whose links or indexed values change.
  private(set) var deleted: [Row] = []
  private(set) var replaced: [Row?] = []
  private(set) var touched: Set<ObjectReference> = []
  /// Owners whose links have changed, by table. Filled only where the model has derived attributes over links.
  var changedOwners: [Int: Set<Int64>] = [:]
  /// Added links by table; empty where no links change.
  @exclusivity(unchecked) var added: [[KeyValueLink]] = []
  @exclusivity(unchecked) var removed: [[KeyValueLink]] = []
  private(set) lazy var links = KeyValueLinkWriter(transaction, shape.store.toManys)
  /// Whether the versions of updates are checked while they are written. True where nothing else can conflict.
  private let checksWhileWriting: Bool

  let key = KeyBuffer()

  enum Result {
    case conflicts([Conflict])
    case written(SealedChanges, touched: [ObjectReference])
  }

  /// Throws `invalidArgument` for a new object whose key is taken.
  init(
    _ transaction: any KeyValueWriting, _ shape: KeyValueShape, _ changes: ChangeSet, _ extent: ChangeExtent,
    isRehearsal: Bool = false
  ) throws(StoreError) {
    self.transaction = transaction
    reader = KeyValueReader(transaction, shape)
    self.shape = shape
    let draft = CommitDraft(changes, shape.schema, isRehearsal: isRehearsal)
    targets = draft.targets
    for object in draft.givenKeys where try reader.version(of: object.entity, object.key) != nil {
      throw StoreError(
        .invalidArgument,
        "An object with the key \(object.key) exists already. Take keys for new objects from allocateKeys.")
    }
    let keys = try Self.keys(draft.keyNeeds, shape, transaction)
    self.changes = try draft.seal(keys)
    checksWhileWriting =
      changes.insertions.isEmpty && changes.deletions.isEmpty && changes.checks.isEmpty && !extent.isWatched
  }

  func run() throws(StoreError) -> Result {
    try checkVersions()
    if !conflicts.isEmpty { return .conflicts(changes.unsealed(conflicts)) }
    if !shape.indexes.all.isEmpty { try changeIndexes() }
    if !conflicts.isEmpty { return .conflicts(changes.unsealed(conflicts)) }
    try takeLinksAway()
    try writeRows()
    if !conflicts.isEmpty { return .conflicts(changes.unsealed(conflicts)) }
    try addLinks()
    try orderLinks()
    try judgeTargets(targets)
    try judgeDeletions()
    if !conflicts.isEmpty { return .conflicts(changes.unsealed(conflicts)) }
    try dropLinks()
    let derivation = KeyValueDerivation(self)
    touched = try derivation.run()
    return .written(changes, touched: touched.sorted { ($0.entity, $0.key) < ($1.entity, $1.key) })
  }

  // MARK: Keys

  /// Takes the keys that new objects need, by root entity.
  private static func keys(
    _ needs: [CommitDraft.KeyNeed], _ shape: KeyValueShape, _ transaction: any KeyValueWriting
  ) throws(StoreError) -> [Int: Range<Int64>] {
    var ranges: [Int: Range<Int64>] = [:]
    for need in needs {
      if need.highestGiven > 0 { try noteKey(need.highestGiven, root: need.root, shape, transaction) }
      if need.count > 0 { ranges[need.root] = try takeKeys(need.count, root: need.root, shape, transaction) }
    }
    return ranges
  }

  /// The next `count` keys of a root's hierarchy, recorded as taken. Never the key of an existing object, whatever the
  /// record says: a new object would overwrite it.
  static func takeKeys(
    _ count: Int, root: Int, _ shape: KeyValueShape, _ transaction: any KeyValueWriting
  ) throws(StoreError) -> Range<Int64> {
    let fact = KeyValueFact.highestKey(shape.schema.entities[root].name)
    let recorded = try KeyValueHeader(transaction).integer(fact) ?? 0
    let highest = recorded < 0 ? recorded : max(recorded, try KeyValueReader(transaction, shape).highestKey(root))
    let (last, overflow) = highest.addingReportingOverflow(Int64(count))
    guard highest >= 0, !overflow, last < Int64.max else {
      throw StoreError(
        .corrupt,
        "The highest key of the entity hierarchy is \(highest), so that no object can be added. Copy the objects to a new store.",
        context: ["entity": shape.schema.entities[root].name])
    }
    try transaction.setFact(fact, last)
    return (highest + 1)..<(last + 1)
  }

  /// Makes sure that a key is not handed out again.
  private static func noteKey(
    _ key: Int64, root: Int, _ shape: KeyValueShape, _ transaction: any KeyValueWriting
  ) throws(StoreError) {
    let fact = KeyValueFact.highestKey(shape.schema.entities[root].name)
    if try KeyValueHeader(transaction).integer(fact) ?? 0 < key { try transaction.setFact(fact, key) }
  }

  // MARK: Versions

  private func checkVersions() throws(StoreError) {
    var (replaced, deleted) = ([Row?](), [Row]())
    defer { (self.replaced, self.deleted) = (replaced, deleted) }
    replaced.reserveCapacity(changes.updates.count)
    for update in changes.updates where !checksWhileWriting {
      let row = update.row
      try check(row.reference, update.versionRead)
      let isWatched = update.changed.intersects(shape.watchedSlots[row.entity])
      replaced.append(isWatched ? try reader.row(of: row.entity, row.key) : nil)
    }
    for deletion in changes.deletions {
      let reference = deletion.reference
      let row = try reader.row(of: reference.entity, reference.key)
      if let row, row.version == deletion.versionRead, row.entity == reference.entity {
        deleted.append(row)
      } else {
        conflicts.append(
          Conflict(reference: reference, versionRead: deletion.versionRead, kind: .version(persisted: row)))
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

  /// The greatest version has no next one: a row with the least version could not be read again. No store reaches it by
  /// counting.
  private func noNextVersion(of row: Row) -> StoreError {
    let name = shape.schema.entities[row.entity].name
    return StoreError(
      .corrupt,
      "An object of the entity \(name) has the highest possible version, so that no change of it can be saved. Copy the object, and delete it.",
      context: ["entity": name, "key": "\(row.key)"])
  }

  // MARK: Indexes

  /// Uniqueness is judged on the state after the save: all old values are removed before the first new one is added.
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

  private func changedIndexes(_ update: SealedChanges.Update) -> [Int] {
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
    try transaction.put(.indexes, key.view, count: 8, isAtHand: false) { KeyValueEntry.seal($0, key.view) }
  }

  private func constraintConflict(
    _ row: Row, _ versionRead: Int64, _ slots: [Int], _ other: Int64
  ) throws(StoreError) {
    let persisted = try reader.row(of: row.entity, other)
    let hierarchy = shape.store.hierarchies[row.entity]
    let new = changes.insertions.first { $0.key == other && shape.store.hierarchies[$0.entity] == hierarchy }
    let holder = ObjectReference(entity: persisted?.entity ?? new?.entity ?? row.entity, key: other)
    conflicts.append(
      Conflict(
        reference: row.reference, versionRead: versionRead,
        kind: .constraint(slots: slots, other: holder, persisted: changes.gives(slots, to: holder) ? nil : persisted)))
  }

  // MARK: Rows

  private func writeRows() throws(StoreError) {
    for row in deleted {
      KeyValueReader.setRowKey(key, shape.hierarchy(row.entity), row.key)
      _ = try transaction.remove(.rows, key.view)
    }
    for index in changes.updates.indices {
      let row = changes.updates[index].row
      if checksWhileWriting, try !check(row.reference, changes.updates[index].versionRead) { continue }
      try put(row, isAtHand: checksWhileWriting)
    }
    // By hierarchy: entries written in key order are adjacent.
    let hierarchies = changes.insertions.map { shape.store.hierarchies[$0.entity] }
    if zip(hierarchies, hierarchies.dropFirst()).allSatisfy({ $0 <= $1 }) {
      for row in changes.insertions { try put(row) }
    } else {
      for index in hierarchies.indices.sorted(by: { (hierarchies[$0], $0) < (hierarchies[$1], $1) }) {
        try put(changes.insertions[index])
      }
    }
  }

  /// With `isAtHand` the row's key was the last one to be read.
  func put(_ row: Row, isAtHand: Bool = false) throws(StoreError) {
    if row.version <= 0 { throw noNextVersion(of: row) }
    KeyValueReader.setRowKey(key, shape.hierarchy(row.entity), row.key)
    try row.withPackedBytes { (bytes) throws(StoreError) in
      let head = KeyValueEntry.rowHead
      try transaction.put(.rows, key.view, count: head + bytes.count, isAtHand: isAtHand) { value in
        let form = UInt32(truncatingIfNeeded: row.entity) << 8 | UInt32(KeyValueEntry.format)
        value.storeBytes(of: EntryChecksum.of(key.view).littleEndian, toByteOffset: 8, as: UInt32.self)
        value.storeBytes(of: form.littleEndian, toByteOffset: 12, as: UInt32.self)
        value.storeBytes(of: row.version.littleEndian, toByteOffset: 16, as: Int64.self)
        UnsafeMutableRawBufferPointer(rebasing: value[head...]).copyMemory(from: bytes)
        KeyValueEntry.seal(value, key.view)
      }
    }
  }
}
