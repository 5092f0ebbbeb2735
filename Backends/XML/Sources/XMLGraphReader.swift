import AtomicEngine
import Foundation
import StoreProtocol
import StoreSchema

/// Reads all objects of a document.
final class XMLGraphReader: XMLInfoReader {
  private let schema: Schema
  private let shapes: [XMLEntityShape]
  private let entities: [String: Int]
  @exclusivity(unchecked) private var loader: AtomicGraphLoader
  private let builder = RowBuilder()
  @exclusivity(unchecked) private var key: Int64 = 0
  @exclusivity(unchecked) private var shape: XMLEntityShape
  /// The entity's name as the last object has it, and the properties' names as they were met before.
  @exclusivity(unchecked) private var type: [UInt8] = []
  @exclusivity(unchecked) private var spellings: [XMLSpellings]
  /// The attribute whose content is being read.
  @exclusivity(unchecked) private var column: Int?
  @exclusivity(unchecked) private var links: [(relationship: Relationship, keys: [Int64])] = []

  override var isDone: Bool { false }

  init(_ schema: Schema, _ numbering: AtomicNumbering) {
    self.schema = schema
    shapes = schema.entities.map(XMLEntityShape.init)
    entities = Dictionary(
      schema.entities.map { ($0.name.uppercased(), $0.index) }, uniquingKeysWith: { first, _ in first })
    loader = AtomicGraphLoader(schema, numbering)
    shape = XMLEntityShape()
    spellings = Array(repeating: XMLSpellings(), count: schema.entities.count)
  }

  func graph() throws(StoreError) -> AtomicGraph { try loader.finish(highestNumber: highestNumber) }

  override func startObject(_ element: XMLElement) throws(StoreError) {
    let name = element.value("type") ?? UnsafeRawBufferPointer(start: nil, count: 0)
    if type.isEmpty || !name.elementsEqual(type) {
      let text = String(decoding: name, as: UTF8.self)
      guard let index = entities[text.uppercased()], !schema.entities[index].isAbstract else {
        throw StoreError(.corrupt, "An object is of the entity \(text), which the model does not have.")
      }
      shape = shapes[index]
      type = Array(name)
    }
    key = try Self.key(element.value("id"))
    links.removeAll(keepingCapacity: true)
    spellings[shape.index].begin()
    builder.begin(slots: shape.slotCount)
  }

  override func startProperty(_ element: XMLElement) throws(StoreError) {
    column = nil
    guard let name = element.value("name") else { throw StoreError(.corrupt, "A property has no name.") }
    let isAttribute = element.name == "attribute"
    guard let property = spellings[shape.index].property(name, isAttribute: isAttribute, shape) else {
      let text = String(decoding: name, as: UTF8.self)
      throw StoreError(
        .corrupt, "An object has the property \(text), which the model does not have.", context: ["object": "z\(key)"])
    }
    if isAttribute {
      column = property
      return
    }
    let relationship = shape.relationshipList[property]
    let keys = try Self.keys(element.value("idrefs"))
    if let slot = relationship.slot {
      if keys.count > 1 {
        throw StoreError(
          .corrupt, "The relationship \(relationship.name) leads to \(keys.count) objects, not one.")
      }
      if let key = keys.first { builder.setInt(slot, key) }
    } else if !keys.isEmpty {
      links.append((relationship, keys))
    }
  }

  override func endProperty(_ content: UnsafeRawBufferPointer) throws(StoreError) {
    guard let column else { return }
    self.column = nil
    let (name, slot, kind) = shape.columns[column]
    if XMLValue.set(slot, kind, content, builder) { return }
    throw StoreError(
      .corrupt, "The attribute \(name) has a value that cannot be one of its type.", context: ["object": "z\(key)"])
  }

  override func endObject() throws(StoreError) {
    try loader.add(builder.finish(key: key, entity: shape.index, version: 1))
    for link in links { loader.link(link.relationship, of: key, to: link.keys) }
  }
}

/// The properties of an entity by their names as they stand in a document, which most objects have in the same order.
struct XMLSpellings {
  private var known: [(name: [UInt8], isAttribute: Bool, property: Int)] = []
  private var next = 0

  mutating func begin() { next = 0 }

  /// The index of a property among the shape's columns or relationships. Nil for a name that the entity does not have.
  mutating func property(_ name: UnsafeRawBufferPointer, isAttribute: Bool, _ shape: XMLEntityShape) -> Int? {
    // One that is missing in this object is passed over.
    for place in next..<min(next + 8, known.count)
    where known[place].isAttribute == isAttribute && Self.isSame(known[place].name, name) {
      next = place + 1
      return known[place].property
    }
    let text = String(decoding: name, as: UTF8.self).lowercased()
    let places = isAttribute ? shape.attributes : shape.relationships
    guard let property = places[text] else { return nil }
    // As many as a document can need that is not made to need more.
    if known.count < 2 * (shape.columns.count + shape.relationshipList.count) {
      known.insert((Array(name), isAttribute, property), at: min(next, known.count))
      next += 1
    }
    return property
  }

  @inline(__always)
  private static func isSame(_ a: [UInt8], _ b: UnsafeRawBufferPointer) -> Bool {
    guard a.count == b.count, let start = b.baseAddress else { return a.isEmpty && b.isEmpty }
    return a.withUnsafeBytes { bytes in bytes.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? true }
  }
}

/// An entity's properties under the names that documents have for them: in lower case.
struct XMLEntityShape {
  let index: Int
  let slotCount: Int
  /// In the order of the slots.
  let columns: [(name: String, slot: Int, kind: SlotKind)]
  let relationshipList: [Relationship]
  /// By name, the places in the lists.
  let attributes: [String: Int]
  let relationships: [String: Int]

  /// Of no entity.
  init() { (index, slotCount, columns, relationshipList, attributes, relationships) = (0, 0, [], [], [:], [:]) }

  init(_ entity: Entity) {
    index = entity.index
    slotCount = entity.slots.count
    relationshipList = entity.relationships
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
    attributes = Dictionary(
      columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    relationships = Dictionary(
      entity.relationships.enumerated().map { ($1.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
  }
}
