import Foundation

/// The invariants of a context's changes. They hold between the operations of the context.
extension ChangeTracker {
  /// Describes an invariant that does not hold; nil where all hold.
  func contradiction() -> String? {
    var counted = ChangeCounts(inserted: 0, updated: 0, deleted: 0)
    var known: Set<ObjectIdentifier> = []
    for object in objects {
      if !known.insert(ObjectIdentifier(object)).inserted { return "an object is listed twice: \(object.flags)" }
      if !object.flags.contains(.listed) { return "a listed object is not marked as listed: \(object.flags)" }
      if object.flags.contains(.inserted) == object.flags.contains(.stored) {
        return "an object is both new and stored, or neither: \(object.flags)"
      }
      if let change = object.flags.countedChange { counted[change] += 1 }
    }
    if counted != counts { return "\(counted) are listed, but \(counts) are counted" }
    let pending = list.pending
    let names = Set(pending.map(ObjectIdentifier.init))
    if names.count < pending.count { return "an object is pending twice" }
    for object in objects where object.flags.contains(.pending) != names.contains(ObjectIdentifier(object)) {
      return "the pending flag of an object is wrong: \(object.flags)"
    }
    return nil
  }

  /// Whether an object that is not on the list has no change to save.
  static func isFinished(_ object: NSManagedObject) -> Bool {
    object.flags.intersection([.stored, .inserted, .updated, .pending, .willSaveCalled]) == .stored
      && (object.flags.isDisjoint(with: [.deleted, .absent]) || object.flags.contains(.inaccessible))
  }
}

extension ContextCore {
  #if DEBUG
    /// Whether the program asks for the checks. The scripts of this library that run tests do; a client's debug build
    /// must not stop for a mistake of ours.
    private static let checks = getenv("OPENCOREDATA_CHECKS") != nil
  #endif

  /// Stops the program where the changes contradict each other. It checks in debug builds only, and only where the
  /// environment variable `OPENCOREDATA_CHECKS` is set. With many objects it skips most calls, because the checks would
  /// take more time than everything else.
  func checkInvariants() {
    #if DEBUG
      if !Self.checks { return }
      checksDue += 32
      if checksDue < registry.count { return }
      checksDue = 0
      if let found = changes.contradiction() { fatalError("The changes of a context contradict each other: \(found).") }
      for object in registry.all where !object.flags.contains(.listed) && !ChangeTracker.isFinished(object) {
        if preparingForDeletion.contains(where: { $0.object === object }) { continue }
        fatalError("An object with changes is not listed: \(object.flags).")
      }
    #endif
  }
}
