import Foundation
import ModelFiles
import StoreProtocol
import StoreSchema

extension NSPersistentStoreCoordinator {
  /// What a backend is told when it opens or makes a store of this coordinator's model.
  package func settings(_ options: [AnyHashable: Any]?) throws -> StoreOptions {
    settings(options, try frozenModel())
  }

  func settings(_ options: [AnyHashable: Any]?, _ frozen: FrozenModel) -> StoreOptions {
    var settings = StoreOptionCoding.options(options)
    // A guess is good enough to read with, and has other version hashes.
    if model.isInferred { (settings.isReadOnly, settings.ignoresModelVersion) = (true, true) }
    settings.versionIdentifiers = model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
    settings.archivedModel = { [model] in ModelArchive.data(of: model) }
    settings.haveSameStructure = { [definitions = frozen.schema.definitions] archive, entities in
      // One that cannot be read says nothing; the store's columns do.
      guard let carried = try? ModelArchive.model(archive).definitions() else { return true }
      return VersionHash.haveSameStructure(definitions, carried, entities: entities)
    }
    return settings
  }

  func frozenModel() throws -> FrozenModel {
    do { return try model.freeze() } catch {
      throw CocoaError(
        .persistentStoreIncompatibleSchema,
        userInfo: [NSLocalizedDescriptionKey: error.description, NSUnderlyingErrorKey: error])
    }
  }
}
