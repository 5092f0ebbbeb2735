import Foundation
import StoreSchema

extension ModelRecord {
  /// The 32-byte version hash of each entity by its name; see ``VersionHash`` for its rules and their limits.
  public var versionHashes: [String: Data] {
    VersionHash.hashes(of: entities.map(\.hashed)).mapValues { Data($0) }
  }

  /// The entities whose hashes may differ from Apple's, because they have a derived or a composite attribute.
  public var inexactlyHashedEntities: Set<String> { VersionHash.inexactEntities(in: entities.map(\.hashed)) }
}

extension EntityRecord {
  /// What the version hash covers. Transient properties and fetched properties are left out.
  fileprivate var hashed: EntityDefinition {
    var definition = EntityDefinition(name: name)
    definition.superentity = superentity
    definition.isAbstract = isAbstract
    definition.versionHashModifier = versionHashModifier
    definition.uniquenessConstraints = uniquenessConstraints
    for property in properties where !property.isTransient {
      switch property.kind {
      case .attribute(let attribute): definition.attributes.append(property.hashed(attribute))
      case .relationship(let relationship): definition.relationships.append(property.hashed(relationship))
      case .fetchedProperty: break
      }
    }
    return definition
  }
}

extension PropertyRecord {
  fileprivate func hashed(_ attribute: AttributeRecord) -> AttributeDefinition {
    let type = Int32(exactly: attribute.type).flatMap(AttributeType.init(rawValue:)) ?? .undefined
    var definition = AttributeDefinition(name: name, type: type)
    definition.isOptional = isOptional
    definition.versionHashModifier = versionHashModifier
    definition.allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
    definition.preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
    // The hash depends on whether there is a derivation, not on which one.
    definition.derivation = attribute.derivation.map { _ in .unsupported("") }
    return definition
  }

  fileprivate func hashed(_ relationship: RelationshipRecord) -> RelationshipDefinition {
    var definition = RelationshipDefinition(name: name, destination: relationship.destinationEntity)
    definition.isOptional = isOptional
    definition.versionHashModifier = versionHashModifier
    definition.inverse = relationship.inverseName
    definition.minCount = relationship.minCount
    definition.maxCount = relationship.maxCount
    definition.isOrdered = relationship.isOrdered
    return definition
  }
}
