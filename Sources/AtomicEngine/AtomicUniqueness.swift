import StoreSchema

/// For each uniqueness constraint the values in use, with the objects that have them.
struct AtomicUniqueness: Sendable {
  /// A constraint of an entity, which holds for its subentities, too.
  private struct Constraint: Sendable {
    let slots: [Int]
    let kinds: [SlotKind]
    var holders: [[Value]: ObjectReference] = [:]
  }

  private var constraints: [Constraint] = []
  /// The constraints of each entity, inherited ones included.
  private let ofEntity: [[Int]]

  init(_ schema: Schema) {
    var own: [[Int]] = []
    for entity in schema.entities {
      own.append([])
      for slots in entity.uniquenessConstraints {
        own[entity.index].append(constraints.count)
        constraints.append(Constraint(slots: slots, kinds: slots.map { entity.slots[$0] }))
      }
    }
    // A parent comes before its children.
    for entity in schema.entities {
      if let parent = entity.superentity { own[entity.index] = own[parent] + own[entity.index] }
    }
    ofEntity = own
  }

  var isEmpty: Bool { constraints.isEmpty }

  mutating func remove(_ row: Row) {
    for index in ofEntity[row.entity] {
      guard let values = values(of: row, constraints[index]) else { continue }
      if constraints[index].holders[values] == row.reference { constraints[index].holders[values] = nil }
    }
  }

  /// Adds an object's values. If another object has them, returns the slots of the constraint and that object.
  mutating func add(_ row: Row) -> (slots: [Int], other: ObjectReference)? {
    for index in ofEntity[row.entity] {
      guard let values = values(of: row, constraints[index]) else { continue }
      if let other = constraints[index].holders[values], other != row.reference {
        return (constraints[index].slots, other)
      }
      constraints[index].holders[values] = row.reference
    }
    return nil
  }

  /// Nil where one of the values is null: null equals nothing, as in SQL.
  private func values(of row: Row, _ constraint: Constraint) -> [Value]? {
    var values: [Value] = []
    for (slot, kind) in zip(constraint.slots, constraint.kinds) {
      if row.isNull(slot) { return nil }
      values.append(row.value(slot, kind))
    }
    return values
  }
}
