import Foundation
import StoreSchema

/// The members of one to-many relationship of one object, or what is known of them while they have not been read.
final class ToManyState {
  /// True until the members have been read; then `added` and `removed` wait to be applied to what is read.
  @exclusivity(unchecked) var isFault: Bool
  /// Of an owner that was never saved, all members count as added; they are not listed twice.
  @exclusivity(unchecked) private var isNew: Bool
  @exclusivity(unchecked) var isOrderChanged = false
  /// Whether the members were set by a primitive accessor, and nobody has announced that change.
  @exclusivity(unchecked) private var isPrimitive = false
  /// The relationship's `toManyIndex`.
  let index: Int
  /// The next state of the same object; nil for the last one, and for one that is in no list.
  @exclusivity(unchecked) var next: ToManyState?
  @exclusivity(unchecked) private(set) var members: ContiguousArray<NSManagedObject> = []
  @exclusivity(unchecked) private var listedAdditions: ContiguousArray<NSManagedObject> = []
  /// Changes since the last save.
  var added: ContiguousArray<NSManagedObject> { isNew ? members : listedAdditions }
  @exclusivity(unchecked) private(set) var removed: ContiguousArray<NSManagedObject> = []
  @exclusivity(unchecked) private var extras: Extras?

  /// What only few relationships need.
  private final class Extras {
    /// The members before a primitive accessor set them, nil where they had not been read.
    @exclusivity(unchecked) var beforePrimitive: ContiguousArray<NSManagedObject>?
    /// The members before the first change of their order since the last save; nil where the order is as it was.
    @exclusivity(unchecked) var original: ContiguousArray<NSManagedObject>?
    /// Places of the members, made when there are many.
    @exclusivity(unchecked) var places: [ObjectIdentifier: Int]?
    @exclusivity(unchecked) var set: NSSet?
    @exclusivity(unchecked) var orderedSet: NSOrderedSet?
    /// The set that a primitive accessor has given, and the members that it was given with. A client may change it, and
    /// announces that.
    @exclusivity(unchecked) var primitive: (set: NSObject, base: ContiguousArray<NSManagedObject>)?
    @exclusivity(unchecked) var holder: ObjectIdentifier?
  }

  /// The view that holds just these members; see ``RelationshipOrderedSet``.
  var holder: ObjectIdentifier? {
    get { extras?.holder }
    set { makeExtras().holder = newValue }
  }

  private func makeExtras() -> Extras {
    if let extras { return extras }
    let made = Extras()
    extras = made
    return made
  }

  init(_ index: Int, isFault: Bool) {
    self.index = index
    self.isFault = isFault
    isNew = !isFault
  }

  /// Not retained: valid as long as this state is in the list.
  var unretainedNext: Unmanaged<ToManyState>? { unsafeBitCast(next, to: Unmanaged<ToManyState>?.self) }

  var hasAdditions: Bool { isNew ? !members.isEmpty : !listedAdditions.isEmpty }
  var hasChanges: Bool { hasAdditions || !removed.isEmpty || isOrderChanged }

  // MARK: What the members were

  /// What was known of the members at a moment.
  struct Moment {
    fileprivate let isFault: Bool
    fileprivate let members, added, removed: ContiguousArray<NSManagedObject>
  }

  var now: Moment { Moment(isFault: isFault, members: members, added: added, removed: removed) }

  /// Whether members or their order have changed since a moment; nil stands for the last save.
  func hasChanges(since moment: Moment?) -> Bool {
    guard let moment else { return hasChanges }
    if !added.elementsEqual(moment.added, by: ===) || !removed.elementsEqual(moment.removed, by: ===) { return true }
    return isOrderChanged && !moment.isFault && !members.elementsEqual(moment.members, by: ===)
  }

  /// The members at a moment; nil stands for the last save. They must have been read.
  func members(before moment: Moment?) -> ContiguousArray<NSManagedObject> {
    if let moment, !moment.isFault { return moment.members }
    var (come, gone) = (added, removed)
    if let moment {
      come = added.without(moment.added) + moment.removed.without(removed)
      gone = removed.without(moment.removed) + moment.added.without(added)
    }
    let known = extras?.original ?? members
    return known.without(come) + gone.without(known)
  }

  private func noteOrder() {
    if !isNew && !isFault && extras?.original == nil { makeExtras().original = members }
  }

  // MARK: Members

  func contains(_ object: NSManagedObject) -> Bool { place(of: object) != nil }

  func place(of object: NSManagedObject) -> Int? {
    if members.count <= 16 { return members.firstIndex { $0 === object } }
    let extras = makeExtras()
    if extras.places == nil {
      var made: [ObjectIdentifier: Int] = [:]
      made.reserveCapacity(members.count)
      for (place, member) in members.enumerated() { made[ObjectIdentifier(member)] = place }
      extras.places = made
    }
    return extras.places?[ObjectIdentifier(object)]
  }

  /// Fills a fault with what was read.
  func load(_ read: ContiguousArray<NSManagedObject>) {
    members = read
    isFault = false
    forgetDerived()
    // What the store has done by now is no change of ours.
    if !listedAdditions.isEmpty { listedAdditions.removeAll { contains($0) } }
    if !removed.isEmpty { removed.removeAll { !contains($0) } }
    for object in removed { if let place = place(of: object) { removeMember(at: place, keepsOrder: true) } }
    for object in listedAdditions where !contains(object) { appendMember(object) }
  }

  /// Forgets the members, but not who was added and removed: they are applied to what is read next.
  func unload() {
    // The `deinit` of a member may run code of the client's, which may release this state.
    let own = Unmanaged.passRetained(self)
    defer { own.release() }
    (isFault, isOrderChanged, isPrimitive) = (true, false, false)
    members = []
    extras = nil
  }

  /// Takes back that an object was removed.
  func takeBackRemoval(of object: NSManagedObject) {
    guard let index = removed.lastIndex(where: { $0 === object }) else { return }
    removed.remove(at: index)
    restore(object)
  }

  /// Takes back that an object was added. What the store has is read again: somebody else may have added it too.
  func takeBackAddition(of object: NSManagedObject) {
    if isNew { return remove(object, keepsOrder: true) }
    guard let index = listedAdditions.lastIndex(where: { $0 === object }) else { return }
    listedAdditions.remove(at: index)
    unload()
  }

  /// Adds an object that the caller knows is no member, or may be one while this is a fault.
  func add(_ object: NSManagedObject) {
    noteAddition(object)
    if !isFault { appendMember(object) }
  }

  func insert(_ object: NSManagedObject, at index: Int) {
    noteOrder()
    noteAddition(object)
    isOrderChanged = true
    members.insert(object, at: index)
    forgetDerived()
  }

  func remove(_ object: NSManagedObject, keepsOrder: Bool) {
    if keepsOrder { noteOrder() }
    if !isNew {
      // The last one added is the likeliest to go.
      if let index = listedAdditions.lastIndex(where: { $0 === object }) {
        listedAdditions.remove(at: index)
      } else {
        removed.append(object)
      }
    }
    if !isFault, let place = place(of: object) { removeMember(at: place, keepsOrder: keepsOrder) }
  }

  /// Takes out objects that are gone from the store, so that nothing is left to be saved of them.
  func forget(_ isGone: (NSManagedObject) -> Bool) {
    listedAdditions.removeAll(where: isGone)
    removed.removeAll(where: isGone)
    members.removeAll(where: isGone)
    extras?.original?.removeAll(where: isGone)
    forgetDerived()
  }

  /// Puts back a member that was left out because it was deleted, and is not any more.
  func restore(_ object: NSManagedObject) {
    if !isFault && !contains(object) { appendMember(object) }
  }

  /// Replaces the order of the members, which stay the same.
  func reorder(_ objects: ContiguousArray<NSManagedObject>) {
    noteOrder()
    members = objects
    isOrderChanged = true
    forgetDerived()
  }

  /// Replaces the members without noting a change.
  func setPrimitive(_ objects: ContiguousArray<NSManagedObject>) {
    if !isPrimitive && !isFault { makeExtras().beforePrimitive = members }
    isPrimitive = true
    members = objects
    isFault = false
    forgetDerived()
  }

  /// Takes that back and gives what was set; nil where nothing was.
  func takePrimitive() -> ContiguousArray<NSManagedObject>? {
    let changed = takeChangedPrimitiveSet()
    if !isPrimitive { return changed }
    let set = changed ?? members
    if let known = extras?.beforePrimitive {
      members = known
      forgetDerived()
    } else {
      unload()
    }
    isPrimitive = false
    extras?.beforePrimitive = nil
    return set
  }

  /// The members as a set that a client may change; see ``takePrimitive()``. It is the same as long as the members are
  /// known.
  func primitiveSet(isOrdered: Bool) -> NSObject {
    if let known = extras?.primitive, known.base.elementsEqual(members, by: ===) { return known.set }
    let set = extras?.primitive?.set ?? (isOrdered ? NSMutableOrderedSet() : NSMutableSet())
    if let set = set as? NSMutableOrderedSet {
      set.removeAllObjects()
      set.addObjects(from: Array(members))
    } else if let set = set as? NSMutableSet {
      set.removeAllObjects()
      set.addObjects(from: Array(members))
    }
    makeExtras().primitive = (set, members)
    return set
  }

  /// The members with what a client has changed in the set that it was given; nil where that is nothing.
  private func takeChangedPrimitiveSet() -> ContiguousArray<NSManagedObject>? {
    guard let (set, base) = extras?.primitive else { return nil }
    let isOrdered = set is NSMutableOrderedSet
    let found = (set as? NSMutableOrderedSet)?.array ?? (set as? NSMutableSet)?.allObjects ?? []
    let objects = ContiguousArray(found.compactMap { $0 as? NSManagedObject })
    let (come, gone) = (objects.without(base), base.without(objects))
    if come.isEmpty && gone.isEmpty && (!isOrdered || objects.elementsEqual(base, by: ===)) { return nil }
    extras?.primitive?.base = objects
    // Somebody else may have changed the members meanwhile.
    return members.elementsEqual(base, by: ===) ? objects : members.without(gone + come) + come
  }

  private func noteAddition(_ object: NSManagedObject) {
    if isNew { return }
    if let index = removed.firstIndex(where: { $0 === object }) {
      removed.remove(at: index)
    } else {
      listedAdditions.append(object)
    }
  }

  /// Forgets what changed, because it is saved. Objects that it no longer needs are added to `gone`: whoever releases
  /// them may run code of the client's.
  func didSave(_ gone: inout ContiguousArray<NSManagedObject>) {
    isNew = false
    isOrderChanged = false
    if !listedAdditions.isEmpty {
      // What has been read holds them as members.
      if isFault { gone += listedAdditions }
      // Keeps a small buffer: an object that got members often gets more.
      listedAdditions.removeAll(keepingCapacity: listedAdditions.capacity <= 8)
    }
    if !removed.isEmpty {
      gone += removed
      removed = []
    }
    if let extras, let original = extras.original {
      gone += original
      extras.original = nil
    }
  }

  private func appendMember(_ object: NSManagedObject) {
    if let extras {
      extras.places?[ObjectIdentifier(object)] = members.count
      extras.set = nil
      extras.orderedSet = nil
      extras.holder = nil
    }
    // Room for three members, so that the first additions do not reallocate.
    if members.isEmpty { members.reserveCapacity(3) }
    members.append(object)
  }

  private func removeMember(at place: Int, keepsOrder: Bool) {
    guard !keepsOrder, let extras, extras.places != nil else {
      members.remove(at: place)
      return forgetDerived()
    }
    let last = members.count - 1
    extras.places?[ObjectIdentifier(members[place])] = nil
    if place != last {
      members[place] = members[last]
      extras.places?[ObjectIdentifier(members[place])] = place
    }
    members.removeLast()
    extras.set = nil
    extras.orderedSet = nil
    extras.holder = nil
  }

  private func forgetDerived() {
    extras?.places = nil
    extras?.set = nil
    extras?.orderedSet = nil
    extras?.holder = nil
  }

  var asSet: NSSet {
    if let set = extras?.set { return set }
    let made = NSSet(array: Array(members))
    makeExtras().set = made
    return made
  }

  var asOrderedSet: NSOrderedSet {
    if let orderedSet = extras?.orderedSet { return orderedSet }
    let made = NSOrderedSet(array: Array(members))
    makeExtras().orderedSet = made
    return made
  }
}

extension ContiguousArray<NSManagedObject> {
  /// Those that are not in another list.
  fileprivate func without(_ others: Self) -> Self {
    if others.isEmpty { return self }
    let known = Set(others.map(ObjectIdentifier.init))
    return filter { !known.contains(ObjectIdentifier($0)) }
  }
}
