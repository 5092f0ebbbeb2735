import Foundation
import ModelFiles
import PropertyLists
import StoreQuery
import StoreSchema

/// Turns descriptions into the records of model files.
extension ModelRecordCoding {
  static func record(of model: NSManagedObjectModel) -> ModelRecord {
    ModelRecord(
      versionIdentifiers: model.versionIdentifiers.compactMap { $0.base as? String }.sorted(),
      entities: model.entities.map(record(of:)).sorted { UTF8Order.isLess($0.name, $1.name) },
      fetchRequestTemplates: model.fetchRequestTemplatesByName.sorted { $0.key < $1.key }.map { name, request in
        FetchRequestCoding.record(of: request, name: name)
      },
      configurations: Dictionary(
        uniqueKeysWithValues: model.configurations.map { name in
          (name, model.entities(forConfigurationName: name)?.compactMap(\.name).sorted() ?? [])
        }))
  }

  static func record(of entity: NSEntityDescription) -> EntityRecord {
    var record = EntityRecord(name: entity.name ?? "")
    let className = entity.managedObjectClassName
    record.className = className == "NSManagedObject" ? nil : className
    record.isAbstract = entity.isAbstract
    record.superentity = entity.parentEntity?.name
    record.renamingIdentifier = entity.renamingIdentifier ?? entity.name ?? ""
    record.versionHashModifier = entity.versionHashModifier
    record.userInfo = userInfo(entity.userInfo)
    record.uniquenessConstraints = entity.definition().uniquenessConstraints
    record.compoundIndexes = entity.compound.map {
      $0.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
    }
    record.fetchIndexes = entity.indexes.map { index in
      FetchIndexRecord(
        name: index.name,
        elements: index.elements.map {
          FetchIndexElementRecord(
            propertyName: $0.propertyName, type: Int($0.collationType.rawValue), isAscending: $0.isAscending)
        }, partialPredicate: index.partialIndexPredicate.flatMap(PredicateTree.of))
    }
    // If there are fetch indexes, readers treat compound indexes as copies of them.
    if !record.fetchIndexes.isEmpty { record.addCompoundIndexesAsFetchIndexes() }
    record.properties = entity.ownProperties.compactMap(self.record(of:)).sorted { UTF8Order.isLess($0.name, $1.name) }
    return record
  }

  static func record(of property: NSPropertyDescription) -> PropertyRecord? {
    let kind: PropertyRecord.Kind
    switch property {
    case let attribute as NSAttributeDescription: kind = .attribute(record(attribute))
    case let relationship as NSRelationshipDescription: kind = .relationship(record(relationship))
    case let fetched as NSFetchedPropertyDescription:
      guard let request = fetched.fetchRequest else { return nil }
      kind = .fetchedProperty(FetchRequestCoding.record(of: request))
    default: return nil
    }
    var record = PropertyRecord(name: property.name, kind: kind)
    record.isOptional = property.isOptional
    record.isTransient = property.isTransient
    record.isIndexed = property.indexedFlag
    record.isReadOnly = property is NSDerivedAttributeDescription
    record.renamingIdentifier = property.renamingIdentifier ?? property.name
    record.versionHashModifier = property.versionHashModifier
    record.userInfo = userInfo(property.userInfo)
    record.isIndexedBySpotlight = property.isIndexedBySpotlight
    record.isStoredInExternalRecord = property.externalRecordFlag
    record.validations = zip(property.validationPredicates, property.validationWarnings).compactMap {
      predicate, warning in
      PredicateTree.of(predicate).map { ValidationRecord($0, warning: self.warning(warning)) }
    }
    return record
  }

  private static func warning(_ warning: Any) -> ValidationRecord.Warning? {
    guard let text = warning as? String, !text.isEmpty else { return nil }
    return Int64(text).map { .code($0) } ?? .text(text)
  }

  private static func record(_ attribute: NSAttributeDescription) -> AttributeRecord {
    var record = AttributeRecord(type: Int(attribute.attributeType.rawValue))
    record.valueClassName = attribute.attributeValueClassName
    record.valueTransformerName = attribute.valueTransformerName
    record.allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
    record.preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
    record.allowsCloudEncryption = attribute.allowsCloudEncryption
    if let derived = attribute as? NSDerivedAttributeDescription {
      record.derivation = derived.derivation.map(DerivationCoding.expression)
    }
    if let composite = attribute as? NSCompositeAttributeDescription {
      record.elements = composite.elements.compactMap(self.record(of:))
    }
    if let value = attribute.defaultValue {
      if attribute.attributeType == .transformableAttributeType {
        record.defaultValue = TransformableCoding.encode(value, attribute).map(Value.data) ?? .null
      } else {
        record.defaultValue =
          (try? Schema([single(attribute)]))?.entities.first?.attributes.first
          .flatMap { AttributeCoding.encode(value, $0) } ?? .null
      }
    }
    return record
  }

  /// An entity with only one attribute. It is used to encode the attribute's default by its type.
  static func single(_ attribute: NSAttributeDescription) -> EntityDefinition {
    var definition = EntityDefinition(name: "E")
    var copy = AttributeDefinition(
      name: "a", type: StoreSchema.AttributeType(rawValue: Int32(attribute.attributeType.rawValue)) ?? .undefined)
    copy.isOptional = true
    definition.attributes = [copy]
    return definition
  }

  private static func record(_ relationship: NSRelationshipDescription) -> RelationshipRecord {
    RelationshipRecord(
      destinationEntity: relationship.destinationEntity?.name ?? relationship.destinationName ?? "",
      inverseName: relationship.inverseRelationship?.name ?? relationship.inverseName,
      minCount: relationship.minCount, maxCount: relationship.maxCount,
      deleteRule: Int(relationship.deleteRule.rawValue), isOrdered: relationship.isOrdered)
  }

  private static func userInfo(_ entries: [AnyHashable: Any]?) -> [String: PropertyList] {
    var result: [String: PropertyList] = [:]
    for (key, value) in entries ?? [:] {
      if let key = key as? String { result[key] = MetadataCoding.list(value, depth: 0) }
    }
    return result
  }
}
