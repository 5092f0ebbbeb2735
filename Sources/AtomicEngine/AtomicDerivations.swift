import StoreSchema

/// The derived attributes whose sources are in other objects, which the store computes. (Those within one object come with the
/// change set.)
struct AtomicDerivations: Sendable {
  /// An attribute of the object that a to-one relationship leads to.
  struct Copied: Sendable {
    let entity: Entity
    let slot: Int
    let relationship: Relationship
    let referenceSlot: Int
    let source: Attribute
  }

  /// The number of destinations of a to-many relationship.
  struct Counted: Sendable {
    let entity: Entity
    let slot: Int
    let table: Int
  }

  private(set) var copied: [Copied] = []
  private(set) var counted: [Counted] = []
  var isEmpty: Bool { copied.isEmpty && counted.isEmpty }

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
