/// What was known at other times.
extension ToManyState {
  /// What was known of the members at a moment.
  struct Moment {
    let isFault: Bool
    var members, added, removed: ContiguousArray<NSManagedObject>

    /// True of who was added since the last save, false of who was removed.
    var noted: [ObjectIdentifier: Bool] {
      var noted: [ObjectIdentifier: Bool] = [:]
      for object in added { noted[ObjectIdentifier(object)] = true }
      for object in removed { noted[ObjectIdentifier(object)] = false }
      return noted
    }

    /// What was added and removed is saved.
    mutating func save(_ come: ContiguousArray<NSManagedObject>, _ gone: ContiguousArray<NSManagedObject>) {
      members = members.without(gone) + come.without(members)
      (added, removed) = ([], [])
    }

    mutating func forget(_ isGone: (NSManagedObject) -> Bool) {
      members.removeAll(where: isGone)
      added.removeAll(where: isGone)
      removed.removeAll(where: isGone)
    }
  }

  /// How often a change has been announced that has not ended, and what the members were before a primitive accessor
  /// first set them then.
  struct Announcement {
    var depth = 0
    var before: Moment?
  }

  /// Who has become a member since a moment, and who is none any longer. The members had been read.
  func changes(since moment: Moment) -> (
    come: ContiguousArray<NSManagedObject>, gone: ContiguousArray<NSManagedObject>
  ) { (members.without(moment.members), moment.members.without(members)) }

  func isReordered(since moment: Moment) -> Bool { !members.elementsEqual(moment.members, by: ===) }
}
