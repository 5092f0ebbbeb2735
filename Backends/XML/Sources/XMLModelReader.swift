import CXMLParser
import Foundation
import StoreProtocol
import StoreSchema

/// Infers a model from a document, which names entities, properties, types and destinations.
///
/// Entity names come from the version hashes, if these contain them, otherwise from the document in upper case.
/// Property names come from the document in lower case. If a relationship refers to objects of another entity than its
/// destination, the destination is the parent of that entity. The document does not state inverses, so relationships
/// have none.
final class XMLModelReader: XMLInfoReader {
  private var entities: [String: EntityDefinition] = [:]
  private var type = ""
  /// The entity of each object. `members` has, by entity, the objects to which relationships with that destination
  /// refer.
  private var types: [Int64: String] = [:]
  private var members: [String: Set<Int64>] = [:]

  override var isDone: Bool { false }
  override var wantsTypes: Bool { true }

  func definitions() throws(StoreError) -> [EntityDefinition] {
    let names = try metadata("XML").versionHashes.keys.map { ($0.uppercased(), $0) }
    let known = Dictionary(names, uniquingKeysWith: { first, _ in first })
    for destination in members.keys where entities[destination] == nil {
      entities[destination] = EntityDefinition(name: destination)
    }
    try findParents()
    return entities.values.map { entity in
      func name(_ text: String) -> String { known[text] ?? text }
      var entity = entity
      entity.name = name(entity.name)
      entity.renamingIdentifier = entity.name
      entity.superentity = entity.superentity.map(name)
      for index in entity.relationships.indices {
        entity.relationships[index].destination = name(entity.relationships[index].destination)
      }
      return entity
    }.sorted { $0.name < $1.name }
  }

  /// Sets the parent of each entity: the most specific destination under which its objects occur. Removes properties
  /// that the parent has, too.
  private func findParents() throws(StoreError) {
    var below: [String: Set<String>] = [:]
    for (destination, keys) in members {
      below[destination] = Set(keys.compactMap { types[$0] }.filter { $0 != destination })
    }
    for type in entities.keys {
      let own = below[type] ?? []
      // Of two destinations with objects in common, the one with more objects is the superentity.
      let above = below.filter { other, found in
        other != type && (found.contains(type) || !own.isEmpty && own.isStrictSubset(of: found))
      }
      entities[type]?.superentity =
        above.min { ($0.value.count, $0.key) < ($1.value.count, $1.key) }?.key
    }
    for type in entities.keys {
      var next = entities[type]?.superentity
      var seen: Set<String> = [type]
      while let name = next, let parent = entities[name] {
        guard seen.insert(name).inserted else {
          throw StoreError(.corrupt, "No model can be inferred, because the entity \(type) would inherit from itself.")
        }
        entities[type]?.attributes.removeAll { own in parent.attributes.contains { $0.name == own.name } }
        entities[type]?.relationships.removeAll { own in parent.relationships.contains { $0.name == own.name } }
        next = parent.superentity
      }
    }
  }

  override func read(_ object: cxml_object) throws(StoreError) {
    if object.is_first != 0 { try start(object) }
    for property in UnsafeBufferPointer(start: object.properties, count: object.count) { try read(property) }
  }

  private func start(_ object: cxml_object) throws(StoreError) {
    type = object.type.string?.uppercased() ?? ""
    guard !type.isEmpty, SchemaName.isWord(type) else {
      throw StoreError(.corrupt, "An object's type is not the name of an entity.")
    }
    types[try Self.key(object.id.value)] = type
    if entities[type] == nil { entities[type] = EntityDefinition(name: type) }
  }

  private func read(_ element: cxml_property) throws(StoreError) {
    guard let property = element.name.string, SchemaName.isWord(property), var entity = entities[type] else {
      throw StoreError(.corrupt, "The name of a property is not a valid name.")
    }
    entities[type] = nil
    defer { entities[type] = entity }
    if element.is_attribute != 0 {
      if entity.attributes.contains(where: { $0.name == property }) { return }
      entity.attributes.append(
        AttributeDefinition(name: property, type: Self.attributeType(element.type.string ?? "")))
    } else {
      let destination = element.destination.string?.uppercased() ?? ""
      guard SchemaName.isWord(destination), !destination.isEmpty else {
        throw StoreError(.corrupt, "The relationship \(property) has no destination.")
      }
      var keys: [Int64] = []
      if let list = element.idrefs.value { try Self.append(keys: list, to: &keys) }
      members[destination, default: []].formUnion(keys)
      if entity.relationships.contains(where: { $0.name == property }) { return }
      var relationship = RelationshipDefinition(name: property, destination: destination)
      let counts = (element.type.string ?? "").split(separator: "/").map { Int($0) ?? 0 }
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
