import Dispatch
import Foundation

/// Called with the result of an asynchronous fetch.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock = (
  NSAsynchronousFetchResult<any NSFetchRequestResult>
) -> Void

/// A fetch that reads rows outside of its context's queue. Its objects are made on the queue (decision 041).
open class NSAsynchronousFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
  /// Called on the context's queue with the result, which has objects or an error.
  public typealias Completion = (NSAsynchronousFetchResult<ResultType>) -> Void

  /// The fetch to run. Changes made after the request was executed have no effect on that run.
  open var fetchRequest: NSFetchRequest<ResultType> { request }
  /// The block that is called with the result; nil for none. Calling it with the result of another request stops the
  /// program.
  open var completionBlock: NSPersistentStoreAsynchronousFetchResultCompletionBlock? {
    completion.map { completion in
      { result in
        guard let own = result as AnyObject as? NSAsynchronousFetchResult<ResultType> else {
          misuse("The completion block of an asynchronous fetch takes the results of its own request only.")
        }
        completion(own)
      }
    }
  }
  private let request: NSFetchRequest<ResultType>
  fileprivate final let completion: Completion?
  /// The total of the result's progress, in results. With 0, the default, the total is the number of results once it is
  /// known.
  open var estimatedResultCount = 0

  /// A request that runs a fetch and then calls the block, if there is one.
  public init(fetchRequest request: NSFetchRequest<ResultType>, completionBlock blk: Completion? = nil) {
    self.request = request
    completion = blk
  }

  /// The same request, with a copy of the fetch request.
  open override func copy(with zone: NSZone? = nil) -> Any {
    guard let request = request.copy() as? NSFetchRequest<ResultType> else { return self }
    let copy = NSAsynchronousFetchRequest(fetchRequest: request, completionBlock: completion)
    (copy.estimatedResultCount, copy.affectedStores) = (estimatedResultCount, affectedStores)
    return copy
  }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    var parameters = request.erased
    if let affectedStores { parameters.affectedStores = affectedStores }
    let result = NSAsynchronousFetchResult<ResultType>(self, context, parameters)
    result.begin()
    return result
  }
}

/// The result of an asynchronous fetch.
open class NSAsynchronousFetchResult<ResultType: NSFetchRequestResult>: NSPersistentStoreAsynchronousResult {
  /// The request whose result this is.
  open var fetchRequest: NSAsynchronousFetchRequest<ResultType> { request }
  /// Nil until the fetch is complete, and where it failed.
  open var finalResult: [ResultType]? { found }

  private let request: NSAsynchronousFetchRequest<ResultType>
  private var found: [ResultType]?
  private let parameters: FetchParameters
  private let completion: NSAsynchronousFetchRequest<ResultType>.Completion?
  private let hasEstimate: Bool
  private var isComplete = false
  /// How often the rows were read off the context's queue.
  private var readings = 0

  init(
    _ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext, _ parameters: FetchParameters
  ) {
    (self.request, self.parameters) = (request, parameters)
    completion = request.completion
    hasEstimate = request.estimatedResultCount > 0
    super.init(context, unitCount: request.estimatedResultCount)
  }

  // MARK: Reading

  fileprivate func begin() {
    guard let queue = context.core.queue.dispatch else {
      // The context has no queue, so the fetch cannot run later.
      return complete { try context.results(parameters) }
    }
    do {
      if readings < 2, let reading = try context.core.backgroundFetch(parameters) {
        readings += 1
        nonisolated(unsafe) let result = self
        return DispatchQueue.global().async { result.read(reading, queue) }
      }
    } catch {
      return later { $0.complete { throw error } }
    }
    later { result in result.complete { try result.context.results(result.parameters) } }
  }

  /// Runs off the context's queue.
  private func read(_ reading: BackgroundFetch, _ queue: DispatchQueue) {
    do {
      try reading.read { count in
        if self.isCancelled { return false }
        nonisolated(unsafe) let result = self
        queue.async { result.advance(count) }
        return true
      }
    } catch {
      let error = CoreDataError.make(error)
      return later { $0.complete { throw error } }
    }
    later { $0.deliver(reading) }
  }

  private func deliver(_ reading: BackgroundFetch) {
    if isComplete { return }
    if isGivenUp { return wasCancelled() }
    do {
      // A save came in between, or changes that the read did not take into account.
      guard let results = try context.core.results(of: reading, parameters) else { return begin() }
      complete { results }
    } catch { complete { throw error } }
  }

  /// Runs `body` on the context's queue.
  private func later(_ body: @escaping (NSAsynchronousFetchResult) -> Void) {
    nonisolated(unsafe) let (result, body) = (self, body)
    context.later { body(result) }
  }

  // MARK: Progress and end

  private func advance(_ count: Int) {
    guard hasEstimate, !isComplete else { return }
    units.completedUnitCount = min(Int64(count), units.totalUnitCount)
  }

  override func wasCancelled() { complete { throw CocoaError(.userCancelled) } }

  private func complete(_ results: () throws -> [Any]) {
    if isComplete { return }
    do {
      if isGivenUp { throw CocoaError(.userCancelled) }
      let typed = try context.typed(results(), as: ResultType.self)
      // The fetch may have been cancelled while its results were made on the queue.
      if isGivenUp { throw CocoaError(.userCancelled) }
      found = typed
      finishProgress(typed.count)
    } catch { failure = error }
    isComplete = true
    context.core.announceRefetched(parameters)
    completion?(self)
  }

  private func finishProgress(_ count: Int) {
    if !hasEstimate { units.totalUnitCount = Int64(max(1, count)) }
    units.completedUnitCount = units.totalUnitCount
  }
}
