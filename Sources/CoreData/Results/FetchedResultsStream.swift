import Foundation

extension NSManagedObjectContext {
  /// The results of a fetch: a snapshot of the present ones, and one after each event that changes them or the objects
  /// in them.
  ///
  /// Call it on the queue of the context; any thread may read the stream. Where a snapshot has not been read yet, the
  /// next one replaces it, with the reloaded results of both: a reader always gets the newest state, and may miss
  /// states between. A reset of the context fetches again, and all results are reloaded; the stream ends when that
  /// fails. The stream keeps the context alive until it is no longer read.
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
  /// The results of the snapshot that was read last, and of the last one.
  private var (read, last): (Set<NSManagedObjectID>, Set<NSManagedObjectID>) = ([], [])
  /// Whether all results are read again, after a reset.
  private var isReset = false

  init<ResultType>(
    _ controller: NSFetchedResultsController<ResultType>,
    _ continuation: AsyncStream<FetchedResultsSnapshot>.Continuation
  ) {
    (self.controller, context, self.continuation) = (controller, controller.managedObjectContext, continuation)
    super.init()
    controller.delegate = self
    controller.tracker.didReset = { [weak self, weak controller] in
      self?.isReset = true
      do { try controller?.performFetch() } catch { self?.continuation.finish() }
    }
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: FetchedResultsSnapshot
  ) {
    let next = isReset ? snapshot.reloading(last.contains) : snapshot
    let results = Set(next.itemIdentifiers)
    defer { (last, isReset) = (results, false) }
    guard case .dropped(let unread) = continuation.yield(next) else { return read = last }
    // The reader needs the changes of both. A result that was not in the unread snapshot may have other values now.
    let reloaded = Set(unread.reloadedItemIdentifiers + next.reloadedItemIdentifiers)
    let kept = Set(unread.itemIdentifiers)
    let both = next.reloading { read.contains($0) && (reloaded.contains($0) || !kept.contains($0)) }
    if both == next { return }
    // Where the reader has taken the first one meanwhile, it reads the changes again.
    if case .enqueued = continuation.yield(both) { read = results }
  }

  /// Releases the controller, and with it its objects, on the queue of the context.
  func end() { context.later { self.controller = nil } }
}
