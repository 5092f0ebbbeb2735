import Dispatch
import Synchronization

/// What others have done that a context has to take up. They leave it here, on any thread, and wait for nobody's queue.
final class ContextMarks: Sendable {
  enum Mark {
    /// A store has taken the place of another, or is at another URL.
    case stores
    case changes(ChangesElsewhere)
  }

  private struct State {
    var forgetsStores = false
    var changes: ChangesElsewhere?
    var isTurnQueued = false
  }

  private let state = Mutex(State())
  private let hasStores = Atomic<Bool>(false)
  private let hasAny = Atomic<Bool>(false)

  /// Whether there are marks. One that is left at the same time may be missed.
  var isEmpty: Bool { !hasAny.load(ordering: .acquiring) }
  var forgetsStores: Bool { hasStores.load(ordering: .acquiring) }

  func add(_ mark: Mark) {
    state.withLock { state in
      switch mark {
      case .stores:
        state.forgetsStores = true
        hasStores.store(true, ordering: .releasing)
      case .changes(let changes):
        // Kept as one, so that a context that is never used holds each ID once.
        if state.changes?.add(changes) == nil { state.changes = changes }
      }
      hasAny.store(true, ordering: .releasing)
    }
  }

  /// Whether stores are to be forgotten; from now on they need not.
  func takeStores() -> Bool {
    state.withLock { state in
      defer { state.forgetsStores = false }
      hasStores.store(false, ordering: .releasing)
      hasAny.store(state.changes != nil, ordering: .releasing)
      return state.forgetsStores
    }
  }

  /// The changes to be brought in; from now on there are none.
  func takeChanges() -> ChangesElsewhere? {
    state.withLock { state in
      defer { state.changes = nil }
      hasAny.store(state.forgetsStores, ordering: .releasing)
      return state.changes
    }
  }

  /// Calls `turn` on a queue, later; not where a call is to come already.
  func queueTurn(on queue: DispatchQueue, _ turn: @escaping @Sendable () -> Void) {
    let isQueued = state.withLock { state in
      defer { state.isTurnQueued = true }
      return state.isTurnQueued
    }
    if isQueued { return }
    queue.async {
      self.state.withLock { $0.isTurnQueued = false }
      turn()
    }
  }
}
