import Foundation
import StoreProtocol
import StoreSchema

/// A set of objects whose changes reach the stores when the context is saved.
///
/// The context itself may be passed between threads. Everything else is used inside `performAndWait(_:)` or
/// ``perform(_:)``, or on the main queue for a main-queue context. Code of `@MainActor`, the main thread and blocks of
/// `DispatchQueue.main` run on the main queue.
open class NSManagedObjectContext: NSObject, NSCoding, @unchecked Sendable {
  let core: ContextCore
  private let kind: NSManagedObjectContextConcurrencyType
  /// How the context is confined. It never changes.
  open var concurrencyType: NSManagedObjectContextConcurrencyType { kind }

  /// A context without a coordinator, which must be set before the context is used.
  public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
    kind = ct
    core = ContextCore(ct.confinement)
    super.init()
    core.context = self
  }

  /// A context of the encoded kind, name and author, without a coordinator and without objects.
  public required init?(coder: NSCoder) {
    let type = UInt(exactly: coder.decodeInteger(forKey: "concurrencyType"))
    guard let kind = type.flatMap(NSManagedObjectContextConcurrencyType.init) else { return nil }
    self.kind = kind
    core = ContextCore(kind.confinement)
    super.init()
    core.context = self
    name = coder.decodeObject(of: NSString.self, forKey: "name") as String?
    transactionAuthor = coder.decodeObject(of: NSString.self, forKey: "transactionAuthor") as String?
  }

  /// Encodes the kind, name and author of the context. Objects and changes are left out.
  open func encode(with coder: NSCoder) {
    coder.encode(Int(kind.rawValue), forKey: "concurrencyType")
    coder.encode(name as NSString?, forKey: "name")
    coder.encode(transactionAuthor as NSString?, forKey: "transactionAuthor")
  }

  /// A context without a queue, as old code uses it. The client makes sure that one thread at a time uses it.
  @available(*, deprecated, message: "Use init(concurrencyType:)")
  public convenience override init() { self.init(concurrencyType: .confinementConcurrencyType) }

  /// A context without a coordinator, which must be set before the context is used.
  public convenience init(_ type: ConcurrencyType) {
    self.init(concurrencyType: type.rawValue)
  }

  deinit {
    forgetUndoActions()
    core.end()
  }

  // MARK: Set-up

  /// The coordinator of the stores that the context reads and saves to; nil for none.
  ///
  /// A child context has the coordinator of its parent. Replacing that, or replacing a coordinator while the context
  /// has objects, stops the program. A ``reset()`` removes the objects.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { core.coordinator }
    set {
      if core.parent != nil && newValue !== core.coordinator {
        misuse("A child context uses the coordinator of its parent; it cannot have another one.")
      }
      core.attach(newValue)
    }
  }

  /// The context whose state this one reads, unsaved changes included, and to which it saves; nil for a context that
  /// uses the stores of its coordinator.
  ///
  /// - A fetch, and a fault that fires, shows the parent's present state.
  /// - A save makes the changes unsaved changes of the parent. No store is written. The changes are validated in this
  ///   context, and again when the parent saves.
  /// - New objects keep their temporary IDs until the root of the contexts saves them.
  /// - An object that is not a fault keeps its values while the parent changes. It shows the parent's values after a
  ///   refresh, a merge or a fetch with ``NSFetchRequest/shouldRefreshRefetchedObjects``; see
  ///   ``automaticallyMergesChangesFromParent``.
  ///
  /// Set it once, before the context is used, and instead of a coordinator. A context with a parent has its parent's
  /// coordinator. The context keeps its parent alive. The program stops if the parent has no queue or has this context
  /// as an ancestor, if this context has a coordinator or objects, and if its parent is replaced or removed.
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/parent
  open var parent: NSManagedObjectContext? {
    get { parentContext }
    set { attach(to: newValue) }
  }
  /// Held strongly: a child without its parent could neither read nor save.
  final var parentContext: NSManagedObjectContext?

  var model: NSManagedObjectModel? { core.coordinator?.model }

  /// A name of the context, which stores with persistent history record with each save; nil unless set.
  open var name: String?
  /// The author of the context's saves, which stores with persistent history record; nil for none.
  open var transactionAuthor: String?
  /// Entries that the client keeps with the context; empty unless set.
  open var userInfo = NSMutableDictionary()
  /// An ``NSMergePolicy``. With anything else saves treat conflicts as with `NSErrorMergePolicy`.
  open var mergePolicy: Any = NSMergePolicy.Shared.error
  /// The manager that records the context's changes, so that they can be undone; nil unless set.
  ///
  /// The changes of an event are one action, registered when the event ends. An undo makes changes of a new event, also
  /// across saves: an object whose deletion was saved is inserted again, with a new ID. Not undone are refreshes,
  /// merges, changes by a merge policy, and primitive values that were set without another change of the object.
  ///
  /// Another manager and a ``reset()`` forget the actions of the context, a ``rollback()`` all actions of the manager.
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/undomanager
  open var undoManager: UndoManager? { didSet { if undoManager !== oldValue { useUndoManager(insteadOf: oldValue) } } }
  /// Whether changes that others save to the same coordinator are merged into this context, on its queue. In a child
  /// context: changes that other children save to its parent, and those that the parent saves.
  open var automaticallyMergesChangesFromParent = false {
    didSet { automaticMerging = automaticallyMergesChangesFromParent ? AutomaticMerging(into: self) : nil }
  }
  private var automaticMerging: AutomaticMerging?
  /// Whether an object whose row is gone counts as deleted when it is read; true by default. With false, reading it
  /// stops the program.
  open var shouldDeleteInaccessibleFaults: Bool {
    get { deletesInaccessibleFaults }
    set { deletesInaccessibleFaults = newValue }
  }
  private final var deletesInaccessibleFaults = true
  /// Whether delete rules apply at the end of the event; true by default. With false, they apply when the context is
  /// saved.
  open var propagatesDeletesAtEndOfEvent: Bool {
    get { core.propagatesDeletesAtEndOfEvent }
    set { core.propagatesDeletesAtEndOfEvent = newValue }
  }
  /// Whether the context keeps its objects alive, until it is reset or this is set to false; false by default.
  open var retainsRegisteredObjects: Bool {
    get { core.registry.retainsObjects }
    set { core.registry.retainsObjects = newValue }
  }
  /// How many seconds a row of the coordinator's cache may fill a fault after it was read or saved. An older row is
  /// read from the store again. A negative number, the default, stands for no limit.
  ///
  /// Objects that are not faults keep their values. Stores that keep everything in memory ignore it.
  open var stalenessInterval: TimeInterval {
    get { core.stalenessInterval }
    set { core.stalenessInterval = newValue }
  }

  // MARK: Queue

  /// Runs `block` on the context's queue, waits for its end, and returns or throws its result. Calls may be nested.
  ///
  /// - A main-queue context runs the block on the main queue: at once where the caller is on that queue, else when the
  ///   queue reaches the block. If nothing runs the main queue, the call waits forever; after 5 seconds a message on
  ///   standard error names the context.
  /// - Other contexts run the block on the calling thread, and wait only for the thread that is using the context. If
  ///   code that a child's save calls in its parent needs a context whose thread waits for that child, then that thread
  ///   runs the block: otherwise neither would go on.
  public final func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try core.run(block) }

  /// The form of `performAndWait` that is not generic, for subclasses and for code that passes it as a value.
  @_disfavoredOverload
  open func performAndWait(_ block: () -> Void) { core.run(block) }

  /// Runs `block` later on the context's queue, as an event of its own: its changes are announced when it ends. A
  /// context without a queue runs it at once.
  ///
  /// The block may use predicates, requests and objects of the context from the surrounding code, as on Apple's
  /// platforms. The compiler does not check this. The client makes sure that two threads use nothing else at the same
  /// time.
  open func perform(_ block: @escaping () -> Void) { later(block) }

  // MARK: Requests

  /// Runs a request on the stores. An asynchronous fetch returns at once.
  ///
  /// - Throws: 134091 for requests that are not supported yet: batch insertions, updates and deletions, and persistent
  ///   history. Else the error of the fetch.
  @discardableResult
  open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    try request.run(in: self)
  }

  /// Runs a fetch whose results may be of any type: see ``NSFetchRequest/resultType``. The generic function of this
  /// name is for requests that name the type. It throws the same errors.
  open func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    try fetch(request.erased, as: Any.self)
  }

  /// The number of objects, or dictionaries, that the request would return. Throws the errors of the fetch.
  open func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int { try count(request.erased) }

  // MARK: Objects

  /// The object of an ID; a fault where the context does not have it yet. Reads nothing. A temporary ID also leads to
  /// its object after the object was saved.
  ///
  /// Stops the program for a temporary ID of another context, or of an object that was never saved and is gone.
  open func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    core.checkQueue()
    if let known = core.object(for: objectID) { return known }
    misuse(
      "The object ID \(objectID) is temporary, and its object is in another context or no longer exists; save or obtain a permanent ID first."
    )
  }

  /// The object of an ID, with its values read.
  ///
  /// - Throws: 133000 (`NSManagedObjectReferentialIntegrityError`) where the store has no such object, else the error
  ///   of the store.
  open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    core.checkQueue()
    guard let object = core.object(for: objectID) else {
      throw CocoaError(.managedObjectReferentialIntegrity, userInfo: [NSAffectedObjectsErrorKey: [objectID]])
    }
    core.lookAgain(for: object)
    if let error = core.look(at: object) { throw CoreDataError.make(error) }
    if object.flags.contains(.inaccessible) {
      throw CocoaError(.managedObjectReferentialIntegrity, userInfo: [NSAffectedObjectsErrorKey: [objectID]])
    }
    return object
  }

  /// The object of an ID; nil where the context does not have it. Reads nothing.
  open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    core.checkQueue()
    return core.registered(for: objectID)
  }

  /// Inserts an object, which gets a temporary ID, its defaults and a call of ``NSManagedObject/awakeFromInsert()``.
  ///
  /// Inserting an object that is in the context already does nothing. Inserting a deleted object undoes its deletion.
  /// An object of another context, or of an abstract entity, stops the program.
  open func insert(_ object: NSManagedObject) {
    core.insert(object)
    core.tellObservers()
  }

  /// Marks an object for deletion by the next save. A new object no longer counts as inserted. The next save,
  /// ``rollback()`` or ``reset()`` forgets it. An object of another context stops the program.
  open func delete(_ object: NSManagedObject) { core.delete(object) }

  /// Saves a new object to `store` instead of the first store that takes its entity. Does nothing for other objects. If
  /// the store's configuration does not have the entity, the save throws 134030. A store of another coordinator stops
  /// the program.
  open func assign(_ object: Any, to store: NSPersistentStore) {
    core.checkQueue()
    guard let object = object as? NSManagedObject, object.flags.contains(.inserted), object.key < 0 else { return }
    guard let index = UInt16(exactly: store.index), core.store(index) === store else {
      misuse("The store \(store) does not belong to the context's coordinator; an object cannot be assigned to it.")
    }
    object.storeIndex = index
    if core.coordinator?.takes(store, object.info.entity) != true { core.changes.misplacedObjects.append(object) }
  }

  /// Gives new objects their permanent IDs before they are saved. Other objects are left alone.
  ///
  /// - Throws: 134030 where no store takes an entity; 133000 where the parent of a child context no longer has an
  ///   object; else the error of the store. Some of the objects may have their permanent IDs then.
  open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try core.obtainPermanentKeys(objects) }

  /// Makes the next save check that the stored object is still as it was read, although the object itself has no
  /// changes. A save of a child context does not check it.
  open func detectConflicts(for object: NSManagedObject) {
    core.checkQueue()
    core.changes.checkedObjects.append(object)
  }

  // MARK: Changes

  /// The objects that were inserted and not saved yet.
  open var insertedObjects: Set<NSManagedObject> { changed(\.isInserted) }
  /// The objects that were changed since they were last read or saved, and are neither new nor deleted. An object
  /// counts even if its values are equal to the stored ones, except after an undo and after a merge policy.
  open var updatedObjects: Set<NSManagedObject> { changed(\.isUpdated) }
  /// The saved objects that the next save deletes. New objects that were deleted are not among them.
  open var deletedObjects: Set<NSManagedObject> { changed { $0.isDeleted && !$0.isAnnihilated } }

  private func changed(_ isOne: (NSManagedObject.Flags) -> Bool) -> Set<NSManagedObject> {
    core.checkQueue()
    return Set(core.changed.filter { isOne($0.flags) })
  }

  /// All objects that the context has now, faults included.
  open var registeredObjects: Set<NSManagedObject> {
    core.checkQueue()
    return Set(core.registry.all)
  }
  /// Whether there are unsaved changes.
  open var hasChanges: Bool { !core.changes.isEmpty }

  /// Ends the event: applies delete rules, and announces the changes since the last event. A main-queue context that
  /// was changed on the main queue ends its event by itself, after the current block.
  open func processPendingChanges() {
    core.takeUpIfIdle()
    core.endEvent()
    core.tellStoresOfObjects()
  }

  /// Writes all changes to the stores. A save of a child context makes them unsaved changes of its ``parent``.
  ///
  /// - Throws: See the list. The context keeps its changes, also those that `willSave`, delete rules and merge policies
  ///   have made. No store has them, with two exceptions: after 134040 some stores have theirs (see
  ///   `CocoaError.savedStores`), and after a `StoreError` with the outcome `outcomeUnknown` nobody knows.
  ///   - 1550 to 1690: validation. 1560 lists several errors.
  ///   - 133020, 133021: conflicts. 133010: a link to an object of another store.
  ///   - 132001: another save of this context, or of its parent, is running.
  ///   - 134060: objects are being deleted, as in ``NSManagedObject/prepareForDeletion()``, or a child's save is being
  ///     taken over.
  ///   - 134030, 134080: no store takes an object. 134030 also if `willSave` changes objects without end.
  ///   - The error of a store. After an object could not be read, each save throws that error until ``rollback()`` or
  ///     ``reset()``.
  open func save() throws {
    defer { core.tellStoresOfObjects() }
    try core.save()
  }

  /// Undoes all unsaved changes, and forgets all actions of ``undoManager``. New objects are forgotten; the others have
  /// the values that were last read or saved. Saves no longer throw for an object that could not be read.
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/rollback()
  open func rollback() {
    undoManager?.forgetActions()
    core.rollback()
  }

  /// Forgets every object and every change, and all actions of ``undoManager``. Objects that the client still holds
  /// must not be used afterwards.
  open func reset() {
    undoManager?.forgetActions()
    core.reset()
  }

  /// Makes the object a fault, so that its next use reads its values again. Its unsaved changes are lost.
  ///
  /// With `mergeChanges`, the event ends as by ``processPendingChanges()``, and an object with unsaved changes is read
  /// at once and keeps them. A value that was set back to the value that was read is no change (decision 084). A new
  /// object is left alone; without `mergeChanges` it stays inserted, without values and links. An object of another
  /// context is left alone.
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/refresh(_:mergechanges:)
  open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    core.refreshAlone(object, mergeChanges: flag)
  }

  /// Refreshes each object of the context, as ``refresh(_:mergeChanges:)`` with true does: unsaved changes stay.
  open func refreshAllObjects() {
    core.orderedViews = [:]
    core.refreshEach(core.registry.all, mergeChanges: true)
  }

  /// Undoes the last group of ``undoManager``. Without one it does nothing.
  open func undo() { undoManager?.undo() }
  /// Redoes the last undone group of ``undoManager``. Without one it does nothing.
  open func redo() { undoManager?.redo() }

  // MARK: Merging

  /// Merges what another context has saved. Call it on this context's queue with the did-save notification of the
  /// other, with objects or with IDs. The other may be of another coordinator on the same store.
  ///
  /// Objects that the other context has changed are refreshed here, and keep the unsaved changes of this context.
  /// Objects that it has deleted count as deleted. Fetched results controllers and `ObjectsDidChange` report this.
  open func mergeChanges(fromContextDidSave notification: Notification) {
    core.merge(ChangesElsewhere(notification.userInfo ?? [:]))
  }

  /// Merges what another process or a batch request has changed into contexts, each on its own queue.
  ///
  /// The dictionary has object IDs or their URIs under `NSInsertedObjectsKey`, `NSUpdatedObjectsKey`,
  /// `NSDeletedObjectsKey` and the like, or under the keys of `didSaveObjectIDsNotification`.
  ///
  /// Waits for no queue. A context that another thread is using merges the changes when its queue runs next or when it
  /// is used next, whichever is first. So do a main-queue context and a child context, unless this is called on their
  /// queue.
  open class func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    let changes = ChangesElsewhere(changeNotificationData)
    for context in contexts { context.core.leave(.changes(changes)) }
  }

  // MARK: Faults

  /// Called when the row of a fault is gone. With true, the object counts as deleted; with false, the program stops.
  /// `property` is always nil, because whole rows are read. Returns ``shouldDeleteInaccessibleFaults`` unless
  /// overridden.
  open func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
  ) -> Bool { deletesInaccessibleFaults }
}
