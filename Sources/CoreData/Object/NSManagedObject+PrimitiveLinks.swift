import Foundation
import StoreSchema

/// Relationships that primitive accessors change. A change between `willChangeValue` and `didChangeValue` counts as any
/// other change, and the inverse is updated, unless the client has updated it. At other times the inverse stays, and
/// members of a saved object are not saved.
extension NSManagedObject {
  /// An announced change of a to-one relationship.
  struct AnnouncedDestination {
    /// How many announcements have begun and not ended.
    var depth = 0
    var change: Change?

    /// `former` was the destination before a primitive accessor first set it; `latest` is the destination that was set
    /// last.
    struct Change {
      weak var former: NSManagedObject?
      weak var latest: NSManagedObject?
    }
  }

  final func setPrimitiveToOne(_ index: Int, _ destination: NSManagedObject?) {
    let relationship = info.relationships[index].relationship
    guard let slot = relationship.slot, !hasLostContext else { return }
    check(destination, for: relationship)
    if let announced = extras?.announcedDestinations[index] {
      let former = announced.change.map(\.former) ?? toOne(relationship)
      extras?.announcedDestinations[index]?.change = .init(former: former, latest: destination)
    }
    setReference(relationship, slot, destination)
  }

  final func setPrimitiveToMany(_ relationship: Relationship, _ members: [NSManagedObject]) {
    if hasLostContext { return }
    for member in members { check(member, for: relationship) }
    loadedToMany(relationship).setPrimitive(ContiguousArray(Self.eachOnce(members)))
    withCore { $0.noteRead(relationship) }
  }

  /// Begins an announced change of a relationship, which ``endAnnouncement(_:)`` ends.
  final func beginAnnouncement(_ key: String) {
    let found = info.keys[key]
    if case .transient(let index)? = found { return noteTransientForUndo(index) }
    guard case .relationship(let index)? = found else { return }
    let relationship = info.relationships[index].relationship
    if relationship.isToMany {
      toMany(relationship).announce()
    } else if relationship.linkedInverse != nil {
      makeExtras().announcedDestinations[index, default: .init()].depth += 1
    }
  }

  final func endAnnouncement(_ key: String) {
    guard case .relationship(let index)? = info.keys[key] else { return }
    let relationship = info.relationships[index].relationship
    if !relationship.isToMany {
      if let inverse = relationship.linkedInverse { followDestination(index, relationship, inverse) }
    } else if let state = toManys[relationship], let moment = state.endAnnouncement() {
      followMembers(state, relationship, since: moment)
    }
  }

  private func followDestination(_ index: Int, _ relationship: Relationship, _ inverse: Relationship) {
    guard var announced = extras?.announcedDestinations[index] else { return }
    let change = announced.change.take()
    announced.depth -= 1
    extras?.announcedDestinations[index] = announced.depth > 0 ? announced : nil
    guard let change else { return }
    let (former, latest) = (change.former, change.latest)
    let destination = toOne(relationship)
    if former === destination { return }
    if let former, !former.flags.isDeleted, isMember(of: former, relationship, inverse) {
      former.unlinkInverse(inverse, from: self)
    }
    // Otherwise an ordinary setter came after the primitive one, and has updated the inverse.
    if let destination, destination === latest, !destination.hasRead(self, inverse) {
      destination.linkInverse(inverse, to: self)
    }
  }

  /// Whether the former destination of a to-one relationship still has this object as a member, so that it must be
  /// removed there. Always true for one-to-one, where the removal does nothing if there is no link.
  private func isMember(of former: NSManagedObject, _ relationship: Relationship, _ inverse: Relationship) -> Bool {
    guard inverse.isToMany, let state = former.toManys[inverse] else { return true }
    if !state.isFault { return state.contains(self) }
    if state.removed.contains(where: { $0 === self }) { return false }
    let stored = relationship.slot.flatMap {
      row?.reference($0, entitySlot: relationship.entitySlot, destination: relationship.destination)
    }
    return stored == former.reference && former.storeIndex == storeIndex || state.added.contains { $0 === self }
  }

  /// Whether an object is one of the members that were read, or that were added without a read.
  private func hasRead(_ object: NSManagedObject, _ relationship: Relationship) -> Bool {
    guard relationship.isToMany, let state = toManys[relationship] else { return false }
    return state.isFault ? state.added.contains { $0 === object } : state.contains(object)
  }

  /// Updates the other sides after primitive accessors have changed the members.
  private func followMembers(_ state: ToManyState, _ relationship: Relationship, since moment: ToManyState.Moment) {
    let (come, gone) = state.changes(since: moment)
    let isReordered = relationship.isOrdered && state.isReordered(since: moment)
    if come.isEmpty && gone.isEmpty && !isReordered { return }
    state.note(added: come, removed: gone, since: moment, notesOrder: relationship.isOrdered)
    noteLinkChange(relationship)
    guard let inverse = relationship.linkedInverse else { return }
    for member in gone where !member.flags.isDeleted {
      if inverse.isToMany && member.toManys[inverse]?.lacks(self) == true { continue }
      unlinkBack(member, relationship)
    }
    for member in come where !member.hasRead(self, inverse) { linkBack(member, relationship) }
  }

  /// Applies the members that the client announces as added to the returned set, or removed from it. So
  /// ``endAnnouncement(_:)`` need not compare all members.
  final func followGivenSet(_ key: String, _ kind: NSKeyValueSetMutationKind, _ objects: Set<AnyHashable>) {
    guard kind == .union || kind == .minus, case .relationship(let index)? = info.keys[key],
      let state = toManys[info.relationships[index].relationship],
      let changes = state.changes(
        ofGivenSet: objects.compactMap { $0.base as? NSManagedObject }, areAdditions: kind == .union)
    else { return }
    let relationship = info.relationships[index].relationship
    for object in changes {
      if kind == .union { add(object, to: relationship) } else { remove(object, from: relationship) }
    }
    state.followGivenSet(changes, areAdditions: kind == .union)
  }
}

// Foundation declares these for every object on Apple's platforms.
extension NSManagedObject {
  /// Announces a change of an ordered relationship by primitive accessors. The indices are not used here: the members
  /// before and after are compared.
  /// https://developer.apple.com/documentation/objectivec/nsobject-swift.class/willchange(_:valuesat:forkey:)
  public final func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
    willChangeValue(forKey: key)
  }

  /// Ends a change that ``willChange(_:valuesAt:forKey:)`` has announced.
  public final func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
    didChangeValue(forKey: key)
  }
}
