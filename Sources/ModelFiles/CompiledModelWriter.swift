import Foundation
import PropertyLists
import StoreQuery
import StoreSchema

/// Writes models as keyed archives, which serve as `.mom` files and, compressed, as the model embedded in a store.
///
/// Compared with the files of Apple's compiler, an archive has the same objects of the same classes with the same keys
/// and values, but for the two keys that name the version of that compiler.
public enum CompiledModelWriter {
  /// The archive of `model`. Equal models give equal bytes.
  ///
  /// Throws `unsupported` for predicates that have no archived form, such as those nested deeper than 200 levels.
  public static func write(_ model: ModelRecord) throws(ModelFileError) -> Data {
    var encoding = CompiledEncoding(model)
    return try encoding.archive()
  }
}

/// The encoding of one model. The references of all entities and properties are reserved first, because they refer to
/// each other.
struct CompiledEncoding {
  typealias Reference = KeyedArchiveWriter.Reference

  let model: ModelRecord
  var writer = KeyedArchiveWriter()
  private let root: Reference
  private var entities: [String: Reference] = [:]
  private var properties: [String: [String: Reference]] = [:]
  private let parents: [String: String]
  private let children: [String: [String]]

  init(_ model: ModelRecord) {
    self.model = model
    root = writer.reserve()
    parents = Dictionary(
      model.entities.compactMap { entity in entity.superentity.map { (entity.name, $0) } },
      uniquingKeysWith: { first, _ in first })
    children = Dictionary(grouping: parents.keys.sorted { $0.precedesInBytes($1) }) { [parents] in parents[$0] ?? "" }
    for entity in model.entities {
      entities[entity.name] = writer.reserve()
      properties[entity.name] = Dictionary(
        entity.properties.map { ($0.name, writer.reserve()) }, uniquingKeysWith: { first, _ in first })
    }
  }

  mutating func archive() throws(ModelFileError) -> Data {
    for entity in model.entities { try encode(entity) }
    var templates: [String: Reference] = [:]
    for request in model.fetchRequestTemplates { templates[request.name ?? ""] = try fetchRequest(request) }
    let requests: Reference = templates.isEmpty ? .null : writer.add(dictionary: templates, isMutable: true)
    var values: [String: PropertyList] = [
      "NSEntities": writer.add(dictionary: entities, isMutable: true).value,
      "NSVersionIdentifiers": writer.add(set: strings(model.versionIdentifiers)).value,
      "NSFetchRequestTemplates": requests.value,
    ]
    if !model.configurations.isEmpty {
      var sets: [String: Reference] = [:]
      for (name, members) in model.configurations.sorted(by: { $0.key.precedesInBytes($1.key) }) {
        sets[name] = writer.add(set: members.compactMap { entities[$0] })
      }
      values["NSConfigurations"] = writer.add(dictionary: sets, isMutable: true).value
    }
    writer.fill(root, classes: ["NSManagedObjectModel", "NSObject"], values: values)
    return writer.archive(root: root)
  }

  func entity(_ name: String?) -> Reference { name.flatMap { entities[$0] } ?? .null }

  /// The property of an entity with this name, declared or inherited.
  func property(_ name: String?, of entity: String) -> Reference {
    guard let name else { return .null }
    var next: String? = entity
    var steps = 0
    while let current = next, steps < 256 {
      if let found = properties[current]?[name] { return found }
      next = parents[current]
      steps += 1
    }
    return .null
  }

  mutating func string(_ text: String?) -> PropertyList {
    (text.map { writer.add(.string($0)) } ?? .null).value
  }

  mutating func strings(_ texts: [String]) -> [Reference] {
    texts.map { writer.add(.string($0)) }
  }

  mutating func nameGroups(_ groups: [[String]]) -> PropertyList {
    let inner = groups.map { writer.add(array: strings($0), isMutable: true) }
    return writer.add(array: inner, isMutable: true).value
  }

  mutating func userInfo(_ entries: [String: PropertyList]) -> PropertyList {
    writer.add(.dictionary(entries), depth: 9).value
  }

  private mutating func encode(_ entity: EntityRecord) throws(ModelFileError) {
    let reference = self.entity(entity.name)
    for property in entity.properties { try encode(property, of: entity.name) }
    let subentities = Dictionary(
      (children[entity.name] ?? []).map { ($0, self.entity($0)) }, uniquingKeysWith: { first, _ in first })
    var values: [String: PropertyList] = [
      "NSEntityName": string(entity.name), "NSClassNameForEntity": string(entity.className),
      "NSSuperentity": self.entity(entity.superentity).value,
      "NSSubentities": writer.add(dictionary: subentities, isMutable: true).value,
      "NSProperties": writer.add(dictionary: properties[entity.name] ?? [:], isMutable: true).value,
      "NSRenamingIdentifier": string(entity.renamingIdentifier),
      "NSVersionHashModifier": string(entity.versionHashModifier), "NSUserInfo": userInfo(entity.userInfo),
      "NSManagedObjectModel": root.value,
    ]
    if entity.isAbstract { values["NSIsAbstract"] = .bool(true) }
    if !entity.uniquenessConstraints.isEmpty { values["NSUniqueTuples"] = nameGroups(entity.uniquenessConstraints) }
    if !entity.fetchIndexes.isEmpty || !entity.compoundIndexes.isEmpty {
      values["NSCompoundIndexes"] = nameGroups(entity.compoundIndexes)
      var indexes: [Reference] = []
      for index in entity.fetchIndexes { indexes.append(try encode(index, of: reference)) }
      values["NSFetchIndexDescriptions"] = writer.add(array: indexes, isMutable: true).value
    }
    writer.fill(reference, classes: ["NSEntityDescription", "NSObject"], values: values)
  }

  /// An index that the flag of a property stands for has no entity in Apple's archives.
  private mutating func encode(_ index: FetchIndexRecord, of entity: Reference) throws(ModelFileError) -> Reference {
    let reference = writer.reserve()
    let isOfFlag = index.elements.count == 1 && index.elements.first?.propertyName == index.name
    var elements: [Reference] = []
    for element in index.elements {
      var values: [String: PropertyList] = [
        "NSPropertyName": string(element.propertyName), "NSFetchIndexElementType": .integer(Int64(element.type)),
        "NSFetchIndexDescription": reference.value,
      ]
      if element.isAscending { values["NSAscending"] = .bool(true) }
      if let expression = element.expression {
        values["NSExpression"] = try encode(expression, depth: 0).value
      }
      elements.append(writer.add(classes: ["NSFetchIndexElementDescription", "NSObject"], values: values))
    }
    writer.fill(
      reference, classes: ["NSFetchIndexDescription", "NSObject"],
      values: [
        "NSIndexName": string(index.name), "NSIndexElements": writer.add(array: elements).value,
        "NSEntity": (isOfFlag ? .null : entity).value,
        "NSPartialIndexPredicate": try optional(index.partialPredicate).value,
      ])
    return reference
  }
}
