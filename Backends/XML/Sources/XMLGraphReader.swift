import AtomicEngine
import CXMLParser
import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Reads all objects of a document.
final class XMLGraphReader: XMLInfoReader {
  private let schema: Schema
  private let shapes: [XMLEntityShape]
  private let entities: [String: Int]
  @exclusivity(unchecked) private var loader: AtomicGraphLoader
  /// For a damaged document: collects reports of invalid values. Nil for other documents.
  private let salvage: Salvage?
  private let values = XMLValueReader()
  private var key: Int64 = 0
  private var shape: XMLEntityShape?
  /// The entity name of the last object, as the document spells it.
  private var type: [UInt8] = []
  private var keys: [Int64] = []

  override var isDone: Bool { false }

  convenience init(_ schema: Schema, _ numbering: AtomicNumbering) {
    self.init(schema, AtomicGraphLoader(schema, numbering), nil)
  }

  convenience init(_ salvage: Salvage, _ numbering: AtomicNumbering) {
    self.init(salvage.schema, AtomicGraphLoader(salvage, numbering), salvage)
  }

  private init(_ schema: Schema, _ loader: AtomicGraphLoader, _ salvage: Salvage?) {
    self.schema = schema
    self.salvage = salvage
    shapes = schema.entities.map { XMLEntityShape($0, loader.linkTable) }
    entities = Dictionary(
      schema.storedEntities.map { ($0.name.uppercased(), $0.index) }, uniquingKeysWith: { first, _ in first })
    self.loader = loader
  }

  func graph() throws(StoreError) -> AtomicGraph { try loader.finish(highestNumber: highestNumber) }

  override func read(_ object: cxml_object) throws(StoreError) {
    let shape = object.is_first != 0 ? try start(object) : self.shape
    guard let shape else { return }
    for property in UnsafeBufferPointer(start: object.properties, count: object.count) {
      do { try read(property, shape) } catch {
        guard let salvage else { throw error }
        salvage.lose(
          StoreFinding(.value, error.message, entity: schema.entities[shape.index].name, key: key))
      }
    }
    if object.is_last != 0 {
      try loader.add(values.builder.finishCheckedDraft(key: key, entity: schema.entities[shape.index], version: 1))
    }
  }

  private func start(_ object: cxml_object) throws(StoreError) -> XMLEntityShape {
    let name = object.type.value ?? UnsafeRawBufferPointer(start: nil, count: 0)
    if shape == nil || !type.withUnsafeBytes({ name.isSame($0) }) {
      let text = String(decoding: name, as: UTF8.self)
      guard let index = entities[text.uppercased()], !schema.entities[index].isAbstract else {
        throw StoreError(.corrupt, "An object has the entity \(text), which the model does not have.")
      }
      shape = shapes[index]
      type = Array(name)
    }
    let shape = shape ?? shapes[0]
    key = try Self.key(object.id.value)
    shape.begin()
    values.builder.begin(slots: shape.slotCount)
    return shape
  }

  private func read(_ property: cxml_property, _ shape: XMLEntityShape) throws(StoreError) {
    guard let name = property.name.value else { throw StoreError(.corrupt, "A property has no name.") }
    guard let index = shape.property(name, isAttribute: property.is_attribute != 0) else {
      let text = String(decoding: name, as: UTF8.self)
      throw StoreError(
        .corrupt, "An object has the property \(text), which the model does not have.", context: ["object": "z\(key)"])
    }
    if property.is_attribute == 0 {
      if let list = property.idrefs.value {
        try link(list, shape.relationships[index])
      } else if salvage != nil, property.has_others != 0 {
        throw StoreError(
          .corrupt, "The relationship \(String(decoding: name, as: UTF8.self)) has an unknown attribute.")
      }
      return
    }
    let content = property.content.value ?? UnsafeRawBufferPointer(start: nil, count: 0)
    if values.set(shape.columns[index].slot, shape.columns[index].kind, content) { return }
    throw StoreError(
      .corrupt, "The attribute \(shape.columns[index].name) has a value that does not fit its type.",
      context: ["object": "z\(key)"])
  }

  private func link(_ list: UnsafeRawBufferPointer, _ relationship: XMLRelationship) throws(StoreError) {
    // Taken out for the call: see decision 075.
    var keys = keys
    self.keys = []
    defer { self.keys = keys }
    keys.removeAll(keepingCapacity: true)
    try Self.append(keys: list, to: &keys)
    if let table = relationship.table { return loader.link(table, of: key, to: keys) }
    guard keys.count <= 1, let slot = relationship.slot else {
      throw StoreError(.corrupt, "The relationship \(relationship.name) leads to \(keys.count) objects, not one.")
    }
    if let key = keys.first { values.builder.setInt(slot, key) }
  }
}
