import StoreProtocol
import StoreQuery

/// What an asynchronous fetch reads off its context's queue.
///
/// Sendable, unchecked: it is made on the context's queue, read by one other thread, and handed back. What the run has
/// of the context's objects is not touched in between.
final class BackgroundFetch: @unchecked Sendable {
  let run: FetchRun
  private let readers: [StoreFetcher]
  /// What dictionaries are made of; nil for other results.
  let table: ResolvedTable?
  /// What each store has given, in the run's order.
  private(set) var answers: [[FoundObject]] = []
  /// The rows of the table.
  private(set) var rows: [TableAnswer] = []
  /// What a table was read of, where stores keep objects: its rows own those that are among the values.
  private var owners: [any StoreSnapshot] = []
  private var stamps: [ViewStamp] = []

  /// How many results are read between two looks at whether to go on.
  private static let chunk = 256

  init(_ run: FetchRun, table: ResolvedTable?) {
    self.run = run
    self.table = table
    readers = run.origins.map(run.reader)
  }

  /// Reads all stores, until `goesOn` says no to the number of results so far. A store cannot be stopped: what it still
  /// gives then is dropped.
  func read(_ goesOn: @escaping (Int) -> Bool) throws(StoreError) {
    let stores = run.origins.map(\.store)
    for store in stores { store.readings.enter() }
    defer { for store in stores { store.readings.leave() } }
    if goesOn(0) { try readAll(goesOn) }
  }

  /// The views are let go of when this ends, but for those of stores in memory, which stand in nobody's way.
  private func readAll(_ goesOn: @escaping (Int) -> Bool) throws(StoreError) {
    var views: [StoreView] = []
    for origin in run.origins { views.append(try origin.viewForAnyThread()) }
    stamps = views.map(\.stamp)
    var (count, isWanted) = (0, true)
    func counts() -> Bool {
      count += 1
      if count % Self.chunk == 0 && isWanted { isWanted = goesOn(count) }
      return isWanted
    }
    if let table {
      let stores = run.origins.map(\.store)
      owners = zip(stores, views).filter { $0.0.keepsObjects }.map { $0.1.snapshot }
      return try TableExecution(views.map(\.snapshot), predicates: run.predicates).run(table.plan) {
        if counts() { rows.append(TableAnswer(values: $0, store: stores[$1])) }
      }
    }
    for (index, view) in views.enumerated() where isWanted {
      var answer: [FoundObject] = []
      try readers[index].read(view, store: run.origins[index].index) { if counts() { answer.append($0) } }
      answers.append(answer)
    }
  }

  /// Whether the result is that of the fetch as it would be run now: no save came in between, and all is there that
  /// what has changed since could ask for.
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
  /// What can be read of a fetch off this context's queue. Nil where there is nothing to gain, for counts, and where
  /// code of the client's has a part that is to run on the queue: blocks, comparators, incremental stores.
  func backgroundFetch(_ parameters: FetchParameters) throws -> BackgroundFetch? {
    if parameters.resultType == .countResultType { return nil }
    var wanted = parameters
    if parameters.resultType == .managedObjectIDResultType { wanted = parameters.forIDs }
    let run = try fetchRun(wanted)
    if run.isFinishedInMemory { return nil }
    for origin in run.origins where try !origin.canBeReadAnywhere() { return nil }
    let isTable = parameters.resultType == .dictionaryResultType
    try checkPrefetches(run)
    return BackgroundFetch(run, table: isTable ? try ResolvedTable(run.fetch, self) : nil)
  }

  /// The results of a fetch whose rows were read off the queue; nil where they have to be read again.
  func results(of background: BackgroundFetch, _ parameters: FetchParameters) throws -> [Any]? {
    let run = try fetchRun(background.run.fetch.parameters)
    guard background.fits(run) else { return nil }
    if let table = background.table { return try dictionaries(background.rows, table) }
    let results = run.results(background.answers, areCut: background.run.isPlain)
    return parameters.resultType == .managedObjectIDResultType ? ids(of: results) : try objects(of: results, run)
  }
}
