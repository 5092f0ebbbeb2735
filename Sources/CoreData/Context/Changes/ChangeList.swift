/// The objects of a context with changes to save, in the order in which they first changed; kept alive by being here.
/// And which of them have changed since the last event: they are pending.
///
/// Mostly a change is an object's first one, so that the end of the list is what is pending, and is no list of its own.
struct ChangeList {
  private(set) var objects: ContiguousArray<NSManagedObject> = []
  /// How many of `objects` were listed before the last event.
  private var told = 0
  /// Those of them that have changed again since.
  private var again: ContiguousArray<NSManagedObject> = []

  var hasPending: Bool { told < objects.count || !again.isEmpty }
  var isWhollyPending: Bool { told == 0 && again.isEmpty }

  /// Those that are pending, none of them twice.
  var pending: ContiguousArray<NSManagedObject> { isWhollyPending ? objects : objects[told...] + again }

  /// Lists an object, and makes it pending. `registered` is how many there are: a long list that is full gets room for
  /// all of them at once, because growing step by step writes it anew each time, on pages that nobody has had yet.
  @inline(__always)
  mutating func append(_ object: NSManagedObject, registered: () -> Int) {
    if objects.count == 4096 { objects.reserveCapacity(registered()) }
    objects.append(object)
  }

  /// Makes a listed object pending that is not.
  mutating func appendAgain(_ object: NSManagedObject) { again.append(object) }

  /// Nothing is pending any more.
  mutating func endEvent() {
    told = objects.count
    again = []
  }

  mutating func removeAll(where isGone: (NSManagedObject) -> Bool) {
    told = objects[..<told].count { !isGone($0) }
    objects.removeAll(where: isGone)
    again.removeAll(where: isGone)
  }

  /// What the pending objects were before the event is of no use any more.
  func forgetEventBases() { again.forEachUncounted { $0.extras?.eventBase = nil } }
}
