import Foundation
import StoreSchema

/// Changing relationships and their inverses.
extension NSManagedObject {
  /// The state of a to-many relationship, made at its first use.
  final func toMany(_ relationship: Relationship) -> ToManyState {
    let index = relationship.toManyIndex ?? 0
    if let state = toManys[index] { return state }
    // A new object has no members in the store. An object whose row was missing may be read once more.
    let isSaved = !flags.contains(.inserted) && !flags.isDisjoint(with: [.fault, .inaccessible])
    let state = ToManyState(index, isFault: row != nil || isSaved)
    toManys.add(state)
    // Its members count as read: deleted objects must be removed from them.
    if !state.isFault, case .pairs = relationship.storage { withCore { $0.noteRead(relationship) } }
    return state
  }

  /// Whether a save writes the object's row, changed or new.
  final var isToBeWritten: Bool {
    flags.isInserted || flags.isUpdated && (hasChangedLinks || !changedSlots().isEmpty)
  }

  /// Whether links or orders that are not in the rows of members have changed. What was added and removed again has
  /// not.
  final var hasChangedLinks: Bool {
    guard flags.contains(.linksChanged) else { return false }
    return info.toManys.contains { relationship in
      (relationship.storage != .inverseToOne || relationship.isOrdered) && toManys[relationship]?.hasChanges == true
    }
  }

  /// Undoes the removal of an object from a relationship.
  final func takeBackRemoval(of object: NSManagedObject, _ relationship: Relationship) {
    withToMany(relationship) { $0.takeBackRemoval(of: object, isOrdered: relationship.isOrdered) }
    if !toManys.hasChanges { ChangeTracker.forgetLinks(of: self) }
  }

  /// Undoes the addition of an object to a relationship.
  final func takeBackAddition(of object: NSManagedObject, _ relationship: Relationship) {
    withToMany(relationship) { $0.takeBackAddition(of: object) }
    if !toManys.hasChanges { ChangeTracker.forgetLinks(of: self) }
  }

  /// Forgets the changes that involve an object in a relationship. Whether the object is a member in the store is read
  /// again.
  final func forget(_ object: NSManagedObject, in relationship: Relationship) {
    guard let state = toManys[relationship] else { return }
    state.forget { $0 === object }
    if flags.contains(.inserted) {
      // A new object has no members in the store.
    } else if state.isOrderChanged {
      mergeMembers(relationship, keepsOrder: true)
    } else {
      state.unload()
    }
    if !toManys.hasChanges { ChangeTracker.forgetLinks(of: self) }
  }

  /// Whether objects were added to a to-many relationship since the last save.
  final var hasNewMembers: Bool { toManys.contains { $0.hasAdditions } }

  /// Calls `body` with the state, not retained. `body` must not use it after a call that may run code of the client.
  @inline(__always)
  final func withToMany(_ relationship: Relationship, _ body: (ToManyState) -> Void) {
    if let index = relationship.toManyIndex, let known = toManys.unretained(index) {
      return known._withUnsafeGuaranteedRef(body)
    }
    body(toMany(relationship))
  }

  /// The state with its members loaded.
  final func loadedToMany(_ relationship: Relationship) -> ToManyState {
    let known = toMany(relationship)
    // A fault of a child context may have members that were prefetched, and are out of date.
    if !known.isFault && !(flags.contains(.fault) && core?.asksParent(for: self) == true) { return known }
    // The row is read first: if it were newer than the members, a save would not notice changes of the members in
    // between.
    prepareToRead()
    let state = toMany(relationship)
    if state.isFault, let core { core.load(state, relationship, of: self) }
    return state
  }

  /// Forgets the row of a fault, and the members, so that they are never older than the row that is read next.
  final func forgetRow() {
    row = nil
    if !toManys.isEmpty { unloadMembers() }
  }

  /// Gives a fault a row. Members that were read with another row are read again. Each state that a parent has packed
  /// is another row, although its version and values may be the same: the members may differ. A child reads the members
  /// again with each row that it takes, because a change of the members may leave the row of the owner as it is.
  final func take(_ new: Row) {
    let isOther = row?.version != new.version || new.version < 0 && row?.isIdentical(to: new) != true
    setRowOfOthers(false)
    row = new
    if !toManys.isEmpty && (isOther || core?.parent != nil) { unloadMembers() }
  }

  /// Makes members be read again that were read with another row. Objects that were added or removed here, and an order
  /// that was set here, are kept.
  final func unloadMembers() {
    toManys.forEachRetained { if !$0.isFault && !$0.isOrderChanged { $0.unload() } }
  }

  /// Reads the members again and applies the additions and removals of this context. With `keepsOrder` the order that
  /// was set here is kept, and new members come last. Unchanged relationships are read at their next use.
  final func mergeMembers(_ relationship: Relationship, keepsOrder: Bool) {
    guard let state = toManys[relationship] else { return }
    if !state.hasChanges {
      toManys.remove(relationship)
      return
    }
    let order = state.isOrderChanged && keepsOrder ? state.members : []
    state.unload()
    withCore { $0.load(state, relationship, of: self) }
    noteLinkChange(relationship)
    if order.isEmpty { return }
    let known = Set(order.map(ObjectIdentifier.init))
    let ordered =
      ContiguousArray(order.filter(state.contains)) + state.members.filter { !known.contains(ObjectIdentifier($0)) }
    // A deleted object has lost members, and gets them back by an undo. Then the order is still the one that was set.
    if flags.isDeleted || !state.members.elementsEqual(ordered, by: ===) { state.reorder(ordered) }
  }

  /// Sets a to-one relationship and the inverses on both sides.
  final func setToOne(_ relationship: Relationship, _ destination: NSManagedObject?) {
    guard let slot = relationship.slot, !hasLostContext else { return }
    check(destination, for: relationship)
    let old = toOne(relationship)
    if old === destination { return }
    markUpdated()
    // Neither the inverse nor the destination is retained: the atomic instruction would wait for their memory.
    relationship.unretainedInverse?._withUnsafeGuaranteedRef { inverse in
      if let old { old.unlinkInverse(inverse, from: self) }
      if let destination {
        Unmanaged.passUnretained(destination)._withUnsafeGuaranteedRef { $0.linkInverse(inverse, to: self) }
      }
    }
    setReference(relationship, slot, destination)
  }

  /// Sets the overlay of a to-one relationship only, without its inverse.
  final func setReference(_ relationship: Relationship, _ slot: Int, _ destination: NSManagedObject?) {
    let leaves = (destination?.storeIndex ?? storeIndex) != storeIndex
    if leaves || withCore({ !$0.changes.externalLinks.isEmpty }) == true, let core {
      core.noteLink(self, relationship, destination)
    }
    if let destination {
      setOverlay(.reference(destination.reference), slot)
      if let entitySlot = relationship.entitySlot {
        setOverlay(.int(Int64(destination.info.entity.index)), entitySlot)
      }
    } else {
      setOverlay(.null, slot)
      if let entitySlot = relationship.entitySlot { setOverlay(.null, entitySlot) }
    }
  }

  final var reference: ObjectReference { ObjectReference(entity: info.entity.index, key: key) }

  /// Notes on this side that `other` now refers to this object, by the relationship whose inverse is `inverse`.
  final func linkInverse(_ inverse: Relationship, to other: NSManagedObject) {
    prepareToRead()
    markUpdated()
    if inverse.isToMany {
      withToMany(inverse) { $0.add(other) }
      noteLinkChange(inverse)
    } else {
      // One-to-one: the object that referred here before loses its link.
      if let previous = toOne(inverse), previous !== other, let back = inverse.linkedInverse, let slot = back.slot,
        previous.toOne(back) === self
      {
        previous.markUpdated()
        previous.setReference(back, slot, nil)
      }
      if let slot = inverse.slot { setReference(inverse, slot, other) }
    }
  }

  final func unlinkInverse(_ inverse: Relationship, from other: NSManagedObject) {
    prepareToRead()
    markUpdated()
    if inverse.isToMany {
      readOrderForUndo(inverse)
      withToMany(inverse) { $0.remove(other, keepsOrder: inverse.isOrdered) }
      noteLinkChange(inverse)
    } else if let slot = inverse.slot, toOne(inverse) === other {
      setReference(inverse, slot, nil)
    }
  }

  /// Adds an object to a to-many relationship, at the end of an ordered one. Does nothing for a member.
  final func add(_ destination: NSManagedObject, to relationship: Relationship, at index: Int? = nil) {
    if hasLostContext { return }
    check(destination, for: relationship)
    prepareToRead()
    let state = relationship.isOrdered || index != nil ? loadedToMany(relationship) : toMany(relationship)
    if state.isFault ? isKnownMember(destination, relationship, state) : state.contains(destination) {
      // Its own side may have been read later, with another owner.
      if let inverse = relationship.linkedInverse, !inverse.isToMany, destination.toOne(inverse) !== self {
        destination.setToOne(inverse, self)
      }
      return
    }
    markUpdated()
    if let index { state.insert(destination, at: index) } else { state.add(destination) }
    noteLinkChange(relationship)
    linkBack(destination, relationship)
  }

  /// Updates the other side of a to-many relationship for a new member.
  final func linkBack(_ destination: NSManagedObject, _ relationship: Relationship) {
    relationship.unretainedInverse?._withUnsafeGuaranteedRef { linkBack(destination, relationship, $0) }
  }

  private func linkBack(_ destination: NSManagedObject, _ relationship: Relationship, _ inverse: Relationship) {
    if inverse.isToMany {
      if destination === self && inverse.index == relationship.index { return }
      destination.prepareToRead()
      destination.markUpdated()
      destination.withToMany(inverse) { $0.add(self) }
      destination.noteLinkChange(inverse)
    } else {
      // The destination is removed from its previous owner.
      if let previous = destination.toOne(inverse), previous !== self {
        previous.prepareToRead()
        previous.markUpdated()
        previous.readOrderForUndo(relationship)
        previous.toMany(relationship).remove(destination, keepsOrder: relationship.isOrdered)
        previous.noteLinkChange(relationship)
      }
      destination.markUpdated()
      if let slot = inverse.slot { destination.setReference(inverse, slot, self) }
    }
  }

  final func remove(_ destination: NSManagedObject, from relationship: Relationship) {
    if hasLostContext { return }
    prepareToRead()
    let state = loadedToMany(relationship)
    guard state.contains(destination) else { return }
    markUpdated()
    state.remove(destination, keepsOrder: relationship.isOrdered)
    noteLinkChange(relationship)
    unlinkBack(destination, relationship)
  }

  /// Reads an ordered relationship from which a member is about to be removed, so that an undo knows its position.
  final func readOrderForUndo(_ relationship: Relationship) {
    if relationship.isOrdered, let core, core.recordsUndo { _ = core.errors { _ = loadedToMany(relationship) } }
  }

  /// Updates the other side of a to-many relationship for a former member.
  final func unlinkBack(_ destination: NSManagedObject, _ relationship: Relationship) {
    guard let inverse = relationship.linkedInverse else { return }
    if destination === self && inverse.index == relationship.index { return }
    destination.prepareToRead()
    destination.markUpdated()
    if inverse.isToMany {
      destination.readOrderForUndo(inverse)
      destination.toMany(inverse).remove(self, keepsOrder: inverse.isOrdered)
      destination.noteLinkChange(inverse)
    } else if let slot = inverse.slot, destination.toOne(inverse) === self {
      destination.setReference(inverse, slot, nil)
    }
  }

  /// Makes `members` the members of a to-many relationship.
  final func setToMany(_ relationship: Relationship, _ members: [NSManagedObject]) {
    if hasLostContext { return }
    let members = relationship.isOrdered ? Self.eachOnce(members) : members
    let state = loadedToMany(relationship)
    let required = Set(members.map(ObjectIdentifier.init))
    // The last first, because removing it is fastest.
    for old in state.members.reversed() where !required.contains(ObjectIdentifier(old)) {
      remove(old, from: relationship)
    }
    for new in members { add(new, to: relationship) }
    if relationship.isOrdered {
      let order = ContiguousArray(members)
      if !state.members.elementsEqual(order, by: ===) {
        markUpdated()
        state.reorder(order)
        noteLinkChange(relationship)
      }
    }
  }

  /// The objects without repetitions, which arrays can have, and `array` of a Foundation set that was made of one.
  static func eachOnce(_ objects: [NSManagedObject]) -> [NSManagedObject] {
    var known: Set<ObjectIdentifier> = []
    return objects.filter { known.insert(ObjectIdentifier($0)).inserted }
  }

  /// Whether an object is a member of a relationship whose members are unread, by the link on the object's side.
  private func isKnownMember(
    _ destination: NSManagedObject, _ relationship: Relationship, _ state: ToManyState
  ) -> Bool {
    if state.added.contains(where: { $0 === destination }) { return true }
    guard let inverse = relationship.linkedInverse else {
      return loadedToMany(relationship).contains(destination)
    }
    if !inverse.isToMany { return destination.toOne(inverse) === self }
    // A new object is a member only where it was added.
    if destination.row == nil && destination.flags.contains(.inserted) { return false }
    return loadedToMany(relationship).contains(destination)
  }

  /// Notes a change of a link that is not in the row of either side.
  final func noteLinkChange(_ relationship: Relationship) {
    if relationship.storage != .inverseToOne || relationship.isOrdered { ChangeTracker.noteLinks(of: self) }
  }

  private func isInSameContext(as other: NSManagedObject) -> Bool {
    withCore { ObjectIdentifier($0) } == other.withCore { ObjectIdentifier($0) } && core != nil
  }

  @inline(__always)
  final func markUpdated() { withCore { $0.markUpdated(self) } }

  final func check(_ destination: NSManagedObject?, for relationship: Relationship) {
    guard let destination else { return }
    // The common case, checked without reference counting.
    if isInSameContext(as: destination) && relationship.destinations.contains(destination.info.entity.index) { return }
    guard let core else {
      misuse("Insert the object into a context before its relationship '\(relationship.name)' is set.")
    }
    if destination.core == nil {
      // As on Apple's platforms, an object without a context is inserted into the context of its new owner.
      core.insert(destination)
    }
    if destination.core !== core {
      misuse(
        "Illegal attempt to establish a relationship '\(relationship.name)' between objects in different contexts.")
    }
    let required = core.frozen?.schema.entities[relationship.destination]
    if let required, !required.subtree.contains(destination.info.entity.index) {
      misuse(
        "Unacceptable type of value for to-one or to-many relationship '\(relationship.name)': it takes \(required.name), not \(destination.info.entity.name)."
      )
    }
  }
}
