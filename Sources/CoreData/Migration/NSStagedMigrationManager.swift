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
  public let versionChecksum: String
  private var resolved: NSManagedObjectModel?

  private init(_ source: Source, _ checksum: String) {
    self.source = source
    versionChecksum = checksum
  }

  public convenience init(model: NSManagedObjectModel, versionChecksum: String) {
    self.init(.model(model), versionChecksum)
  }

  public convenience init(fileURL: URL, versionChecksum: String) { self.init(.file(fileURL), versionChecksum) }

  public convenience init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
    self.init(.named(modelName, bundle), versionChecksum)
  }

  public convenience init(
    entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String
  ) { self.init(.hashes(versionHash, bundle), versionChecksum) }

  /// The model. Stops the program where it is not found or has another checksum.
  open var resolvedModel: NSManagedObjectModel {
    if let resolved { return resolved }
    guard let model = find() else { misuse("The referenced model was not found: \(source).") }
    guard model.versionChecksum == versionChecksum else {
      misuse("The referenced model has the checksum \(model.versionChecksum), not \(versionChecksum).")
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
      return NSManagedObjectModel.mergedModel(
        from: bundle.map { [$0] }, forStoreMetadata: [NSStoreModelVersionHashesKey: hashes])
    }
  }
}

/// One step of a staged migration.
open class NSMigrationStage: NSObject {
  open var label: String?
  public override init() { super.init() }
}

/// Models that follow each other by inferred mappings.
open class NSLightweightMigrationStage: NSMigrationStage {
  public let versionChecksums: [String]

  public init(_ versionChecksums: [String]) {
    self.versionChecksums = versionChecksums
    super.init()
  }
}

/// A step with code before and after it.
open class NSCustomMigrationStage: NSMigrationStage {
  public typealias Handler = (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void
  public let currentModel: NSManagedObjectModelReference
  public let nextModel: NSManagedObjectModelReference
  open var willMigrateHandler: Handler?
  open var didMigrateHandler: Handler?

  public init(
    migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
  ) {
    self.currentModel = currentModel
    self.nextModel = nextModel
    super.init()
  }
}

/// Migrates a store stage by stage when it is added. Not yet: a store of another version than the model's is refused with
/// 134100, as without a manager.
open class NSStagedMigrationManager: NSObject {
  public let stages: [NSMigrationStage]
  /// The container during a migration; nil, as no migration runs yet.
  open var container: NSPersistentContainer? { nil }

  public init(_ stages: [NSMigrationStage]) { self.stages = stages }
}
