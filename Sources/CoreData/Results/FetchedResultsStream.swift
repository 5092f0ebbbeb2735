import Foundation

extension NSManagedObjectContext {
  /// The results of a fetch: a snapshot of the present ones, and one after each event that changes them or the objects
  /// in them.
  ///
  /// Call it on the queue of the context; any thread may read the stream. Where a snapshot has not been read yet, the
  /// next one takes its place: a reader always gets the newest state, and may miss states between. A reset of the
  /// context fetches again; the stream ends when that fails. The stream keeps the context alive until it is no longer
  /// read.
  ///
  /// The request must have sort descriptors, or the program stops; see
  /// ``NSFetchedResultsController/init(fetchRequest:managedObjectContext:sectionNameKeyPath:cacheName:)``.
  ///
  /// - Throws: The errors of ``NSFetchedResultsController/performFetch()``.
  public final func results<ResultType: NSManagedObject>(
    of request: NSFetchRequest<ResultType>, sectionNameKeyPath: String? = nil
  ) throws -> AsyncStream<FetchedResultsSnapshot> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: FetchedResultsSnapshot.self, bufferingPolicy: .bufferingNewest(1))
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: self, sectionNameKeyPath: sectionNameKeyPath, cacheName: nil)
    let reader = ResultsReader(controller, continuation)
    try controller.performFetch()
    continuation.onTermination = { _ in reader.end() }
    return stream
  }
}

/// The controller of a stream of results, and its delegate.
///
/// Sendable, unchecked: used on the queue of the context, except for ``end()``, which any thread may call.
private final class ResultsReader: NSObject, NSFetchedResultsControllerDelegate, @unchecked Sendable {
  private var controller: _FetchedResultsController?
  private let context: NSManagedObjectContext
  private let continuation: AsyncStream<FetchedResultsSnapshot>.Continuation

  init<ResultType>(
    _ controller: NSFetchedResultsController<ResultType>,
    _ continuation: AsyncStream<FetchedResultsSnapshot>.Continuation
  ) {
    (self.controller, context, self.continuation) = (controller, controller.managedObjectContext, continuation)
    super.init()
    controller.delegate = self
    controller.tracker.didReset = { [weak self, weak controller] in
      do { try controller?.performFetch() } catch { self?.continuation.finish() }
    }
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: FetchedResultsSnapshot
  ) { continuation.yield(snapshot) }

  /// Releases the controller, and with it its objects, on the queue of the context.
  func end() { context.later { self.controller = nil } }
}
