import Foundation

/// How the data of one model becomes that of another. A description only: nothing migrates by it yet.
open class NSMappingModel: NSObject, NSCopying {
  // Implicitly unwrapped, because that is the type that existing code expects.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var entityMappings: [NSEntityMapping]! = []

  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary((entityMappings ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  public override init() { super.init() }

  /// Nil: files of mapping models are not read yet.
  public init?(contentsOf url: URL?) { return nil }

  /// Nil: files of mapping models are not read yet, so none is found in any bundle.
  public init?(
    from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
    destinationModel: NSManagedObjectModel?
  ) { return nil }

  /// Throws 134190: mappings are not inferred yet.
  open class func inferredMappingModel(
    forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
  ) throws -> NSMappingModel { throw MigrationError.notYet(.inferredMappingModel, "Inferring a mapping model") }

  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSMappingModel()
    copy.entityMappings = entityMappings?.compactMap { $0.copy() as? NSEntityMapping }
    return copy
  }
}

public enum NSEntityMappingType: UInt, Sendable {
  case undefinedEntityMappingType = 0
  case customEntityMappingType = 1
  case addEntityMappingType = 2
  case removeEntityMappingType = 3
  case copyEntityMappingType = 4
  case transformEntityMappingType = 5
}

/// How objects of one entity become those of another.
open class NSEntityMapping: NSObject, NSCopying {
  private var given: String?
  // Implicitly unwrapped, because that is the type that existing code expects.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var name: String! {
    get { given ?? "\(sourceEntityName ?? "")To\(destinationEntityName ?? "")" }
    set { given = newValue }
  }
  open var mappingType = NSEntityMappingType.undefinedEntityMappingType
  open var sourceEntityName: String?
  open var sourceEntityVersionHash: Data?
  open var destinationEntityName: String?
  open var destinationEntityVersionHash: Data?
  open var attributeMappings: [NSPropertyMapping]?
  open var relationshipMappings: [NSPropertyMapping]?
  /// The source objects; all of the entity for nil.
  open var sourceExpression: NSExpression?
  open var userInfo: [AnyHashable: Any]?
  open var entityMigrationPolicyClassName: String?

  public override init() { super.init() }

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
  open var name: String?
  /// May use `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping` and `$entityPolicy`.
  open var valueExpression: NSExpression?
  open var userInfo: [AnyHashable: Any]?

  public override init() { super.init() }

  var duplicate: NSPropertyMapping {
    let copy = NSPropertyMapping()
    copy.name = name
    copy.valueExpression = valueExpression
    copy.userInfo = userInfo
    return copy
  }
}
