import Foundation
import StoreSchema

/// Relationships that primitive accessors change. What they change between `willChangeValue` and `didChangeValue` is a
/// change like any other, and the inverse follows, unless the client has seen to that; what they change at other times
/// is noted nowhere.
extension NSManagedObject {
  /// A change of a to-one relationship that is announced.
  struct AnnouncedDestination {
    /// How often it is announced, and has not ended.
    var depth = 0
    var change: Change?

    /// It led to `former` before a primitive accessor first set it, and the last one has set `latest`.
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

  /// A change of a relationship begins, which ``endAnnouncement(_:)`` ends.
  final func beginAnnouncement(_ key: String) {
    guard case .relationship(let index)? = info.keys[key] else { return }
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
    // Else an ordinary setter came after the primitive one, and has linked it.
    if let destination, destination === latest, !destination.hasRead(self, inverse) {
      destination.linkInverse(inverse, to: self)
    }
  }

  /// Whether the object that this one led to by a to-one relationship still has it as a member, so that it must let it
  /// go. One-to-one, it is not asked: nothing is done where it does not lead here.
  private func isMember(of former: NSManagedObject, _ relationship: Relationship, _ inverse: Relationship) -> Bool {
    guard inverse.isToMany, let state = former.toManys[inverse] else { return true }
    if !state.isFault { return state.contains(self) }
    if state.removed.contains(where: { $0 === self }) { return false }
    let stored = relationship.slot.flatMap {
      row?.reference($0, entitySlot: relationship.entitySlot, destination: relationship.destination)
    }
    return stored == former.reference && former.storeIndex == storeIndex || state.added.contains { $0 === self }
  }

  /// Whether an object is one of the members that have been read, or were added unread.
  private func hasRead(_ object: NSManagedObject, _ relationship: Relationship) -> Bool {
    guard relationship.isToMany, let state = toManys[relationship] else { return false }
    return state.isFault ? state.added.contains { $0 === object } : state.contains(object)
  }

  /// The other sides follow what primitive accessors have made of the members.
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

  /// Follows what the client says that it has added to the set that it was given, or removed from it, so that
  /// ``endAnnouncement(_:)`` has not to look at all members.
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
