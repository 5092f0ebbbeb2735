import Dispatch

/// Blocks that run later on the queue of a context.
extension NSManagedObjectContext {
  /// Does what ``perform(_:)`` does, even where a subclass overrides that.
  final func later(_ block: @escaping () -> Void) {
    nonisolated(unsafe) let block = block
    whenQueued { self.runEvent(block) }
  }

  /// Runs `block` on the context's queue, and returns or throws its result. Its changes are announced when it ends. The
  /// block may use the same values as a block of ``perform(_:)``.
  public nonisolated(nonsending) final func perform<T>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws -> T
  ) async rethrows -> T {
    nonisolated(unsafe) let block = block
    let run: @Sendable () -> Result<UnsafeBox<T>, any Error> = {
      Result { UnsafeBox(value: try self.runEvent(block)) }
    }
    let result =
      if schedule == .immediate && core.queue.isCurrent {
        run()
      } else {
        await withCheckedContinuation { continuation in whenQueued { continuation.resume(returning: run()) } }
      }
    switch result {
    case .success(let box): return box.value
    case .failure(let error): return try { throw error }()
    }
  }

  private func whenQueued(_ body: @escaping @Sendable () -> Void) {
    if let queue = core.queue.dispatch { queue.async(execute: body) } else { body() }
  }

  /// Runs `block` as an event of its own.
  private func runEvent<T>(_ block: () throws -> T) rethrows -> T {
    try core.run {
      defer { processPendingChanges() }
      return try block()
    }
  }

  /// Carries a value to another thread. The caller does not use the value meanwhile.
  private struct UnsafeBox<T>: @unchecked Sendable { let value: T }
}
