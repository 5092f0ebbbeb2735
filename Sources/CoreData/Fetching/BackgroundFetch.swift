import StoreProtocol
import StoreQuery

/// The part of an asynchronous fetch that is read off its context's queue.
///
/// Sendable, unchecked: it is made on the context's queue, read by one other thread, and handed back. Meanwhile nobody
/// uses the context's objects in the run.
final class BackgroundFetch: @unchecked Sendable {
  let run: FetchRun
  private let readers: [StoreFetcher]
  /// The columns of dictionaries; nil for other results.
  let table: ResolvedTable?
  /// The results of each store, in the run's order.
  private(set) var answers: [[FoundObject]] = []
  /// The rows of the table.
  private(set) var rows: [TableAnswer] = []
  /// Snapshots of stores that keep objects. Their rows own the objects among the values of the table.
  private var owners: [any StoreSnapshot] = []
  private var stamps: [ViewStamp] = []

  /// The number of results between two calls of `goesOn`.
  private static let chunk = 256

  init(_ run: FetchRun, table: ResolvedTable?) {
    self.run = run
    self.table = table
    readers = run.origins.map(run.reader)
  }

  /// Reads all stores, until `goesOn` returns false. `goesOn` gets the number of results so far. A store cannot be
  /// stopped; later results are dropped.
  func read(_ goesOn: @escaping (Int) -> Bool) throws(StoreError) {
    let stores = run.origins.map(\.store)
    for store in stores { store.readings.enter() }
    defer { for store in stores { store.readings.leave() } }
    if goesOn(0) { try readAll(goesOn) }
  }

  /// The views are released at the end, except the views of stores in memory, which block nobody.
  private func readAll(_ goesOn: @escaping (Int) -> Bool) throws(StoreError) {
    var views: [StoreView] = []
    for origin in run.origins { views.append(try origin.viewForAnyThread()) }
    stamps = views.map(\.stamp)
    var (count, isRequired) = (0, true)
    func counts() -> Bool {
      count += 1
      if count % Self.chunk == 0 && isRequired { isRequired = goesOn(count) }
      return isRequired
    }
    if let table {
      let stores = run.origins.map(\.store)
      owners = zip(stores, views).filter { $0.0.keepsObjects }.map { $0.1.snapshot }
      return try TableExecution(views.map(\.snapshot), predicates: run.predicates).run(table.plan) {
        if counts() { rows.append(TableAnswer(values: $0, store: stores[$1])) }
      }
    }
    for (index, view) in views.enumerated() where isRequired {
      var answer: [FoundObject] = []
      try readers[index].read(view, store: run.origins[index].index) { if counts() { answer.append($0) } }
      answers.append(answer)
    }
  }

  /// Whether the results are those that the fetch would have now. Then no save came in between, and the results include
  /// everything that changes since could need.
  func fits(_ now: FetchRun) -> Bool {
    guard now.origins.map(\.store).elementsEqual(run.origins.map(\.store), by: ===),
      stamps.count == run.origins.count,
      zip(run.origins, stamps).allSatisfy({ $0.cache.isOfEngine($1) && $0.cache.isCurrent($1) })
    else { return false }
    if table != nil { return true }
    if now.isMerged && !run.isMerged && !now.fetch.plan.sort.isEmpty { return false }
    if readers.allSatisfy({ $0.plan.offset == 0 && $0.plan.limit == nil }) { return true }
    return run.isPlain ? now.isPlain : now.dirty.count <= run.dirty.count
  }
}

extension ContextCore {
  /// The part of a fetch that can be read off this context's queue. Nil for counts, and if the client's code must run
  /// on the queue: for blocks, comparators and incremental stores.
  func backgroundFetch(_ parameters: FetchParameters) throws -> BackgroundFetch? {
    if parameters.resultType == .countResultType { return nil }
    var required = parameters
    if parameters.resultType == .managedObjectIDResultType { required = parameters.forIDs }
    let run = try fetchRun(required)
    if run.isFinishedInMemory { return nil }
    for origin in run.origins where try !origin.canBeReadAnywhere() { return nil }
    let isTable = parameters.resultType == .dictionaryResultType
    try checkPrefetches(run)
    return BackgroundFetch(run, table: isTable ? try ResolvedTable(run.fetch, self) : nil)
  }

  /// The results of a fetch whose rows were read off the queue; nil if they must be read again.
  func results(of background: BackgroundFetch, _ parameters: FetchParameters) throws -> [Any]? {
    let run = try fetchRun(background.run.fetch.parameters)
    guard background.fits(run) else { return nil }
    if let table = background.table { return try dictionaries(background.rows, table) }
    let results = run.results(background.answers, areCut: background.run.isPlain)
    return parameters.resultType == .managedObjectIDResultType ? ids(of: results) : try objects(of: results, run)
  }
}
