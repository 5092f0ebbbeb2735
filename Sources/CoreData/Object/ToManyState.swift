import Foundation
import StoreSchema

/// The members of one to-many relationship of one object. While they are unread, only the changes to them.
final class ToManyState {
  /// True until the members have been read. Until then `added` and `removed` wait to be applied to the members that are
  /// read.
  @exclusivity(unchecked) var isFault: Bool
  /// The owner was never saved: all members count as added, and are not listed twice.
  @exclusivity(unchecked) private var isNew: Bool
  @exclusivity(unchecked) var isOrderChanged = false
  /// Whether a primitive accessor has set the members since they were read. Then a new object may be a member before it
  /// is linked, and any object may have been removed before it is unlinked.
  @exclusivity(unchecked) private var isPrimitive = false
  /// The relationship's `toManyIndex`.
  let index: Int
  /// The next state of the same object; nil for the last one, and for a state in no list.
  @exclusivity(unchecked) var next: ToManyState?
  @exclusivity(unchecked) private(set) var members: ContiguousArray<NSManagedObject> = []
  @exclusivity(unchecked) private var listedAdditions: ContiguousArray<NSManagedObject> = []
  /// Changes since the last save.
  var added: ContiguousArray<NSManagedObject> { isNew ? members : listedAdditions }
  @exclusivity(unchecked) private(set) var removed: ContiguousArray<NSManagedObject> = []
  @exclusivity(unchecked) private var extras: ToManyExtras?

  /// The view whose content equals the members; see ``RelationshipOrderedSet``.
  var holder: ObjectIdentifier? {
    get { extras?.holder }
    set { makeExtras().holder = newValue }
  }

  private func makeExtras() -> ToManyExtras {
    if let extras { return extras }
    let made = ToManyExtras()
    extras = made
    return made
  }

  init(_ index: Int, isFault: Bool) {
    self.index = index
    self.isFault = isFault
    isNew = !isFault
  }

  /// Not retained: valid while this state is in the list.
  var unretainedNext: Unmanaged<ToManyState>? { unsafeBitCast(next, to: Unmanaged<ToManyState>?.self) }

  var hasAdditions: Bool { isNew ? !members.isEmpty : !listedAdditions.isEmpty }
  var hasChanges: Bool { hasAdditions || !removed.isEmpty || isOrderChanged }

  // MARK: Former members

  var now: Moment { Moment(isFault: isFault, members: members, added: added, removed: removed) }

  /// The members at a moment; nil stands for the last save. The members must have been read.
  func members(before moment: Moment?) -> ContiguousArray<NSManagedObject> {
    if let moment, !moment.isFault { return moment.members }
    let (come, gone) = notedChanges(since: moment)
    let known = extras?.original ?? members
    let former = known.without(come) + gone.without(known)
    guard let moment else { return former }
    // The saved order has no members that were added before the moment, and still has removed ones.
    return former.without(moment.removed) + moment.added.without(former)
  }

  /// Forgets that the order has changed where it is the saved one again.
  func forgetUnchangedOrder() {
    guard isOrderChanged, !isNew, listedAdditions.isEmpty, removed.isEmpty, let original = extras?.original,
      original.elementsEqual(members, by: ===)
    else { return }
    isOrderChanged = false
    extras?.original = nil
  }

  private func noteOrder() {
    if !isNew && !isFault && extras?.original == nil {
      let present = extras?.announcement.before?.members ?? members
      makeExtras().original = listedAdditions.isEmpty ? present : present.without(listedAdditions)
    }
  }

  // MARK: Members

  /// Whether an object is known not to be a member.
  func lacks(_ object: NSManagedObject) -> Bool {
    isFault ? removedIndex(of: object) != nil : !contains(object)
  }

  func contains(_ object: NSManagedObject) -> Bool { position(of: object) != nil }

  func position(of object: NSManagedObject) -> Int? {
    if members.count <= 16 { return members.firstIndex { $0 === object } }
    return makeExtras().position(of: object, in: members)
  }

  /// Fills a fault with the members that were read.
  func load(_ read: ContiguousArray<NSManagedObject>, isOrdered: Bool) {
    members = read
    isFault = false
    forgetDerived()
    if isOrdered && !removed.isEmpty { makeExtras().original = read }
    // Additions and removals that the store contains already are no changes of this context.
    if !listedAdditions.isEmpty { listedAdditions.removeAll { contains($0) } }
    if !removed.isEmpty {
      removed.removeAll { !contains($0) }
      extras?.removedNames = nil
      let gone = Set(removed.map(ObjectIdentifier.init))
      members.removeAll { gone.contains(ObjectIdentifier($0)) }
      forgetDerived()
    }
    for object in listedAdditions where !contains(object) { appendMember(object) }
  }

  /// Forgets the members, but not the additions and removals: they are applied to the members that are read next.
  func unload() {
    // The `deinit` of a member may run code of the client, which may release this state.
    let own = Unmanaged.passRetained(self)
    defer { own.release() }
    (isFault, isOrderChanged, isPrimitive) = (true, false, false)
    members = []
    let depth = extras?.announcement.depth ?? 0
    extras = nil
    if depth > 0 { makeExtras().announcement.depth = depth }
  }

  /// Undoes the removal of an object.
  func takeBackRemoval(of object: NSManagedObject, isOrdered: Bool) {
    guard let index = removed.lastIndex(where: { $0 === object }) else { return }
    removed.remove(at: index)
    extras?.removedNames = nil
    restore(object, isOrdered: isOrdered)
  }

  /// Undoes the addition of an object. The stored members are read again, because another save may have added the
  /// object too.
  func takeBackAddition(of object: NSManagedObject) {
    if isNew { return remove(object, keepsOrder: true) }
    guard let index = listedAdditions.lastIndex(where: { $0 === object }) else { return }
    listedAdditions.remove(at: index)
    unload()
  }

  /// Adds an object, unless it is a member: its own side of the link may be older than the members that were read, or
  /// it comes back after its deletion was saved. A new object cannot be one. One that comes back has extras.
  func add(_ object: NSManagedObject) {
    let isKnown = (isPrimitive || !object.flags.contains(.inserted) || object.extras != nil) && contains(object)
    if !isKnown || !listedAdditions.contains(where: { $0 === object }) { noteAddition(object) }
    if !isFault && !isKnown { appendMember(object) }
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
    let isKnown = !isPrimitive || contains(object)
    if isKnown || !removed.contains(where: { $0 === object }) { noteRemoval(object) }
    if !isFault, let position = position(of: object) { removeMember(at: position, keepsOrder: keepsOrder) }
  }

  /// Removes objects whose rows are gone, so that no change of them is left to save.
  func forget(_ isGone: (NSManagedObject) -> Bool) {
    listedAdditions.removeAll(where: isGone)
    removed.removeAll(where: isGone)
    extras?.removedNames = nil
    members.removeAll(where: isGone)
    extras?.original?.removeAll(where: isGone)
    extras?.announcement.before?.forget(isGone)
    forgetDerived()
  }

  /// Restores a member that was left out because it was deleted, and whose deletion was undone. Where only the store
  /// knows its position, the members are read again.
  func restore(_ object: NSManagedObject, isOrdered: Bool) {
    if isFault || contains(object) || removed.contains(where: { $0 === object }) { return }
    if isOrdered && !isNew && !isOrderChanged { unload() } else { appendMember(object) }
  }

  /// Replaces the order of the members, which stay the same.
  func reorder(_ objects: ContiguousArray<NSManagedObject>) {
    noteOrder()
    members = objects
    isOrderChanged = true
    forgetDerived()
  }

  // MARK: Primitive accessors

  /// Announces a change of the relationship: the next changes by primitive accessors count as a change.
  func announce() { makeExtras().announcement.depth += 1 }

  /// Replaces the members without noting a change. The members must have been read.
  func setPrimitive(_ objects: ContiguousArray<NSManagedObject>) {
    // Changes that a client has made in a returned set are dropped.
    extras?.given = nil
    replace(objects)
  }

  private func replace(_ objects: ContiguousArray<NSManagedObject>) {
    if let extras, extras.announcement.depth > 0, extras.announcement.before == nil {
      extras.announcement.before = now
    }
    isPrimitive = true
    members = objects
    forgetDerived()
  }

  /// Ends the announcement. Returns the members from before primitive accessors changed them; nil where they have not.
  func endAnnouncement() -> Moment? {
    guard let extras, extras.announcement.depth > 0 else { return nil }
    if extras.given?.isFollowed == true {
      extras.given?.isFollowed = false
    } else if let changed = changedGivenSet() {
      replace(changed)
    }
    extras.announcement.depth -= 1
    return extras.announcement.before.take()
  }

  /// The members as a set that a client may change and then announce. It stays the same object while the members are
  /// known.
  func primitiveSet(isOrdered: Bool) -> NSObject {
    if let known = extras?.given, known.revision == extras?.revision { return known.set }
    if let changed = changedGivenSet() { replace(changed) }
    let given = GivenSet(
      extras?.given?.set ?? (isOrdered ? NSMutableOrderedSet() : NSMutableSet()), members,
      revision: makeExtras().revision)
    extras?.given = given
    return given.set
  }

  /// The members with the client's changes to the returned set; nil where there are none.
  private func changedGivenSet() -> ContiguousArray<NSManagedObject>? {
    guard let given = extras?.given, let objects = given.changed() else { return nil }
    extras?.given?.base = objects
    // Others may have changed the members meanwhile.
    let (others, gone) = (members.without(given.base), given.base.without(members))
    return objects.without(gone) + others.without(objects)
  }

  /// The objects among `objects` that a client has added to the returned set, or removed from it; nil where it has made
  /// other changes as well.
  func changes(ofGivenSet objects: [NSManagedObject], areAdditions: Bool) -> [NSManagedObject]? {
    guard let given = extras?.given, given.revision == extras?.revision, extras?.announcement.before == nil,
      let set = given.set as? NSMutableSet
    else { return nil }
    let changes = objects.filter { contains($0) != areAdditions && set.contains($0) == areAdditions }
    return set.count == members.count + (areAdditions ? changes.count : -changes.count) ? changes : nil
  }

  /// Notes that the members have been changed as the returned set was before.
  func followGivenSet(_ changes: [NSManagedObject], areAdditions: Bool) {
    guard let extras else { return }
    if areAdditions {
      extras.given?.base.append(contentsOf: changes)
    } else {
      let gone = Set(changes.map(ObjectIdentifier.init))
      extras.given?.base.removeAll { gone.contains(ObjectIdentifier($0)) }
    }
    extras.given?.revision = extras.revision
    extras.given?.isFollowed = true
  }

  /// Notes the objects that were added and removed since a moment, unless that was noted meanwhile, and with
  /// `notesOrder` the order. The members must be up to date already.
  func note(
    added come: ContiguousArray<NSManagedObject>, removed gone: ContiguousArray<NSManagedObject>, since moment: Moment,
    notesOrder: Bool
  ) {
    if notesOrder {
      if !isNew && extras?.original == nil { makeExtras().original = moment.members.without(moment.added) }
      if !(moment.members.without(gone) + come).elementsEqual(members, by: ===) { isOrderChanged = true }
    }
    let (before, present) = (moment.noted, now.noted)
    func isNoted(_ object: NSManagedObject, _ isAddition: Bool) -> Bool {
      let noted = present[ObjectIdentifier(object)]
      return noted == isAddition || noted != before[ObjectIdentifier(object)]
    }
    for object in come where !isNoted(object, true) { noteAddition(object) }
    for object in gone where !isNoted(object, false) { noteRemoval(object) }
  }

  private func noteAddition(_ object: NSManagedObject) {
    if isNew { return }
    if let index = removedIndex(of: object) {
      removed.remove(at: index)
      extras?.removedNames?.remove(ObjectIdentifier(object))
      // In an ordered relationship it does not come back to its saved position.
      if extras?.original != nil { isOrderChanged = true }
    } else {
      listedAdditions.append(object)
    }
  }

  private func noteRemoval(_ object: NSManagedObject) {
    if isNew { return }
    // The object that was added last is the likeliest to be removed.
    if let index = listedAdditions.lastIndex(where: { $0 === object }) {
      listedAdditions.remove(at: index)
    } else {
      removed.append(object)
      extras?.removedNames?.insert(ObjectIdentifier(object))
    }
  }

  private func removedIndex(of object: NSManagedObject) -> Int? {
    if removed.count > 32 && !makeExtras().mayContain(object, removed) { return nil }
    return removed.firstIndex { $0 === object }
  }

  /// Forgets the changes, because they are saved. Objects that are no longer needed are added to `gone`: releasing them
  /// may run code of the client.
  func didSave(_ gone: inout ContiguousArray<NSManagedObject>) {
    // A change by a primitive accessor is still to be announced.
    let isSet = extras?.announcement.before != nil && !isNew
    if isSet { extras?.announcement.before?.save(listedAdditions, removed) } else { extras?.announcement.before = nil }
    isNew = false
    isOrderChanged = false
    if !listedAdditions.isEmpty {
      // Members that have been read include them.
      if isFault { gone += listedAdditions }
      // Keeps a small buffer: an object that got members often gets more.
      listedAdditions.removeAll(keepingCapacity: listedAdditions.capacity <= 8)
    }
    if !removed.isEmpty {
      gone += removed
      removed = []
      extras?.removedNames = nil
    }
    gone += extras?.original.take() ?? []
  }

  private func appendMember(_ object: NSManagedObject) {
    if let extras {
      extras.positions?[ObjectIdentifier(object)] = members.count
      extras.forgetSets()
    }
    // Room for three members, so that the first additions do not reallocate.
    if members.isEmpty { members.reserveCapacity(3) }
    members.append(object)
  }

  private func removeMember(at position: Int, keepsOrder: Bool) {
    let last = members.count - 1
    guard let extras, extras.positions != nil else {
      members.remove(at: position)
      return forgetDerived()
    }
    extras.positions?[ObjectIdentifier(members[position])] = nil
    if position == last {
      members.removeLast()
    } else if keepsOrder {
      members.remove(at: position)
      extras.noteShift(of: members)
    } else {
      members[position] = members[last]
      extras.positions?[ObjectIdentifier(members[position])] = position
      members.removeLast()
    }
    extras.forgetSets()
  }

  private func forgetDerived() {
    extras?.positions = nil
    extras?.forgetSets()
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
