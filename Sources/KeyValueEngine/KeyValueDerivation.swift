import StoreProtocol
import StoreSchema

/// Computes the derived attributes whose sources are in other objects, after all else of a commit is written.
struct KeyValueDerivation<Transaction: KeyValueWriting> {
  private let commit: KeyValueCommit<Transaction>
  private var shape: KeyValueShape { commit.shape }
  private var reader: KeyValueReader<Transaction> { commit.reader }

  init(_ commit: KeyValueCommit<Transaction>) { self.commit = commit }

  /// Computes what depends on what has changed. The objects that look different than the change set says.
  func run() throws(StoreError) -> Set<ObjectReference> {
    if shape.store.derivations.isEmpty { return [] }
    var changed: Set<ObjectReference> = Set(commit.changes.updates.map(\.row.reference))
    for (row, key) in zip(commit.changes.insertions, commit.keys) {
      changed.insert(ObjectReference(entity: row.entity, key: key))
    }
    var touched: Set<ObjectReference> = []
    for count in shape.store.derivations.counted { try derive(count, changed, &touched) }
    for copy in shape.store.derivations.copied { try derive(copy, changed, &touched) }
    return touched
  }

  private func derive(
    _ count: LinkedDerivations.Counted, _ changed: Set<ObjectReference>, _ touched: inout Set<ObjectReference>
  ) throws(StoreError) {
    var owners = commit.changedOwners[count.table] ?? []
    for object in changed where count.entity.subtree.contains(object.entity) { owners.insert(object.key) }
    for owner in owners {
      let value = try reader.linkCount(count.table, owner)
      try set(.int(Int64(value)), count.slot, of: owner, in: count.entity, &touched)
    }
  }

  private func derive(
    _ copy: LinkedDerivations.Copied, _ changed: Set<ObjectReference>, _ touched: inout Set<ObjectReference>
  ) throws(StoreError) {
    let entity = copy.entity
    var owners = Set(changed.filter { entity.subtree.contains($0.entity) }.map(\.key))
    let sources = Set(changed.filter { copy.relationship.destinations.contains($0.entity) }.map(\.key))
    try owners.formUnion(self.owners(copy, sources))
    let kind = shape.schema.entities[copy.relationship.destination].slots[copy.source.slot]
    for owner in owners {
      guard let row = try reader.row(of: entity.index, owner) else { continue }
      let source =
        row.isNull(copy.referenceSlot)
        ? nil : try reader.row(of: copy.relationship.destination, row.int(copy.referenceSlot))
      try set(source?.value(copy.source.slot, kind) ?? .null, copy.slot, of: owner, in: entity, &touched)
    }
  }

  /// The objects that lead to one of `sources`: by the links back, where there are any, else by looking at all.
  private func owners(_ copy: LinkedDerivations.Copied, _ sources: Set<Int64>) throws(StoreError) -> Set<Int64> {
    var owners: Set<Int64> = []
    if sources.isEmpty { return owners }
    if let inverse = copy.relationship.linkedInverse, let table = shape.store.table(of: inverse) {
      for source in sources { owners.formUnion(try reader.destinations(table, source)) }
      return owners
    }
    try reader.scan(copy.entity.subtree) { row in
      if !row.isNull(copy.referenceSlot), sources.contains(row.int(copy.referenceSlot)) { owners.insert(row.key) }
    }
    return owners
  }

  private func set(
    _ value: Value, _ slot: Int, of object: Int64, in entity: Entity, _ touched: inout Set<ObjectReference>
  ) throws(StoreError) {
    guard let row = try reader.row(of: entity.index, object), entity.subtree.contains(row.entity) else { return }
    let kinds = shape.schema.entities[row.entity].slots
    if row.value(slot, kinds[slot]) == value { return }
    let new = row.replacing(slot, by: value, kinds)
    let indexes = shape.indexes.ofEntity[row.entity].filter { shape.indexes.all[$0].slots.contains(slot) }
    try commit.takeOut(row, indexes)
    for index in indexes where shape.indexes.key(of: new, in: index, commit.key) { try commit.putIndexEntry(object) }
    try commit.put(new)
    touched.insert(row.reference)
  }
}
