import Foundation
import StoreProtocol
import StoreSchema
import Synchronization

/// The working part of a context: identity, changes, faults.
///
/// Objects hold it strongly and the context weakly through it, so that their context is nil once it is gone.
/// Sendable, unchecked: everything but the identity maps and the marks is used on the context's queue only (see
/// ``Confinement``); the maps have a lock of their own, because an object's last release may happen on any thread.
final class ContextCore: @unchecked Sendable {
  weak var context: NSManagedObjectContext?
  /// By which others find this, as long as it lives.
  let link = ContextLink()
  let confinement: Confinement
  /// A copy, because a global constant costs a call at each access.
  let checksQueue = QueueCheck.mode != .off
  /// See ``NSManagedObjectContext/stalenessInterval``.
  @exclusivity(unchecked) var stalenessInterval: Double = -1
  /// Held by whoever runs a block of the context. Recursive.
  let lock = NSRecursiveLock()
  /// How deep the holder of `lock` is in `performAndWait`, and which thread it is; 0 for none. Any thread may ask
  /// whether it is itself.
  @exclusivity(unchecked) var performDepth = 0
  let performThread = Atomic<UInt>(0)
  /// Where blocks run later; nil for a context without a queue.
  let queue: DispatchQueue?
  let hasReportedWaiting = Atomic<Bool>(false)
  /// What others have done, until it is taken up.
  let marks = ContextMarks()

  @exclusivity(unchecked) private(set) var coordinator: NSPersistentStoreCoordinator?
  @exclusivity(unchecked) private(set) var frozen: FrozenModel?
  /// The root of each entity of `frozen`.
  @exclusivity(unchecked) private var roots: ContiguousArray<Int> = []

  struct Registry {
    /// One for each store and root entity, the roots of one store together. Memory of its own: an array would be
    /// counted at each look-up.
    var maps = UnsafeMutableBufferPointer<IdentityMap>(start: nil, count: 0)
    /// Entities of the model, of which each may be a root.
    var entityCount = 0
    var temporaries = IdentityMap()
    /// What incremental stores are told of; nil where there are none.
    var interest: ObjectInterest?
  }
  @exclusivity(unchecked) private var registry = Registry()
  /// The registered objects, where the context keeps them alive. Under the registry's lock.
  @exclusivity(unchecked) private var retained: [ObjectIdentifier: NSManagedObject]?
  private let registryLock = Mutex(())

  /// Whether there are stores that are told of the objects in use.
  @exclusivity(unchecked) private(set) var watchesObjects = false

  @exclusivity(unchecked) private var lastTemporaryKey: Int64 = 0
  @exclusivity(unchecked) var changes = ChangeTracker()
  #if DEBUG
    /// See ``checkInvariants()``.
    @exclusivity(unchecked) var checksDue = 0
  #endif
  /// Objects with changes to save, in the order in which they first changed.
  var changed: ContiguousArray<NSManagedObject> { changes.objects }
  /// What the last event told, as long as it covers all changes there are, in the way a save would tell of them.
  @exclusivity(unchecked) var lastEvent: ChangedObjects?
  /// Whether an object was inserted whose class is not its entity's; it was made by hand.
  @exclusivity(unchecked) var hasOddClasses = false
  /// The objects that are being told of their deletion, the outermost first, and whether it is for the first time.
  @exclusivity(unchecked) var preparingForDeletion: ContiguousArray<(object: NSManagedObject, isFirst: Bool)> = []
  /// Whether that is done at the end of the event; else saves do it.
  var propagatesDeletesAtEndOfEvent = true
  var isSaving = false
  /// To-many relationships whose members some object here has read: declaring entity and number.
  @exclusivity(unchecked) var readToManys: Set<Int> = []
  /// While a fault is being read, changes are not tracked.
  @exclusivity(unchecked) var trackingPauses = 0
  /// How deep the context is in functions of the client's objects that are told in the middle of a change:
  /// `awakeFromInsert`, `awakeFromFetch`, `willSave`.
  @exclusivity(unchecked) var callouts = 0
  /// How deep the context is in posting notifications.
  @exclusivity(unchecked) var posts = 0
  /// The first fault that could not be read since the last save attempt.
  @exclusivity(unchecked) var faultError: StoreError?
  /// Objects recently reached over to-one relationships, kept alive so that a walk does not make them again and again.
  @exclusivity(unchecked) private var recent: ContiguousArray<NSManagedObject?> = []
  @exclusivity(unchecked) private var nextRecent = 0
  /// The object that ``look(at:)`` reads.
  @exclusivity(unchecked) var lookedAt: NSManagedObject?
  /// The views of ordered relationships that were asked for in this event; see ``RelationshipOrderedSet``.
  @exclusivity(unchecked) var orderedViews: [RelationshipOrderedSet.Key: RelationshipOrderedSet] = [:]
  /// The stores that take new objects, by entity; nil for not asked yet. Of the coordinator's list of that version.
  @exclusivity(unchecked) var insertionStores: ContiguousArray<UInt16?> = []
  @exclusivity(unchecked) var insertionStoresVersion = 0
  @exclusivity(unchecked) var builder = RowBuilder()
  @exclusivity(unchecked) var fetchBatches = FetchBatches()

  /// The view that a burst of reads shares; see `reading(_:)`.
  @exclusivity(unchecked) var snapshots = SharedViews()
  /// Whether objects were read since the outermost `performAndWait` began. Faults keep the rows that such a read gave
  /// them until it ends, so that the results of a fetch agree with each other. Else they fire with the newest row.
  @exclusivity(unchecked) var hasReadInBurst = false
  /// How many fetches are at work on objects to which they have given rows.
  @exclusivity(unchecked) var rowKeepers = 0

  init(_ confinement: Confinement) {
    self.confinement = confinement
    queue =
      switch confinement {
      case .client: nil
      case .lock: DispatchQueue(label: "NSManagedObjectContext")
      case .mainQueue: .main
      }
    link.begin(self)
  }

  deinit {
    link.end()
    registryLock.withLock { _ in
      registry.clear()
      registry.restart(entityCount: 0)
    }
  }

  func attach(_ coordinator: NSPersistentStoreCoordinator?) {
    if let own = self.coordinator, own !== coordinator, !registeredObjects.isEmpty {
      misuse("The context has objects of another coordinator, which cannot be replaced now; reset the context first.")
    }
    if self.coordinator === coordinator && frozen != nil { return }
    self.coordinator = coordinator
    coordinator?.attach(self)
    forgetKnownStores()
    // A model that cannot be frozen is reported when a store is added; until then there are no entities.
    frozen = coordinator.flatMap { try? $0.model.freeze() }
    roots = ContiguousArray(frozen?.infos.map(\.root) ?? [])
    registryLock.withLock { _ in registry.restart(entityCount: roots.count) }
  }

  /// Stores by index as they were found. A removed one stays here; using it is an error of its own.
  @exclusivity(unchecked) private(set) var knownStores: ContiguousArray<NSPersistentStore?> = []
  /// What each of them read and wrote with when it was found. Rows that the context has were read there, or later.
  @exclusivity(unchecked) private var knownEngines: ContiguousArray<(any Store)?> = []

  /// Looks stores up again when they are next used.
  func forgetKnownStores() { (knownStores, knownEngines, insertionStores) = ([], [], []) }

  /// Where the context's rows of a store come from, also after the store has moved, until the context knows that.
  func knownEngine(_ index: UInt16) -> (any Store)? {
    Int(index) < knownEngines.count ? knownEngines[Int(index)] : nil
  }

  @inline(__always)
  func store(_ index: UInt16) -> NSPersistentStore? {
    if Int(index) < knownStores.count, let known = knownStores[Int(index)], !known.isRemoved { return known }
    return findStore(index)
  }

  /// The index of an ID's store among the coordinator's, `.max` where it is none of them.
  func storeIndex(of id: NSManagedObjectID) -> UInt16 {
    for index in knownStores.indices where knownStores[index]?.isRemoved == false && id.isMade(of: knownStores[index]) {
      return UInt16(index)
    }
    if let store = id.store, let index = UInt16(exactly: store.index), self.store(index) === store {
      return index
    }
    return coordinator?.storeIndex(of: id) ?? .max
  }

  private func findStore(_ index: UInt16) -> NSPersistentStore? {
    let known = Int(index) < knownStores.count ? knownStores[Int(index)] : nil
    guard index != .max, let found = coordinator?.store(at: Int(index)) else { return known }
    while knownStores.count <= Int(index) {
      knownStores.append(nil)
      knownEngines.append(nil)
    }
    knownStores[Int(index)] = found
    knownEngines[Int(index)] = try? found.requireEngine()
    if found is NSIncrementalStore {
      watchesObjects = true
      registryLock.withLock { _ in
        if registry.interest == nil { registry.interest = ObjectInterest() }
        registry.interest?.watch(index)
      }
    }
    return found
  }

  /// What incremental stores have not been told yet of the objects in use.
  func takeInterest() -> [(store: UInt16, changes: ObjectInterest.Changes)] {
    registryLock.withLock { _ in registry.interest?.take() ?? [] }
  }

  /// The entities whose classes were looked up.
  @exclusivity(unchecked) var infosByClass: [ObjectIdentifier: EntityInfo] = [:]

  // MARK: Identity

  func register(_ object: NSManagedObject) {
    registryLock.withLock { _ in
      registry.set(object)
      if retained != nil { retained?[ObjectIdentifier(object)] = object }
    }
  }

  /// Makes room for so many saved objects of one store and one tree in all.
  func expect(_ count: Int, store: UInt16, root: Int) {
    registryLock.withLock { _ in registry.expect(count, store: store, root: root) }
  }

  /// Registers saved objects of one store and one tree.
  func register(_ objects: ArraySlice<NSManagedObject>) {
    guard let first = objects.first else { return }
    registryLock.withLock { _ in
      registry.set(objects, like: first)
      if retained != nil { for object in objects { retained?[ObjectIdentifier(object)] = object } }
    }
  }

  /// The registered objects of rows, nil in place of others.
  func registered(
    _ rows: RowChunk, root: Int, store: UInt16
  ) -> ContiguousArray<NSManagedObject?> {
    registryLock.withLock { _ in registry.objects(rows, store: store, root: root) }
  }

  /// How many saved objects of a tree are registered.
  func registeredCount(store: UInt16, root: Int) -> Int {
    registryLock.withLock { _ in registry.count(store: store, root: root) }
  }

  /// Whether objects of a store are registered. May be called on any thread.
  func hasObjects(ofStore index: UInt16) -> Bool { registryLock.withLock { _ in registry.hasObjects(ofStore: index) } }

  /// How many objects are registered.
  var registeredCount: Int { registryLock.withLock { _ in registry.count } }

  /// Called by the object's deinitialiser, on any thread.
  func forget(_ object: NSManagedObject) {
    // Let go outside of the lock: an object that ends comes here.
    var kept: NSManagedObject?
    registryLock.withLock { _ in
      registry.remove(object)
      if retained != nil { kept = retained?.removeValue(forKey: ObjectIdentifier(object)) }
    }
    withExtendedLifetime(kept) {}
  }

  var retainsRegisteredObjects: Bool {
    get { registryLock.withLock { _ in retained != nil } }
    set {
      let objects = registeredObjects
      var kept = newValue ? Dictionary(objects.map { (ObjectIdentifier($0), $0) }) { first, _ in first } : nil
      registryLock.withLock { _ in swap(&retained, &kept) }
      // Let go outside of the lock: an object that ends comes to ``forget(_:)``.
      withExtendedLifetime((objects, kept)) {}
    }
  }

  @inline(__always)
  func registered(_ reference: ObjectReference, store: UInt16) -> NSManagedObject? {
    guard reference.entity < roots.count, reference.key < 0 || store != .max else { return nil }
    let root = roots[reference.entity]
    return registryLock.withLock { _ in registry.object(reference.key, store: store, root: root) }
  }

  /// The registered object of a permanent key. May be called on any thread, which must not look into the object.
  func registered(_ key: Int64, root: Int, store: UInt16) -> NSManagedObject? {
    registryLock.withLock { _ in
      root < registry.entityCount ? registry.object(key, store: store, root: root) : nil
    }
  }

  /// The object of an ID, made as a fault where it is not registered. A temporary ID leads to its object after a save
  /// too. Nil for a temporary one of another context, or of an object that is gone.
  func object(for id: NSManagedObjectID) -> NSManagedObject? {
    guard id.isKnown(to: self) else { return nil }
    if let object = object(id.reference, store: storeIndex(of: id)) { return object }
    return id.successor.flatMap { object($0.reference, store: storeIndex(of: $0)) }
  }

  /// The same where it is registered.
  func registered(for id: NSManagedObjectID) -> NSManagedObject? {
    guard id.isKnown(to: self) else { return nil }
    if let object = registered(id.reference, store: storeIndex(of: id)) { return object }
    return id.successor.flatMap { registered($0.reference, store: storeIndex(of: $0)) }
  }

  /// The object for a reference, made as a fault where it is not registered.
  @inline(__always)
  func object(_ reference: ObjectReference, store: UInt16) -> NSManagedObject? {
    registered(reference, store: store) ?? fault(reference, store: store)
  }

  /// The same for the object at the end of a relationship. It is kept for a while: whoever walks on lets go of it, and
  /// is likely to come back.
  @inline(__always)
  func destination(_ reference: ObjectReference, store: UInt16) -> NSManagedObject? {
    if let known = registered(reference, store: store) { return known }
    let made = fault(reference, store: store)
    if let made { keep(made) }
    return made
  }

  /// A new fault that only its users keep; nil where no store can have it.
  func fault(_ reference: ObjectReference, store: UInt16) -> NSManagedObject? {
    guard reference.key > 0, store != .max, let frozen, reference.entity < frozen.infos.count else { return nil }
    return makeObject(frozen.infos[reference.entity], key: reference.key, store: store, row: nil)
  }

  private func keep(_ object: NSManagedObject) {
    // With their rows these are about as much as a processor has at hand.
    if recent.count < 2048 {
      recent.append(object)
    } else {
      recent[nextRecent] = object
      nextRecent = (nextRecent + 1) & 2047
    }
  }

  var registeredObjects: [NSManagedObject] { registryLock.withLock { _ in registry.all } }

  /// Gives an object its permanent key. Where others may still refer to the temporary one, before a save, that stays
  /// known until the save or the object's end.
  func becomePermanent(_ object: NSManagedObject, key: Int64, keepsTemporaryKey: Bool) {
    if keepsTemporaryKey {
      object.makeExtras().temporaryKey = object.key
    } else {
      forget(object)
    }
    object.key = key
    var former = object.cachedID
    object.cachedID = nil
    if former != nil && !isKnownUniquelyReferenced(&former) { former?.successor = object.ownID }
    register(object)
  }

  func forgetTemporaryKey(_ object: NSManagedObject) {
    guard let extras = object.extras, extras.temporaryKey < 0 else { return }
    registryLock.withLock { _ in registry.removeTemporary(extras.temporaryKey, object) }
    extras.temporaryKey = 0
  }

  /// Forgets every object. They keep nothing of the context, and with `emptiesObjects` none of their values either.
  func forgetAll(emptiesObjects: Bool) {
    var objects = registeredObjects
    // What was kept alive is so by `objects` from here on; what is registered later is kept as before.
    registryLock.withLock { _ in
      registry.clear()
      if retained != nil { retained = [:] }
    }
    // Members are let go while all objects are still held: else freeing them would recurse over the graph.
    for object in objects {
      object.toManys.removeAll()
      object.extras?.fetchedProperties = [:]
    }
    changes = ChangeTracker()
    lastEvent = nil
    recent = []
    orderedViews = [:]
    snapshots.removeAll()
    fetchBatches = FetchBatches()
    for index in objects.indices {
      // Who stays alive keeps its ID, which only the context could make.
      if !isKnownUniquelyReferenced(&objects[index]) { _ = objects[index].ownID }
      if emptiesObjects { objects[index].becomeEmptyFault() }
      // A fault is one for ever, whether or not its row is at hand.
      if objects[index].flags.contains(.fault) { objects[index].row = nil }
      objects[index].core = nil
    }
    tellStoresOfObjects()
  }

  func nextTemporaryKey() -> Int64 {
    lastTemporaryKey -= 1
    return lastTemporaryKey
  }
}
