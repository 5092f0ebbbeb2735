import Dispatch
import Synchronization

/// Changes by others that a context must handle. They are left here on any thread, without waiting for a queue.
final class ContextMarks: Sendable {
  enum Mark {
    /// A store was replaced by another one, or has another URL.
    case stores
    case changes(ChangesElsewhere)
    /// An observation has ended on another thread.
    case ended(PropertyObserver)
  }

  private struct State {
    var forgetsStores = false
    var changes: ChangesElsewhere?
    var ended: [PropertyObserver] = []
    var isTurnQueued = false
    var isEmpty: Bool { !forgetsStores && changes == nil && ended.isEmpty }
  }

  private let state = Mutex(State())
  private let hasStores = Atomic<Bool>(false)
  private let hasAny = Atomic<Bool>(false)

  /// Whether there are no marks. A mark that is left at the same time may be missed.
  var isEmpty: Bool { !hasAny.load(ordering: .acquiring) }
  var forgetsStores: Bool { hasStores.load(ordering: .acquiring) }

  func add(_ mark: Mark) {
    state.withLock { state in
      switch mark {
      case .stores:
        state.forgetsStores = true
        hasStores.store(true, ordering: .releasing)
      case .changes(let changes):
        // Merged into one value, so that a context that is never used holds each ID once.
        if state.changes?.add(changes) == nil { state.changes = changes }
      case .ended(let observer): state.ended.append(observer)
      }
      hasAny.store(true, ordering: .releasing)
    }
  }

  /// Whether the stores must be looked up again. Clears the mark.
  func takeStores() -> Bool {
    state.withLock { state in
      defer {
        state.forgetsStores = false
        hasAny.store(!state.isEmpty, ordering: .releasing)
      }
      hasStores.store(false, ordering: .releasing)
      return state.forgetsStores
    }
  }

  /// The changes that must be merged. Clears the mark.
  func takeChanges() -> ChangesElsewhere? {
    state.withLock { state in
      defer {
        state.changes = nil
        hasAny.store(!state.isEmpty, ordering: .releasing)
      }
      return state.changes
    }
  }

  /// The observers whose observations have ended. Clears the marks.
  func takeEnded() -> [PropertyObserver] {
    state.withLock { state in
      defer {
        state.ended = []
        hasAny.store(!state.isEmpty, ordering: .releasing)
      }
      return state.ended
    }
  }

  /// Calls `turn` later on a queue, after `delay` seconds at the earliest, unless a call is scheduled already.
  func queueTurn(on queue: DispatchQueue, after delay: Double = 0, _ turn: @escaping @Sendable () -> Void) {
    let isQueued = state.withLock { state in
      defer { state.isTurnQueued = true }
      return state.isTurnQueued
    }
    if isQueued { return }
    let work: @Sendable () -> Void = {
      self.state.withLock { $0.isTurnQueued = false }
      turn()
    }
    if delay > 0 { queue.asyncAfter(deadline: .now() + delay, execute: work) } else { queue.async(execute: work) }
  }
}
