import Dispatch
import Synchronization

/// One timer for the earliest of many times; none while there is nothing to wait for. Its work runs on a background
/// queue.
package final class EarliestTimer: Sendable {
  /// When the timer comes, `distantFuture` without one.
  private let next = Mutex(DispatchTime.distantFuture)

  package init() {}

  /// Runs `work` at `due`, unless the timer comes earlier anyway. `work` gives the time at which it is to run again,
  /// nil for not at all.
  package func set(_ due: DispatchTime, _ work: @escaping @Sendable () -> DispatchTime?) {
    let isEarlier = next.withLock { next in
      if due >= next { return false }
      next = due
      return true
    }
    if !isEarlier { return }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: due) {
      // Before the work looks: what is set while it runs has a timer of its own.
      self.next.withLock { if $0 == due { $0 = .distantFuture } }
      if let again = work() { self.set(again, work) }
    }
  }
}
