import Foundation
import ModelFiles

/// How the data of one model becomes data of another. A description only: no migration uses it yet.
open class NSMappingModel: NSObject, NSCopying {
  // Implicitly unwrapped, because that is the type that existing code expects.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// How each entity of the destination is made, in the order of the migration.
  open var entityMappings: [NSEntityMapping]! = []

  /// The entity mappings by name.
  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary((entityMappings ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// A mapping model without mappings.
  public override init() { super.init() }

  /// Reads a compiled mapping model, a `.cdm` file. Nil where there is none that can be read.
  public init?(contentsOf url: URL?) {
    guard let record = url.flatMap(Self.record) else { return nil }
    super.init()
    entityMappings = record.entityMappings.map(NSEntityMapping.init)
  }

  /// Reads the compiled mapping model in bundles that is for these models; nil where there is none. Without bundles it
  /// is the main bundle, and where that has none, the resources of packages beside the program.
  ///
  /// It is for the models if the entities of each mapping have the same version hashes in them
  /// ([init(from:forSourceModel:destinationModel:)](https://developer.apple.com/documentation/coredata/nsmappingmodel/init(from:forsourcemodel:destinationmodel:))).
  /// Of several the first by its path is read.
  public init?(
    from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
    destinationModel: NSManagedObjectModel?
  ) {
    guard let sourceModel, let destinationModel,
      let record = Self.record(in: bundles, from: sourceModel, to: destinationModel)
    else { return nil }
    super.init()
    entityMappings = record.entityMappings.map(NSEntityMapping.init)
  }

  /// Throws 134190: mappings are not inferred yet.
  open class func inferredMappingModel(
    forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
  ) throws -> NSMappingModel { throw MigrationError.notYet(.inferredMappingModel, "Inferring a mapping model") }

  /// Whether the other mapping model has equal mappings in the same order: client libraries compare those of one file.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSMappingModel else { return false }
    return other === self || entityMappings == other.entityMappings
  }

  open override var hash: Int { entityMappings?.count ?? 0 }

  /// A copy with copies of the mappings.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSMappingModel()
    copy.entityMappings = entityMappings?.compactMap { $0.copy() as? NSEntityMapping }
    return copy
  }
}

/// How a mapping makes objects of the destination. No mapping is applied yet.
public enum NSEntityMappingType: UInt, Sendable {
  /// Not set. The client makes the objects.
  case undefinedEntityMappingType = 0
  /// By a migration policy of the client, whose class ``NSEntityMapping/entityMigrationPolicyClassName`` names.
  case customEntityMappingType = 1
  /// The entity is new: it has no objects in the source.
  case addEntityMappingType = 2
  /// The entity was removed: its objects in the source have no counterpart in the destination.
  case removeEntityMappingType = 3
  /// The entity has not changed: its objects are copied.
  case copyEntityMappingType = 4
  /// The entity has changed: its objects are transformed.
  case transformEntityMappingType = 5
}

/// How objects of one entity become objects of another.
open class NSEntityMapping: NSObject, NSCopying {
  private var given: String?
  // Implicitly unwrapped, because that is the type that existing code expects.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// The name of the mapping, unique in its mapping model. Unless set, it is made of the names of both entities.
  open var name: String! {
    get { given ?? "\(sourceEntityName ?? "")To\(destinationEntityName ?? "")" }
    set { given = newValue }
  }
  /// How the mapping makes objects.
  open var mappingType = NSEntityMappingType.undefinedEntityMappingType
  /// The name of the entity in the source model; nil for a new entity.
  open var sourceEntityName: String?
  /// The version hash of the entity in the source model, 32 bytes; nil for a new entity.
  open var sourceEntityVersionHash: Data?
  /// The name of the entity in the destination model; nil for a removed entity.
  open var destinationEntityName: String?
  /// The version hash of the entity in the destination model, 32 bytes; nil for a removed entity.
  open var destinationEntityVersionHash: Data?
  /// How the attributes of a destination object are computed; nil for none.
  open var attributeMappings: [NSPropertyMapping]?
  /// How the relationships of a destination object are computed; nil for none.
  open var relationshipMappings: [NSPropertyMapping]?
  /// The source objects; nil for all objects of the entity.
  open var sourceExpression: NSExpression?
  /// Entries that the client keeps with the mapping; nil for none.
  open var userInfo: [AnyHashable: Any]?
  /// The name of the subclass of ``NSEntityMigrationPolicy`` that does the mapping; nil for ``NSEntityMigrationPolicy``
  /// itself.
  open var entityMigrationPolicyClassName: String?

  /// A mapping without entities.
  public override init() { super.init() }

  /// Whether the other mapping is of the same entities in the same way. Entries of the client do not count.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSEntityMapping else { return false }
    if other === self { return true }
    return name == other.name && mappingType == other.mappingType && sourceEntityName == other.sourceEntityName
      && sourceEntityVersionHash == other.sourceEntityVersionHash
      && destinationEntityName == other.destinationEntityName
      && destinationEntityVersionHash == other.destinationEntityVersionHash
      && attributeMappings == other.attributeMappings && relationshipMappings == other.relationshipMappings
      && sourceExpression == other.sourceExpression
      && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
  }

  open override var hash: Int { name.hashValue }

  /// A copy with copies of the property mappings.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSEntityMapping()
    copy.given = given
    copy.mappingType = mappingType
    copy.sourceEntityName = sourceEntityName
    copy.sourceEntityVersionHash = sourceEntityVersionHash
    copy.destinationEntityName = destinationEntityName
    copy.destinationEntityVersionHash = destinationEntityVersionHash
    copy.attributeMappings = attributeMappings?.map(\.duplicate)
    copy.relationshipMappings = relationshipMappings?.map(\.duplicate)
    copy.sourceExpression = sourceExpression
    copy.userInfo = userInfo
    copy.entityMigrationPolicyClassName = entityMigrationPolicyClassName
    return copy
  }
}

/// How one property of a destination object is computed.
open class NSPropertyMapping: NSObject {
  /// The name of the property in the destination entity; nil for none.
  open var name: String?
  /// Computes the value. It may use `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping` and
  /// `$entityPolicy`.
  open var valueExpression: NSExpression?
  /// Entries that the client keeps with the mapping; nil for none.
  open var userInfo: [AnyHashable: Any]?

  /// A mapping without a property.
  public override init() { super.init() }

  /// Whether the other mapping computes the same property in the same way. Entries of the client do not count.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPropertyMapping else { return false }
    return other === self || name == other.name && valueExpression == other.valueExpression
  }

  open override var hash: Int { name.hashValue }

  var duplicate: NSPropertyMapping {
    let copy = NSPropertyMapping()
    copy.name = name
    copy.valueExpression = valueExpression
    copy.userInfo = userInfo
    return copy
  }
}
