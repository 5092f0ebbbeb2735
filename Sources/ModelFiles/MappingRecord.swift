import Foundation
import PropertyLists
import StoreQuery

/// A mapping model as a plain value: how the objects of one model become those of another.
public struct MappingRecord: Hashable, Sendable {
  /// The mappings in the order in which a migration applies them. Their names are unique.
  public var entityMappings: [EntityMappingRecord]

  /// A mapping model of the given mappings.
  public init(entityMappings: [EntityMappingRecord] = []) {
    self.entityMappings = entityMappings
  }
}

/// How objects of one entity become objects of another.
public struct EntityMappingRecord: Hashable, Sendable {
  /// The name, unique in the mapping model.
  public var name: String
  /// The raw value of `NSEntityMappingType`: 0 undefined, 1 custom, 2 add, 3 remove, 4 copy, 5 transform.
  public var type: Int
  /// The entity in the older model; nil for a new one.
  public var sourceEntity: String?
  /// The version hash of the entity in the older model, 32 bytes; nil for a new one.
  public var sourceHash: Data?
  /// The entity in the newer model; nil for one that is removed.
  public var destinationEntity: String?
  /// The version hash of the entity in the newer model, 32 bytes; nil for one that is removed.
  public var destinationHash: Data?
  /// The source objects; nil for none.
  public var sourceExpression: StoreQuery.Expression?
  /// How the attributes are computed, in ascending byte order of their names; nil for none.
  public var attributeMappings: [PropertyMappingRecord]?
  /// How the relationships are computed, in ascending byte order of their names; nil for none.
  public var relationshipMappings: [PropertyMappingRecord]?
  /// The class of the migration policy; nil for the usual one.
  public var policyClassName: String?
  /// Notes of the model's author.
  public var userInfo: [String: PropertyList]?

  /// A mapping between two entities, without properties.
  public init(name: String, type: Int, sourceEntity: String?, destinationEntity: String?) {
    (self.name, self.type) = (name, type)
    (self.sourceEntity, self.destinationEntity) = (sourceEntity, destinationEntity)
  }
}

/// How one property of a destination object is computed.
public struct PropertyMappingRecord: Hashable, Sendable {
  /// The name of the property in the newer model.
  public var name: String
  /// Computes the value; nil to leave the property's default.
  public var valueExpression: StoreQuery.Expression?
  /// Notes of the model's author.
  public var userInfo: [String: PropertyList]?

  /// A property that keeps its default unless there is an expression.
  public init(name: String, valueExpression: StoreQuery.Expression? = nil) {
    (self.name, self.valueExpression) = (name, valueExpression)
  }
}
