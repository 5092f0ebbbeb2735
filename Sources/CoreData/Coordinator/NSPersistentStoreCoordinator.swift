import Foundation
import ModelFiles
import StoreProtocol
import StoreSchema
import Synchronization

/// The mediator between contexts and stores. It has the model, and knows which store takes which entity.
///
/// Sendable, unchecked: the lock guards all state.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  final let model: NSManagedObjectModel
  /// The model of all stores of the coordinator. It is immutable.
  open var managedObjectModel: NSManagedObjectModel { model }
  /// A name for the client's use; nil unless set.
  open var name: String?
  final let stateLock = NSRecursiveLock()
  /// The stores by index; nil for an index whose store was removed.
  private var stores: [NSPersistentStore?] = []
  /// Grows whenever a store is added or removed.
  let storeListVersion = Atomic<Int>(1)
  /// Whether there was ever a store that a client implements.
  let hasCustomStores = Atomic<Bool>(false)
  private let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
  let contexts = Mutex<[ContextLink]>([])

  /// Makes a coordinator for `model`, which is immutable from now on.
  ///
  /// A model that is not valid is reported when a store is added.
  public init(managedObjectModel model: NSManagedObjectModel) {
    self.model = model
    super.init()
    _ = try? model.freeze()
    ModelRegistry.add(model)
  }

  /// A coordinator of a model without entities.
  public convenience override init() { self.init(managedObjectModel: NSManagedObjectModel()) }

  // MARK: Stores

  /// The stores of the coordinator, without those that were removed.
  open var persistentStores: [NSPersistentStore] { openStores }

  /// The value of ``persistentStores``, even where a subclass overrides that.
  final var openStores: [NSPersistentStore] { stateLock.withLock { stores.compactMap { $0 } } }

  func store(at index: Int) -> NSPersistentStore? {
    stateLock.withLock { stores.indices.contains(index) ? stores[index] : nil }
  }

  /// Opens the store at `storeURL`, makes it where there is none, and adds it. With a configuration the store takes
  /// only the entities of that; an existing store of the whole model keeps the whole model. After an error nothing has
  /// changed.
  ///
  /// - Throws: 134000 (unknown type), 134020 (invalid model), 134070 (added before), 134100 (other model version) …
  @discardableResult
  open func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    if let storeClass = StoreRegistration.storeClass(storeType) {
      return try add(storeClass, storeType, configuration, storeURL, options)
    }
    guard let backend = StoreRegistration.backend(storeType) else {
      throw CocoaError(
        .persistentStoreInvalidType,
        userInfo: [
          NSLocalizedDescriptionKey:
            "There is no store of type '\(storeType)'; registered are \(StoreRegistration.classesOfTypes.keys.sorted().joined(separator: ", "))."
        ])
    }
    if let configuration, model.entities(forConfigurationName: configuration) == nil {
      throw CocoaError(
        .persistentStoreOperation,
        userInfo: [NSLocalizedDescriptionKey: "The model has no configuration named '\(configuration)'."])
    }
    let isPersistent = backend.capabilities.contains(.persistent)
    if storeURL == nil && isPersistent {
      throw CocoaError(
        .persistentStoreOperation,
        userInfo: [NSLocalizedDescriptionKey: "A store of type '\(storeType)' needs a URL."])
    }
    let store = try stateLock.withLock {
      // Stores in memory are separate from all others, whatever their URL.
      if isPersistent { try requireNew(storeURL) }
      return try open(backend, storeType, configuration, storeURL, options)
    }
    store.didAdd(to: self)
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSAddedPersistentStoresKey: [store]])
    return store
  }

  /// Throws 134070 where a store at the URL was added before. Called under the lock.
  private func requireNew(_ url: URL?) throws {
    guard let url, url.path != "/dev/null", let known = persistentStore(for: url) else { return }
    throw CocoaError(
      .persistentStoreOperation,
      userInfo: [NSLocalizedDescriptionKey: "The store at \(known.location?.path ?? "") was added before."])
  }

  private func open(
    _ backend: any StoreBackend, _ type: String, _ configuration: String?, _ url: URL?, _ options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore {
    let frozen = try frozenModel()
    let engine: any Store
    let engineURL = url ?? URL(fileURLWithPath: "/dev/null")
    OptionsWithoutEffect.warn(options)
    do { engine = try openEngine(backend, at: engineURL, configuration: configuration, options, frozen) } catch {
      OptionsWithoutEffect.warn(options, after: error)
      throw CoreDataError.make(error)
    }
    if let twin = openStores.first(where: { $0.identifier == engine.identifier }) {
      // The engine has no changes that closing it could save.
      try? engine.close()
      throw CoreDataError.sameIdentifier(engineURL, twin)
    }
    let index: Int
    do { index = try freeIndex() } catch {
      try? engine.close()
      throw error
    }
    let store = NSPersistentStore(
      .init(
        coordinator: self, configurationName: configuration ?? NSManagedObjectModel.defaultConfiguration,
        options: options, url: url, type: type, index: index), engine: engine)
    stores[index] = store
    storeListVersion.add(1, ordering: .releasing)
    return store
  }

  /// The index for a store to be added: the index of a removed store of which no context has objects any more, else a
  /// new one. Throws 134080 where no index is left. Called under the lock.
  private func freeIndex() throws -> Int {
    let cores = attachedContexts
    let free = stores.indices.first { index in
      stores[index] == nil && !cores.contains { $0.registry.hasObjects(ofStore: UInt16(index)) }
    }
    if let free { return free }
    guard stores.count < Int(UInt16.max) else {
      throw CocoaError(
        .persistentStoreOpen,
        userInfo: [
          NSLocalizedDescriptionKey:
            "The coordinator has had \(stores.count) stores whose objects are still in use; reset its contexts, or use another coordinator."
        ])
    }
    stores.append(nil)
    return stores.count - 1
  }

  /// Adds a store that a client implements.
  private func add(
    _ storeClass: NSPersistentStore.Type, _ type: String, _ configuration: String?, _ url: URL?,
    _ options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore {
    let frozen = try frozenModel()
    let store = storeClass.make(
      _StoreOpening(self, configuration, url ?? URL(fileURLWithPath: "/dev/null"), options))
    try stateLock.withLock {
      try requireNew(url)
      let index = try freeIndex()
      try store.load(type, frozen, index: index)
      if let twin = openStores.first(where: { $0.ownIdentifier == store.ownIdentifier }) {
        throw CoreDataError.sameIdentifier(url ?? store.location ?? URL(fileURLWithPath: "/dev/null"), twin)
      }
      stores[index] = store
      hasCustomStores.store(true, ordering: .relaxed)
      storeListVersion.add(1, ordering: .releasing)
    }
    store.didAdd(to: self)
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSAddedPersistentStoresKey: [store]])
    return store
  }

  /// The same with the store's type instead of its name.
  @discardableResult
  open func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try addPersistentStore(ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
  }

  /// Adds the described store, at once or on a queue of its own, as the description says. `block` is called once.
  open func addPersistentStore(
    with storeDescription: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    nonisolated(unsafe) let description = storeDescription
    nonisolated(unsafe) let block = block
    let add: @Sendable () -> Void = {
      do {
        try self.addPersistentStore(
          ofType: description.type, configurationName: description.configuration, at: description.url,
          options: description.options)
        block(description, nil)
      } catch { block(description, error) }
    }
    if storeDescription.shouldAddStoreAsynchronously {
      DispatchQueue.global().async(execute: add)
    } else {
      add()
    }
  }

  /// The same; returns the description once its store is added.
  open func addPersistentStore(
    with storeDescription: NSPersistentStoreDescription
  ) async throws -> NSPersistentStoreDescription {
    try await added(storeDescription)
  }

  /// The model in the store at `url`, whatever the store's type. Throws 134070 where the store contains none, as XML
  /// and binary stores do.
  ///
  /// https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/cachedmodelforpersistentstore(at:options:)
  open class func cachedModelForPersistentStore(
    at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectModel {
    try cachedModel(at: url, options)
  }

  /// Runs a request of a context on the stores. A fetch returns the array of `NSManagedObjectContext.fetch(_:)`, any
  /// other request its ``NSPersistentStoreResult``.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
    if context.core.coordinator !== self { misuse("The context belongs to another coordinator; use that one.") }
    return try context.performAndWait { try request.answer(in: context) }
  }

  /// Closes a store and drops the rows of its objects. Unsaved changes to them can no longer be saved.
  open func remove(_ store: NSPersistentStore) throws {
    guard store.root === self, self.store(at: store.index) === store else { return }
    post(.NSPersistentStoreCoordinatorWillRemoveStore, [:], object: store)
    store.willRemove(from: self)
    let isHere = stateLock.withLock {
      if stores[store.index] !== store { return false }
      store.isRemoved = true
      stores[store.index] = nil
      return true
    }
    // Another thread has removed the store first, or it has moved meanwhile.
    if !isHere { return }
    storeListVersion.add(1, ordering: .releasing)
    do { try store.closeEngine() } catch { throw CoreDataError.make(error) }
    store.root = nil
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSRemovedPersistentStoresKey: [store]])
  }

  /// The store whose file is at the URL; nil where the coordinator has none there.
  open func persistentStore(for URL: URL) -> NSPersistentStore? {
    let required = URL.standardizedFileURL
    return openStores.first { $0.location?.standardizedFileURL == required }
  }

  /// The URL of a store; `/dev/null` for a store without a URL.
  open func url(for store: NSPersistentStore) -> URL { store.reportedURL ?? URL(fileURLWithPath: "/dev/null") }

  /// Moves a store of this coordinator to `url`. Returns whether it did. If not, the store stays in use at its present
  /// URL, and a message on standard error has the reason.
  ///
  /// The store at `url` is used from then on: contexts read their objects again from there, under unsaved changes. It
  /// must have the same UUID, as a copy or moved files have.
  /// - If nothing is at `url`, a store in a single file that is read and written as a whole is copied there. Other
  ///   stores are not moved then.
  /// - Of stores that clients implement, an ``NSAtomicStore`` saves to `url` from now on. An ``NSIncrementalStore`` is
  ///   not moved.
  open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
    guard store.root === self, store.canMove else { return false }
    do { try relocate(store, to: url) } catch {
      report("The store at \(store.location?.path ?? "?") was not moved to \(url.path): \(error)")
      return false
    }
    return true
  }

  /// The object ID of a URI; nil where the coordinator does not know its store or entity. Reads nothing.
  open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    guard url.scheme == "x-coredata", case let host = url.host ?? "", let frozen = try? model.freeze(),
      let store = openStores.first(where: { $0.ownIdentifier == host })
    else { return nil }
    let parts = url.pathComponents
    guard parts.count >= 3, parts[2].first == "p", let entity = frozen.schema.entity(named: parts[1]) else {
      return nil
    }
    // Everything after the entity's name is the store's name of the object, including slashes.
    let name = String(parts[2...].joined(separator: "/").dropFirst())
    guard let key = store.objectKey(name, entity) else { return nil }
    return NSManagedObjectID(frozen.infos[entity.index], key: key, store: store, family: 0)
  }

  // MARK: Metadata, removing and copying files

  /// The metadata of a store of this coordinator.
  open func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata }
  /// Sets the metadata of a store of this coordinator, which the next save writes; see ``NSPersistentStore/metadata``.
  open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) { store.metadata = metadata }

  /// The metadata of the store at `url`, without opening it and without changing any file. Throws 134000 for an unknown
  /// type, and 260 where there is no store.
  open class func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    if let storeClass = StoreRegistration.storeClass(storeType) {
      return try storeClass.metadataForPersistentStore(with: url)
    }
    let backend = try backend(storeType)
    do {
      return MetadataCoding.dictionary(try backend.metadata(at: url, options: StoreOptionCoding.options(options)))
    } catch { throw CoreDataError.make(error) }
  }

  /// Replaces the application's entries in the metadata of the store at `url`, without opening it with a model. Its
  /// type, UUID and version hashes do not change. Throws 134000 for an unknown type, and 134030 where an entry is not a
  /// property list; then the metadata is unchanged.
  open class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    if let storeClass = StoreRegistration.storeClass(storeType) {
      return try storeClass.setMetadata(metadata, forPersistentStoreAt: url)
    }
    if let key = MetadataCoding.unsuitableKey(metadata ?? [:]) { throw MetadataCoding.unsuitable(key) }
    let backend = try backend(storeType)
    let settings = StoreOptionCoding.options(options)
    do {
      let known = try backend.metadata(at: url, options: settings)
      try backend.setMetadata(MetadataCoding.merge(metadata ?? [:], into: known), at: url, options: settings)
    } catch { throw CoreDataError.make(error) }
  }

  /// Copies all content of a store of this coordinator to a new store at `url`, of any type. The new store replaces it
  /// in the coordinator. Returns the new store.
  ///
  /// The old store's file is left alone. The new store has its own UUID, and the same keys as the old store. So
  /// contexts keep working, with their unsaved changes, and object IDs become IDs of the new store. Saves of contexts
  /// wait meanwhile.
  ///
  /// - Throws: 516 where something exists at `url` already. After an error nothing has changed, with one exception: if
  ///   the old file could not be closed, the new store is in use.
  @discardableResult
  open func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
  ) throws -> NSPersistentStore {
    try migrate(store, to: url, options, storeType)
  }

  /// Removes the store at `url` with all its files. An SQLite store leaves an empty file, even where there was none, as
  /// Apple's header requires. A store of this coordinator is removed from the coordinator. If the type does not allow
  /// destroying an open store, the function throws and the store stays.
  open func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws {
    let backend = try Self.backend(storeType)
    var settings = StoreOptionCoding.options(options)
    settings.leavesEmptyFile = true
    // Looked up first: a store that another thread adds afterwards is a new one.
    let store = persistentStore(for: url)
    do { try backend.destroy(at: url, options: settings) } catch { throw CoreDataError.make(error) }
    if let store { try remove(store) }
  }

  /// Makes the store at `destinationURL` a copy of the one at `sourceURL`, with all its files.
  open func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
  ) throws {
    let backend = try Self.backend(storeType)
    for options in [sourceOptions, destinationOptions] { OptionsWithoutEffect.warn(options) }
    do {
      try backend.replace(
        at: destinationURL, with: sourceURL, options: StoreOptionCoding.options(destinationOptions))
    } catch { throw CoreDataError.make(error) }
  }

  /// The registered store types, with their classes in an `NSValue`, as in Objective-C.
  open class var registeredStoreTypes: [String: NSValue] { StoreRegistration.classesOfTypes }

  /// Replaces a store of this coordinator by another one. Returns false, and does nothing, where the store was removed
  /// meanwhile.
  func replace(_ store: NSPersistentStore, by successor: NSPersistentStore) -> Bool {
    let isHere = stateLock.withLock {
      if stores[store.index] !== store { return false }
      stores[store.index] = successor
      return true
    }
    // A busy context handles the move only later, and may insert objects meanwhile.
    if isHere { storeListVersion.add(1, ordering: .releasing) }
    return isHere
  }

  // MARK: Queue

  /// Runs `block` later on the coordinator's queue.
  open func perform(_ block: @escaping () -> Void) { later(block) }

  /// Does what ``perform(_:)`` does, even where a subclass overrides that.
  final func later(_ block: @escaping () -> Void) {
    nonisolated(unsafe) let block = block
    queue.async { self.stateLock.withLock { block() } }
  }
}
