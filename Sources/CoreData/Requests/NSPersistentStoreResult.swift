import Foundation
import Synchronization

/// What executing a request gives.
open class NSPersistentStoreResult: NSObject {}

/// What executing a request later gives, and how far it is. But for ``cancel()`` and ``progress`` it is used on its
/// context's queue.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
  /// The context that the request was executed in.
  open var managedObjectContext: NSManagedObjectContext { context }
  /// Why the request failed; nil while it runs and when it has succeeded.
  open var operationError: (any Error)? { failure }
  /// How far the request is, a part of what was the thread's current progress when it was executed. It advances on the
  /// context's queue, and cancelling it is ``cancel()``.
  open var progress: Progress? { units }
  final let context: NSManagedObjectContext
  final var failure: (any Error)?
  final let units: Progress
  private let cancelled = Atomic<Bool>(false)
  final var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
  /// The same on the context's queue, where it counts that the progress was cancelled, too: it tells its handler later.
  final var isGivenUp: Bool { isCancelled || units.isCancelled }

  /// Sendable, unchecked: the result is only cancelled by it.
  private struct Running: @unchecked Sendable { weak var result: NSPersistentStoreAsynchronousResult? }

  init(_ context: NSManagedObjectContext, unitCount: Int) {
    self.context = context
    units = Progress(totalUnitCount: Int64(max(1, unitCount)))
    super.init()
    let running = Running(result: self)
    units.cancellationHandler = { running.result?.cancel() }
  }

  /// Gives the request up, on any thread: unless it is complete, it fails with `CocoaError.userCancelled`, and what it
  /// has read is let go of.
  open func cancel() {
    if cancelled.exchange(true, ordering: .acquiringAndReleasing) { return }
    // Whoever reads for the request notices later.
    nonisolated(unsafe) let result = self
    context.later { result.wasCancelled() }
  }

  /// Called once, on the context's queue.
  func wasCancelled() {}
}
