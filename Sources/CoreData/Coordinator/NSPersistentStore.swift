import Dispatch
import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import Synchronization

/// One store of a coordinator.
///
/// Sendable, unchecked: the engine is thread-safe, and what changes here is guarded.
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
  /// Where the store is. Setting it changes only what is read here: no file moves. After files were moved, use
  /// ``NSPersistentStoreCoordinator/setURL(_:for:)``.
  open var url: URL? {
    get { toldURL }
    set { given.withLock { $0.url = newValue } }
  }
  final var toldURL: URL? { given.withLock { $0.url } ?? location }
  /// Where the store is, whatever the client has set.
  final var location: URL? {
    get { place.withLock { $0 } }
    set {
      place.withLock { $0 = newValue }
      given.withLock { $0.url = nil }
    }
  }
  private let place: Mutex<URL?>

  /// What clients have set, of stores that they implement as a rule.
  private struct Given {
    var url: URL?
    var identifier: String?
    var isReadOnly = false
  }
  private let given = Mutex(Given())
  private var typeName: String
  /// The name of the store's type.
  open var type: String { typeName }
  /// Index among the coordinator's stores. After the store is removed another one may get it, once no context has
  /// objects of this one. Set before anybody else sees the store.
  @exclusivity(unchecked) private(set) final var index: Int
  private let removal = Atomic<Bool>(false)
  /// Whether the store was removed from its coordinator.
  final var isRemoved: Bool {
    get { removal.load(ordering: .relaxed) }
    set { removal.store(newValue, ordering: .relaxed) }
  }
  let cache: RowCache
  private let engine: Mutex<(any Store)?>
  /// What asynchronous fetches read at the moment, perhaps for one that was given up; the store is closed behind it.
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
    place = Mutex(setup.url)
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

  /// For stores that clients implement: a coordinator makes them so.
  public init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) {
    self.root = root
    configuration = name ?? NSManagedObjectModel.defaultConfiguration
    settings = options
    place = Mutex(url)
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

  /// The allocating entry by which the coordinator makes a store of a client's class, without a `required` initialiser.
  public convenience init(_cdMake opening: _StoreOpening) {
    self.init(
      persistentStoreCoordinator: opening.coordinator, configurationName: opening.configurationName, at: opening.url,
      options: opening.options)
  }

  /// What makes a store that a client implements one of a coordinator; nil for the others.
  @exclusivity(unchecked) private(set) final var custom: CustomStore?
  /// The same while the store is being loaded.
  @exclusivity(unchecked) final var opening: CustomStore.Opening?

  /// Called once, before anybody else sees the store.
  final func use(_ engine: any Store, _ custom: CustomStore, type: String, index: Int, identifier: String) {
    self.engine.withLock { $0 = engine }
    (self.custom, typeName, self.index, identifierText) = (custom, type, index, identifier)
  }

  /// The metadata of a store that a client implements, before it has an engine.
  private let ownMetadata = Mutex<StoreMetadata?>(nil)

  /// Sets ``metadata``, with ``NSStoreUUIDKey`` and ``NSStoreTypeKey`` at least. Clients' own stores override it.
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
      userInfo: [NSLocalizedDescriptionKey: "\(self) does not say how its metadata is read without opening it."])
  }

  /// Called once the store is one of a coordinator.
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}
  /// Called before the store leaves its coordinator.
  open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

  @exclusivity(unchecked) private final var identifierText: String
  private let isReadOnlyFlag: Bool
  /// Whether a view may be kept for a burst of reads: it must not stand in the way of commits.
  let keepsSnapshots: Bool
  /// Whether rows are read from a medium, rather than kept in memory all the time.
  let readsRows: Bool
  /// Whether values of transformable attributes are kept as objects.
  let keepsObjects: Bool

  /// The store's UUID, the host part of its object URIs. Setting it changes only what is read here. A store that a
  /// client implements may set it before its metadata is loaded: then it is the UUID, unless the metadata names
  /// another.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var identifier: String! {
    get { given.withLock { $0.identifier } ?? identifierText }
    set { given.withLock { $0.identifier = newValue } }
  }
  final var ownIdentifier: String { identifierText }
  /// What a client has set as ``identifier``.
  final var givenIdentifier: String? { given.withLock { $0.identifier } }

  /// Whether saves are refused. A store that was opened read-only stays so, whatever is set.
  open var isReadOnly: Bool {
    get { refusesChanges }
    set { given.withLock { $0.isReadOnly = newValue } }
  }
  final var refusesChanges: Bool { isReadOnlyFlag || given.withLock { $0.isReadOnly } }
  private var readOnly: StoreError {
    StoreError(.readOnly, "The store is read-only, or has been set so.", context: ["url": location?.path ?? ""])
  }

  /// The opened store. Throws `closed` after the store was removed from its coordinator.
  package func requireEngine() throws(StoreError) -> any Store {
    if let successor { return try successor.requireEngine() }
    guard let engine = engine.withLock({ $0 }) else { throw removed }
    return engine
  }

  var removed: StoreError {
    StoreError(.closed, "The store was removed from its coordinator.", context: ["url": location?.path ?? ""])
  }

  /// A view of what the store holds now.
  func view() throws(StoreError) -> StoreView {
    try StoreView(cache) { () throws(StoreError) in
      var engine = try requireEngine()
      while true {
        do throws(StoreError) { return try engine.snapshot() } catch {
          // The store may have moved in between, and its former engine be closed.
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

  /// Commits to the engine and shows the rows to everyone, in the order of the commits.
  ///
  /// Writes the metadata that is pending when the commit's turn comes; `changes` brings none. Where the commit is not
  /// made, the metadata stays pending. Metadata with an entry that is no property list stays pending too, and the other
  /// changes are written: another store of the same save may have been written already. A commit of metadata alone
  /// throws 134030.
  ///
  /// Nil, and nothing is done, where the engine is another one than `expected`: the store has moved since. The change
  /// set may name large values that only the former engine has, and versions of its rows; it must be made anew.
  func commit(
    _ changes: ChangeSet, madeFor expected: any Store, _ objects: @autoclosure () -> CustomSave
  ) throws -> CommitResult? {
    // Others commit there under its lock, and look at its cache.
    if let successor { return try successor.commit(changes, madeFor: expected, objects()) }
    return try committing.withLock { (_) throws -> CommitResult? in
      var changes = changes
      // Taken under the lock: metadata that was taken earlier may be older than what another save has written since.
      changes.metadata = try metadataToSave(isAlone: changes.isEmpty)
      let engine = try requireEngine()
      if engine !== expected { return nil }
      if refusesChanges && !isReadOnlyFlag { throw readOnly }
      // Who calls a client's store has its rows and those of the cache at one moment.
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

  /// Keys for new objects, from the place that the store has then: it does not move meanwhile.
  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> {
    while true {
      let store = current
      let keys = try store.committing.withLock { (_) throws(StoreError) -> Range<Int64>? in
        store.successor == nil ? try store.requireEngine().allocateKeys(root: root, count: count) : nil
      }
      if let keys { return keys }
    }
  }

  // MARK: Moving to another place

  private let replacement = Mutex<NSPersistentStore?>(nil)
  private let isReplaced = Atomic<Bool>(false)

  /// The store that took this one's place, nil for one in use.
  private var successor: NSPersistentStore? {
    isReplaced.load(ordering: .acquiring) ? replacement.withLock { $0 } : nil
  }

  /// This store, or the last of those that took its place one after the other.
  final var current: NSPersistentStore {
    var store = self
    while let next = store.successor { store = next }
    return store
  }

  /// Lets the store that `body` makes take this one's place: who uses this one uses that. No commit runs meanwhile.
  func succeed(_ body: () throws(StoreError) -> NSPersistentStore) throws(StoreError) -> NSPersistentStore {
    try committing.withLock { (_) throws(StoreError) in
      let new = try body()
      // Whoever sets metadata does it before this, or sets that of the new store.
      pending.withLock { pending in
        if let pending { new.metadata = MetadataCoding.dictionary(pending) }
        replacement.withLock { $0 = new }
        isReplaced.store(true, ordering: .releasing)
      }
      return new
    }
  }

  /// Closes the engine, and takes the one that `open` gives for another place. Where that fails the former place is
  /// opened again. Who reads or commits meanwhile waits.
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

  /// Metadata to be written with the next save.
  var pendingMetadata: StoreMetadata? {
    if let successor { return successor.pendingMetadata }
    return pending.withLock { $0 }
  }
  /// The key of an entry that was set and is no property list.
  private let unsuitableKey = Mutex<String?>(nil)

  /// Metadata to be written with the next commit. Where an entry is no property list, throws 134030 if the commit
  /// writes nothing else (`isAlone`), and gives nil if it does.
  final func metadataToSave(isAlone: Bool = true) throws -> StoreMetadata? {
    if let successor { return try successor.metadataToSave(isAlone: isAlone) }
    let (found, unsuitable) = pending.withLock { pending in (pending, unsuitableKey.withLock { $0 }) }
    guard let unsuitable else { return found }
    if isAlone { throw MetadataCoding.unsuitable(unsuitable) }
    return nil
  }

  /// The store's metadata. What is set is written with the next save, which throws 134030 where an entry is no property
  /// list.
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

  /// False, and nothing is done, where the store has moved.
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
