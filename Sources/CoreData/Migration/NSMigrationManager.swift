import Foundation

// The variables of mapping expressions, by Apple's names.
public let NSMigrationManagerKey = "manager"
public let NSMigrationSourceObjectKey = "source"
public let NSMigrationDestinationObjectKey = "destination"
public let NSMigrationEntityMappingKey = "entityMapping"
public let NSMigrationPropertyMappingKey = "propertyMapping"
public let NSMigrationEntityPolicyKey = "entityPolicy"

/// Migrates a store by a mapping model. Not yet: migrating throws.
open class NSMigrationManager: NSObject {
  private let models: (source: NSManagedObjectModel, destination: NSManagedObjectModel)
  open var sourceModel: NSManagedObjectModel { models.source }
  open var destinationModel: NSManagedObjectModel { models.destination }
  open var usesStoreSpecificMigrationManager = true
  open var userInfo: [AnyHashable: Any]?

  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    models = (sourceModel, destinationModel)
  }

  /// Throws 134110: migration by a mapping model is not supported yet. Neither store is touched.
  open func migrateStore(
    from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
    destinationOptions dOptions: [AnyHashable: Any]? = nil
  ) throws { throw MigrationError.notYet(.migration, "Migration by a mapping model") }

  public final func migrateStore(
    from sourceURL: URL, type sourceType: NSPersistentStore.StoreType, options sOptions: [AnyHashable: Any]? = nil,
    mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
    options dOptions: [AnyHashable: Any]? = nil
  ) throws {
    try migrateStore(
      from: sourceURL, sourceType: sourceType.rawValue, options: sOptions, with: mapping,
      toDestinationURL: destinationURL, destinationType: destinationType.rawValue, destinationOptions: dOptions)
  }

  /// No migration runs yet, so there is nothing to forget.
  open func reset() {}

  /// 0: no migration runs yet.
  open var migrationProgress: Float { 0 }

  private func outside(_ what: String) -> Never {
    misuse("\(what) means something during a migration only, and migrating is not supported yet.")
  }

  open var mappingModel: NSMappingModel { outside("mappingModel") }
  open var sourceContext: NSManagedObjectContext { outside("sourceContext") }
  open var destinationContext: NSManagedObjectContext { outside("destinationContext") }
  open var currentEntityMapping: NSEntityMapping { outside("currentEntityMapping") }
  open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.sourceEntityName.flatMap { models.source.entitiesByName[$0] }
  }
  open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.destinationEntityName.flatMap { models.destination.entitiesByName[$0] }
  }
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) { outside("associate(sourceInstance:withDestinationInstance:for:)") }
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] { outside("destinationInstances(forEntityMappingName:sourceInstances:)") }
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] { outside("sourceInstances(forEntityMappingName:destinationInstances:)") }
  open func cancelMigrationWithError(_ error: any Error) { outside("cancelMigrationWithError(_:)") }
}

/// Steps of a migration that a mapping leaves to code. Not yet called, as migrating is not supported yet; calling the
/// steps throws 134170.
open class NSEntityMigrationPolicy: NSObject {
  public override init() { super.init() }

  private func refuse() -> CocoaError { MigrationError.notYet(.entityMigrationPolicy, "Migration by a mapping model") }

  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { throw refuse() }
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws { throw refuse() }
  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    throw refuse()
  }
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws { throw refuse() }
  open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    throw refuse()
  }
  open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    throw refuse()
  }
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { throw refuse() }
}
