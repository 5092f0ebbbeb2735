import CRuntime

/// Frees the members of to-many relationships one after another instead of one inside another, so that the length of a chain
/// of objects does not matter.
enum ReleaseQueue {
  private final class Waiting {
    var states: ContiguousArray<ContiguousArray<ToManyState?>> = []
  }

  /// Lets go of the relationships of an object that is being freed.
  static func release(_ states: ContiguousArray<ToManyState?>) {
    guard let slot = cd_thread_slot() else { return }
    if let running = slot.pointee {
      Unmanaged<Waiting>.fromOpaque(running).takeUnretainedValue().states.append(states)
      return
    }
    let waiting = Waiting()
    waiting.states.append(states)
    slot.pointee = Unmanaged.passUnretained(waiting).toOpaque()
    // Freeing one set of members appends those of the objects that go with it.
    while let next = waiting.states.popLast() { withExtendedLifetime(next) {} }
    slot.pointee = nil
  }
}
