import Foundation

/// The option that passes a staged migration manager to a coordinator.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// The option that defers parts of a migration. It has no effect yet.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"

/// A reference to a model, by the model itself, a file or a bundle, with the checksum that the model must have.
open class NSManagedObjectModelReference: NSObject {
  private enum Source {
    case model(NSManagedObjectModel)
    case file(URL)
    case named(String, Bundle?)
    case hashes([AnyHashable: Any], Bundle?)
  }

  private let source: Source
  private let checksum: String
  private var resolved: NSManagedObjectModel?
  /// The ``NSManagedObjectModel/versionChecksum`` that the model must have.
  open var versionChecksum: String { checksum }

  /// A reference to a model.
  public init(model: NSManagedObjectModel, versionChecksum: String) {
    (source, checksum) = (.model(model), versionChecksum)
  }

  /// A reference to the model in a file, which is read when the model is first used.
  public init(fileURL: URL, versionChecksum: String) { (source, checksum) = (.file(fileURL), versionChecksum) }

  /// A reference to the model with a name in a bundle; nil stands for the main bundle.
  public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
    (source, checksum) = (.named(modelName, bundle), versionChecksum)
  }

  /// A reference to the model in a bundle whose entities have the version hashes; nil stands for the main bundle.
  public init(entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
    (source, checksum) = (.hashes(versionHash, bundle), versionChecksum)
  }

  /// The model. Stops the program where it is not found or has another checksum.
  open var resolvedModel: NSManagedObjectModel {
    if let resolved { return resolved }
    guard let model = find() else { misuse("The referenced model was not found: \(source).") }
    guard model.versionChecksum == checksum else {
      misuse("The referenced model has the checksum \(model.versionChecksum), not \(checksum).")
    }
    resolved = model
    return model
  }

  private func find() -> NSManagedObjectModel? {
    switch source {
    case .model(let model): return model
    case .file(let url): return NSManagedObjectModel(contentsOf: url)
    case .named(let name, let bundle):
      let bundle = bundle ?? Bundle.main
      let urls = ["momd", "mom"].compactMap { bundle.url(forResource: name, withExtension: $0) }
      return urls.first.flatMap(NSManagedObjectModel.init(contentsOf:))
    case .hashes(let hashes, let bundle):
      return NSManagedObjectModel.merged(
        from: bundle.map { [$0] }, forStoreMetadata: [NSStoreModelVersionHashesKey: hashes])
    }
  }
}

/// One step of a staged migration.
open class NSMigrationStage: NSObject {
  // Implicitly unwrapped, because that is the type that existing code expects.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// A name of the stage for the client's use; nil unless set.
  open var label: String!
  /// A stage without a label.
  public override init() { super.init() }
}

/// A stage over models that follow each other by inferred mappings.
open class NSLightweightMigrationStage: NSMigrationStage {
  private let checksums: [String]
  /// The checksums of the models, in the order of the migration.
  open var versionChecksums: [String] { checksums }

  /// A stage over the models with the checksums, in the order of the migration.
  public init(_ versionChecksums: [String]) {
    checksums = versionChecksums
    super.init()
  }
}

/// A stage with code before and after it.
open class NSCustomMigrationStage: NSMigrationStage {
  /// The code of a stage. An error ends the migration.
  public typealias Handler = (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void
  private let models: (from: NSManagedObjectModelReference, to: NSManagedObjectModelReference)
  /// The model before the stage.
  open var currentModel: NSManagedObjectModelReference { models.from }
  /// The model after the stage.
  open var nextModel: NSManagedObjectModelReference { models.to }
  /// Called before the stage; nil for none. It is not called yet, because staged migration is not supported.
  open var willMigrateHandler: Handler?
  /// Called after the stage; nil for none. It is not called yet, because staged migration is not supported.
  open var didMigrateHandler: Handler?

  /// A stage from one model to the next.
  public init(
    migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
  ) {
    models = (currentModel, nextModel)
    super.init()
  }
}

/// Migrates a store stage by stage when it is added. Not supported yet: adding a store of another model version throws
/// 134100, as without a manager.
open class NSStagedMigrationManager: NSObject {
  private let steps: [NSMigrationStage]
  /// The stages, in the order of the migration.
  open var stages: [NSMigrationStage] { steps }
  /// The container during a migration; nil, because no migration runs yet.
  open var container: NSPersistentContainer? { nil }

  /// A manager of stages, in the order of the migration.
  public init(_ stages: [NSMigrationStage]) { steps = stages }
}
