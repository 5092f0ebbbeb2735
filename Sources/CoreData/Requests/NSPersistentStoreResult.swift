import Foundation
import Synchronization

/// The result of executing a request.
open class NSPersistentStoreResult: NSObject {}

/// The result of a request that runs in the background, and its progress. It is used on its context's queue, except for
/// ``cancel()`` and ``progress``.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
  /// The context that the request was executed in.
  open var managedObjectContext: NSManagedObjectContext { context }
  /// Why the request failed; nil while it runs and when it has succeeded.
  open var operationError: (any Error)? { failure }
  /// The progress of the request. It is a child of the progress that was the thread's current one when the request was
  /// executed. It advances on the context's queue. Cancelling it calls ``cancel()``.
  open var progress: Progress? { units }
  final let context: NSManagedObjectContext
  final var failure: (any Error)?
  final let units: Progress
  private let cancelled = Atomic<Bool>(false)
  final var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
  /// Whether the request or its progress was cancelled. Used on the context's queue. A progress calls its cancellation
  /// handler only later.
  final var isGivenUp: Bool { isCancelled || units.isCancelled }

  /// Sendable, unchecked: other threads only cancel the result.
  private struct Running: @unchecked Sendable { weak var result: NSPersistentStoreAsynchronousResult? }

  init(_ context: NSManagedObjectContext, unitCount: Int) {
    self.context = context
    units = Progress(totalUnitCount: Int64(max(1, unitCount)))
    super.init()
    let running = Running(result: self)
    units.cancellationHandler = { running.result?.cancel() }
  }

  /// Cancels the request, on any thread. Unless it is complete, it fails with `CocoaError.userCancelled`, and discards
  /// the rows that it has read.
  open func cancel() {
    if cancelled.exchange(true, ordering: .acquiringAndReleasing) { return }
    // A running read notices the cancellation later.
    nonisolated(unsafe) let result = self
    context.later { result.wasCancelled() }
  }

  /// Called once, on the context's queue.
  func wasCancelled() {}
}
