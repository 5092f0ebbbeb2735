import StoreQuery
import StoreSchema

/// Runs fetch plans on any snapshot. The store runs what it can; the rest is done here.
///
/// Only this type filters, sorts and cuts rows in memory, apart from stores that evaluate rows themselves.
public struct FetchExecution {
  private let snapshot: any StoreSnapshot
  private let pushesDown: Bool

  /// With `pushesDown` false every plan runs in memory, to prove that both ways agree.
  public init(_ snapshot: any StoreSnapshot, pushesDown: Bool = true) {
    self.snapshot = snapshot
    self.pushesDown = pushesDown
  }

  /// A plan in two parts: the part that the store runs, and the residual. Nothing behind a residual is pushed down.
  struct Split {
    var pushed: FetchPlan
    var residual: ResolvedPredicate?
    var sort: [ResolvedSort] = []
    var offset = 0
    var limit: Int?

    var isComplete: Bool { residual == nil && sort.isEmpty && offset == 0 && limit == nil }
  }

  func split(_ plan: FetchPlan, for store: any FetchingSnapshot) -> Split {
    var result = Split(pushed: plan)
    if store.canPush(plan) { return result }
    if !store.canPush(plan.predicate, of: plan.entities) {
      // The parts of a conjunction are split one by one.
      let parts = if case .and(let parts) = plan.predicate { parts } else { [plan.predicate] }
      var pushed = parts.filter { store.canPush($0, of: plan.entities) }
      var rest = parts.filter { !store.canPush($0, of: plan.entities) }
      // The store takes each part alone, but all of them are too much for one statement.
      if !store.canPush(.and(pushed), of: plan.entities) { (pushed, rest) = ([], parts) }
      result.pushed.predicate = .and(pushed)
      result.residual = .and(rest)
    }
    result.sort = plan.sort
    result.pushed.sort = []
    (result.offset, result.limit) = (plan.offset, plan.limit)
    (result.pushed.offset, result.pushed.limit) = (0, nil)
    return result
  }

  /// Calls `body` with each row that the plan selects, in the plan's order, ties in key order.
  public func fetch(_ plan: FetchPlan, _ body: (consuming Row) -> Void) throws(StoreError) {
    guard pushesDown, let store = snapshot.fetching else {
      var rows: [Row] = []
      try snapshot.scan(plan.entities) { rows.append($0) }
      let rest = Split(
        pushed: plan, residual: plan.predicate, sort: plan.sort, offset: plan.offset, limit: plan.limit)
      return try finish(rows, rest, body)
    }
    let split = split(plan, for: store)
    if split.isComplete { return try store.fetch(split.pushed, body) }
    store.noteResidual(split.residual, isSorted: !split.sort.isEmpty)
    var rows: [Row] = []
    try store.fetch(split.pushed) { rows.append($0) }
    try finish(rows, split, body)
  }

  /// The steps of a plan, and whether the store or this type runs them, as lines of text. `schema` is the snapshot's.
  public func explanation(of plan: FetchPlan, _ schema: Schema) throws(StoreError) -> [String] {
    guard pushesDown, let store = snapshot.fetching else {
      return ["The store gives all objects; predicate, sort and limit are applied in memory."]
    }
    let split = split(plan, for: store)
    var lines: [String] = []
    if case .and(let kept)? = split.residual {
      let all = if case .and(let parts) = plan.predicate { parts.count } else { 1 }
      lines.append("predicate: \(kept.count) of \(all) conditions in memory")
      lines += kept.map { "  " + $0.text(schema, showsValues: true) }
    } else {
      lines.append("predicate: in the store")
    }
    if !plan.sort.isEmpty { lines.append("sort: in \(split.sort.isEmpty ? "the store" : "memory")") }
    if plan.limit != nil || plan.offset > 0 {
      let isPushed = split.limit == nil && split.offset == 0
      lines.append("offset and limit: in \(isPushed ? "the store" : "memory")")
    }
    return lines + (try store.explanation(of: split.pushed))
  }

  /// See ``FetchingSnapshot/estimatedCount(_:)``.
  public func estimatedCount(_ plan: FetchPlan) -> Int? { snapshot.fetching?.estimatedCount(plan) }

  /// Calls `body` with entity and key only, otherwise like ``fetch(_:_:)``.
  public func references(_ plan: FetchPlan, _ body: (ObjectReference) -> Void) throws(StoreError) {
    if pushesDown, let store = snapshot.fetching, split(plan, for: store).isComplete {
      return try store.fetchReferences(plan, body)
    }
    try fetch(plan) { body($0.reference) }
  }

  /// The number of rows the plan selects, its offset and limit applied.
  public func count(_ plan: FetchPlan) throws(StoreError) -> Int {
    if pushesDown, let store = snapshot.fetching, store.canPush(plan.predicate, of: plan.entities) {
      return try store.count(plan)
    }
    var unsorted = plan
    unsorted.sort = []
    var count = 0
    try fetch(unsorted) { _ in count += 1 }
    return count
  }

  private func finish(_ rows: [Row], _ rest: Split, _ body: (consuming Row) -> Void) throws(StoreError) {
    let source = RowSource(snapshot)
    var kept = rows
    if let residual = rest.residual {
      if let program = RowProgram(residual) {
        kept = program.filter(rows)
      } else {
        try source.prepare(rows, residual.ways)
        let test = CompiledPredicate<RowSource>(residual)
        kept = []
        for row in rows where try test(row, in: source) { kept.append(row) }
      }
    }
    if !rest.sort.isEmpty { kept = try sorted(kept, rest.sort, source) }
    let tail = kept.dropFirst(rest.offset)
    for row in rest.limit.map({ tail.prefix($0) }) ?? tail { body(row) }
  }

  private func sorted(_ rows: [Row], _ sorts: [ResolvedSort], _ source: RowSource) throws(StoreError) -> [Row] {
    try source.prepare(rows, sorts.map(\.path.hops))
    var keyed: [(row: Row, values: [Value])] = []
    keyed.reserveCapacity(rows.count)
    for row in rows {
      var values: [Value] = []
      for sort in sorts { values.append(try source.value(at: sort.path, of: row)) }
      keyed.append((row, values))
    }
    keyed.sort { a, b in SortEvaluation.precedes(sorts, a.values, b.values) ?? (a.row.key < b.row.key) }
    return keyed.map(\.row)
  }
}
