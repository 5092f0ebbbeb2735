import StoreSchema

extension ChangeSet {
  /// The stored objects that new links lead to, each once, in the order of their entities and keys: destinations of the
  /// to-one slots of insertions and of the changed ones of updates, and of added links. Objects that the change set
  /// itself inserts are left out. None for ``isPartOfCopy``.
  ///
  /// To be called before references to insertions are resolved. A commit makes sure that these objects exist after it.
  public func linkTargets(_ schema: Schema) -> [ObjectReference] {
    if isPartOfCopy { return [] }
    var targets = LinkTargets(schema)
    for row in insertions { targets.add(row, changed: nil) }
    for update in updates { targets.add(update.row, changed: update.changed) }
    for change in links where !change.added.isEmpty {
      for destination in change.added { targets.add(destination) }
    }
    return targets.sorted
  }
}

private struct LinkTargets {
  private let schema: Schema
  private var found: Set<ObjectReference> = []
  /// What rows of the entity at hand need, which come together, with the destination seen last.
  private var entity = -1
  private var toOnes: [(relationship: Relationship, slot: Int, last: Int64)] = []

  init(_ schema: Schema) { self.schema = schema }

  var sorted: [ObjectReference] { found.sorted { ($0.entity, $0.key) < ($1.entity, $1.key) } }

  mutating func add(_ row: borrowing Row, changed: SlotSet?) {
    if row.entity != entity {
      entity = row.entity
      toOnes = schema.entities[entity].relationships.compactMap { relationship in
        relationship.slot.map { (relationship, $0, 0) }
      }
    }
    for index in toOnes.indices {
      let slot = toOnes[index].slot
      if let changed, !changed.contains(slot) { continue }
      // Zero where the slot is null, negative for an insertion of the change set.
      let key = row.int(slot)
      if key <= 0 || key == toOnes[index].last { continue }
      toOnes[index].last = key
      let relationship = toOnes[index].relationship
      if let target = row.reference(
        slot, entitySlot: relationship.entitySlot, destination: relationship.destination)
      {
        add(target)
      }
    }
  }

  mutating func add(_ target: ObjectReference) {
    if target.key > 0 && schema.entities.indices.contains(target.entity) { found.insert(target) }
  }
}
