import AtomicEngine
import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema

/// Reads the archive of all objects.
struct BinaryGraphReader {
  private let schema: Schema
  private let shapes: [BinaryShape]
  private let builder = RowBuilder()

  init(_ schema: Schema) {
    self.schema = schema
    shapes = schema.entities.map(BinaryShape.init)
  }

  func graph(
    _ archive: KeyedArchiveReader, _ numbering: AtomicNumbering, highestNumber: Int64
  ) throws(StoreError) -> AtomicGraph {
    guard let entries = archive.root("mapData")?.entries else {
      throw StoreError(.corrupt, "The store has no dictionary of its objects.")
    }
    var loader = AtomicGraphLoader(schema, numbering)
    for (key, node) in entries {
      guard let key = key.integer, node.isKind(of: "NSStoreMapNode"), node["NSPrimaryKey64"]?.integer == key else {
        throw StoreError(.corrupt, "An object of the store is no node with its own key.")
      }
      try add(node, key, &loader)
    }
    return try loader.finish(highestNumber: highestNumber)
  }

  private func add(
    _ node: ArchivedObject, _ key: Int64, _ loader: inout AtomicGraphLoader
  ) throws(StoreError) {
    guard let name = node["NSEntityName"]?.string, let entity = schema.entity(named: name), !entity.isAbstract else {
      throw StoreError(.corrupt, "The object \(key) is of no entity that the model has.")
    }
    let columns = shapes[entity.index].columns
    guard let values = node["NSAttributeValues"]?.array, values.count == columns.count else {
      throw StoreError(.corrupt, "The object \(key) has not as many values as its entity has attributes.")
    }
    builder.begin(slots: entity.slots.count)
    for ((slot, kind), value) in zip(columns, values) where !value.isNullObject {
      guard let value = Self.value(value, kind) else {
        throw StoreError(
          .corrupt, "The object \(key) has a value that cannot be one of its attribute's type.",
          context: ["entity": name])
      }
      builder.set(slot, value)
    }
    var links: [(Relationship, [Int64])] = []
    for (name, list) in node["NSRelatedNodes"]?.stringEntries ?? [:] {
      guard let relationship = entity.relationship(named: name), let list = list.array else {
        throw StoreError(.corrupt, "The object \(key) has the relationship \(name), which the model does not have.")
      }
      let keys = list.compactMap(\.integer)
      guard keys.count == list.count, relationship.isToMany || keys.count <= 1 else {
        throw StoreError(.corrupt, "The relationship \(name) of the object \(key) leads to what are no keys.")
      }
      if let slot = relationship.slot {
        keys.first.map { builder.setInt(slot, $0) }
      } else {
        links.append((relationship, keys))
      }
    }
    try loader.add(builder.finish(key: key, entity: entity.index, version: 1))
    for (relationship, keys) in links { loader.link(relationship, of: key, to: keys) }
  }

  private static func value(_ object: ArchivedObject, _ kind: SlotKind) -> Value? {
    switch kind {
    case .int16: object.integer.flatMap(Int16.init(exactly:)).map { .int(Int64($0)) }
    case .int32: object.integer.flatMap(Int32.init(exactly:)).map { .int(Int64($0)) }
    case .int64: object.integer.map(Value.int)
    case .bool: object.integer.flatMap { $0 == 0 || $0 == 1 ? .bool($0 == 1) : nil }
    case .double, .float: object.double.flatMap { $0.isNaN ? nil : .double($0) }
    case .date: object.date.flatMap { $0.isNaN ? nil : .date($0) }
    case .decimal: object.decimal.flatMap { $0.isNaN ? nil : .decimal($0) }
    case .string: object.string.map(Value.string)
    case .uri: object.urlString.map(Value.uri)
    case .uuid: object.uuid.map(Value.uuid)
    case .data: object.data.map(Value.data)
    case .externalData: object.data.map { .data(Data([1]) + $0) }
    case .transformable: .data(object.data ?? KeyedArchiveWriter.archive(copyOf: object))
    case .reference, .referenceEntity: nil
    }
  }
}
