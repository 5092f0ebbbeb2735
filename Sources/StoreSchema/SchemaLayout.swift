/// Resolves properties and assigns their slots.
struct SchemaLayout {
  private let numbered: [EntityNumbering.Numbered]
  private let indices: [String: Int]
  private var resolved: [Entity] = []

  init(_ numbered: [EntityNumbering.Numbered]) {
    self.numbered = numbered
    indices = Dictionary(uniqueKeysWithValues: numbered.enumerated().map { ($1.definition.name, $0) })
  }

  mutating func entities() throws(SchemaError) -> [Entity] {
    try checkTableNames()
    let relationshipOrder = ownRelationshipIndices()
    for index in numbered.indices { resolved.append(try entity(at: index, relationshipOrder)) }
    return resolved
  }

  /// All relationship definitions of each entity, inherited ones first. A redefinition replaces the inherited
  /// definition.
  private func ownRelationshipIndices() -> [[RelationshipDefinition]] {
    var all: [[RelationshipDefinition]] = []
    for entity in numbered {
      var list = entity.superentity.map { all[$0] } ?? []
      for own in entity.definition.relationships.sorted(by: { UTF8Order.isLess($0.name, $1.name) }) {
        if let known = list.firstIndex(where: { $0.name == own.name }) { list[known] = own } else { list.append(own) }
      }
      all.append(list)
    }
    return all
  }

  private func entity(
    at index: Int, _ relationshipDefinitions: [[RelationshipDefinition]]
  ) throws(SchemaError) -> Entity {
    let definition = numbered[index].definition
    let parent = numbered[index].superentity.map { resolved[$0] }
    var slots = parent?.slots ?? []
    let attributes = try attributes(of: definition, at: index, parent: parent, slots: &slots)
    var relationships: [Relationship] = []
    var toManyCount = 0
    for (position, relationship) in relationshipDefinitions[index].enumerated() {
      let inherited = parent.flatMap { position < $0.relationships.count ? $0.relationships[position] : nil }
      if attributes.contains(where: { $0.name == relationship.name }) {
        throw SchemaError(definition.name, relationship.name, "is an attribute and a relationship; rename one of them")
      }
      relationships.append(
        try self.relationship(
          relationship, at: position, of: index, inherited: inherited, relationshipDefinitions, &slots, &toManyCount))
    }
    return Entity(
      index: index, superentity: numbered[index].superentity, root: numbered[index].root,
      subtree: numbered[index].subtree, attributes: attributes, relationships: relationships, slots: slots,
      uniquenessConstraints: try constraints(of: definition, attributes, relationships), definition: definition)
  }

  private func attributes(
    of definition: EntityDefinition, at index: Int, parent: Entity?, slots: inout [SlotKind]
  ) throws(SchemaError) -> [Attribute] {
    var result = parent?.attributes ?? []
    for own in definition.attributes.sorted(by: { UTF8Order.isLess($0.name, $1.name) }) {
      if let known = result.firstIndex(where: { $0.name == own.name }) {
        guard known < (parent?.attributes.count ?? 0) else {
          throw SchemaError(definition.name, own.name, "is defined twice")
        }
        let inherited = result[known]
        guard inherited.type == own.type else {
          throw SchemaError(definition.name, own.name, "redefines an inherited attribute with another type")
        }
        result[known] = Attribute(
          slot: inherited.slot, declaringEntity: inherited.declaringEntity, elements: inherited.elements,
          name: own.name, own)
      } else {
        result.append(try attribute(own, of: definition.name, at: index, &slots))
      }
    }
    return result
  }

  private func attribute(
    _ definition: AttributeDefinition, of entity: String, at index: Int, _ slots: inout [SlotKind]
  ) throws(SchemaError) -> Attribute {
    let slot = slots.count
    var elements: [Attribute] = []
    if definition.type == .composite {
      // Nested composites are flattened with a worklist. A leaf is named by its path below the composite.
      var pending = definition.elements.reversed().map { (path: $0.name, definition: $0) }
      while let next = pending.popLast() {
        if next.definition.type == .composite {
          guard pending.count < 10_000, next.path.utf8.count < 10_000 else {
            throw SchemaError(entity, definition.name, "is a composite attribute nested without end")
          }
          for element in next.definition.elements.reversed() {
            pending.append((next.path + "." + element.name, element))
          }
        } else {
          guard let kind = SlotKind(next.definition) else { throw unstorable(next.definition, entity) }
          elements.append(
            Attribute(
              slot: slots.count, declaringEntity: index, elements: [], name: next.path, next.definition))
          slots.append(kind)
        }
      }
    } else {
      guard let kind = SlotKind(definition) else { throw unstorable(definition, entity) }
      slots.append(kind)
    }
    return Attribute(slot: slot, declaringEntity: index, elements: elements, name: definition.name, definition)
  }

  private func unstorable(_ attribute: AttributeDefinition, _ entity: String) -> SchemaError {
    SchemaError(
      entity, attribute.name,
      "has the type \(attribute.type), which cannot be stored; make it transient or give it a type")
  }

  private func relationship(
    _ definition: RelationshipDefinition, at position: Int, of index: Int, inherited: Relationship?,
    _ all: [[RelationshipDefinition]], _ slots: inout [SlotKind], _ toManyCount: inout Int
  ) throws(SchemaError) -> Relationship {
    let entity = numbered[index].definition.name
    guard let destination = indices[definition.destination] else {
      throw SchemaError(
        entity, definition.name, "its destination entity \(definition.destination) is not in the model")
    }
    var inverse: Int?
    if let name = definition.inverse {
      inverse = all[destination].firstIndex { $0.name == name }
      guard inverse != nil else {
        throw SchemaError(
          entity, definition.name, "its inverse \(definition.destination).\(name) does not exist")
      }
    }
    if let inherited, inherited.isToMany != definition.isToMany {
      throw SchemaError(entity, definition.name, "redefines an inherited relationship with another cardinality")
    }
    // A row may be read as one of the superentity. Then its reference leads to the inherited destination.
    if let inherited, !numbered[inherited.destination].subtree.contains(destination) {
      throw SchemaError(
        entity, definition.name,
        """
        redefines an inherited relationship with the destination \(definition.destination), which is no subentity of \
        \(numbered[inherited.destination].definition.name); name the relationship otherwise
        """)
    }
    var slot: Int?
    var entitySlot: Int?
    var toManyIndex: Int?
    if definition.isToMany {
      toManyIndex = toManyCount
      toManyCount += 1
    } else if let inherited {
      (slot, entitySlot) = (inherited.slot, inherited.entitySlot)
    } else {
      slot = slots.count
      slots.append(.reference)
      if numbered[destination].subtree.count > 1 {
        entitySlot = slots.count
        slots.append(.referenceEntity)
      }
    }
    let declaring = inherited?.declaringEntity ?? index
    return Relationship(
      definition, index: position, declaringEntity: declaring, destination: destination, inverse: inverse,
      storage: storage(definition, position, declaring, destination, inverse, all), slot: slot, entitySlot: entitySlot,
      toManyIndex: toManyIndex)
  }

  private func storage(
    _ definition: RelationshipDefinition, _ position: Int, _ declaring: Int, _ destination: Int, _ inverse: Int?,
    _ all: [[RelationshipDefinition]]
  ) -> Relationship.Storage {
    guard definition.isToMany else { return .toOne }
    guard let inverse else { return .destination }
    guard all[destination][inverse].isToMany else { return .inverseToOne }
    // The declaring entity of the inverse decides, because both sides must get the same answer.
    var other = destination
    while let parent = numbered[other].superentity, inverse < all[parent].count { other = parent }
    return .pairs(isPrimary: (declaring, position) <= (other, inverse))
  }

  private func constraints(
    of definition: EntityDefinition, _ attributes: [Attribute], _ relationships: [Relationship]
  ) throws(SchemaError) -> [[Int]] {
    var result: [[Int]] = []
    for constraint in definition.uniquenessConstraints {
      var slots: [Int] = []
      for name in constraint {
        let slot = attributes.first { $0.name == name }?.slot ?? relationships.first { $0.name == name }?.slot
        guard let slot else {
          throw SchemaError(
            definition.name, name, "is in a uniqueness constraint, but not a stored attribute or to-one relationship")
        }
        slots.append(slot)
      }
      result.append(slots)
    }
    return result
  }

  /// Properties that share a table must not differ only by case.
  private func checkTableNames() throws(SchemaError) {
    var seen: [Int: [String: String]] = [:]
    for entity in numbered {
      let names = entity.definition.attributes.map(\.name) + entity.definition.relationships.map(\.name)
      for name in names {
        if let other = seen[entity.root, default: [:]].updateValue(name, forKey: name.uppercased()),
          !UTF8Order.areEqual(other, name)
        {
          throw SchemaError(
            entity.definition.name, name,
            "differs from \(other) only by case in the same entity hierarchy; rename one of them")
        }
      }
    }
  }
}
