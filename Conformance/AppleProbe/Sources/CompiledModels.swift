import CoreData
import Foundation

/// Models and mapping models that the compiler of this package has made of the sources in Models, as texts: those of
/// the writer are compared with those of the platform that checks.
struct CompiledModels {
  /// The folder with the files, and the file with the texts of the writer.
  static let (folderName, file) = ("compiled", "compiled.json")

  let folder: ProbeFolder

  private var url: URL { folder.url.appendingPathComponent(Self.folderName) }

  /// The lines of each file in the folder; of a bundle also those of each version in it.
  func describe() throws -> [String: [String]] {
    var result: [String: [String]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() {
      result[name] = lines(name)
      guard name.hasSuffix(".momd") else { continue }
      for version in try FileManager.default.contentsOfDirectory(atPath: url.appendingPathComponent(name).path)
      where version.hasSuffix(".mom") { result["\(name)/\(version)"] = lines("\(name)/\(version)") }
    }
    return result
  }

  /// Writes the lines for the platform that checks.
  func writeDescription() throws {
    try describe().json().write(to: folder.url.appendingPathComponent(Self.file))
  }

  /// What the writer has read; nothing where it has given no compiled models.
  func written() throws -> [String: [String]] {
    let file = folder.url.appendingPathComponent(Self.file)
    guard FileManager.default.fileExists(atPath: file.path) else { return [:] }
    return try JSONDecoder().decode([String: [String]].self, from: Data(contentsOf: file))
  }

  /// The lines that the writer has and that are not found here, and those that are found here only.
  func check(_ name: String) throws -> ModelReport {
    let (expected, found) = (try written()[name] ?? [], lines(name))
    let missing = Set(expected).subtracting(found).sorted().map { "written: \($0)" }
    let added = Set(found).subtracting(expected).sorted().map { "read: \($0)" }
    return ModelReport(name: name, differences: missing + added)
  }

  private func lines(_ name: String) -> [String] {
    let file = url.appendingPathComponent(name)
    if name.hasSuffix(".cdm") {
      return NSMappingModel(contentsOf: file).map(Self.lines) ?? ["the mapping model is not read"]
    }
    return NSManagedObjectModel(contentsOf: file).map(Self.lines) ?? ["the model is not read"]
  }

  // MARK: Texts

  private static func lines(_ model: NSManagedObjectModel) -> [String] {
    var lines = ["version identifiers \(Set(model.versionIdentifiers.map { "\($0)" }).sorted())"]
    lines += model.configurations.sorted().map { name in
      "configuration \(name): \((model.entities(forConfigurationName: name) ?? []).map { $0.name ?? "" }.sorted())"
    }
    for (name, request) in model.fetchRequestTemplatesByName {
      lines.append("request \(name) of \(request.entityName ?? ""): \(request.predicate?.description ?? "nil")")
    }
    return lines + model.entities.flatMap(self.lines)
  }

  private static func lines(_ entity: NSEntityDescription) -> [String] {
    let name = entity.name ?? ""
    let constraints = entity.uniquenessConstraints.map { names in
      names.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
    }
    var lines = [
      "\(name): class \(entity.managedObjectClassName ?? "nil"), abstract \(entity.isAbstract), parent "
        + "\(entity.superentity?.name ?? "nil"), renamed \(entity.renamingIdentifier ?? "nil"), modifier "
        + "\(entity.versionHashModifier ?? "nil")",
      "\(name): hash \(entity.versionHash.base64EncodedString())", "\(name): unique \(constraints)",
    ]
    lines += (entity.userInfo ?? [:]).map { "\(name): info \($0.key) \(Text.of($0.value))" }
    for index in entity.indexes {
      let elements = index.elements.map {
        "\($0.propertyName ?? "nil") \($0.collationType.rawValue) \($0.isAscending)"
      }
      lines.append("\(name): index \(index.name) \(elements)")
    }
    return lines + entity.properties.flatMap { self.lines($0).map { "\(name).\($0)" } }
  }

  private static func lines(_ property: NSPropertyDescription) -> [String] {
    let flags = [
      property.isOptional ? "optional" : "", property.isTransient ? "transient" : "",
      property.isIndexedBySpotlight ? "spotlight" : "",
    ].filter { !$0.isEmpty }
    var lines = [
      "\(property.name): \(flags), renamed \(property.renamingIdentifier ?? "nil"), modifier "
        + "\(property.versionHashModifier ?? "nil"), conditions \(property.validationPredicates.map(\.description))",
      "\(property.name): hash \(property.versionHash.base64EncodedString())",
    ]
    switch property {
    case let attribute as NSAttributeDescription:
      lines.append(
        "\(property.name): attribute \(attribute.attributeType.rawValue), default \(Text.of(attribute.defaultValue)), "
          + "transformer \(attribute.valueTransformerName ?? "nil"), external \(attribute.allowsExternalBinaryDataStorage), "
          + "preserved \(attribute.preservesValueInHistoryOnDeletion)")
      if let derived = attribute as? NSDerivedAttributeDescription {
        lines.append("\(property.name): derived \(derived.derivationExpression?.description ?? "nil")")
      }
    case let relationship as NSRelationshipDescription:
      lines.append(
        "\(property.name): relationship to \(relationship.destinationEntity?.name ?? "nil"), inverse "
          + "\(relationship.inverseRelationship?.name ?? "nil"), \(relationship.minCount) to \(relationship.maxCount), "
          + "rule \(relationship.deleteRule.rawValue), ordered \(relationship.isOrdered)")
    case let fetched as NSFetchedPropertyDescription:
      let request = fetched.fetchRequest
      lines.append(
        "\(property.name): fetched \(request?.entityName ?? "nil"), \(request?.predicate?.description ?? "nil")")
    default: break
    }
    return lines
  }

  private static func lines(_ mapping: NSMappingModel) -> [String] {
    (mapping.entityMappings ?? []).flatMap { entity in
      let name = entity.name ?? "nil"
      func properties(_ kind: String, _ mappings: [NSPropertyMapping]?) -> [String] {
        (mappings ?? []).map { mapping in
          let expression = mapping.valueExpression.map { "expression of type \($0.expressionType.rawValue)" }
          return "\(name): \(kind) \(mapping.name ?? "nil"), \(expression ?? "no expression")"
        }
      }
      return [
        "\(name): \(entity.sourceEntityName ?? "nil") to \(entity.destinationEntityName ?? "nil"), type "
          + "\(entity.mappingType.rawValue), policy \(entity.entityMigrationPolicyClassName ?? "nil")",
        "\(name): hashes \(entity.sourceEntityVersionHash?.base64EncodedString() ?? "nil") "
          + "\(entity.destinationEntityVersionHash?.base64EncodedString() ?? "nil")",
      ] + properties("attribute", entity.attributeMappings) + properties("relationship", entity.relationshipMappings)
    }
  }
}
