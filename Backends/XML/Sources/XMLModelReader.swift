import Foundation
import StoreProtocol
import StoreSchema

/// Guesses a model from a document, which names entities, properties, types and destinations.
///
/// Entities have the names of the version hashes where those have them, else the document's, in upper case; properties those of the
/// document, in lower case. Inheritance and inverses are not told, so there are none.
final class XMLModelReader: XMLInfoReader {
  private var entities: [String: EntityDefinition] = [:]
  private var destinations: Set<String> = []
  private var type = ""

  override var isDone: Bool { false }

  func definitions() throws(StoreError) -> [EntityDefinition] {
    let names = try metadata("XML").versionHashes.keys.map { ($0.uppercased(), $0) }
    let known = Dictionary(names, uniquingKeysWith: { first, _ in first })
    for destination in destinations where entities[destination] == nil {
      entities[destination] = EntityDefinition(name: destination)
    }
    return entities.values.map { entity in
      var entity = entity
      entity.name = known[entity.name] ?? entity.name
      entity.renamingIdentifier = entity.name
      for index in entity.relationships.indices {
        let destination = entity.relationships[index].destination
        entity.relationships[index].destination = known[destination] ?? destination
      }
      return entity
    }.sorted { $0.name < $1.name }
  }

  override func startObject(_ attributes: [(name: String, value: String)]) throws(StoreError) {
    type = Self.value("type", attributes)?.uppercased() ?? ""
    guard !type.isEmpty, SchemaName.isWord(type) else {
      throw StoreError(.corrupt, "An object's type is no name of an entity.")
    }
    if entities[type] == nil { entities[type] = EntityDefinition(name: type) }
  }

  override func startProperty(
    _ name: String, _ attributes: [(name: String, value: String)]
  ) throws(StoreError) {
    guard let property = Self.value("name", attributes), SchemaName.isWord(property), var entity = entities[type] else {
      throw StoreError(.corrupt, "A property has no name that could be one.")
    }
    entities[type] = nil
    defer { entities[type] = entity }
    if name == "attribute" {
      if entity.attributes.contains(where: { $0.name == property }) { return }
      entity.attributes.append(
        AttributeDefinition(name: property, type: Self.attributeType(Self.value("type", attributes) ?? "")))
    } else {
      let destination = Self.value("destination", attributes)?.uppercased() ?? ""
      guard SchemaName.isWord(destination), !destination.isEmpty else {
        throw StoreError(.corrupt, "The relationship \(property) has no destination.")
      }
      destinations.insert(destination)
      if entity.relationships.contains(where: { $0.name == property }) { return }
      var relationship = RelationshipDefinition(name: property, destination: destination)
      let counts = (Self.value("type", attributes) ?? "").split(separator: "/").map { Int($0) ?? 0 }
      relationship.maxCount = counts.count == 2 ? counts[1] : 0
      entity.relationships.append(relationship)
    }
  }

  private static func attributeType(_ name: String) -> AttributeType {
    switch name.lowercased() {
    case "int16": .integer16
    case "int32": .integer32
    case "int64": .integer64
    case "bool": .boolean
    case "double": .double
    case "float": .float
    case "date": .date
    case "decimal": .decimal
    case "uuid": .uuid
    case "uri": .uri
    case "binary": .binaryData
    default: .string
    }
  }
}
