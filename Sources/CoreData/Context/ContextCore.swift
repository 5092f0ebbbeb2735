import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// The working part of a context: identity, changes, reading, saving and events.
///
/// Each part has a folder beside this file. What it keeps has a type of its own where that is more than a value; what
/// involves several parts is a function of this class. Objects hold it strongly and the context weakly through it, so
/// that their context is nil once it is gone. Sendable, unchecked: it is used on the context's queue only, but for what
/// says that any thread may use it.
final class ContextCore: @unchecked Sendable {
  weak var context: NSManagedObjectContext?
  /// By which others find this, as long as it lives.
  let link = ContextLink()
  let queue: ContextQueue

  // MARK: What identity keeps

  @exclusivity(unchecked) private(set) var coordinator: NSPersistentStoreCoordinator?
  @exclusivity(unchecked) private(set) var frozen: FrozenModel?
  let origins = RowOrigins()
  let registry = ObjectRegistry()
  @exclusivity(unchecked) private var recent = RecentObjects()
  /// The entities whose classes were looked up.
  @exclusivity(unchecked) var infosByClass: [ObjectIdentifier: EntityInfo] = [:]

  // MARK: What changes keep

  @exclusivity(unchecked) var changes = ChangeTracker()
  /// Objects with changes to save, in the order in which they first changed.
  var changed: ContiguousArray<NSManagedObject> { changes.objects }
  #if DEBUG
    /// See ``checkInvariants()``.
    @exclusivity(unchecked) var checksDue = 0
  #endif
  /// The objects that are being told of their deletion, the outermost first, and whether it is for the first time.
  @exclusivity(unchecked) var preparingForDeletion: ContiguousArray<(object: NSManagedObject, isFirst: Bool)> = []
  /// Whether delete rules are followed at the end of the event; else saves do it.
  var propagatesDeletesAtEndOfEvent = true
  /// Whether an object was inserted whose class is not its entity's; it was made by hand.
  @exclusivity(unchecked) var hasOddClasses = false

  // MARK: What reading keeps

  /// See ``NSManagedObjectContext/stalenessInterval``.
  @exclusivity(unchecked) var stalenessInterval: Double = -1
  @exclusivity(unchecked) var sharedReads = SharedReads()
  @exclusivity(unchecked) var fetchBatches = FetchBatches()
  /// To-many relationships whose members some object here has read: declaring entity and number.
  @exclusivity(unchecked) var readToManys: Set<Int> = []
  /// The object that ``look(at:)`` reads.
  @exclusivity(unchecked) var lookedAt: NSManagedObject?
  /// The first fault that could not be read since the last save attempt.
  @exclusivity(unchecked) var faultError: StoreError?

  // MARK: What saving keeps

  @exclusivity(unchecked) var builder = RowBuilder()

  // MARK: What events keep

  /// What others have done, until it is taken up.
  let marks = ContextMarks()
  @exclusivity(unchecked) var activity = ContextActivity()
  /// The views of ordered relationships that were asked for in this event; see ``RelationshipOrderedSet``.
  @exclusivity(unchecked) var orderedViews: [RelationshipOrderedSet.Key: RelationshipOrderedSet] = [:]

  init(_ confinement: Confinement) {
    queue = ContextQueue(confinement)
    link.begin(self)
  }

  deinit { link.end() }

  func attach(_ coordinator: NSPersistentStoreCoordinator?) {
    if let own = self.coordinator, own !== coordinator, !registry.all.isEmpty {
      misuse("The context has objects of another coordinator, which cannot be replaced now; reset the context first.")
    }
    if self.coordinator === coordinator && frozen != nil { return }
    self.coordinator = coordinator
    coordinator?.attach(self)
    origins.forget()
    // A model that cannot be frozen is reported when a store is added; until then there are no entities.
    frozen = coordinator.flatMap { try? $0.model.freeze() }
    registry.restart(roots: ContiguousArray(frozen?.infos.map(\.root) ?? []))
  }

  // MARK: Stores

  /// The origin of the objects of a store; nil if no store has the index.
  @inline(__always)
  func origin(_ index: UInt16) -> RowOrigin? { origins[index] ?? findOrigin(index) }

  private func findOrigin(_ index: UInt16) -> RowOrigin? {
    guard index != .max, let store = coordinator?.store(at: Int(index)) else { return origins.found(index) }
    let found = RowOrigin(store)
    origins.add(found)
    if store.countsObjectsInUse { registry.watch(index) }
    return found
  }

  /// The origin of a store of the coordinator. It is not remembered if the context still uses a former store with that
  /// index.
  func origin(of store: NSPersistentStore) -> RowOrigin {
    if let known = origin(UInt16(store.index)) {
      if known.store === store { return known }
      known.dropView()
    }
    return RowOrigin(store)
  }

  @inline(__always)
  func store(_ index: UInt16) -> NSPersistentStore? { origin(index)?.store }

  /// The index of an ID's store among the coordinator's, `.max` where it is none of them.
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
    if let object = registry.object(id.reference, store: storeIndex(of: id)) { return object }
    return id.successor.flatMap { registry.object($0.reference, store: storeIndex(of: $0)) }
  }

  /// The object for a reference, made as a fault where it is not registered.
  @inline(__always)
  func object(_ reference: ObjectReference, store: UInt16) -> NSManagedObject? {
    registry.object(reference, store: store) ?? fault(reference, store: store)
  }

  /// The same for the object at the end of a relationship. It is kept for a while: whoever walks on lets go of it, and
  /// is likely to come back.
  @inline(__always)
  func destination(_ reference: ObjectReference, store: UInt16) -> NSManagedObject? {
    if let known = registry.object(reference, store: store) { return known }
    let made = fault(reference, store: store)
    if let made { recent.keep(made) }
    return made
  }

  /// A new fault that only its users keep; nil where no store can have it.
  func fault(_ reference: ObjectReference, store: UInt16) -> NSManagedObject? {
    guard reference.key > 0, store != .max, let frozen, reference.entity < frozen.infos.count else { return nil }
    return makeObject(frozen.infos[reference.entity], key: reference.key, store: store, row: nil)
  }

  /// Forgets every object. They keep nothing of the context, and with `emptiesObjects` none of their values either.
  func forgetAll(emptiesObjects: Bool) {
    var objects = registry.takeAll()
    // Members are let go while all objects are still held: else freeing them would recurse over the graph.
    for object in objects {
      object.toManys.removeAll()
      object.extras?.fetchedProperties = [:]
    }
    // Held to the end: what is released may run code of the client's, which must not find an object half forgotten.
    let former = (changes.restart(forgetsObjects: true), recent, orderedViews, fetchBatches)
    var values: [Any] = []
    defer { withExtendedLifetime((former, values)) {} }
    (recent, orderedViews, fetchBatches) = (RecentObjects(), [:], FetchBatches())
    origins.dropViews()
    for index in objects.indices {
      // Who stays alive keeps its ID, which only the context could make.
      if !isKnownUniquelyReferenced(&objects[index]) { _ = objects[index].ownID }
      if emptiesObjects {
        if let extras = objects[index].extras { values.append(extras.takeValues()) }
        objects[index].becomeEmptyFault()
      }
      // A fault is one for ever, whether or not its row is at hand.
      if objects[index].flags.contains(.fault) { objects[index].row = nil }
      objects[index].core = nil
    }
    tellStoresOfObjects()
  }
}
