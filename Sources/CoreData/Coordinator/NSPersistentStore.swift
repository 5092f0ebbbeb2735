import Dispatch
import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import Synchronization

/// One store of a coordinator.
///
/// Sendable, unchecked: the engine is thread-safe, and the mutable state is guarded.
open class NSPersistentStore: NSObject, @unchecked Sendable {
  /// The coordinator that the store was added to; nil after it was removed.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? { root }
  final weak var root: NSPersistentStoreCoordinator?
  final let configuration: String
  /// The name of the configuration whose entities the store takes. The default configuration has all entities.
  open var configurationName: String { configuration }
  final let settings: [AnyHashable: Any]?
  /// The options that the store was added with; nil for none.
  open var options: [AnyHashable: Any]? { settings }
  /// The URL of the store. Setting it changes only what this property returns: no file moves. After files were moved,
  /// use ``NSPersistentStoreCoordinator/setURL(_:for:)``.
  open var url: URL? {
    get { reportedURL }
    set { given.withLock { $0.url = newValue } }
  }
  final var reportedURL: URL? { given.withLock { $0.url } ?? location }
  /// The URL of the store, even if a client has set another ``url``.
  final var location: URL? {
    get { currentURL.withLock { $0 } }
    set {
      currentURL.withLock { $0 = newValue }
      given.withLock { $0.url = nil }
    }
  }
  private let currentURL: Mutex<URL?>

  /// Values that clients have set, mostly of stores that they implement.
  private struct Given {
    var url: URL?
    var identifier: String?
    var isReadOnly = false
  }
  private let given = Mutex(Given())
  private var typeName: String
  /// The name of the store's type.
  open var type: String { typeName }
  /// Index among the coordinator's stores. After the store is removed, another store may get the index once no context
  /// has objects of this one. Set before other code sees the store.
  private(set) final var index: Int
  private let removal = Atomic<Bool>(false)
  /// Whether the store was removed from its coordinator.
  final var isRemoved: Bool {
    get { removal.load(ordering: .relaxed) }
    set { removal.store(newValue, ordering: .relaxed) }
  }
  let cache: RowCache
  private let engine: Mutex<(any Store)?>
  /// The reads of asynchronous fetches that are running, even of cancelled ones. The store is closed after they end.
  let readings = DispatchGroup()

  struct Setup {
    var coordinator: NSPersistentStoreCoordinator
    var configurationName: String
    var options: [AnyHashable: Any]?
    var url: URL?
    var type: String
    var index: Int
  }

  init(_ setup: Setup, engine: any Store) {
    root = setup.coordinator
    configuration = setup.configurationName
    settings = setup.options
    currentURL = Mutex(setup.url)
    typeName = setup.type
    index = setup.index
    cache = RowCache(roots: engine.schema.entities.count)
    identifierText = engine.identifier
    isReadOnlyFlag = engine.isReadOnly
    keepsSnapshots = engine.capabilities.contains(.concurrentReads)
    readsRows = engine.capabilities.contains(.rowLevel)
    keepsObjects = engine.capabilities.contains(.objectValues)
    self.engine = Mutex(engine)
    super.init()
    if engine.capabilities.contains(.externalData) { ObsoleteValues.shared.note(self, of: setup.coordinator) }
  }

  /// For stores that clients implement: a coordinator makes them with this initializer.
  public init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) {
    self.root = root
    configuration = name ?? NSManagedObjectModel.defaultConfiguration
    settings = options
    currentURL = Mutex(url)
    typeName = "\(Self.self)"
    index = .max
    // A model that is not valid is reported when the store is added.
    cache = RowCache(roots: (try? root?.model.freeze())?.schema.entities.count ?? 0)
    identifierText = ""
    isReadOnlyFlag = StoreOptionCoding.options(options).isReadOnly
    keepsSnapshots = false
    readsRows = Self.self is NSIncrementalStore.Type
    keepsObjects = false
    engine = Mutex(nil)
  }

  /// The allocating initializer by which the coordinator makes a store of a client's class. So the class needs no
  /// `required` initializer.
  public convenience init(_cdMake opening: _StoreOpening) {
    self.init(
      persistentStoreCoordinator: opening.coordinator, configurationName: opening.configurationName, at: opening.url,
      options: opening.options)
  }

  /// The part that connects a client's store to its coordinator; nil for other stores.
  @exclusivity(unchecked) private(set) final var custom: CustomStore?
  /// The same while the store is being loaded.
  @exclusivity(unchecked) final var opening: CustomStore.Opening?

  /// Called once, before other code sees the store.
  final func use(_ engine: any Store, _ custom: CustomStore, type: String, index: Int, identifier: String) {
    self.engine.withLock { $0 = engine }
    (self.custom, typeName, self.index, identifierText) = (custom, type, index, identifier)
  }

  /// The metadata of a store that a client implements, before it has an engine.
  private let ownMetadata = Mutex<StoreMetadata?>(nil)

  /// Sets ``metadata``, with at least ``NSStoreUUIDKey`` and ``NSStoreTypeKey``. Stores that clients implement override
  /// it.
  open func loadMetadata() throws {
    guard let url else { return }
    metadata = try Self.metadataForPersistentStore(with: url)
  }

  /// The class that migrates stores of this class.
  open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

  /// The metadata of a store of this class, without opening it. Throws 134091 unless overridden.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] { throw refusal }

  /// Writes the metadata of a store of this class, without opening it. Throws 134091 unless overridden.
  open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws { throw refusal }

  private static var refusal: CocoaError {
    CocoaError(
      .persistentStoreUnsupportedRequestType,
      userInfo: [NSLocalizedDescriptionKey: "\(self) does not implement access to metadata without opening the store."])
  }

  /// Called after the store was added to a coordinator.
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}
  /// Called before the store is removed from its coordinator.
  open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

  private final var identifierText: String
  private let isReadOnlyFlag: Bool
  /// Whether a view may be kept for a read scope: it must not block commits.
  let keepsSnapshots: Bool
  /// Whether rows are read from a medium, rather than kept in memory all the time.
  let readsRows: Bool
  /// Whether values of transformable attributes are kept as objects.
  let keepsObjects: Bool

  /// The store's UUID, the host part of its object URIs. Setting it changes only what this property returns. A store
  /// that a client implements may set it before its metadata is loaded: then it is the UUID, unless the metadata
  /// contains another one.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var identifier: String! {
    get { given.withLock { $0.identifier } ?? identifierText }
    set { given.withLock { $0.identifier = newValue } }
  }
  final var ownIdentifier: String { identifierText }
  /// The value that a client has set as ``identifier``.
  final var givenIdentifier: String? { given.withLock { $0.identifier } }

  /// Whether saves are rejected. A store that was opened read-only stays read-only, whatever is set.
  open var isReadOnly: Bool {
    get { refusesChanges }
    set { given.withLock { $0.isReadOnly = newValue } }
  }
  final var refusesChanges: Bool { isReadOnlyFlag || given.withLock { $0.isReadOnly } }
  private var readOnly: StoreError {
    StoreError(
      .readOnly, "The store is read-only, or was set to read-only. Open it for writing to change it.",
      context: ["url": location?.path ?? ""])
  }

  /// The opened store. Throws `closed` after the store was removed from its coordinator.
  package func requireEngine() throws(StoreError) -> any Store {
    if let successor { return try successor.requireEngine() }
    guard let engine = engine.withLock({ $0 }) else { throw removed }
    return engine
  }

  var removed: StoreError {
    StoreError(
      .closed, "The store was removed from its coordinator. Add it again to use it.",
      context: ["url": location?.path ?? ""])
  }

  /// A view of the present content of the store.
  func view() throws(StoreError) -> StoreView {
    try StoreView(cache) { () throws(StoreError) in
      var engine = try requireEngine()
      while true {
        do throws(StoreError) { return try engine.snapshot() } catch {
          // The store may have moved since the engine was read, and its former engine may be closed.
          guard error.code == .closed, case let now = try requireEngine(), now !== engine else { throw error }
          engine = now
        }
      }
    }
  }

  func closeEngine() throws(StoreError) {
    let closing = engine.withLock { engine in
      defer { engine = nil }
      return engine
    }
    readings.wait()
    cache.removeAll()
    try closing?.close()
  }

  private let committing = Mutex(())

  /// Commits to the engine and publishes the rows to all contexts, in the order of the commits.
  ///
  /// - It writes the metadata that is pending when the commit's turn comes; `changes` contains none. If the commit
  ///   fails, the metadata stays pending.
  /// - Metadata with an entry that is not a property list stays pending too, and the other changes are written, because
  ///   another store of the same save may have been written already. A commit of metadata alone throws 134030.
  /// - If the engine is not `expected`, because the store has moved, it does nothing and returns nil. The change set
  ///   may name large values that only the former engine has, and versions of its rows, so the caller must make a new
  ///   one.
  func commit(
    _ changes: ChangeSet, madeFor expected: any Store, _ objects: @autoclosure () -> CustomSave
  ) throws -> CommitResult? {
    // Other commits run under the successor's lock, and use its cache.
    if let successor { return try successor.commit(changes, madeFor: expected, objects()) }
    return try committing.withLock { (_) throws -> CommitResult? in
      var changes = changes
      // Read under the lock: metadata that was read earlier may be older than what another save has written since.
      changes.metadata = try metadataToSave(isAlone: changes.isEmpty)
      let engine = try requireEngine()
      if engine !== expected { return nil }
      if refusesChanges && !isReadOnlyFlag { throw readOnly }
      // While this lock is held, the rows of a client's store and of the cache belong to the same state.
      custom?.calls.lock()
      defer { custom?.calls.unlock() }
      custom?.begin(objects())
      let claims = custom?.references.claim(changes.insertions.map(\.key))
      var isCommitted = false
      defer { if !isCommitted, let claims { custom?.references.giveBack(claims) } }
      let result = try engine.commit(changes)
      if case .committed(let receipt) = result {
        isCommitted = true
        cache.publish(try changes.sealed(by: receipt, engine.schema), receipt, engine.schema)
        custom?.references.forget(changes.deletions.map(\.reference.key))
        didSaveMetadata(changes.metadata)
      }
      return result
    }
  }

  /// The conflicts that a commit of the changes would have now; nil where the store has moved since they were made.
  func rehearse(_ changes: ChangeSet, madeFor expected: any Store) throws(StoreError) -> [Conflict]? {
    if refusesChanges { throw readOnly }
    let engine = try requireEngine()
    return engine === expected ? try engine.rehearse(changes) : nil
  }

  /// Keys for new objects, from the store at its present URL. The store does not move meanwhile.
  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> {
    while true {
      let store = current
      let keys = try store.committing.withLock { (_) throws(StoreError) -> Range<Int64>? in
        store.successor == nil ? try store.requireEngine().allocateKeys(root: root, count: count) : nil
      }
      if let keys { return keys }
    }
  }

  // MARK: Moving to another URL

  private let replacement = Mutex<NSPersistentStore?>(nil)
  private let isReplaced = Atomic<Bool>(false)

  /// The store that has replaced this one; nil for a store in use.
  private var successor: NSPersistentStore? {
    isReplaced.load(ordering: .acquiring) ? replacement.withLock { $0 } : nil
  }

  /// This store, or the last of the stores that have replaced it one after the other.
  final var current: NSPersistentStore {
    var store = self
    while let next = store.successor { store = next }
    return store
  }

  /// Replaces this store by the one that `body` makes: users of this store use that one from now on. No commit runs
  /// meanwhile.
  func succeed(_ body: () throws(StoreError) -> NSPersistentStore) throws(StoreError) -> NSPersistentStore {
    try committing.withLock { (_) throws(StoreError) in
      let new = try body()
      // Metadata is set either before this point, or in the new store.
      pending.withLock { pending in
        if let pending { new.metadata = MetadataCoding.dictionary(pending) }
        replacement.withLock { $0 = new }
        isReplaced.store(true, ordering: .releasing)
      }
      return new
    }
  }

  /// Closes the engine, and replaces it by the one that `open` returns for another URL. If that fails, the former URL
  /// is opened again. Reads and commits wait meanwhile.
  func reconnect(at other: URL, _ open: (URL) throws(StoreError) -> any Store) throws(StoreError) {
    try committing.withLock { (_) throws(StoreError) in
      guard let former = location else { return }
      try engine.withLock { (engine) throws(StoreError) in
        let closing = engine
        engine = nil
        cache.begin()
        do throws(StoreError) {
          try closing?.close()
          engine = try open(other)
        } catch {
          engine = try open(former)
          throw error
        }
      }
      location = other
    }
  }

  // MARK: Metadata

  private let pending = Mutex<StoreMetadata?>(nil)
  /// Forgets the metadata that a commit has written. Metadata that was set during the commit is for the next save.
  private func didSaveMetadata(_ saved: StoreMetadata?) {
    guard let saved else { return }
    pending.withLock { if $0 == saved { $0 = nil } }
  }

  /// Metadata that the next save writes.
  var pendingMetadata: StoreMetadata? {
    if let successor { return successor.pendingMetadata }
    return pending.withLock { $0 }
  }
  /// The key of an entry that was set and is not a property list.
  private let unsuitableKey = Mutex<String?>(nil)

  /// Metadata for the next commit. Where an entry is not a property list, it throws 134030 if the commit writes nothing
  /// else (`isAlone`), and returns nil otherwise.
  final func metadataToSave(isAlone: Bool = true) throws -> StoreMetadata? {
    if let successor { return try successor.metadataToSave(isAlone: isAlone) }
    let (found, unsuitable) = pending.withLock { pending in (pending, unsuitableKey.withLock { $0 }) }
    guard let unsuitable else { return found }
    if isAlone { throw MetadataCoding.unsuitable(unsuitable) }
    return nil
  }

  /// The store's metadata. Values that are set are written by the next save, which throws 134030 where an entry is not
  /// a property list.
  // Implicitly unwrapped, because that is the type that existing code expects.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var metadata: [String: Any]! {
    get {
      let known = pendingMetadata ?? (try? requireEngine().metadata) ?? ownMetadata.withLock { $0 }
      return known.map(MetadataCoding.dictionary) ?? [:]
    }
    set {
      let entries = newValue ?? [:]
      while !current.setMetadata(entries) {}
    }
  }

  /// Returns false, and does nothing, where the store has moved.
  private func setMetadata(_ entries: [String: Any]) -> Bool {
    guard let engine = engine.withLock({ $0 }) else {
      if successor != nil { return false }
      ownMetadata.withLock { $0 = MetadataCoding.metadata(entries) }
      return true
    }
    let merged = MetadataCoding.merge(entries, into: engine.metadata)
    return pending.withLock { pending in
      if isReplaced.load(ordering: .acquiring) { return false }
      unsuitableKey.withLock { $0 = MetadataCoding.unsuitableKey(entries) }
      pending = merged
      return true
    }
  }

  open override var description: String { "<\(Self.self) \(type) \(url?.absoluteString ?? "")>" }
}
