import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema
import StoreSupport

/// Moving a store to another URL or type.
extension NSPersistentStoreCoordinator {
  /// See ``migratePersistentStore(_:to:options:withType:)``. The steps: make the new store, open it, let it replace the
  /// old one, notify the contexts.
  func migrate(
    _ store: NSPersistentStore, to url: URL, _ options: [AnyHashable: Any]?, _ type: String
  ) throws -> NSPersistentStore {
    guard store.root === self else {
      throw CocoaError(
        .persistentStoreOperation,
        userInfo: [NSLocalizedDescriptionKey: "The store is not one of this coordinator; add it first."])
    }
    let backend = try Self.backend(type)
    OptionsWithoutEffect.warn(options)
    let settings = try settings(options, like: store)
    let encode = TransformableCoding.encoding(try frozenModel())
    let successor: NSPersistentStore
    var objects: [ObjectReference] = []
    do {
      successor = try store.succeed { () throws(StoreError) in
        let source = try store.requireEngine()
        let engine = try Self.copy(source, to: url, backend, settings, encode) { (target) throws(StoreError) in
          if store.numbersObjects && !source.isReadOnly { try Self.carryKeys(from: source, to: target) }
          objects = try Self.references(in: target)
        }
        return NSPersistentStore(
          .init(
            coordinator: self, configurationName: store.configuration, options: options, url: url, type: type,
            index: store.index), engine: engine)
      }
    } catch { throw CoreDataError.make(error) }
    guard replace(store, by: successor) else {
      do { try successor.closeEngine() } catch { throw CoreDataError.make(error) }
      throw CoreDataError.make(store.removed)
    }
    // The rows of contexts may name large values of the old store, and have its versions.
    for core in attachedContexts { core.leave(.stores) }
    store.root = nil
    let infos = try frozenModel().infos
    // Apple's platforms pass the former and the new ID of each object. Here both are equal, because an ID belongs to
    // the successor of its store.
    let ids = objects.flatMap { object in
      let id = NSManagedObjectID(infos[object.entity], key: object.key, store: successor, family: 0)
      return [id, id]
    }
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSUUIDChangedPersistentStoresKey: [store, successor, ids]])
    // Done last: the new store is in use, even if the old one cannot be closed.
    do { try store.closeEngine() } catch { throw CoreDataError.make(error) }
    return successor
  }

  /// See ``setURL(_:for:)``.
  func relocate(_ store: NSPersistentStore, to url: URL) throws {
    if store is NSAtomicStore { return store.location = url }
    let backend = try Self.backend(store.type)
    guard backend.capabilities.contains(.persistent) else { return store.location = url }
    let settings = try settings(store.settings, like: store)
    do throws(StoreError) {
      let schema = try store.requireEngine().schema
      if !backend.capabilities.contains(.rowLevel), let former = store.location,
        !FileManager.default.fileExists(atPath: url.path)
      {
        try backend.replace(at: url, with: former, options: settings)
      }
      let found = try backend.metadata(at: url, options: settings)
      guard found.identifier == store.ownIdentifier else {
        throw StoreError(
          .invalidArgument, "Another store is at the URL. Remove it first, or choose another URL.",
          context: ["url": url.path])
      }
      // Also needed where the former URL is opened again: the store there may count versions anew.
      defer { for core in attachedContexts { core.leave(.stores) } }
      try store.reconnect(at: url) { (storeURL) throws(StoreError) in
        try backend.open(at: storeURL, schema: schema, options: settings)
      }
    } catch { throw CoreDataError.make(error) }
  }

  /// Makes a store with all content of another one. `finish` completes it after it was opened.
  private static func copy(
    _ source: any Store, to url: URL, _ backend: any StoreBackend, _ options: StoreOptions,
    _ encode: @escaping StoreCopy.Encoding,
    _ finish: (any Store) throws(StoreError) -> Void
  ) throws(StoreError) -> any Store {
    var making = options
    making.isReadOnly = false
    guard backend.capabilities.contains(.persistent) else {
      let target = try backend.open(at: url, schema: source.schema, options: making)
      try StoreCopy(source, to: target, encode: encode).run {}
      try finish(target)
      return target
    }
    try backend.make(at: url, copying: source, options: making, encode: encode)
    do throws(StoreError) {
      let target = try backend.open(at: url, schema: source.schema, options: options)
      do throws(StoreError) { try finish(target) } catch {
        try target.close()
        throw error
      }
      return target
    } catch {
      // There was nothing at the URL before.
      try backend.destroy(at: url, options: options)
      throw error
    }
  }

  private static func references(in store: any Store) throws(StoreError) -> [ObjectReference] {
    let execution = FetchExecution(try store.snapshot())
    var found: [ObjectReference] = []
    for entity in store.schema.entities where entity.superentity == nil {
      try execution.references(FetchPlan(entities: entity.subtree)) { found.append($0) }
    }
    return found
  }

  /// Reserves the keys in the target that the source has handed out and the target would hand out again. Unsaved or
  /// deleted objects of contexts have them.
  private static func carryKeys(from source: any Store, to target: any Store) throws(StoreError) {
    if target.isReadOnly { return }
    for entity in source.schema.storedEntities where entity.superentity == nil {
      let next = try source.allocateKeys(root: entity.index, count: 0).lowerBound
      let own = try target.allocateKeys(root: entity.index, count: 0).lowerBound
      if next > own { _ = try target.allocateKeys(root: entity.index, count: Int(next - own)) }
    }
  }

  /// Makes a store at `url` with all content of a store of this coordinator, which is left alone. `replaces` allows it
  /// to replace a store of this type at `url`. `progress` is called after each object.
  package func writeCopy(
    of store: NSPersistentStore, to url: URL, ofType type: String, replaces: Bool, progress: () -> Void
  ) throws {
    let backend = try Self.backend(type)
    var settings = try settings(nil, like: store)
    settings.isReadOnly = false
    let encode = TransformableCoding.encoding(try frozenModel())
    do {
      try backend.make(
        at: url, copying: store.requireEngine(), options: settings, replaces: replaces, encode: encode,
        progress: progress)
    } catch { throw CoreDataError.make(error) }
  }

  /// Makes a store at `url` from the readable content of a damaged store of this coordinator's model, which is left
  /// alone. Both stores are of the configuration. `lost` is called for each part that is left out, `progress` after
  /// each object. Returns the number of objects.
  package func writeSalvage(
    ofStoreAt source: URL, ofType sourceType: String, configuration: String? = nil, to url: URL, ofType type: String,
    lost: @escaping (StoreFinding) -> Void, progress: () -> Void
  ) throws -> Int {
    let frozen = try frozenModel()
    let schema = schema(frozen, ofConfiguration: configuration)
    var settings = settings(nil, frozen, configuration: schema.isWhole ? nil : configuration)
    settings.isReadOnly = false
    let salvage = Salvage(schema, lost: lost)
    do {
      try salvage.read(source, of: Self.backend(sourceType), options: settings)
      try Self.backend(type).make(at: url, from: salvage, options: settings, progress: progress)
    } catch let error as StoreError { throw CoreDataError.make(error) }
    return salvage.objectCount
  }
}
