import StoreProtocol
import StoreQuery
import StoreSchema
import StoreSupport

/// Computes the derived attributes whose sources are in other objects. This is the last step of a commit.
struct AtomicDerivation {
  private var graph: AtomicGraph
  /// The owners whose links have changed, by link table.
  private let changedOwners: [Set<Int64>]
  /// The objects that have changed since the last pass.
  private var changed: Set<ObjectReference>
  private var shape: StoreShape { graph.shape }

  /// Computes the derived attributes that depend on `changed`. Repeats for the objects that a pass has changed, because
  /// a derived attribute may be the source of another one. Returns the objects whose values changed here.
  static func run(
    _ graph: inout AtomicGraph, changed: Set<ObjectReference>, owners: [Set<Int64>]
  ) -> Set<ObjectReference> {
    var derivation = AtomicDerivation(graph: graph, changedOwners: owners, changed: changed)
    var touched: Set<ObjectReference> = []
    for pass in graph.shape.derivations.indices {
      let new = derivation.pass(isFirst: pass == 0)
      if new.isEmpty { break }
      touched.formUnion(new)
      derivation.changed = new
    }
    graph = derivation.graph
    return touched
  }

  private mutating func pass(isFirst: Bool) -> Set<ObjectReference> {
    var touched: Set<ObjectReference> = []
    for derivation in shape.derivations {
      let owners = owners(derivation, isFirst: isFirst)
      for owner in owners { set(value(derivation, of: owner), derivation, of: owner, &touched) }
    }
    return touched
  }

  /// The objects whose value may have changed.
  private func owners(_ derivation: LinkedDerivation, isFirst: Bool) -> Set<Int64> {
    var owners: Set<Int64> = []
    if isFirst {
      owners = Set(changed.filter { derivation.entity.subtree.contains($0.entity) }.map(\.key))
      switch derivation.rule {
      case .copy: break
      case .count(let table), .aggregate(_, _, let table): owners.formUnion(changedOwners[table])
      }
    }
    switch derivation.rule {
    case .count: break
    case .copy(_, let reference):
      let sources = Set(changed.filter { derivation.relationship.destinations.contains($0.entity) }.map(\.key))
      if sources.isEmpty { break }
      for row in graph.hierarchies[shape.hierarchies[derivation.entity.index]].rows
      where derivation.entity.subtree.contains(row.entity) && sources.contains(row.int(reference)) {
        owners.insert(row.key)
      }
    case .aggregate(_, _, let table):
      for object in changed where derivation.relationship.destinations.contains(object.entity) {
        owners.formUnion(self.owners(of: object, table, derivation.relationship))
      }
    }
    return owners
  }

  /// The owners whose to-many relationship contains the object.
  private func owners(of object: ObjectReference, _ table: Int, _ relationship: Relationship) -> [Int64] {
    if let inverse = shape.inverseTables[table] { return Array(graph.links[inverse][object.key]) }
    guard let slot = relationship.linkedInverse?.slot else {
      return graph.links[table].owner(of: object.key).map { [$0] } ?? []
    }
    guard let row = graph.row(of: object.entity, object.key), !row.isNull(slot) else { return [] }
    return [row.int(slot)]
  }

  private func value(_ derivation: LinkedDerivation, of owner: Int64) -> Value {
    let destination = derivation.relationship.destination
    switch derivation.rule {
    case .copy(let source, let reference):
      guard let row = graph.row(of: derivation.entity.index, owner), !row.isNull(reference) else { return .null }
      return graph.row(of: destination, row.int(reference))?.value(source.attribute.slot, source.kind) ?? .null
    case .count(let table): return .int(Int64(graph.links[table][owner].count))
    case .aggregate(let aggregate, let source, let table):
      var collector = Aggregate.Collector(aggregate)
      for key in graph.links[table][owner] {
        if let row = graph.row(of: destination, key) { collector.add(row.value(source.attribute.slot, source.kind)) }
      }
      return collector.value
    }
  }

  private mutating func set(
    _ value: Value, _ derivation: LinkedDerivation, of key: Int64, _ touched: inout Set<ObjectReference>
  ) {
    let hierarchy = shape.hierarchies[derivation.entity.index]
    guard let position = graph.hierarchies[hierarchy].position(of: key) else { return }
    let row = graph.hierarchies[hierarchy].rows[position]
    guard derivation.entity.subtree.contains(row.entity) else { return }
    let kinds = graph.schema.entities[row.entity].slots
    let (slot, new) = (derivation.attribute.slot, DerivedValue.convert(value, to: derivation.kind))
    if row.value(slot, kinds[slot]) == new { return }
    graph.hierarchies[hierarchy].replace(at: position, with: row.replacing(slot, by: new, kinds))
    touched.insert(row.reference)
  }
}
