import Dispatch
import Synchronization

/// One timer for the earliest of many times. There is no timer while there is nothing to wait for. Its work runs on a
/// background queue.
package final class EarliestTimer: Sendable {
  /// When the timer fires, `distantFuture` without one.
  private let next = Mutex(DispatchTime.distantFuture)

  package init() {}

  /// Runs `work` at `due`, unless the timer fires earlier anyway. `work` returns the next time to run, nil for none.
  package func set(_ due: DispatchTime, _ work: @escaping @Sendable () -> DispatchTime?) {
    let isEarlier = next.withLock { next in
      if due >= next { return false }
      next = due
      return true
    }
    if !isEarlier { return }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: due) {
      // Cleared before the work runs: a time that is set meanwhile gets a timer of its own.
      self.next.withLock { if $0 == due { $0 = .distantFuture } }
      if let again = work() { self.set(again, work) }
    }
  }
}
