import StoreSchema

/// The values that a node of an entity has: all attributes by name, the elements of composites in their place.
struct BinaryShape {
  let entity: Entity
  let columns: [(slot: Int, kind: SlotKind)]

  init(_ entity: Entity) {
    self.entity = entity
    columns = entity.attributes.sorted { UTF8Order.isLess($0.name, $1.name) }.flatMap { attribute in
      attribute.type == .composite ? attribute.elements.map(\.slot) : [attribute.slot]
    }.map { ($0, entity.slots[$0]) }
  }
}
