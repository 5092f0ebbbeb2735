import Foundation

// The variables of mapping expressions, by Apple's names.
/// The variable of mapping expressions for the migration manager.
public let NSMigrationManagerKey = "manager"
/// The variable of mapping expressions for the source object.
public let NSMigrationSourceObjectKey = "source"
/// The variable of mapping expressions for the destination object.
public let NSMigrationDestinationObjectKey = "destination"
/// The variable of mapping expressions for the entity mapping.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The variable of mapping expressions for the property mapping.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The variable of mapping expressions for the migration policy.
public let NSMigrationEntityPolicyKey = "entityPolicy"

/// Migrates a store by a mapping model. Not supported yet: migrating throws.
open class NSMigrationManager: NSObject {
  private let models: (source: NSManagedObjectModel, destination: NSManagedObjectModel)
  /// The model of the store to migrate.
  open var sourceModel: NSManagedObjectModel { models.source }
  /// The model of the store to be made.
  open var destinationModel: NSManagedObjectModel { models.destination }
  /// Whether a store may migrate itself in a faster way. No effect, because no migration runs yet.
  open var usesStoreSpecificMigrationManager = true
  /// Entries that the client keeps with the manager; nil unless set.
  open var userInfo: [AnyHashable: Any]?

  /// A manager for migrations between two models.
  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    models = (sourceModel, destinationModel)
  }

  /// Throws 134110: migration by a mapping model is not supported yet. Neither store is touched.
  open func migrateStore(
    from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
    destinationOptions dOptions: [AnyHashable: Any]? = nil
  ) throws { throw MigrationError.notYet(.migration, "Migration by a mapping model") }

  /// Throws 134110: migration by a mapping model is not supported yet. Neither store is touched.
  public final func migrateStore(
    from sourceURL: URL, type sourceType: NSPersistentStore.StoreType, options sOptions: [AnyHashable: Any]? = nil,
    mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
    options dOptions: [AnyHashable: Any]? = nil
  ) throws {
    try migrateStore(
      from: sourceURL, sourceType: sourceType.rawValue, options: sOptions, with: mapping,
      toDestinationURL: destinationURL, destinationType: destinationType.rawValue, destinationOptions: dOptions)
  }

  /// Does nothing, because no migration runs yet.
  open func reset() {}

  /// 0: no migration runs yet.
  open var migrationProgress: Float { 0 }

  private func outside(_ what: String) -> Never {
    misuse("\(what) has a meaning only during a migration, and migration is not supported yet.")
  }

  /// The mapping model of the migration. Stops the program, because no migration runs yet.
  open var mappingModel: NSMappingModel { outside("mappingModel") }
  /// The context of the source objects. Stops the program, because no migration runs yet.
  open var sourceContext: NSManagedObjectContext { outside("sourceContext") }
  /// The context of the destination objects. Stops the program, because no migration runs yet.
  open var destinationContext: NSManagedObjectContext { outside("destinationContext") }
  /// The entity mapping that is being applied. Stops the program, because no migration runs yet.
  open var currentEntityMapping: NSEntityMapping { outside("currentEntityMapping") }
  /// The entity of the source model that a mapping names; nil where it names none.
  open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.sourceEntityName.flatMap { models.source.entitiesByName[$0] }
  }
  /// The entity of the destination model that a mapping names; nil where it names none.
  open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.destinationEntityName.flatMap { models.destination.entitiesByName[$0] }
  }
  /// Notes that one object was made from another. Stops the program, because no migration runs yet.
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) { outside("associate(sourceInstance:withDestinationInstance:for:)") }
  /// The objects that a mapping has made from source objects. Stops the program, because no migration runs yet.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] { outside("destinationInstances(forEntityMappingName:sourceInstances:)") }
  /// The objects from which a mapping has made destination objects. Stops the program, because no migration runs yet.
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] { outside("sourceInstances(forEntityMappingName:destinationInstances:)") }
  /// Ends the migration with an error. Stops the program, because no migration runs yet.
  open func cancelMigrationWithError(_ error: any Error) { outside("cancelMigrationWithError(_:)") }
}

/// Steps of a migration that a mapping leaves to code. They are not called yet, because migration is not supported yet.
/// Calling them throws 134170.
open class NSEntityMigrationPolicy: NSObject {
  /// A policy, for subclasses to override.
  public override init() { super.init() }

  private func refuse() -> CocoaError { MigrationError.notYet(.entityMigrationPolicy, "Migration by a mapping model") }

  /// Called before a mapping is applied. Throws 134170: no mapping is applied yet.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { throw refuse() }
  /// Called to make destination objects of a source object. Throws 134170: no mapping is applied yet.
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws { throw refuse() }
  /// Called when all destination objects of a mapping are made. Throws 134170: no mapping is applied yet.
  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    throw refuse()
  }
  /// Called to set the relationships of a destination object. Throws 134170: no mapping is applied yet.
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws { throw refuse() }
  /// Called when the relationships of all destination objects are set. Throws 134170: no mapping is applied yet.
  open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    throw refuse()
  }
  /// Called to check the destination objects of a mapping. Throws 134170: no mapping is applied yet.
  open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    throw refuse()
  }
  /// Called after a mapping was applied. Throws 134170: no mapping is applied yet.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { throw refuse() }
}
