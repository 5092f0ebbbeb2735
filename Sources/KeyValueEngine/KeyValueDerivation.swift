import StoreProtocol
import StoreQuery
import StoreSchema
import StoreSupport

/// Computes derived attributes with sources in other objects, after everything else of a commit is written.
struct KeyValueDerivation {
  private let commit: KeyValueCommit
  private var shape: KeyValueShape { commit.shape }
  private var reader: KeyValueReader { commit.reader }

  init(_ commit: KeyValueCommit) { self.commit = commit }

  /// Computes the attributes that depend on the changes. Repeats for the attributes that this changes, because one
  /// derivation may be another's source. Returns the objects that differ from the change set.
  func run() throws(StoreError) -> Set<ObjectReference> {
    if shape.store.derivations.isEmpty { return [] }
    var changed: Set<ObjectReference> = Set(commit.changes.updates.map(\.row.reference))
    for row in commit.changes.insertions {
      changed.insert(row.reference)
    }
    var touched: Set<ObjectReference> = []
    for pass in shape.store.derivations.indices {
      var new: Set<ObjectReference> = []
      for derivation in shape.store.derivations {
        for owner in try owners(derivation, changed, isFirst: pass == 0) {
          try set(try value(derivation, of: owner), derivation, of: owner, &new)
        }
      }
      if new.isEmpty { break }
      touched.formUnion(new)
      changed = new
    }
    return touched
  }

  /// The objects whose value may have changed.
  private func owners(
    _ derivation: LinkedDerivation, _ changed: Set<ObjectReference>, isFirst: Bool
  ) throws(StoreError) -> Set<Int64> {
    var owners: Set<Int64> = []
    if isFirst {
      owners = Set(changed.filter { derivation.entity.subtree.contains($0.entity) }.map(\.key))
      switch derivation.rule {
      case .copy: break
      case .count(let table), .aggregate(_, _, let table): owners.formUnion(commit.changedOwners[table] ?? [])
      }
    }
    let sources = changed.filter { derivation.relationship.destinations.contains($0.entity) }
    switch derivation.rule {
    case .count: break
    case .copy(_, let reference):
      try owners.formUnion(self.owners(derivation, reference, of: Set(sources.map(\.key))))
    case .aggregate(_, _, let table):
      for source in sources { try owners.formUnion(self.owners(of: source, table, derivation.relationship)) }
    }
    return owners
  }

  /// The objects that lead to one of `sources`, found by links back where there are any, otherwise by reading all
  /// objects.
  private func owners(
    _ derivation: LinkedDerivation, _ reference: Int, of sources: Set<Int64>
  ) throws(StoreError) -> Set<Int64> {
    var owners: Set<Int64> = []
    if sources.isEmpty { return owners }
    if let inverse = derivation.relationship.linkedInverse, let table = shape.store.table(of: inverse) {
      for source in sources { owners.formUnion(try reader.destinations(table, source)) }
      return owners
    }
    try reader.scan(derivation.entity.subtree) { row in
      if !row.isNull(reference), sources.contains(row.int(reference)) { owners.insert(row.key) }
    }
    return owners
  }

  /// The objects whose to-many relationship leads to an object.
  private func owners(
    of object: ObjectReference, _ table: Int, _ relationship: Relationship
  ) throws(StoreError) -> [Int64] {
    if let inverse = shape.store.inverseTables[table] { return try reader.destinations(inverse, object.key) }
    guard let slot = relationship.linkedInverse?.slot else {
      return try reader.owner(table, of: object.key).map { [$0] } ?? []
    }
    guard let row = try reader.row(of: object.entity, object.key), !row.isNull(slot) else { return [] }
    return [row.int(slot)]
  }

  private func value(_ derivation: LinkedDerivation, of owner: Int64) throws(StoreError) -> Value {
    let destination = derivation.relationship.destination
    switch derivation.rule {
    case .copy(let source, let reference):
      guard let row = try reader.row(of: derivation.entity.index, owner), !row.isNull(reference) else { return .null }
      return try reader.row(of: destination, row.int(reference))?.value(source.attribute.slot, source.kind) ?? .null
    case .count(let table): return .int(Int64(try reader.linkCount(table, owner)))
    case .aggregate(let aggregate, let source, let table):
      var collector = Aggregate.Collector(aggregate)
      for key in try reader.destinations(table, owner) {
        if let row = try reader.row(of: destination, key) {
          collector.add(row.value(source.attribute.slot, source.kind))
        }
      }
      return collector.value
    }
  }

  private func set(
    _ value: Value, _ derivation: LinkedDerivation, of object: Int64, _ touched: inout Set<ObjectReference>
  ) throws(StoreError) {
    let entity = derivation.entity
    guard let row = try reader.row(of: entity.index, object), entity.subtree.contains(row.entity) else { return }
    let kinds = shape.schema.entities[row.entity].slots
    let (slot, value) = (derivation.attribute.slot, DerivedValue.convert(value, to: derivation.kind))
    if row.value(slot, kinds[slot]) == value { return }
    let new = row.replacing(slot, by: value, kinds)
    let indexes = shape.indexes.ofEntity[row.entity].filter { shape.indexes.all[$0].slots.contains(slot) }
    try commit.takeOut(row, indexes)
    for index in indexes where shape.indexes.key(of: new, in: index, commit.key) { try commit.putIndexEntry(object) }
    try commit.put(new)
    touched.insert(row.reference)
  }
}
