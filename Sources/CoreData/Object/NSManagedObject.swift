import CRuntime
import Foundation
import RuntimeAccess
import StoreSchema
import Synchronization

/// An object of a managed object model, with a row in a store or not saved yet.
///
/// An object belongs to one context and is used on that context's queue only. It keeps its key, the stored row that it
/// was read from (shared with every other context), and its changes since. Its fields have no exclusivity checks, which
/// would cost more than the accesses. That is safe because they are internal, and no access to one runs client code.
open class NSManagedObject: NSObject, NSFetchRequestResult {
  /// Not reference-counted: entities of a used model are never freed; see ``EntityInfo/description``.
  final let entityInfo: Unmanaged<EntityInfo>
  final var info: EntityInfo {
    @inline(__always) get { entityInfo._withUnsafeGuaranteedRef { $0 } }
  }
  /// The core of the context; nil until the object is inserted. The object reaches its context through it.
  @exclusivity(unchecked) final var core: ContextCore?
  /// Positive: permanent. Negative: temporary, unique within the family of contexts. Zero: not inserted.
  final var key: Int64 = 0
  /// The stored state; nil for a fault without a cached row, and for an object that was never saved.
  @exclusivity(unchecked) @usableFromInline final var row: Row? {
    // Before the former row is released: that may run code of the client, which reads the object.
    willSet {
      endDirectReads()
      texts.removeAll()
    }
  }
  /// That of the entity while values can be read from the row without a call; see `DirectReads.swift`.
  @usableFromInline final let tag = Atomic<UInt64>(NSManagedObject.noTag)
  @usableFromInline final let texts = ReadTexts()
  /// Values that were set since.
  @exclusivity(unchecked) final var overlay = ChangedValues()
  @exclusivity(unchecked) final var toManys = ToManyStates()
  @exclusivity(unchecked) final var extras: Extras?
  final var cachedID: NSManagedObjectID?
  final private(set) var flags: Flags = []
  /// The store that the object is in, or will be saved to: index into the coordinator's stores.
  final var storeIndex: UInt16 = .max
  /// Index among the insertions of the current save.
  final var ordinal: Int32 = -1

  /// Only for ``ChangeTracker``.
  @inline(__always)
  final func write(_ flags: Flags, _: ChangeTracker.Permit) {
    if !flags.isDisjoint(with: [.fault, .tracked]) { endDirectReads() }
    self.flags = flags
  }

  /// Not a change in the sense of ``ChangeTracker``, so it needs no permit.
  @inline(__always)
  final func setFault(_ isFault: Bool) {
    endDirectReads()
    if isFault { flags.insert(.fault) } else { flags.remove(.fault) }
  }

  final func setObserved() { flags.insert(.observed) }

  final func setTracked(_ isTracked: Bool) {
    endDirectReads()
    if isTracked { flags.insert(.tracked) } else { flags.remove(.tracked) }
  }

  @inline(__always)
  final func setRowOfOthers(_ isOfOthers: Bool) {
    if isOfOthers { flags.insert(.rowOfOthers) } else { flags.remove(.rowOfOthers) }
  }

  // MARK: Making

  /// Makes an object of `entity` and inserts it into `context`, unless that is nil.
  ///
  /// An abstract entity, and one whose model is not valid, stops the program.
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    if context == nil, let known = entity.frozenReference {
      entityInfo = known
    } else {
      entityInfo = .passUnretained(ContextCore.info(of: entity, context))
    }
    super.init()
    if let context { context.core.insert(self) }
  }

  /// Makes an object of the entity with this class in the model of `context`, and inserts it there.
  public convenience init(context moc: NSManagedObjectContext) {
    self.init(entity: moc.core.entity(of: type(of: self)).description, insertInto: moc)
  }

  /// Makes an object of the entity with this class, in no context. A class may declare its own `init()` in its body; an
  /// extension cannot override this one.
  ///
  /// The entity is searched in the models in use. If no model has one, the program stops.
  public convenience override init() {
    guard let entity = ModelRegistry.find(Self.self) else {
      misuse("No model in use has an entity of the class \(Self.self): load the model first, or use init(context:).")
    }
    self.init(entity: entity, insertInto: nil)
  }

  /// The allocating initializer that ``make(_:)`` calls, so that a subclass needs no `required` initializer.
  public convenience init(_cdMake entity: NSEntityDescription) {
    self.init(entity: entity, insertInto: nil)
  }

  /// Calls `body` with the context's core, without reference counting. `body` must not run client code.
  @inline(__always)
  final func withCore<R>(_ body: (ContextCore) throws -> R) rethrows -> R? {
    try unsafeBitCast(core, to: Unmanaged<ContextCore>?.self)?._withUnsafeGuaranteedRef(body)
  }

  deinit {
    // The row is released at the end. It may not be in the processor's cache, and waiting for it would cost as much as
    // all the rest.
    cd_prefetch(unsafeBitCast(row, to: UnsafeRawPointer?.self))
    withCore { $0.registry.forget(self) }
    LivingObject.forget(self)
    if !toManys.isEmpty { ReleaseQueue.release(&toManys) }
    clearOverlay()
  }

  // MARK: Identity

  /// The object's own entity. Fires no fault.
  open var entity: NSEntityDescription { info.description }

  /// The context that the object is in. Nil before the object is inserted, after its deletion is saved, after its
  /// insertion is rolled back, and when the context is reset or gone.
  open var managedObjectContext: NSManagedObjectContext? {
    flags.contains(.gone) ? nil : core?.context
  }

  /// The ID of the object: a temporary one until the object is saved. Fires no fault.
  open var objectID: NSManagedObjectID { ownID }

  /// The value of ``objectID``, even where a subclass overrides that.
  final var ownID: NSManagedObjectID {
    if let cachedID { return cachedID }
    return ownID(in: withCore { $0.store(storeIndex) } ?? nil)
  }

  /// The same where the store is known. Looking it up for each object of a large save is noticeable.
  @inline(__always)
  final func ownID(in store: NSPersistentStore?) -> NSManagedObjectID {
    if let cachedID { return cachedID }
    let family = withCore { $0.family.number } ?? 0
    let made = entityInfo._withUnsafeGuaranteedRef { NSManagedObjectID($0, key: key, store: store, family: family) }
    cachedID = made
    return made
  }

  /// The entity with this class in the models in use. Without one, an entity without a name that belongs to no model.
  open class func entity() -> NSEntityDescription { ModelRegistry.find(self) ?? NSEntityDescription() }

  /// A request for the objects of the class's entity; see ``entity()``. The compiler prefers a typed function with the
  /// same name, which clients declare.
  @_disfavoredOverload
  open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    entity().name.map { NSFetchRequest(entityName: $0) } ?? NSFetchRequest()
  }

  // MARK: State

  /// Whether the object is new and not saved yet.
  open var isInserted: Bool { flags.isInserted }
  /// Whether a saved object has unsaved changes.
  open var isUpdated: Bool { flags.isUpdated }
  /// Whether the next save deletes the object. False again after that save.
  open var isDeleted: Bool { flags.isDeleted }
  /// Whether the object's values have not been read yet. Fires no fault.
  open var isFault: Bool { flags.isFault }
  /// Whether the object is inserted, updated or deleted.
  open var hasChanges: Bool { flags.hasChanges }
  /// 1 for a fault, 0 for an object whose values have been read.
  open var faultingState: Int { flags.isFault ? 1 : 0 }

  /// Whether the value of a stored property, or the members of a relationship, differ from the stored ones.
  open var hasPersistentChangedValues: Bool {
    if toManys.hasChanges { return true }
    if overlay.isEmpty { return false }
    return !changedSlots().isEmpty
  }

  /// The present values of the stored properties that differ from the values last read or saved, by name; `NSNull` for
  /// nil. Does not read a fault. Reads members only of relationships that have changed.
  open func changedValues() -> [String: Any] { presentChanges() }

  /// The properties changed since the last `processPendingChanges`, with their former values; `NSNull` for nil. For a
  /// new object all are `NSNull`. While observers are notified of an event, they still see its changes. Once one of
  /// them changes the object again, only the changes of the next event are returned. Reads members only of
  /// relationships that have changed.
  /// "whose values are the old value of the persistent properties":
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/1506472-changedvaluesforcurrentevent . The page
  /// of 2026 says "the new values"; those are ``changedValues()``.
  open func changedValuesForCurrentEvent() -> [String: Any] { eventChanges() }

  /// The values that were last read or saved; nil as `NSNull`. Nil for `keys` means all, except for unread to-many
  /// relationships. An object that was never saved has none.
  open func committedValues(forKeys keys: [String]?) -> [String: Any] { committed(keys) }

  /// Whether the members of a to-many relationship, or the values of a to-one relationship's destination, have not been
  /// read.
  open func hasFault(forRelationshipNamed key: String) -> Bool { isUnread(relationship: key) }

  /// The IDs of a relationship's destinations. Makes no objects, and does not read the relationship's members into the
  /// context. If reading fails, there are no IDs, and the next save throws the error.
  open func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] { destinationIDs(relationship: key) }

  public override var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) >> 4 }

  public override func isEqual(_ object: Any?) -> Bool {
    if let address = ObjectInAny.address(in: object) { return address == Unmanaged.passUnretained(self).toOpaque() }
    guard let object = object as? NSManagedObject else { return false }
    return object === self
  }

  // MARK: Life

  /// Called once when the object is inserted, after its defaults are set. Changes made here are part of the insertion.
  open func awakeFromInsert() {}
  /// Called each time the values of a fault have been read. Changes made here do not mark the object as changed.
  open func awakeFromFetch() {}
  /// Called after an undo, a redo, a rollback or a merge policy has changed the object, and after a refresh or a merge
  /// of an object with unsaved changes. `flags` say which. Other refreshed objects become faults without this call.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
  /// Called before the object is deleted and before its relationships change: by `delete(_:)`, and when a delete rule
  /// deletes the object. An override may undo the deletion, also by a rollback. `save()` throws here, because the
  /// deletion is not complete.
  open func prepareForDeletion() {}
  /// Called for each changed object before a save. Changes made here are saved too, and an object that has changed is
  /// called again. After 1000 rounds the save throws 134030; primitive values start no new round.
  open func willSave() {}
  /// Called for each object of a save, deleted ones included, when its store, or the parent of a child context, has the
  /// changes. Changes made here are not part of that save.
  open func didSave() {}
  /// Called before the object becomes a fault and drops its values.
  open func willTurnIntoFault() {}
  /// Called after the object has become a fault. Reading a modelled property here fires the fault again.
  open func didTurnIntoFault() {}

  // MARK: Validation

  /// Checks a new object before a save. An override calls `super` and may throw errors of its own.
  ///
  /// - Throws: An error of validation (1550 to 1690); 1560 with a list of them for several.
  open func validateForInsert() throws { try withCore { try $0.validate(self) } }
  /// Checks a changed object before a save. An override calls `super` and may throw errors of its own.
  ///
  /// - Throws: An error of validation (1550 to 1690); 1560 with a list of them for several.
  open func validateForUpdate() throws { try withCore { try $0.validate(self) } }
  /// Checks an object that a save is about to delete. An override calls `super` and may throw errors of its own.
  ///
  /// - Throws: 1600 for a relationship with the delete rule deny that still has objects; 1560 for several.
  open func validateForDelete() throws { try core?.validateDeletion(self) }

  /// Checks `value` as the value of a property: first by the rules of the model, then by the class's validation method
  /// in ``keyValueMethods``, which may replace the value.
  ///
  /// "coercing the value into an appropriate type for the object, and validating it"
  /// (https://developer.apple.com/documentation/coredata/nsmanagedobject/validatevalue(_:forkey:)): a number becomes one
  /// of the attribute's type, as if it was set, and the text of a number, truth value, UUID or URL becomes that value.
  /// Elements of composites stay as they are. The object itself stays unchanged.
  ///
  /// Before a save, overrides and validation methods are called for each property with its present value. If they
  /// replace the value, the object takes the new one.
  ///
  /// - Throws: An error of validation where the value is nil and must not be, has another type, is out of range, or
  ///   does not meet a validation predicate; else what the validation method throws. A key that the entity does not
  ///   have is no error.
  open func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
    try checkValue(&value.pointee, forKey: key)
    if let method = ownKeyValueMethods?.validations[key] { try method(self, value) }
  }

  // MARK: Key-value coding that subclasses may override

  /// The accessors and validation methods that the class has for keys. An override adds to those of `super`. The
  /// property is read once for each entity.
  open class var keyValueMethods: KeyValueMethods { KeyValueMethods() }

  /// The key paths of the properties that the value of a key depends on; none unless overridden. An observer of the key
  /// is called when one of them changes.
  ///
  /// https://developer.apple.com/documentation/objectivec/nsobject-swift.class/keypathsforvaluesaffectingvalue(forkey:)
  open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

  /// The value of a key: that of the custom accessor in ``keyValueMethods``, else that of the modelled property. Nil
  /// where it has none.
  open func value(forKey key: String) -> Any? {
    if let getter = getter(key) { return getter(self) }
    if flags.contains(.tracked) { trackRead(key) }
    return modelledValue(forKey: key)
  }
  /// Sets the value of a key: with the custom accessor in ``keyValueMethods``, else that of the modelled property.
  /// Inverse relationships follow. A value of another type than the property's stops the program.
  open func setValue(_ value: Any?, forKey key: String) {
    if let setter = setter(key) { return setter(self, value) }
    setModelledValue(value, forKey: key)
  }

  /// The value without firing a fault. A fault has only what ``setPrimitiveValue(_:forKey:)`` has set.
  ///
  /// The value of a to-many relationship is an `NSMutableSet` or `NSMutableOrderedSet`. Changing it changes the
  /// relationship once ``didChangeValue(forKey:)`` announces it.
  open func primitiveValue(forKey key: String) -> Any? { primitive(key) }

  /// Sets a value without firing a fault, without marking the object as changed, and without changing inverses
  /// (https://developer.apple.com/documentation/coredata/nsmanagedobject/setprimitivevalue(_:forkey:)).
  ///
  /// The value is saved with the object's next change, except for members of a saved object, which no save writes.
  /// Between ``willChangeValue(forKey:)`` and ``didChangeValue(forKey:)`` it is a change, which inverses follow. A
  /// value of another type than the property's stops the program.
  open func setPrimitiveValue(_ value: Any?, forKey key: String) { setPrimitive(value, key) }

  /// The value of a key the entity does not have. Stops the program unless overridden.
  open func value(forUndefinedKey key: String) -> Any? {
    misuse("the entity \(info.entity.name) is not key value coding-compliant for the key \"\(key)\".")
  }

  /// Sets the value of a key the entity does not have. Stops the program unless overridden.
  open func setValue(_ value: Any?, forUndefinedKey key: String) {
    misuse("the entity \(info.entity.name) is not key value coding-compliant for the key \"\(key)\".")
  }

  /// Announces that a value is about to be read: fires a fault. The key has no effect.
  open func willAccessValue(forKey key: String?) { prepareToRead() }
  /// Announces that a value has been read. Does nothing unless overridden.
  open func didAccessValue(forKey key: String?) {}
  /// Announces a change by primitive accessors, so that it is saved. Fires a fault.
  open func willChangeValue(forKey key: String) {
    prepareToRead()
    noteEventBase()
    beginAnnouncement(key)
  }
  /// Ends a change by primitive accessors, which ``willChangeValue(forKey:)`` announced: the object counts as updated,
  /// and inverse relationships follow.
  open func didChangeValue(forKey key: String) {
    if info.keys[key] == nil {
      announceUnmodelled(key)
      if type(of: self).contextShouldIgnoreUnmodeledPropertyChanges { return }
    }
    core?.markUpdated(self)
    endAnnouncement(key)
    tellObservers()
  }

  /// Whether ``didChangeValue(forKey:)`` for a key that the entity does not have leaves the object as it is. True
  /// unless overridden; with false the object counts as updated.
  ///
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/contextshouldignoreunmodeledpropertychanges
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  /// A pointer that observers of the object may keep here while the object exists. The library does not read it:
  /// what observes properties here keeps its state elsewhere.
  open func observationInfo() -> UnsafeMutableRawPointer? { extras?.observationInfo }
  /// Keeps a pointer for an observer of the object; see ``observationInfo()``.
  open func setObservationInfo(_ inObservationInfo: UnsafeMutableRawPointer?) {
    makeExtras().observationInfo = inObservationInfo
  }

  /// Announces a change of a to-many relationship by primitive accessors.
  open func willChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind, using inObjects: Set<AnyHashable>
  ) { willChangeValue(forKey: inKey) }

  /// Ends a change of a to-many relationship by primitive accessors. `inMutationKind` and `inObjects` name the members
  /// that were added or removed.
  open func didChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind, using inObjects: Set<AnyHashable>
  ) {
    followGivenSet(inKey, inMutationKind, inObjects)
    didChangeValue(forKey: inKey)
  }

  open override var description: String {
    "<\(Self.self): \(ownID.uri.absoluteString)\(flags.isFault ? "; fault" : "")>"
  }
}
