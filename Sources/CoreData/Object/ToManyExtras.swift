import Foundation

/// State of a to-many relationship that only few relationships need; see ``ToManyState``.
final class ToManyExtras {
  /// The members before the first change of their order since the last save; nil where the order is unchanged.
  @exclusivity(unchecked) var original: ContiguousArray<NSManagedObject>?
  /// Positions of the members, made when there are many and some have been searched for. A member may be before its
  /// position, by as many members as were removed since.
  @exclusivity(unchecked) var positions: [ObjectIdentifier: Int]?
  @exclusivity(unchecked) private var shifts = 0
  @exclusivity(unchecked) private var searches = 0
  /// The removed objects by identity, made when there are many and some have been searched for.
  @exclusivity(unchecked) var removedNames: Set<ObjectIdentifier>?
  @exclusivity(unchecked) var set: NSSet?
  @exclusivity(unchecked) var orderedSet: NSOrderedSet?
  @exclusivity(unchecked) var given: GivenSet?
  @exclusivity(unchecked) var announcement = ToManyState.Announcement()
  @exclusivity(unchecked) var revision = 0  // counts the changes of the members
  @exclusivity(unchecked) var holder: ObjectIdentifier?

  /// Finds an object among many members.
  func position(of object: NSManagedObject, in members: ContiguousArray<NSManagedObject>) -> Int? {
    if positions == nil {
      // If the members changed at each search, the table would be made each time.
      searches += 1
      if searches < 8 { return members.firstIndex { $0 === object } }
      (searches, shifts) = (0, 0)
      var made: [ObjectIdentifier: Int] = [:]
      made.reserveCapacity(members.count)
      for (position, member) in members.enumerated() { made[ObjectIdentifier(member)] = position }
      positions = made
    }
    guard var position = positions?[ObjectIdentifier(object)] else { return nil }
    position = min(position, members.count - 1)
    while members[position] !== object { position -= 1 }
    return position
  }

  /// Notes that a member was removed, so that those behind it have other positions. With many of them, searches would
  /// take longer than a new table.
  func noteShift(of members: ContiguousArray<NSManagedObject>) {
    shifts += 1
    if shifts * shifts > members.count * 16 { positions = nil }
  }

  /// Whether an object is among many removed ones.
  func mayContain(_ object: NSManagedObject, _ removed: ContiguousArray<NSManagedObject>) -> Bool {
    let names = removedNames ?? Set(removed.map(ObjectIdentifier.init))
    removedNames = names
    return names.contains(ObjectIdentifier(object))
  }

  /// Forgets what was made of the members.
  func forgetSets() {
    set = nil
    orderedSet = nil
    holder = nil
    revision &+= 1
  }
}
