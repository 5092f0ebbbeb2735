import AtomicEngine
import Foundation
import StoreProtocol
import StoreSchema

/// Reads all objects of a document.
final class XMLGraphReader: XMLInfoReader {
  private let schema: Schema
  private let shapes: [XMLEntityShape]
  private let entities: [String: Int]
  private var loader: AtomicGraphLoader
  private let builder = RowBuilder()
  private var object: (key: Int64, shape: XMLEntityShape)?
  /// The attribute whose content is being read.
  private var slot: (index: Int, kind: SlotKind, name: String)?
  private var links: [(relationship: Relationship, keys: [Int64])] = []

  override var isDone: Bool { false }

  init(_ schema: Schema, _ numbering: AtomicNumbering) {
    self.schema = schema
    shapes = schema.entities.map(XMLEntityShape.init)
    entities = Dictionary(
      schema.entities.map { ($0.name.uppercased(), $0.index) }, uniquingKeysWith: { first, _ in first })
    loader = AtomicGraphLoader(schema, numbering)
  }

  func graph() throws(StoreError) -> AtomicGraph { try loader.finish(highestNumber: highestNumber) }

  override func startObject(_ attributes: [(name: String, value: String)]) throws(StoreError) {
    let type = Self.value("type", attributes) ?? ""
    guard let index = entities[type.uppercased()], !schema.entities[index].isAbstract else {
      throw StoreError(.corrupt, "An object is of the entity \(type), which the model does not have.")
    }
    object = (try Self.key(Self.value("id", attributes) ?? ""), shapes[index])
    links = []
    builder.begin(slots: schema.entities[index].slots.count)
  }

  override func startProperty(
    _ name: String, _ attributes: [(name: String, value: String)]
  ) throws(StoreError) {
    slot = nil
    guard let object, let property = Self.value("name", attributes) else {
      throw StoreError(.corrupt, "A property has no name.")
    }
    if name == "attribute" {
      guard let place = object.shape.attributes[property.lowercased()] else { throw unknown(property) }
      slot = (place.slot, place.kind, property)
    } else {
      guard let relationship = object.shape.relationships[property.lowercased()] else { throw unknown(property) }
      var keys: [Int64] = []
      for id in (Self.value("idrefs", attributes) ?? "").split(whereSeparator: \.isWhitespace) {
        keys.append(try Self.key(id))
      }
      if let slot = relationship.slot {
        if keys.count > 1 {
          throw StoreError(.corrupt, "The relationship \(property) leads to \(keys.count) objects, not one.")
        }
        if let key = keys.first { builder.setInt(slot, key) }
      } else if !keys.isEmpty {
        links.append((relationship, keys))
      }
    }
  }

  private func unknown(_ property: String) -> StoreError {
    StoreError(
      .corrupt, "An object has the property \(property), which the model does not have.",
      context: ["object": "z\(object?.key ?? 0)"])
  }

  override func endProperty(_ content: [UInt8]) throws(StoreError) {
    guard let (index, kind, name) = slot else { return }
    slot = nil
    guard let value = XMLValue.parse(content, kind) else {
      throw StoreError(
        .corrupt, "The attribute \(name) has a value that cannot be one of its type.",
        context: ["object": "z\(object?.key ?? 0)"])
    }
    builder.set(index, value)
  }

  override func endObject() throws(StoreError) {
    guard let object else { return }
    try loader.add(builder.finish(key: object.key, entity: object.shape.index, version: 1))
    for link in links { loader.link(link.relationship, of: object.key, to: link.keys) }
  }
}

/// An entity's properties under the names that documents have for them: in lower case.
struct XMLEntityShape {
  let index: Int
  /// In the order of the slots.
  let columns: [(name: String, slot: Int, kind: SlotKind)]
  let attributes: [String: (slot: Int, kind: SlotKind)]
  let relationships: [String: Relationship]

  init(_ entity: Entity) {
    index = entity.index
    var columns: [(name: String, slot: Int, kind: SlotKind)] = []
    for attribute in entity.attributes {
      if attribute.type == .composite {
        for leaf in attribute.elements {
          columns.append(("\(attribute.name).\(leaf.name)".lowercased(), leaf.slot, entity.slots[leaf.slot]))
        }
      } else {
        columns.append((attribute.name.lowercased(), attribute.slot, entity.slots[attribute.slot]))
      }
    }
    self.columns = columns
    attributes = Dictionary(columns.map { ($0.name, ($0.slot, $0.kind)) }, uniquingKeysWith: { first, _ in first })
    relationships = Dictionary(
      entity.relationships.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
  }
}
