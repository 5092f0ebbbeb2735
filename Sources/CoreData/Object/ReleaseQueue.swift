import CRuntime

/// Frees the members of to-many relationships one after another instead of recursively, so that the length of a chain
/// of objects does not matter.
enum ReleaseQueue {
  private final class Waiting {
    var states: ContiguousArray<ToManyState> = []
    var others: ContiguousArray<[String: [Any]]> = []

    func releaseAll() {
      // Freeing one set of members appends the members of the objects that are freed with it.
      while true {
        if let next = states.popLast() {
          withExtendedLifetime(next) {}
        } else if let next = others.popLast() {
          withExtendedLifetime(next) {}
        } else {
          return
        }
      }
    }
  }

  /// Releases the relationships of an object that is being freed, and empties them, so that the queue holds the last
  /// reference.
  static func release(_ toManys: inout ToManyStates) {
    release { toManys.moveAll(to: &$0.states) }
  }

  /// Releases the values of fetched properties in the same way.
  static func release(_ fetched: inout [String: [Any]]) {
    release {
      $0.others.append(fetched)
      fetched = [:]
    }
  }

  @inline(__always)
  private static func release(_ add: (Waiting) -> Void) {
    guard let slot = cd_thread_slot() else { return }
    if let running = slot.pointee { return add(Unmanaged<Waiting>.fromOpaque(running).takeUnretainedValue()) }
    let waiting = Waiting()
    add(waiting)
    slot.pointee = Unmanaged.passUnretained(waiting).toOpaque()
    waiting.releaseAll()
    slot.pointee = nil
  }
}
