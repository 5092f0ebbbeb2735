import StoreSchema

/// The content of a node of an entity.
struct BinaryShape {
  let entity: Entity
  let slotCount: Int
  /// The attributes by name. A composite is replaced with its elements.
  let columns: [(slot: Int, kind: SlotKind)]
  /// The relationships in the order of their names.
  let relationships: [Relationship]

  init(_ entity: Entity) {
    self.entity = entity
    slotCount = entity.slots.count
    columns = entity.attributes.sorted { UTF8Order.isLess($0.name, $1.name) }.flatMap { attribute in
      attribute.type == .composite ? attribute.elements.map(\.slot) : [attribute.slot]
    }.map { ($0, entity.slots[$0]) }
    relationships = entity.relationships.sorted { UTF8Order.isLess($0.name, $1.name) }
  }
}
