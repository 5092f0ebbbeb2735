import Foundation
import ModelFiles
import StoreProtocol
import StoreSchema

extension NSPersistentStoreCoordinator {
  /// The options that a backend gets when it opens or makes a store of this coordinator's model.
  package func settings(_ options: [AnyHashable: Any]?) throws -> StoreOptions {
    settings(options, try frozenModel())
  }

  /// The same for a store with the same part of the model as an opened one.
  func settings(_ options: [AnyHashable: Any]?, like store: NSPersistentStore) throws -> StoreOptions {
    let isWhole = (try? store.requireEngine().schema.isWhole) ?? true
    return settings(options, try frozenModel(), configuration: isWhole ? nil : store.configuration)
  }

  func settings(
    _ options: [AnyHashable: Any]?, _ frozen: FrozenModel, configuration: String? = nil
  ) -> StoreOptions {
    var settings = StoreOptionCoding.options(options)
    // An inferred model suffices for reading, but has other version hashes.
    if model.isInferred { (settings.isReadOnly, settings.ignoresModelVersion) = (true, true) }
    settings.versionIdentifiers = model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
    settings.archivedModel = { [model] in
      guard let configuration else { return ModelArchive.data(of: model) }
      return model.part(ofConfiguration: configuration).flatMap(ModelArchive.data)
    }
    settings.archivedWholeModel = { [model] in ModelArchive.data(of: model) }
    settings.haveSameStructure = { [definitions = frozen.schema.definitions] archive, entities in
      // An archived model that cannot be read is ignored; the store's columns decide.
      guard let carried = try? ModelArchive.model(archive).definitions() else { return true }
      return VersionHash.haveSameStructure(definitions, carried, entities: entities)
    }
    return settings
  }

  /// The part of the model that a store of a configuration holds. The whole model for nil, for the default
  /// configuration and for an unknown one.
  func schema(_ frozen: FrozenModel, ofConfiguration configuration: String?) -> Schema {
    guard let configuration, configuration != NSManagedObjectModel.defaultConfiguration,
      let names = model.storedNames(ofConfiguration: configuration)
    else { return frozen.schema }
    return frozen.schema.part(storing: names)
  }

  /// Opens a store with the part of the model that it holds.
  ///
  /// That is the part of the configuration. A store that was made without a configuration holds the whole model, and
  /// keeps it. So does a store of an earlier version of this library, which made all stores of the whole model.
  func openEngine(
    _ backend: any StoreBackend, at storeURL: URL, configuration: String?, _ options: [AnyHashable: Any]?,
    _ frozen: FrozenModel
  ) throws(StoreError) -> any Store {
    let (whole, part) = (frozen.schema, schema(frozen, ofConfiguration: configuration))
    func openWhole() throws(StoreError) -> any Store {
      try backend.open(at: storeURL, schema: whole, options: settings(options, frozen))
    }
    func isWhole(_ hashes: [String: [UInt8]]?) -> Bool {
      hashes.map { whole.compatibility(withVersionHashes: $0) != .different } ?? false
    }
    if part.isWhole { return try openWhole() }
    let ofPart = settings(options, frozen, configuration: configuration)
    // In that case `open` throws no error for a mismatch, so the hashes are compared first.
    if ofPart.ignoresModelVersion, isWhole(try? backend.metadata(at: storeURL, options: ofPart).versionHashes) {
      return try openWhole()
    }
    do { return try backend.open(at: storeURL, schema: part, options: ofPart) } catch {
      guard error.code == .modelMismatch, isWhole(error.modelHashes?.store) else { throw error }
      return try openWhole()
    }
  }

  func frozenModel() throws -> FrozenModel {
    do { return try model.freeze() } catch {
      throw CocoaError(
        .persistentStoreIncompatibleSchema,
        userInfo: [NSLocalizedDescriptionKey: error.description, NSUnderlyingErrorKey: error])
    }
  }
}
