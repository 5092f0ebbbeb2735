import StoreSchema

/// What has changed in a context since its last save. It alone writes what an object's flags say of that.
///
/// An object's flags, its position on the list and the counts change together: while an object is listed it counts as
/// what a save would do to it. Nobody else can write the flags, because nobody else can make a ``Permit``; but see
/// ``NSManagedObject/setFault(_:)``.
///
/// No function here releases an object. That may run the `deinit` of a client's class, which may change something:
/// who calls a function that takes objects off the list holds them.
struct ChangeTracker {
  typealias Flags = NSManagedObject.Flags

  /// Shows that a write of flags comes from here.
  struct Permit {
    fileprivate init() {}
  }

  private(set) var list = ChangeList()
  private(set) var counts = ChangeCounts(inserted: 0, updated: 0, deleted: 0)
  /// Deleted objects whose delete rules have not been followed yet.
  private var undeletedDependents: ContiguousArray<NSManagedObject> = []
  /// Members that relationships were read without, because they are deleted or gone.
  var omissions: [Omission] = []
  /// To-one relationships that lead to another store; almost always none.
  var externalLinks: [ExternalLink] = []
  /// Unchanged objects whose version the next save checks.
  var checkedObjects: [NSManagedObject] = []
  /// Objects that the save at hand counts on being as they were read.
  var dependedOn: [NSManagedObject] = []
  /// What a save does not write, and whose version it checks.
  var checks: [NSManagedObject] { checkedObjects + dependedOn }
  /// New objects that were assigned to a store whose configuration does not have their entity.
  var misplacedObjects: [NSManagedObject] = []
  /// What the last event told, as long as it covers all changes there are, in the way a save would tell of them.
  private(set) var lastEvent: ChangedObjects?
  /// How often objects were taken off the list: who walks over it meanwhile may have missed some.
  private(set) var removals = 0
  /// Whether there was an object whose row is gone.
  private(set) var hasInaccessible = false

  /// How often all changes were given up, or saved.
  private(set) var restarts = 0

  struct Omission {
    let owner: NSManagedObject
    let relationship: Relationship
    let member: NSManagedObject
  }

  /// Begins anew after a save of all objects, a rollback, or, where the context forgets its objects, a reset. Gives what
  /// there was, for the caller to hold.
  mutating func restart(forgetsObjects: Bool = false) -> ChangeTracker {
    let former = self
    self = ChangeTracker()
    (hasInaccessible, restarts) = (former.hasInaccessible && !forgetsObjects, former.restarts + 1)
    return former
  }

  /// Objects with changes to save, in the order in which they first changed.
  var objects: ContiguousArray<NSManagedObject> { list.objects }
  var isEmpty: Bool { counts.inserted + counts.updated + counts.deleted == 0 }

  /// What an object on the list is when it leaves it without a save.
  private static var listMarks: Flags { [.updated, .listed, .pending, .pendingInsert, .asked] }

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

  /// The state of an object that was just made as a fault of a stored one.
  @inline(__always)
  static func adopt(_ object: NSManagedObject) { object.write([.stored, .fault], Permit()) }

  /// Lists a new object. `registered` is how many objects the context has, for ``ChangeList/append(_:registered:)``.
  mutating func insert(_ object: NSManagedObject, registered: () -> Int) {
    object.write([], Permit())
    enlist(object, as: [.inserted, .pendingInsert], registered)
  }

  /// Called before an object changes.
  mutating func update(_ object: NSManagedObject, registered: () -> Int) {
    enlist(object, as: object.flags.contains(.inserted) ? object.flags : object.flags.union(.updated), registered)
  }

  /// An object is about to be told that it is deleted. It counts as deleted once ``delete(_:registered:)`` lists it.
  mutating func beginDeletion(of object: NSManagedObject) { write(object.flags.union(.deleted), to: object) }

  /// Lists a deleted object, whose delete rules are to be followed.
  mutating func delete(_ object: NSManagedObject, registered: () -> Int) {
    enlist(object, as: object.flags, registered)
    undeletedDependents.append(object)
  }

  /// Takes the deletion of an object back.
  mutating func revive(_ object: NSManagedObject, registered: () -> Int) {
    undeletedDependents.removeAll { $0 === object }
    enlist(object, as: object.flags.subtracting(.deleted), registered)
  }

  /// Puts an object on the list, as one that is pending.
  @inline(__always)
  private mutating func enlist(_ object: NSManagedObject, as flags: Flags, _ registered: () -> Int) {
    if !flags.contains(.listed) {
      write(flags.union([.listed, .pending]), to: object)
      list.append(object, registered: registered)
    } else if !flags.contains(.pending) {
      write(flags.subtracting(.told).union(.pending), to: object)
      list.appendAgain(object)
    } else {
      write(flags, to: object)
    }
  }

  // MARK: Links and rows

  /// Notes that a link which is in the row of neither side has changed, or an order.
  static func noteLinks(of object: NSManagedObject) { object.write(object.flags.union(.linksChanged), Permit()) }

  static func forgetLinks(of object: NSManagedObject) {
    object.write(object.flags.subtracting(.linksChanged), Permit())
  }

  /// The row of an object is gone: it counts as deleted, with nothing left to save where ``remove(_:)`` takes it off
  /// the list.
  mutating func becomeInaccessible(_ object: NSManagedObject) {
    write(object.flags.union([.inaccessible, .deleted]), to: object)
    hasInaccessible = true
  }

  /// Whether the row of an object is gone is to be found out again. The object is not on the list.
  mutating func lookAgain(for object: NSManagedObject) {
    write(object.flags.subtracting([.inaccessible, .deleted]), to: object)
  }

  // MARK: Leaving the list

  /// Takes objects off the list, all at once; they have nothing left to save. One may be there twice.
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

  /// Takes the objects off the list that were inserted and deleted without ever being saved. Gives them.
  mutating func annihilate() -> [NSManagedObject] {
    let found = list.objects.filter { $0.flags.isSuperset(of: [.inserted, .deleted]) }
    for object in found { Self.leave(object) }
    if !found.isEmpty { list.removeAll { $0.flags.contains(.gone) } }
    return found
  }

  /// The state of an object after a save.
  static func endSave(of object: NSManagedObject) {
    if !object.flags.contains(.deleted) { return object.write(.stored, Permit()) }
    // One that was inserted and deleted since the last save was never stored.
    if object.flags.contains(.inserted) { return leave(object) }
    object.write([.gone, .stored], Permit())
  }

  /// The state of an object that is none of the context's any more, and was never stored.
  private static func leave(_ object: NSManagedObject) { object.write(.gone, Permit()) }

  /// The state of an object whose changes are taken back. A new one is none of the context's any more; one whose row is
  /// gone stays deleted.
  static func rollBack(_ object: NSManagedObject) {
    var marks = listMarks.union(.linksChanged)
    if !object.flags.contains(.inaccessible) { marks.insert(.deleted) }
    if object.flags.contains(.inserted) { return leave(object) }
    object.write(object.flags.subtracting(marks), Permit())
  }

  /// The state of an object whose context is reset.
  static func reset(_ object: NSManagedObject) {
    object.write(object.flags.intersection(.stored).union(.fault), Permit())
  }

  // MARK: Delete rules

  /// The delete rules of a deleted object are to be followed again.
  mutating func propagateAgain(_ object: NSManagedObject) { undeletedDependents.append(object) }

  /// Gives the deleted objects whose delete rules are to be followed now.
  mutating func takeUndeletedDependents() -> [NSManagedObject] {
    defer { undeletedDependents = [] }
    return undeletedDependents.filter { $0.flags.contains(.deleted) }
  }

  // MARK: Events

  /// Ends the event: nothing on the list is pending any more. Each of its objects is told by ``endEvent(of:isTold:)``.
  mutating func endEvent() {
    list.endEvent()
    lastEvent = nil
  }

  /// Notes what an event told of, where a save would tell the same of all changes.
  mutating func noteEvent(_ event: ChangedObjects) { lastEvent = event }

  static func endEvent(of object: NSManagedObject, isTold: Bool) {
    let flags = object.flags.subtracting([.pending, .pendingInsert])
    object.write(isTold ? flags.union(.told) : flags, Permit())
  }

  /// Everybody has been told of an object's changes.
  static func endTelling(of object: NSManagedObject) { object.write(object.flags.subtracting(.told), Permit()) }

  // MARK: Saves

  /// Notes that `willSave` is being called.
  static func noteAsked(_ object: NSManagedObject) { object.write(object.flags.union(.asked), Permit()) }

  static func forgetAsked(_ object: NSManagedObject) { object.write(object.flags.subtracting(.asked), Permit()) }
}
