import Foundation
import Synchronization

/// What executing a request gives.
open class NSPersistentStoreResult: NSObject {}

/// What executing a request later gives, and how far it is.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
  public let managedObjectContext: NSManagedObjectContext
  /// Why the request failed; nil while it runs and when it has succeeded.
  public internal(set) var operationError: (any Error)?
  /// One unit, done when the request is.
  public let progress: Progress?
  /// Set on the caller's thread, read on the context's queue.
  private let cancelled = Atomic<Bool>(false)
  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  init(_ context: NSManagedObjectContext) {
    managedObjectContext = context
    progress = Progress(totalUnitCount: 1)
  }

  /// Gives the request up, if it has not begun; it then fails with `CocoaError.userCancelled`.
  open func cancel() { cancelled.store(true, ordering: .releasing) }
}

extension NSManagedObjectContext {
  /// Runs a request on the stores.
  ///
  /// Asynchronous fetches return at once. Throws 134091 for kinds of requests that are not supported yet: batch insertions,
  /// updates and deletions, and persistent history.
  @discardableResult
  public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    try request.run(in: self)
  }
}
