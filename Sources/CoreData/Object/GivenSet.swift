import Foundation

/// A Foundation set with the members of a to-many relationship, which a primitive accessor has given to a client. The
/// client may change it.
struct GivenSet {
  let set: NSObject
  /// The members as the set had them when it was last the same as they.
  var base: ContiguousArray<NSManagedObject>
  /// The state's count of changes then.
  var revision: Int
  /// Whether the client has told of its changes, and they have been looked at.
  var isFollowed = false

  /// Fills the set with members.
  init(_ set: NSObject, _ members: ContiguousArray<NSManagedObject>, revision: Int) {
    self.set = set
    base = members
    self.revision = revision
    if let set = set as? NSMutableOrderedSet {
      set.removeAllObjects()
      set.addObjects(from: Array(members))
    } else if let set = set as? NSMutableSet {
      set.removeAllObjects()
      set.addObjects(from: Array(members))
    }
  }

  /// What the set has now, nil where a client has not changed it.
  func changed() -> ContiguousArray<NSManagedObject>? {
    let found = (set as? NSMutableOrderedSet)?.array ?? (set as? NSMutableSet)?.allObjects ?? []
    let objects = ContiguousArray(found.compactMap { $0 as? NSManagedObject })
    if objects.count == base.count {
      let isSame = set is NSMutableOrderedSet ? objects.elementsEqual(base, by: ===) : objects.without(base).isEmpty
      if isSame { return nil }
    }
    return objects
  }
}

extension ContiguousArray<NSManagedObject> {
  /// Those that are not in another list.
  func without(_ others: Self) -> Self {
    if others.isEmpty { return self }
    let known = Set(others.map(ObjectIdentifier.init))
    return filter { !known.contains(ObjectIdentifier($0)) }
  }
}
