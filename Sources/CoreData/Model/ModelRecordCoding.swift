import Foundation
import ModelFiles
import PropertyLists
import StoreQuery
import StoreSchema

extension NSManagedObjectModel {
  /// Makes a model of the record of a model file.
  convenience init(_ record: ModelRecord) {
    self.init()
    var made: [String: NSEntityDescription] = [:]
    for entity in record.entities { made[entity.name] = ModelRecordCoding.entity(entity) }
    var children: [(owner: NSEntityDescription, list: [NSEntityDescription])] = []
    var positions: [String: Int] = [:]
    for entity in record.entities {
      guard let parent = entity.superentity, let owner = made[parent], let child = made[entity.name] else { continue }
      if positions[parent] == nil {
        positions[parent] = children.count
        children.append((owner, []))
      }
      if let position = positions[parent] { children[position].list.append(child) }
    }
    // Set at once for each owner, because each change of the list checks the whole list.
    for (owner, list) in children { owner.subentities = list.filter { !$0.isAncestor(of: owner) } }
    entities = record.entities.compactMap { made[$0.name] }
    for entity in record.entities { made[entity.name].map { ModelRecordCoding.addIndexes(entity, to: $0) } }
    versionIdentifiers = Set(record.versionIdentifiers.map { AnyHashable($0) })
    for (name, members) in record.configurations {
      setEntities(members.compactMap { made[$0] }, forConfigurationName: name)
    }
    for template in record.fetchRequestTemplates {
      guard let name = template.name else { continue }
      setFetchRequestTemplate(FetchRequestCoding.request(template), forName: name)
    }
  }
}

extension NSEntityDescription {
  fileprivate func isAncestor(of other: NSEntityDescription) -> Bool {
    var current: NSEntityDescription? = other
    while let candidate = current {
      if candidate === self { return true }
      current = candidate.parentEntity
    }
    return false
  }
}

/// Turns the records of model files into descriptions.
enum ModelRecordCoding {
  static func entity(_ record: EntityRecord) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = record.name
    if let className = record.className { entity.managedObjectClassName = className }
    entity.isAbstract = record.isAbstract
    entity.renamingIdentifier = record.renamingIdentifier
    entity.versionHashModifier = record.versionHashModifier
    entity.userInfo = userInfo(record.userInfo)
    entity.uniquenessConstraints = record.uniquenessConstraints
    entity.properties = record.properties.map(property)
    return entity
  }

  /// Adds indexes. The entity must be complete, because elements name its properties, inherited ones too.
  static func addIndexes(_ record: EntityRecord, to entity: NSEntityDescription) {
    let byName = entity.propertiesByName
    entity.indexes = record.fetchIndexes.map { index in
      let elements = index.elements.compactMap { element -> NSFetchIndexElementDescription? in
        let type = NSFetchIndexElementType(rawValue: UInt(clamping: element.type)) ?? .binary
        guard let property = element.propertyName.flatMap({ byName[$0] }) ?? element.expression.map(expression) else {
          return nil
        }
        let made = NSFetchIndexElementDescription(property: property, collationType: type)
        made.isAscending = element.isAscending
        return made
      }
      let made = NSFetchIndexDescription(name: index.name, elements: elements)
      made.partialIndexPredicate = index.partialPredicate.map { PredicateTree.predicate($0) }
      return made
    }
    // If there are fetch indexes, compound indexes are copies of them for older frameworks.
    entity.compound = record.fetchIndexes.isEmpty ? record.compoundIndexes : []
  }

  /// `self` and `entity` as index elements.
  private static func expression(_ expression: StoreQuery.Expression) -> NSPropertyDescription {
    let property = NSExpressionDescription()
    property.name = expression == .evaluatedObject ? "self" : expression.format
    return property
  }

  static func property(_ record: PropertyRecord) -> NSPropertyDescription {
    let property: NSPropertyDescription
    switch record.kind {
    case .attribute(let attribute): property = self.attribute(attribute)
    case .relationship(let relationship): property = self.relationship(relationship)
    case .fetchedProperty(let request):
      let fetched = NSFetchedPropertyDescription()
      fetched.fetchRequest = FetchRequestCoding.request(request)
      property = fetched
    }
    property.name = record.name
    property.isOptional = record.isOptional
    property.isTransient = record.isTransient
    property.renamingIdentifier = record.renamingIdentifier
    property.versionHashModifier = record.versionHashModifier
    property.userInfo = userInfo(record.userInfo)
    property.isIndexedBySpotlight = record.isIndexedBySpotlight
    property.externalRecordFlag = record.isStoredInExternalRecord
    property.indexedFlag = record.isIndexed
    property.setValidationPredicates(
      record.validations.map { PredicateTree.predicate($0.predicate) },
      withValidationWarnings: record.validations.map { warning($0.warning) })
    return property
  }

  private static func warning(_ warning: ValidationRecord.Warning?) -> String {
    switch warning {
    case .text(let text): text
    case .code(let code): String(code)
    case nil: ""
    }
  }

  private static func attribute(_ record: AttributeRecord) -> NSAttributeDescription {
    let attribute: NSAttributeDescription
    if let derivation = record.derivation {
      let derived = NSDerivedAttributeDescription()
      derived.derivation = DerivationCoding.derivation(derivation)
      attribute = derived
    } else if let elements = record.elements {
      let composite = NSCompositeAttributeDescription()
      composite.elements = elements.compactMap { property($0) as? NSAttributeDescription }
      attribute = composite
    } else {
      attribute = NSAttributeDescription()
    }
    attribute.attributeType = NSAttributeType(rawValue: UInt(clamping: record.type)) ?? .undefinedAttributeType
    if let className = record.valueClassName { attribute.attributeValueClassName = className }
    attribute.valueTransformerName = record.valueTransformerName
    attribute.allowsExternalBinaryDataStorage = record.allowsExternalBinaryDataStorage
    attribute.preservesValueInHistoryOnDeletion = record.preservesValueInHistoryOnDeletion
    attribute.allowsCloudEncryption = record.allowsCloudEncryption
    let type = StoreSchema.AttributeType(rawValue: Int32(clamping: record.type)) ?? .undefined
    if type == .transformable, case .data(let data) = record.defaultValue {
      attribute.defaultValue = TransformableCoding.decode(data, attribute)
    } else {
      attribute.defaultValue = AttributeCoding.decode(record.defaultValue, type)
    }
    return attribute
  }

  private static func relationship(_ record: RelationshipRecord) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.destinationName = record.destinationEntity
    relationship.inverseName = record.inverseName
    relationship.minCount = record.minCount
    relationship.maxCount = record.maxCount
    relationship.deleteRule = NSDeleteRule(rawValue: UInt(clamping: record.deleteRule)) ?? .nullifyDeleteRule
    relationship.isOrdered = record.isOrdered
    return relationship
  }

  static func userInfo(_ entries: [String: PropertyList]) -> [AnyHashable: Any] {
    Dictionary(
      uniqueKeysWithValues: entries.map { (AnyHashable($0), MetadataCoding.value($1, depth: 0) ?? NSNull()) })
  }
}

/// Converts derivation expressions to the form that stores use and back.
enum DerivationCoding {
  static func derivation(_ expression: StoreQuery.Expression) -> Derivation {
    switch expression {
    case .function("now", _, _): return .now
    case .keyPath(let path): return keyPath(path)
    case .function(let name, let arguments, _) where arguments.count == 1:
      guard case .keyPath(let path) = arguments[0] else { return .unsupported(expression.format) }
      switch name {
      case "count:": return .count(relationship: path)
      case "canonical:", "uppercase:", "lowercase:":
        return .function(name, path.split(separator: ".").map(String.init))
      case "sum:", "min:", "max:", "average:":
        let keys = path.split(separator: ".").map(String.init)
        guard keys.count == 2 else { return .unsupported(expression.format) }
        return .aggregate(String(name.dropLast()), relationship: keys[0], attribute: keys[1])
      default: return .unsupported(expression.format)
      }
    default: return .unsupported(expression.format)
    }
  }

  private static func keyPath(_ path: String) -> Derivation {
    let keys = path.split(separator: ".").map(String.init)
    switch keys.last {
    case "@count" where keys.count == 2: return .count(relationship: keys[0])
    case "@sum", "@min", "@max", "@avg":
      guard keys.count == 3 else { return .unsupported(path) }
      let name = keys[2] == "@avg" ? "average" : String(keys[2].dropFirst())
      return .aggregate(name, relationship: keys[0], attribute: keys[1])
    default: return .keyPath(keys)
    }
  }
}

extension DerivationCoding {
  static func expression(_ derivation: Derivation) -> StoreQuery.Expression {
    switch derivation {
    case .keyPath(let keys): .keyPath(keys.joined(separator: "."))
    case .function(let name, let keys): .function(name, [.keyPath(keys.joined(separator: "."))], target: nil)
    case .count(let relationship): .function("count:", [.keyPath(relationship)], target: nil)
    case .aggregate(let name, let relationship, let attribute):
      .function(name + ":", [.keyPath(relationship + "." + attribute)], target: nil)
    case .now: .function("now", [], target: nil)
    case .unsupported(let text): (try? StoreQuery.Expression(format: text)) ?? .constant(.string(text))
    }
  }
}
