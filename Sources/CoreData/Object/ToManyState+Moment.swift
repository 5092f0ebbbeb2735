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

    mutating func forget(_ isGone: (NSManagedObject) -> Bool) {
      members.removeAll(where: isGone)
      added.removeAll(where: isGone)
      removed.removeAll(where: isGone)
    }
  }
}
