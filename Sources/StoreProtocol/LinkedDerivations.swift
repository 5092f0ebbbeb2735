import StoreSchema

/// The derived attributes whose sources are in other objects, which the store computes. (Those within one object come with the
/// change set.)
package struct LinkedDerivations: Sendable {
  /// An attribute of the object that a to-one relationship leads to.
  package struct Copied: Sendable {
    package let entity: Entity
    package let slot: Int
    package let relationship: Relationship
    package let referenceSlot: Int
    package let source: Attribute
  }

  /// The number of destinations of a to-many relationship.
  package struct Counted: Sendable {
    package let entity: Entity
    package let slot: Int
    package let table: Int
  }

  package private(set) var copied: [Copied] = []
  package private(set) var counted: [Counted] = []
  package var isEmpty: Bool { copied.isEmpty && counted.isEmpty }

  init(_ schema: Schema, _ tables: [Relationship: Int]) {
    for entity in schema.entities {
      for attribute in entity.attributes where attribute.declaringEntity == entity.index {
        switch attribute.derivation {
        case .keyPath(let path) where path.count == 2:
          guard let relationship = entity.relationship(named: path[0]), let reference = relationship.slot,
            let source = schema.entities[relationship.destination].attribute(named: path[1])
          else { continue }
          copied.append(
            Copied(
              entity: entity, slot: attribute.slot, relationship: relationship, referenceSlot: reference,
              source: source))
        case .count(let name):
          guard let relationship = entity.relationship(named: name), let table = tables[relationship] else { continue }
          counted.append(Counted(entity: entity, slot: attribute.slot, table: table))
        default: continue
        }
      }
    }
  }
}

extension Row {
  /// A copy with another value in one slot; `kinds` are those of the row's slots.
  package func replacing(_ slot: Int, by value: Value, _ kinds: [SlotKind]) -> Row {
    let builder = RowBuilder()
    builder.begin(slots: slotCount)
    for (other, kind) in kinds.enumerated() where other != slot { builder.copy(other, kind, from: self) }
    builder.set(slot, value)
    return builder.finish(key: key, entity: entity, version: version)
  }
}
