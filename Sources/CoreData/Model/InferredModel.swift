import Foundation
import StoreProtocol
import StoreSchema

extension NSPersistentStoreCoordinator {
  /// A model that is inferred from the tables of the store at `url`, for reading a store whose model is lost.
  ///
  /// - Entities have the names in the store. Properties have the names of its columns, in upper case.
  /// - The tables do not tell the inverses of most relationships, whether values are optional, and to which of several
  ///   entities in one table a property belongs. The model leaves these out.
  /// - ``NSManagedObjectModel/isInferred`` is true. Every store that is opened with the model is read-only, whatever
  ///   its version hashes are.
  ///
  /// Core Data has no such function.
  public static func inferredModel(
    forPersistentStoreAt url: URL, ofType storeType: String = NSSQLiteStoreType, options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectModel {
    guard let backend = StoreRegistration.backend(storeType) else {
      throw CocoaError(
        .persistentStoreInvalidType, userInfo: [NSLocalizedDescriptionKey: "There is no store of type '\(storeType)'."])
    }
    do throws(StoreError) {
      guard let inferring = backend.capability((any ModelInferringBackend).self) else {
        throw StoreError(
          .unsupported, "No model can be inferred from a store of type \(storeType). Open it with a model file.")
      }
      let options = StoreOptionCoding.options(options)
      try options.checkOwn(of: backend)
      return InferredModel.model(try inferring.inferredModel(at: url, options: options))
    } catch { throw CoreDataError.make(error) }
  }
}

/// Makes a model of the definitions that a store reported.
enum InferredModel {
  static func model(_ definitions: [EntityDefinition]) -> NSManagedObjectModel {
    let entities = Dictionary(
      definitions.map { definition in
        let entity = NSEntityDescription()
        entity.name = definition.name
        return (definition.name, entity)
      }, uniquingKeysWith: { first, _ in first })
    for (parent, children) in Dictionary(grouping: definitions.filter { $0.superentity != nil }, by: \.superentity) {
      entities[parent ?? ""]?.subentities = children.compactMap { entities[$0.name] }
    }
    for definition in definitions {
      guard let entity = entities[definition.name] else { continue }
      entity.properties =
        definition.attributes.map(attribute) + definition.relationships.map { relationship($0, entities) }
    }
    for definition in definitions {
      for relationship in definition.relationships {
        guard let inverse = relationship.inverse else { continue }
        let own = entities[definition.name]?.relationshipsByName[relationship.name]
        own?.inverseRelationship = entities[relationship.destination]?.relationshipsByName[inverse]
      }
    }
    let model = NSManagedObjectModel()
    model.entities = definitions.compactMap { entities[$0.name] }
    model.versionIdentifiers = ["inferred"]
    model.isInferred = true
    return model
  }

  private static func attribute(_ definition: AttributeDefinition) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = definition.name
    attribute.attributeType = NSAttributeType(rawValue: UInt(definition.type.rawValue)) ?? .undefinedAttributeType
    attribute.allowsExternalBinaryDataStorage = definition.allowsExternalBinaryDataStorage
    return attribute
  }

  private static func relationship(
    _ definition: RelationshipDefinition, _ entities: [String: NSEntityDescription]
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = definition.name
    relationship.destinationEntity = entities[definition.destination]
    relationship.maxCount = definition.maxCount
    relationship.isOrdered = definition.isOrdered
    return relationship
  }
}
