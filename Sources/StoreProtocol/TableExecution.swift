import StoreQuery
import StoreSchema

/// Runs table plans on any snapshots. The stores return the values of their objects. Groups are made here, unless the
/// store can make the whole table.
public struct TableExecution {
  private let snapshots: [any StoreSnapshot]
  private let predicates: [ResolvedPredicate]
  private let pushesDown: Bool

  /// `predicates` has one for each snapshot, used instead of the plan's: an object that a predicate names may have
  /// another key in each store. It is empty where one predicate fits all. With `pushesDown` false every plan runs in
  /// memory, to prove that both ways agree.
  public init(_ snapshots: [any StoreSnapshot], predicates: [ResolvedPredicate] = [], pushesDown: Bool = true) {
    self.snapshots = snapshots
    self.predicates = predicates
    self.pushesDown = pushesDown
  }

  /// Calls `body` with the values of each row, in the order of the plan's columns, and with the index of the snapshot
  /// that references among them belong to.
  ///
  /// Throws `invalidArgument` for a plan that makes no sense (`TablePlan.defect`).
  public func run(_ plan: TablePlan, _ body: ([Value], Int) -> Void) throws(StoreError) {
    if let defect = plan.defect { throw StoreError(.invalidArgument, defect) }
    var plan = plan
    if snapshots.count == 1, let predicate = predicates.first { plan.fetch.predicate = predicate }
    if snapshots.count == 1, pushesDown, let table = snapshots[0].fetching?.prepare(plan) {
      return try table.run { body($0, 0) }
    }
    if plan.isGrouped {
      var grouping = TableGrouping(plan, snapshots: snapshots.count)
      try forEach(Self.all(plan.fetch), plan.groups + plan.columns.map(\.expression)) { grouping.add($0, $1) }
      return emit(grouping.rows(), plan, isCut: false, body)
    }
    // Each object is one row: a single store may sort and cut, unless duplicates are removed later.
    let isCut = snapshots.count == 1 && !plan.isDistinct
    let fetch = isCut ? plan.fetch : plan.isDistinct ? Self.all(plan.fetch) : Self.window(plan.fetch)
    var rows: [TableRow] = []
    let sorts = isCut ? [] : plan.fetch.sort
    let columns = plan.columns.map(\.expression)
    try forEach(fetch, sorts.map { .path($0.path) } + columns) { values, position in
      let columns = Array(values.dropFirst(sorts.count))
      rows.append(
        TableRow(
          sortKeys: Array(values.prefix(sorts.count)), restKeys: plan.isDistinct ? columns : [], columns: columns,
          snapshot: position))
    }
    emit(isCut ? rows : TableRow.sorted(rows, sorts), plan, isCut: isCut, body)
  }

  private func emit(_ rows: [TableRow], _ plan: TablePlan, isCut: Bool, _ body: ([Value], Int) -> Void) {
    var known: Set<TableKey> = []
    var (skipped, left) = isCut ? (0, Int.max) : (plan.fetch.offset, plan.fetch.limit ?? .max)
    for row in rows {
      if plan.isDistinct && !known.insert(TableKey(row.columns, snapshot: row.snapshot)).inserted { continue }
      if skipped > 0 {
        skipped -= 1
      } else if left > 0 {
        left -= 1
        body(row.columns, row.snapshot)
      }
    }
  }

  /// All objects that a fetch selects, in any order.
  private static func all(_ fetch: FetchPlan) -> FetchPlan {
    var all = fetch
    (all.sort, all.offset, all.limit) = ([], 0, nil)
    return all
  }

  /// The part of a fetch that each of several stores returns: all rows of the window may come from one of them.
  private static func window(_ fetch: FetchPlan) -> FetchPlan {
    guard let limit = fetch.limit, case let (end, isTooLarge) = limit.addingReportingOverflow(fetch.offset), !isTooLarge
    else { return all(fetch) }
    var window = fetch
    (window.offset, window.limit) = (0, end)
    return window
  }

  /// Calls `body` with the values of expressions, object by object and store by store.
  private func forEach(
    _ fetch: FetchPlan, _ expressions: [ResolvedExpression], _ body: ([Value], Int) -> Void
  ) throws(StoreError) {
    for (position, snapshot) in snapshots.enumerated() {
      var fetch = fetch
      if predicates.indices.contains(position) { fetch.predicate = predicates[position] }
      let values = TablePlan(fetch, columns: expressions.map { .value($0) })
      if pushesDown, let table = snapshot.fetching?.prepare(values) {
        try table.run { body($0, position) }
        continue
      }
      let execution = FetchExecution(snapshot, pushesDown: pushesDown)
      if expressions.allSatisfy(\.isOwn) {
        let values = expressions.map { CompiledExpression<OwnRows>($0) }
        try execution.fetch(fetch) { row in
          let row = row
          body(values.map { $0(row, in: OwnRows()) }, position)
        }
        continue
      }
      // Other rows are read only after these: a store runs one list at a time.
      var rows: [Row] = []
      try execution.fetch(fetch) { rows.append($0) }
      let source = RowSource(snapshot)
      try source.prepare(rows, expressions.flatMap(\.ways))
      let compiled = expressions.map { CompiledExpression<RowSource>($0) }
      for row in rows {
        var values: [Value] = []
        for value in compiled { values.append(try value(row, in: source)) }
        body(values, position)
      }
    }
  }
}

extension TableExecution {
  /// Runs table plans on one snapshot.
  public init(_ snapshot: any StoreSnapshot, pushesDown: Bool = true) { self.init([snapshot], pushesDown: pushesDown) }
}
