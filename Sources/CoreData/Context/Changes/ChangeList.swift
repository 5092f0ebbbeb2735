/// The objects of a context with changes to save, in the order in which they first changed. The list keeps them alive.
/// It also knows which of them have changed since the last event: these are pending.
///
/// Most changes are an object's first one, so the pending objects are mostly the end of the list and need no list of
/// their own.
struct ChangeList {
  private(set) var objects: ContiguousArray<NSManagedObject> = []
  /// How many of `objects` were listed before the last event.
  private var reported = 0
  /// Objects that were listed before the last event and have changed again since.
  private var again: ContiguousArray<NSManagedObject> = []

  var hasPending: Bool { reported < objects.count || !again.isEmpty }
  var isWhollyPending: Bool { reported == 0 && again.isEmpty }

  /// The pending objects, none of them twice.
  var pending: ContiguousArray<NSManagedObject> { isWhollyPending ? objects : objects[reported...] + again }

  /// Lists an object, and makes it pending. `registered` gives the number of registered objects. When the list reaches
  /// 4096 objects, it reserves room for all of them at once, because growing step by step would copy the list each
  /// time.
  @inline(__always)
  mutating func append(_ object: NSManagedObject, registered: () -> Int) {
    if objects.count == 4096 { objects.reserveCapacity(registered()) }
    objects.append(object)
  }

  /// Makes a listed object pending. It must not be pending yet.
  mutating func appendAgain(_ object: NSManagedObject) { again.append(object) }

  /// Ends the event: no object is pending any more.
  mutating func endEvent() {
    reported = objects.count
    again = []
  }

  mutating func removeAll(where isGone: (NSManagedObject) -> Bool) {
    reported = objects[..<reported].count { !isGone($0) }
    objects.removeAll(where: isGone)
    again.removeAll(where: isGone)
  }

  /// Drops the values that the pending objects had before the event. They are of no use after it.
  func forgetEventBases() { again.forEachUncounted { $0.extras?.eventBase = nil } }
}
