import Foundation

/// The option that gives a coordinator its staged migration manager.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"

/// A model by itself, by file or by bundle, with the checksum that it must have.
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
  open var versionChecksum: String { checksum }

  public init(model: NSManagedObjectModel, versionChecksum: String) {
    (source, checksum) = (.model(model), versionChecksum)
  }

  public init(fileURL: URL, versionChecksum: String) { (source, checksum) = (.file(fileURL), versionChecksum) }

  public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
    (source, checksum) = (.named(modelName, bundle), versionChecksum)
  }

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
  open var label: String!
  public override init() { super.init() }
}

/// Models that follow each other by inferred mappings.
open class NSLightweightMigrationStage: NSMigrationStage {
  private let checksums: [String]
  open var versionChecksums: [String] { checksums }

  public init(_ versionChecksums: [String]) {
    checksums = versionChecksums
    super.init()
  }
}

/// A step with code before and after it.
open class NSCustomMigrationStage: NSMigrationStage {
  public typealias Handler = (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void
  private let models: (from: NSManagedObjectModelReference, to: NSManagedObjectModelReference)
  open var currentModel: NSManagedObjectModelReference { models.from }
  open var nextModel: NSManagedObjectModelReference { models.to }
  open var willMigrateHandler: Handler?
  open var didMigrateHandler: Handler?

  public init(
    migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
  ) {
    models = (currentModel, nextModel)
    super.init()
  }
}

/// Migrates a store stage by stage when it is added. Not yet: a store of another version than the model's is refused
/// with 134100, as without a manager.
open class NSStagedMigrationManager: NSObject {
  private let steps: [NSMigrationStage]
  open var stages: [NSMigrationStage] { steps }
  /// The container during a migration; nil, as no migration runs yet.
  open var container: NSPersistentContainer? { nil }

  public init(_ stages: [NSMigrationStage]) { steps = stages }
}
