import StoreProtocol
import StoreSchema
import StoreSupport

/// What the engine often looks up in a schema.
final class KeyValueShape: Sendable {
  let schema: Schema
  let store: StoreShape
  /// The form that packed bytes of each entity's rows must have.
  let forms: [PackedRowForm]
  let indexes: KeyValueIndexes
  /// For each entity the slots whose old values a change must read: slots with back links or in an index.
  let watchedSlots: [SlotSet]
  /// The root entity of each hierarchy.
  let roots: [Int]
  /// For each entity the link table of each of its relationships, nil for a to-one.
  let linkTables: [[Int?]]
  /// For each link table whether its links are also in rows, and so not changed by themselves.
  let isInRows: [Bool]
  /// For each link table whether its links are one-way.
  let isOneWay: [Bool]

  /// Throws `unsupported` for a model that is too large for the keys.
  init(_ schema: Schema, longestKey: Int) throws(StoreError) {
    self.schema = schema
    store = StoreShape(schema)
    forms = schema.entities.map(PackedRowForm.init)
    indexes = KeyValueIndexes(schema, longestKey: longestKey)
    roots = schema.entities.filter { $0.root == $0.index }.map(\.index)
    linkTables = schema.entities.map { [store] entity in entity.relationships.map { store.table(of: $0) } }
    isInRows = store.toManys.map { $0.storage == .inverseToOne }
    isOneWay = store.toManys.map { $0.storage == .destination }
    var watched: [SlotSet] = []
    for entity in schema.entities {
      var slots = SlotSet()
      for (slot, _) in store.backLinks[entity.index] { slots.insert(slot) }
      for index in indexes.ofEntity[entity.index] { for slot in indexes.all[index].slots { slots.insert(slot) } }
      watched.append(slots)
    }
    watchedSlots = watched
    let largest = Int(UInt16.max >> 1)
    if max(store.hierarchyCount, store.toManys.count, indexes.all.count, schema.entities.count) > largest {
      throw StoreError(
        .unsupported, "The model has too many entities, relationships or indexes for this kind of store.")
    }
  }

  func hierarchy(_ entity: Int) -> UInt16 { UInt16(truncatingIfNeeded: store.hierarchies[entity]) }

  /// The layout that rows of a file must have to be readable: entities, slots and numbers of link tables, as text.
  var layout: String {
    var lines: [String] = []
    for entity in schema.entities {
      lines.append("entity \(entity.name) \(store.hierarchies[entity.index])")
      lines += entity.slots.indices.map { "slot \($0) \(slotName(entity, $0)) \(entity.slots[$0])" }
    }
    for (number, relationship) in store.toManys.enumerated() {
      lines.append("links \(number) \(schema.entities[relationship.declaringEntity].name).\(relationship.name)")
      lines.append("  \(relationship.storage) \(relationship.isOrdered ? "ordered" : "")")
    }
    return lines.joined(separator: "\n")
  }

  private func slotName(_ entity: Entity, _ slot: Int) -> String {
    for attribute in entity.attributes {
      if attribute.elements.isEmpty && attribute.slot == slot { return attribute.name }
      if let element = attribute.elements.first(where: { $0.slot == slot }) {
        return attribute.name + "." + element.name
      }
    }
    for relationship in entity.relationships {
      if relationship.slot == slot { return relationship.name }
      if relationship.entitySlot == slot { return relationship.name + " entity" }
    }
    return "?"
  }
}
