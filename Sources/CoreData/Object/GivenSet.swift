import Foundation

/// A Foundation set with the members of a to-many relationship that a primitive accessor has returned to a client. The
/// client may change it.
struct GivenSet {
  let set: NSObject
  /// The members of the set when it was last equal to the relationship.
  var base: ContiguousArray<NSManagedObject>
  /// The state's count of changes at that time.
  var revision: Int
  /// Whether the client has announced its changes, and they have been applied.
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

  /// The present members of the set; nil where the client has not changed it.
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
  /// The objects that are not in another list.
  func without(_ others: Self) -> Self {
    if others.isEmpty { return self }
    let known = Set(others.map(ObjectIdentifier.init))
    return filter { !known.contains(ObjectIdentifier($0)) }
  }
}
