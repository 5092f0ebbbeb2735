import StoreSchema

/// What a node of an entity has.
struct BinaryShape {
  let entity: Entity
  let slotCount: Int
  /// The values: all attributes by name, the elements of composites in their place.
  let columns: [(slot: Int, kind: SlotKind)]
  /// By name.
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
