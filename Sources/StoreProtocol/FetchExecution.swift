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

  /// Calls `body` with each row that the plan selects, in the plan's order, ties in key order.
  public func fetch(_ plan: FetchPlan, _ body: (consuming Row) -> Void) throws(StoreError) {
    guard pushesDown, let store = snapshot.fetching else {
      var rows: [Row] = []
      try snapshot.scan(plan.entities) { rows.append($0) }
      return try finish(rows, FetchResidual(of: plan, predicate: plan.predicate), body)
    }
    try fetch(store.prepare(plan), body)
  }

  private func fetch(_ prepared: any PreparedFetch, _ body: (consuming Row) -> Void) throws(StoreError) {
    if prepared.residual.isEmpty { return try prepared.fetch(body) }
    var rows: [Row] = []
    try prepared.fetch { rows.append($0) }
    try finish(rows, prepared.residual, body)
  }

  /// The steps of a plan, and whether the store or this type runs them, as lines of text. `schema` is the snapshot's.
  public func explanation(of plan: FetchPlan, _ schema: Schema) throws(StoreError) -> [String] {
    guard pushesDown, let store = snapshot.fetching else {
      return ["The store gives all objects; predicate, sort and limit are applied in memory."]
    }
    let prepared = store.prepare(plan)
    let residual = prepared.residual
    var lines: [String] = []
    if let kept = residual.predicate?.conjuncts {
      lines.append("predicate: \(kept.count) of \(plan.predicate.conjuncts.count) conditions in memory")
      lines += kept.map { "  " + $0.text(schema, showsValues: true) }
    } else {
      lines.append("predicate: in the store")
    }
    if !plan.sort.isEmpty { lines.append("sort: in \(residual.sort.isEmpty ? "the store" : "memory")") }
    if plan.limit != nil || plan.offset > 0 {
      let isPushed = residual.limit == nil && residual.offset == 0
      lines.append("offset and limit: in \(isPushed ? "the store" : "memory")")
    }
    return lines + (try prepared.explanation())
  }

  /// See ``FetchingSnapshot/estimatedCount(_:)``.
  public func estimatedCount(_ plan: FetchPlan) -> Int? { snapshot.fetching?.estimatedCount(plan) }

  /// Calls `body` with entity and key only, otherwise like ``fetch(_:_:)``.
  public func references(_ plan: FetchPlan, _ body: (ObjectReference) -> Void) throws(StoreError) {
    guard pushesDown, let prepared = snapshot.fetching?.prepare(plan) else {
      return try fetch(plan) { body($0.reference) }
    }
    if prepared.residual.isEmpty { return try prepared.references(body) }
    try fetch(prepared) { body($0.reference) }
  }

  /// The number of rows the plan selects, its offset and limit applied.
  public func count(_ plan: FetchPlan) throws(StoreError) -> Int {
    var unsorted = plan
    unsorted.sort = []
    var count = 0
    guard pushesDown, let prepared = snapshot.fetching?.prepare(unsorted) else {
      try fetch(unsorted) { _ in count += 1 }
      return count
    }
    if prepared.residual.isEmpty { return try prepared.count() }
    try fetch(prepared) { _ in count += 1 }
    return count
  }

  private func finish(_ rows: [Row], _ rest: FetchResidual, _ body: (consuming Row) -> Void) throws(StoreError) {
    let source = RowSource(snapshot)
    var kept = rows
    if let residual = rest.predicate {
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
