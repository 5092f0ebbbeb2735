import StoreQuery
import StoreSchema

/// Runs table plans on any snapshot: the store selects and sorts the objects as far as it can, and the groups are made here.
public struct TableExecution {
  private let snapshot: any StoreSnapshot
  private let fetches: FetchExecution

  /// `pushesDown` false runs every plan the slow way, to prove that both ways agree.
  public init(_ snapshot: any StoreSnapshot, pushesDown: Bool = true) {
    self.snapshot = snapshot
    fetches = FetchExecution(snapshot, pushesDown: pushesDown)
  }

  /// Calls `body` with the values of each row, in the order of the plan's columns.
  ///
  /// Throws `invalidArgument` for a plan that makes no sense (``TablePlan/defect``).
  public func run(_ plan: TablePlan, _ body: ([Value]) -> Void) throws(StoreError) {
    if let defect = plan.defect { throw StoreError(.invalidArgument, defect) }
    var window = Window(plan)
    if plan.isGrouped {
      try runGroups(plan) { window.add($0, body) }
    } else {
      try runRows(plan) { window.add($0, body) }
    }
  }

  /// Which rows of the table are wanted.
  private struct Window {
    private let isDistinct: Bool
    private var known: Set<[Value]> = []
    private var skipped: Int
    private var left: Int

    init(_ plan: TablePlan) {
      isDistinct = plan.isDistinct
      skipped = plan.cutsObjects ? 0 : plan.fetch.offset
      left = plan.cutsObjects ? .max : plan.fetch.limit ?? .max
    }

    mutating func add(_ row: [Value], _ body: ([Value]) -> Void) {
      if isDistinct && !known.insert(row).inserted { return }
      if skipped > 0 {
        skipped -= 1
      } else if left > 0 {
        left -= 1
        body(row)
      }
    }
  }

  // MARK: Rows

  private func runRows(_ plan: TablePlan, _ body: ([Value]) -> Void) throws(StoreError) {
    var fetch = plan.fetch
    if !plan.cutsObjects { (fetch.offset, fetch.limit) = (0, nil) }
    try forEach(fetch, plan.columns.map(\.path), body)
  }

  /// Calls `body` with the values at `paths`, object by object.
  private func forEach(
    _ fetch: FetchPlan, _ paths: [SlotPath], _ body: ([Value]) -> Void
  ) throws(StoreError) {
    if paths.allSatisfy(\.hops.isEmpty) {
      return try fetches.fetch(fetch) { row in
        let row = row
        body(paths.map { row.value(of: $0.leaf) })
      }
    }
    // Other rows are read only after these: a store gives one list at a time.
    var rows: [Row] = []
    try fetches.fetch(fetch) { rows.append($0) }
    let source = RowSource(snapshot)
    try source.prepare(rows, paths.map(\.hops))
    for row in rows {
      var values: [Value] = []
      for path in paths { values.append(try source.value(at: path, of: row)) }
      body(values)
    }
  }

  // MARK: Groups

  private struct Group {
    let key: [Value]
    var collectors: [Aggregate.Collector]
  }

  private func runGroups(_ plan: TablePlan, _ body: ([Value]) -> Void) throws(StoreError) {
    var fetch = plan.fetch
    (fetch.sort, fetch.offset, fetch.limit) = ([], 0, nil)
    var aggregates: [(aggregate: Aggregate, path: SlotPath)] = []
    for case .aggregate(let aggregate, let path) in plan.columns { aggregates.append((aggregate, path)) }
    let none = aggregates.map { Aggregate.Collector($0.aggregate) }
    var (groups, places) = ([Group](), [[Value]: Int]())
    try forEach(fetch, plan.groups + aggregates.map(\.path)) { values in
      let key = Array(values.prefix(plan.groups.count))
      let place = places[key] ?? groups.count
      if place == groups.count {
        places[key] = place
        groups.append(Group(key: key, collectors: none))
      }
      for (index, value) in values.dropFirst(plan.groups.count).enumerated() {
        groups[place].collectors[index].add(value)
      }
    }
    if plan.groups.isEmpty && groups.isEmpty { groups.append(Group(key: [], collectors: none)) }
    let having = CompiledPredicate(plan.having, GroupSource(paths: plan.groups))
    for group in sorted(groups.filter { having($0.key) }, plan) { body(row(group, plan)) }
  }

  private func value(_ path: SlotPath, _ group: Group, _ plan: TablePlan) -> Value {
    plan.groups.firstIndex(of: path).map { group.key[$0] } ?? .null
  }

  private func sorted(_ groups: [Group], _ plan: TablePlan) -> [Group] {
    if plan.fetch.sort.isEmpty { return groups }
    return groups.enumerated().sorted { a, b in
      SortEvaluation.precedes(
        plan.fetch.sort, { value($0, a.element, plan) }, { value($0, b.element, plan) }) ?? (a.offset < b.offset)
    }.map(\.element)
  }

  private func row(_ group: Group, _ plan: TablePlan) -> [Value] {
    var collectors = group.collectors.makeIterator()
    return plan.columns.map { column in
      switch column {
      case .value(let path): value(path, group, plan)
      case .aggregate: collectors.next()?.value ?? .null
      }
    }
  }
}

/// What the objects of a group have in common.
private struct GroupSource: EvaluationSource {
  let paths: [SlotPath]

  func value(at path: SlotPath, of key: [Value]) -> Value { paths.firstIndex(of: path).map { key[$0] } ?? .null }
  func objects(over hops: [Relationship], from key: [Value]) -> [[Value]] { [] }
}

extension TablePlan {
  /// Whether each object is one row, so that the store may cut.
  fileprivate var cutsObjects: Bool { !isGrouped && !isDistinct }
}

extension TablePlan.Column {
  fileprivate var path: SlotPath {
    switch self {
    case .value(let path), .aggregate(_, let path): path
    }
  }
}
