import Foundation

/// A fetch that runs later on its context's queue.
open class NSAsynchronousFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
  /// Called on the context's queue with the result, which has objects or an error.
  public typealias Completion = (NSAsynchronousFetchResult<ResultType>) -> Void

  public let fetchRequest: NSFetchRequest<ResultType>
  public let completionBlock: Completion?
  /// A hint for progress; nothing here depends on it.
  open var estimatedResultCount = 0

  public init(fetchRequest request: NSFetchRequest<ResultType>, completionBlock blk: Completion? = nil) {
    fetchRequest = request
    completionBlock = blk
  }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let result = NSAsynchronousFetchResult<ResultType>(self, context)
    nonisolated(unsafe) let running = result
    context.perform { running.run() }
    return result
  }
}

/// What an asynchronous fetch gives. Used on its context's queue.
open class NSAsynchronousFetchResult<ResultType: NSFetchRequestResult>: NSPersistentStoreAsynchronousResult {
  public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// Nil until the fetch is complete, and where it failed.
  public private(set) var finalResult: [ResultType]?

  init(_ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext) {
    fetchRequest = request
    super.init(context)
  }

  fileprivate func run() {
    if isCancelled {
      operationError = CocoaError(.userCancelled)
    } else {
      do { finalResult = try managedObjectContext.fetch(fetchRequest.fetchRequest) } catch { operationError = error }
    }
    progress?.completedUnitCount = 1
    fetchRequest.completionBlock?(self)
  }
}
