import Foundation
import RuntimeAccess
import StoreProtocol
import StoreSchema
import StoreSupport
import Synchronization

/// The working part of a context: identity, changes, reading, saving and events.
///
/// Each part has a folder beside this file. The state of a part has its own type where it is more than a value.
/// Functions that involve several parts are members of this class.
///
/// Objects hold the core strongly and reach the context weakly through it, so their `managedObjectContext` is nil once
/// the context is gone. Sendable, unchecked: it is used only on the context's queue, except for members that say that
/// any thread may use them.
final class ContextCore: @unchecked Sendable {
  weak var context: NSManagedObjectContext?
  /// Other contexts and stores find this core by its link, as long as it exists.
  let link = ContextLink()
  let queue: ContextQueue

  // MARK: Parents

  /// The context that this one reads from and saves to; nil for a root context, which uses the stores.
  @exclusivity(unchecked) private(set) var parent: ContextCore?
  @exclusivity(unchecked) private(set) var family = ContextFamily()
  /// How many of the family's permanent keys the objects of this context have taken up.
  @exclusivity(unchecked) var keysTakenUp = 0

  // MARK: Identity

  @exclusivity(unchecked) private(set) var coordinator: NSPersistentStoreCoordinator?
  private(set) var frozen: FrozenModel?
  let origins = RowOrigins()
  let registry = ObjectRegistry()
  @exclusivity(unchecked) private var recent = RecentObjects()
  /// The entities that were looked up by class.
  var infosByClass: [ObjectIdentifier: EntityInfo] = [:]
  /// The one of ``infosByClass`` that was looked up last, if that is its own class.
  var lastInfo: EntityInfo?

  // MARK: Changes

  @exclusivity(unchecked) var changes = ChangeTracker()
  /// Objects with changes to save, in the order in which they first changed.
  var changed: ContiguousArray<NSManagedObject> { changes.objects }
  #if DEBUG
    /// See ``checkInvariants()``.
    var checksDue = 0
  #endif
  /// The objects whose `prepareForDeletion` is running, the outermost first. `isFirst` says whether it is their first
  /// deletion.
  @exclusivity(unchecked) var preparingForDeletion: ContiguousArray<(object: NSManagedObject, isFirst: Bool)> = []
  /// Whether delete rules are applied at the end of the event; else saves apply them.
  var propagatesDeletesAtEndOfEvent = true
  /// Whether an object was inserted whose class is not the class of its entity. Such an object was made by its
  /// initializer.
  var hasMismatchedClasses = false

  /// Set where the context has an undo manager.
  var undoCheckpoints: UndoCheckpoints?
  var recordsUndo: Bool { undoCheckpoints != nil }

  // MARK: Reading

  /// See ``NSManagedObjectContext/stalenessInterval``.
  var stalenessInterval: Double = -1
  @exclusivity(unchecked) var rowKeeping = RowKeeping()
  @exclusivity(unchecked) var fetchBatches = FetchBatches()
  /// To-many relationships whose members some object of the context has read: the declaring entity and the index of the
  /// relationship.
  var readToManys: Set<Int> = []
  /// The one that was noted last.
  var lastReadToMany = -1
  /// The object that ``look(at:)`` reads.
  @exclusivity(unchecked) var lookedAt: NSManagedObject?
  /// The first fault that could not be read since the last save attempt.
  var faultError: StoreError?

  // MARK: Saving

  /// Made when a row is packed. The end of a save forgets it: it keeps a buffer as large as the largest row.
  var builder: RowBuilder?

  // MARK: Events

  /// Changes by other contexts and threads that this context has not handled yet.
  let marks = ContextMarks()
  @exclusivity(unchecked) var activity = ContextActivity()
  @exclusivity(unchecked) var observed = ObservedObjects()
  /// The objects that fetches have refreshed, until that is announced.
  var refetched = RefreshAnnouncement()
  /// Any thread may use it.
  let streams = Mutex(ContextStreams())
  /// The ordered sets that were returned in this event; see ``RelationshipOrderedSet``.
  @exclusivity(unchecked) var orderedViews: [RelationshipOrderedSet.Key: RelationshipOrderedSet] = [:]

  init(_ confinement: Confinement) {
    queue = ContextQueue(confinement)
    link.begin(self)
  }

  deinit {
    link.end()
    LivingObject.forget(self)
  }

  func attach(_ coordinator: NSPersistentStoreCoordinator?) {
    if let own = self.coordinator, own !== coordinator, !registry.all.isEmpty {
      misuse("The context has objects of another coordinator, which cannot be replaced now; reset the context first.")
    }
    if self.coordinator === coordinator && frozen != nil { return }
    self.coordinator = coordinator
    coordinator?.attach(self)
    origins.forget()
    (infosByClass, lastInfo) = ([:], nil)
    // A model that cannot be frozen is reported when a store is added; until then there are no entities.
    frozen = coordinator.flatMap { try? $0.model.freeze() }
    registry.restart(roots: ContiguousArray(frozen?.infos.map(\.root) ?? []))
    for child in family.contexts where child.parent === self { child.attach(coordinator) }
  }

  /// Makes this a child context. It has no objects yet.
  func attach(to parent: ContextCore) {
    let children = family.contexts.filter { $0.parent === self }
    self.parent = parent
    family = parent.family
    family.add(parent.link)
    family.add(link)
    keysTakenUp = family.count
    attach(parent.coordinator)
    for child in children { child.attach(to: self) }
  }

  // MARK: Stores

  /// The origin of the objects of a store; nil if no store has the index.
  @inline(__always)
  func origin(_ index: UInt16) -> RowOrigin? { origins[index] ?? findOrigin(index) }

  private func findOrigin(_ index: UInt16) -> RowOrigin? {
    guard index != .max, let store = coordinator?.store(at: Int(index)) else { return origins.found(index) }
    let found = RowOrigin(store, parent)
    origins.add(found)
    if parent == nil { family.forgetKnown(store: index) }
    if store.countsObjectsInUse { registry.watch(index) }
    return found
  }

  /// The origin of a store of the coordinator. It is not kept if the context still uses a removed store with the same
  /// index.
  func origin(of store: NSPersistentStore) -> RowOrigin {
    if let known = origin(UInt16(store.index)) {
      if known.store === store { return known }
      known.dropView()
    }
    return RowOrigin(store, parent)
  }

  @inline(__always)
  func store(_ index: UInt16) -> NSPersistentStore? { origin(index)?.store }

  /// The index of an ID's store in the coordinator; `.max` where the store is not one of the coordinator's.
  func storeIndex(of id: NSManagedObjectID) -> UInt16 {
    if let known = origins.index(of: id) { return known }
    if let store = id.store, let index = UInt16(exactly: store.index), self.store(index) === store { return index }
    return coordinator?.storeIndex(of: id) ?? .max
  }

  /// The store that takes new objects of an entity, `.max` for none.
  func insertionStore(for entity: Entity) -> UInt16 {
    coordinator.map { origins.taker(of: entity, $0) } ?? .max
  }

  // MARK: Objects

  /// The object of an ID, made as a fault where it is not registered. A temporary ID still leads to its object after a
  /// save. Nil for a temporary ID of another context, or of an object that is gone.
  func object(for id: NSManagedObjectID) -> NSManagedObject? {
    if let known = registered(for: id) { return known }
    if !id.isKnown(to: self) { return nil }
    if let successor = id.successor { return object(successor.reference, store: storeIndex(of: successor)) }
    let (reference, store) = present(id)
    return object(reference, store: store)
  }

  /// The registered object of an ID; nil where there is none.
  func registered(for id: NSManagedObjectID) -> NSManagedObject? {
    takeUpKeys()
    guard id.isKnown(to: self) else { return nil }
    let (reference, store) = present(id)
    if let object = registry.object(reference, store: store) { return object }
    return id.successor.flatMap { registry.object($0.reference, store: storeIndex(of: $0)) }
  }

  /// The object for a reference, made as a fault where it is not registered.
  @inline(__always)
  func object(_ reference: ObjectReference, store: UInt16) -> NSManagedObject? {
    registry.object(reference, store: store) ?? fault(reference, store: store)
  }

  /// The same for the destination of a relationship. A new fault is kept alive for a while, because code that walks
  /// over relationships releases it and often comes back.
  @inline(__always)
  func destination(_ reference: ObjectReference, store: UInt16) -> NSManagedObject? {
    if let known = registry.object(reference, store: store) { return known }
    let made = fault(reference, store: store)
    if let made { recent.keep(made) }
    return made
  }

  func releaseRecentObjects() {
    if recent.isEmpty { return }
    // A release may run code of the client, which may reach objects.
    let former = recent
    recent = RecentObjects()
    withExtendedLifetime(former) {}
  }

  /// A new fault that the context does not keep alive; nil where no store, and no parent context, can have the object.
  func fault(_ reference: ObjectReference, store: UInt16) -> NSManagedObject? {
    guard canBeStored(reference), store != .max, let frozen, reference.entity < frozen.infos.count else { return nil }
    if reference.key < 0, let new = family.newKey(of: reference.key) {
      return object(ObjectReference(entity: reference.entity, key: new.permanent), store: new.store)
    }
    return makeObject(frozen.infos[reference.entity], key: reference.key, store: store, row: nil)
  }

  /// Whether there may be a row of an object with this key. A parent context also has rows of new objects.
  @inline(__always)
  func canBeStored(_ reference: ObjectReference) -> Bool { reference.key > 0 || parent != nil && reference.key < 0 }

  /// Forgets every object. The objects lose their link to the context and, with `emptiesObjects`, their values.
  func forgetAll(emptiesObjects: Bool) {
    var objects = registry.takeAll()
    // Members are released while all objects are still held. Otherwise freeing them would recurse over the graph.
    for object in objects {
      object.toManys.removeAll()
      if let extras = object.extras { (extras.fetchedProperties, extras.eventBase) = ([:], nil) }
    }
    // Held to the end: a release may run code of the client, which must not find an object half forgotten.
    let former = (changes.restart(forgetsObjects: true), recent, orderedViews, fetchBatches, refetched)
    var values: [Any] = []
    defer { withExtendedLifetime((former, values)) {} }
    (recent, orderedViews, fetchBatches, builder) = (RecentObjects(), [:], FetchBatches(), nil)
    refetched = RefreshAnnouncement()
    origins.dropViews()
    for index in objects.indices {
      // Objects that stay alive keep their ID, which only the context could make.
      if !isKnownUniquelyReferenced(&objects[index]) { _ = objects[index].ownID }
      if emptiesObjects {
        if let extras = objects[index].extras { values.append(extras.takeValues()) }
        objects[index].becomeEmptyFault()
      }
      // Such a fault can never be read again, so a row at hand is dropped.
      if objects[index].flags.contains(.fault) { objects[index].row = nil }
      objects[index].core = nil
    }
    tellStoresOfObjects()
  }
}
