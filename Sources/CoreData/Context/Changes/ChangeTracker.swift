import StoreSchema

/// The changes of a context since its last save. Only the tracker writes the change flags of objects.
///
/// An object's flags, its position on the list and the counts change together: a listed object is counted as the change
/// that a save would make to it. No other code can write the flags, because no other code can make a ``Permit``; the
/// exception is ``NSManagedObject/setFault(_:)``.
///
/// No function here releases an object, because a release may run the `deinit` of a client's class, which may change
/// objects. The caller of a function that takes objects off the list must hold them.
struct ChangeTracker {
  typealias Flags = NSManagedObject.Flags

  /// Proves that a write of flags comes from the tracker.
  struct Permit {
    fileprivate init() {}
  }

  private(set) var list = ChangeList()
  private(set) var counts = ChangeCounts(inserted: 0, updated: 0, deleted: 0)
  /// Deleted objects whose delete rules have not been applied yet.
  private var undeletedDependents: ContiguousArray<NSManagedObject> = []
  var hasUndeletedDependents: Bool { !undeletedDependents.isEmpty }
  /// Members that were left out when a relationship was read, because they are deleted or gone.
  var omissions: [Omission] = []
  /// Deleted objects that others have changed meanwhile, as a merge has said.
  var outdatedDeletions: [ObjectIdentifier: NSManagedObject] = [:]
  /// To-one relationships that lead to another store; almost always none.
  var externalLinks: [ExternalLink] = []
  /// Unchanged objects whose version the next save checks.
  var checkedObjects: [NSManagedObject] = []
  /// Objects whose orders were read for an undo of the present event. Nobody else may hold them until the delete rules
  /// change them.
  var ownersInEvent: [NSManagedObject] = []
  /// Objects that the current save expects to be as they were read.
  var dependedOn: [NSManagedObject] = []
  /// Objects that the save does not write, but whose version it checks.
  var checks: [NSManagedObject] { checkedObjects + dependedOn }
  /// New objects that were assigned to a store whose configuration does not have their entity.
  var misplacedObjects: [NSManagedObject] = []
  /// The changes that the last event reported, as long as they are all changes and a save would report the same.
  private(set) var lastEvent: ChangedObjects?
  /// How often objects were taken off the list. Code that walks over the list compares it, because it may have missed
  /// objects.
  private(set) var removals = 0
  /// Whether an object was found whose row is gone.
  private(set) var hasInaccessible = false

  /// How often all changes were discarded or saved.
  private(set) var restarts = 0
  /// How often an object has become pending.
  private var pendings = 0

  /// Is another one after any change, also after one that was taken back.
  var stamp: Stamp { Stamp(pendings: pendings, removals: removals, restarts: restarts) }

  struct Stamp: Equatable {
    fileprivate let pendings, removals, restarts: Int
  }

  struct Omission {
    let owner: NSManagedObject
    let relationship: Relationship
    let member: NSManagedObject
  }

  /// Starts again with no changes: after a save of all objects, after a rollback or, with `forgetsObjects`, at a reset.
  /// Returns the former state, which the caller must hold.
  mutating func restart(forgetsObjects: Bool = false) -> ChangeTracker {
    let former = self
    self = ChangeTracker()
    (hasInaccessible, restarts) = (former.hasInaccessible && !forgetsObjects, former.restarts + 1)
    (pendings, removals) = (former.pendings, former.removals)
    return former
  }

  /// Objects with changes to save, in the order in which they first changed.
  var objects: ContiguousArray<NSManagedObject> { list.objects }
  var isEmpty: Bool { counts.inserted + counts.updated + counts.deleted == 0 }

  /// The flags that an object loses when it leaves the list without a save.
  private static var listMarks: Flags { [.updated, .listed, .pending, .absent, .willSaveCalled] }

  @inline(__always)
  private mutating func write(_ flags: Flags, to object: NSManagedObject) {
    let (former, latest) = (object.flags.countedChange, flags.countedChange)
    if former != latest {
      if lastEvent != nil { lastEvent = nil }
      if let former { counts[former] -= 1 }
      if let latest { counts[latest] += 1 }
    }
    object.write(flags, Permit())
  }

  // MARK: Changes of one object

  /// Sets the flags of an object that was just made as a fault of a stored object.
  @inline(__always)
  static func adopt(_ object: NSManagedObject, tracksReads: Bool) {
    object.write(tracksReads ? [.stored, .fault, .tracked] : [.stored, .fault], Permit())
  }

  /// Lists a new object. `registered` is how many objects the context has, for ``ChangeList/append(_:registered:)``.
  mutating func insert(_ object: NSManagedObject, registered: () -> Int) {
    let lasting = object.flags.intersection(.lasting)
    object.write(lasting, Permit())
    enlist(object, as: lasting.union([.inserted, .absent]), registered)
  }

  /// Called before an object changes.
  mutating func update(_ object: NSManagedObject, registered: () -> Int) {
    enlist(object, as: object.flags.contains(.inserted) ? object.flags : object.flags.union(.updated), registered)
  }

  /// Marks an object as deleted before `prepareForDeletion` is called. It counts as deleted once
  /// ``delete(_:registered:)`` lists it.
  mutating func beginDeletion(of object: NSManagedObject) { write(object.flags.union(.deleted), to: object) }

  /// Lists a deleted object. With `followsRules` its delete rules are applied later.
  mutating func delete(_ object: NSManagedObject, followsRules: Bool = true, registered: () -> Int) {
    enlist(object, as: object.flags, registered)
    if followsRules { undeletedDependents.append(object) }
  }

  /// Takes the deletion of an object back.
  mutating func revive(_ object: NSManagedObject, registered: () -> Int) {
    undeletedDependents.removeAll { $0 === object }
    let marks: Flags = object.flags.isAnnihilated ? [.deleted, .endReported] : .deleted
    enlist(object, as: object.flags.subtracting(marks), registered)
  }

  /// Puts an object on the list as pending.
  @inline(__always)
  private mutating func enlist(_ object: NSManagedObject, as flags: Flags, _ registered: () -> Int) {
    if !flags.contains(.pending) { pendings &+= 1 }
    if !flags.contains(.listed) {
      write(flags.union([.listed, .pending]), to: object)
      list.append(object, registered: registered)
    } else if !flags.contains(.pending) {
      write(flags.subtracting(.reported).union(.pending), to: object)
      list.appendAgain(object)
    } else {
      write(flags, to: object)
    }
  }

  // MARK: Links and rows

  /// Notes a changed order, or a changed link that is in the row of neither side.
  static func noteLinks(of object: NSManagedObject) { object.write(object.flags.union(.linksChanged), Permit()) }

  static func forgetLinks(of object: NSManagedObject) {
    object.write(object.flags.subtracting(.linksChanged), Permit())
  }

  /// Marks an object whose row is gone. It counts as deleted; it has nothing left to save once ``remove(_:)`` takes it
  /// off the list.
  mutating func becomeInaccessible(_ object: NSManagedObject) {
    write(object.flags.union([.inaccessible, .deleted]), to: object)
    hasInaccessible = true
  }

  /// Notes that observers are notified of the deletion of an object whose row is gone, or were before. The object must
  /// not be on the list.
  static func noteAbsence(of object: NSManagedObject) { object.write(object.flags.union(.absent), Permit()) }

  /// Takes the mark of a gone row away, so that the store is read again. The object must not be on the list.
  mutating func lookAgain(for object: NSManagedObject) {
    write(object.flags.subtracting([.inaccessible, .deleted, .absent]), to: object)
  }

  // MARK: Leaving the list

  /// Takes objects off the list, all at once; they have nothing left to save. `objects` may contain an object twice.
  mutating func remove(_ objects: [NSManagedObject], marks: Flags = []) {
    removals += 1
    var names: Set<ObjectIdentifier> = []
    for object in objects where object.flags.contains(.listed) {
      names.insert(ObjectIdentifier(object))
      write(object.flags.subtracting(Self.listMarks.union(marks)), to: object)
    }
    if names.isEmpty { return }
    list.removeAll { names.contains(ObjectIdentifier($0)) }
    undeletedDependents.removeAll { names.contains(ObjectIdentifier($0)) }
  }

  /// Takes objects off the list that were inserted and deleted without ever being saved. Returns them.
  mutating func annihilate() -> [NSManagedObject] {
    let found = list.objects.filter { $0.flags.isAnnihilated }
    for object in found { Self.leave(object) }
    if !found.isEmpty { list.removeAll { $0.flags.contains(.gone) } }
    return found
  }

  /// Sets the flags of an object after a save.
  static func endSave(of object: NSManagedObject) {
    if !object.flags.contains(.deleted) {
      return object.write(object.flags.intersection(.lasting).union(.stored), Permit())
    }
    // An object that was inserted and deleted since the last save was never stored.
    if object.flags.contains(.inserted) { return leave(object) }
    object.write([.gone, .stored], Permit())
  }

  /// Sets the flags of an object that no longer belongs to the context and was never stored.
  private static func leave(_ object: NSManagedObject) { object.write(.gone, Permit()) }

  /// Sets the flags of an object whose changes are rolled back. A new object no longer belongs to the context. An
  /// object whose row is gone stays deleted.
  static func rollBack(_ object: NSManagedObject) {
    var marks = listMarks.union(.linksChanged)
    if object.flags.contains(.inaccessible) { marks.remove(.absent) } else { marks.insert(.deleted) }
    if object.flags.contains(.inserted) { return leave(object) }
    object.write(object.flags.subtracting(marks), Permit())
  }

  /// Sets the flags of an object whose context is reset.
  static func reset(_ object: NSManagedObject) {
    object.write(object.flags.intersection(Flags.lasting.union(.stored)).union(.fault), Permit())
  }

  // MARK: Delete rules

  /// Makes the delete rules of a deleted object be applied again.
  mutating func propagateAgain(_ object: NSManagedObject) { undeletedDependents.append(object) }

  /// Returns the deleted objects whose delete rules are to be applied now.
  mutating func takeUndeletedDependents() -> [NSManagedObject] {
    defer { undeletedDependents = [] }
    return undeletedDependents.filter { $0.flags.contains(.deleted) }
  }

  // MARK: Events

  /// Ends the event: no listed object is pending any more. The caller calls ``endEvent(of:isReported:)`` for each of
  /// the objects.
  mutating func endEvent() {
    list.endEvent()
    lastEvent = nil
  }

  /// Keeps the changes that an event has reported. Called where a save would report the same.
  mutating func noteEvent(_ event: ChangedObjects) { lastEvent = event }

  /// Notes that observers have been notified that a deletion was taken back.
  static func noteReturn(of object: NSManagedObject) { object.write(object.flags.subtracting(.absent), Permit()) }

  static func endEvent(of object: NSManagedObject, isReported: Bool) {
    var flags = object.flags.subtracting([.pending, .absent])
    if flags.contains(.deleted) { flags.insert(flags.isAnnihilated ? [.absent, .endReported] : .absent) }
    object.write(isReported ? flags.union(.reported) : flags, Permit())
  }

  /// Notes that all observers have been notified of an object's changes.
  static func endTelling(of object: NSManagedObject) { object.write(object.flags.subtracting(.reported), Permit()) }

  // MARK: Saves

  /// Notes that `willSave` of an object is being called.
  static func noteWillSaveCalled(_ object: NSManagedObject) {
    object.write(object.flags.union(.willSaveCalled), Permit())
  }

  static func forgetWillSaveCalled(_ object: NSManagedObject) {
    object.write(object.flags.subtracting(.willSaveCalled), Permit())
  }
}
