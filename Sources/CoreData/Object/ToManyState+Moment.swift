/// The state of a to-many relationship at other times.
extension ToManyState {
  /// The known members at one time.
  struct Moment {
    let isFault: Bool
    var members, added, removed: ContiguousArray<NSManagedObject>

    /// True for objects that were added since the last save, false for removed ones.
    var noted: [ObjectIdentifier: Bool] {
      var noted: [ObjectIdentifier: Bool] = [:]
      for object in added { noted[ObjectIdentifier(object)] = true }
      for object in removed { noted[ObjectIdentifier(object)] = false }
      return noted
    }

    /// Notes that additions and removals are saved.
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

  /// The number of announcements of a change that have not ended, and the members before a primitive accessor first set
  /// them during these.
  struct Announcement {
    var depth = 0
    var before: Moment?
  }

  /// Whether members or their order have changed since a moment; nil stands for the last save.
  func hasChanges(since moment: Moment?) -> Bool {
    guard let moment else { return hasChanges }
    if !added.elementsEqual(moment.added, by: ===) || !removed.elementsEqual(moment.removed, by: ===) { return true }
    return isOrderChanged && !members.elementsEqual(members(before: moment), by: ===)
  }

  /// The objects that were added and removed since a moment; nil stands for the last save. The members may be unread.
  func notedChanges(since moment: Moment?) -> (
    come: ContiguousArray<NSManagedObject>, gone: ContiguousArray<NSManagedObject>
  ) {
    guard let moment else { return (added, removed) }
    return (
      added.without(moment.added) + moment.removed.without(removed),
      removed.without(moment.removed) + moment.added.without(added)
    )
  }

  /// The objects that have become members since a moment, and those that no longer are. The members must have been
  /// read.
  func changes(since moment: Moment) -> (
    come: ContiguousArray<NSManagedObject>, gone: ContiguousArray<NSManagedObject>
  ) { (members.without(moment.members), moment.members.without(members)) }

  func isReordered(since moment: Moment) -> Bool { !members.elementsEqual(moment.members, by: ===) }
}
