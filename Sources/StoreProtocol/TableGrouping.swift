import StoreQuery
import StoreSchema

/// Collects the values of objects in the groups of a table.
struct TableGrouping {
  private struct Group {
    let keys: [Value]
    let snapshot: Int
  }

  private let plan: TablePlan
  private let hasOneKey: Bool
  private var groups: [Group] = []
  /// The index of each group, by all values that its objects have in common.
  private var positions: [TableKey: Int] = [:]
  /// The same for groups of one store with one value in common.
  private var positionsOfOne: [EqualValue: Int] = [:]
  /// A collector for each column, group by group.
  private var collectors: [ColumnCollector] = []

  init(_ plan: TablePlan, snapshots: Int) {
    self.plan = plan
    hasOneKey = plan.groups.count == 1 && snapshots == 1
  }

  /// Adds an object: the values of the plan's groups, then those of its columns.
  mutating func add(_ values: [Value], _ snapshot: Int) {
    let first = position(values, snapshot) * plan.columns.count
    for column in plan.columns.indices { collectors[first + column].add(values[plan.groups.count + column]) }
  }

  private mutating func position(_ values: [Value], _ snapshot: Int) -> Int {
    if hasOneKey {
      let key = EqualValue(value: values[0])
      if let known = positionsOfOne[key] { return known }
      positionsOfOne[key] = groups.count
    } else {
      let key = TableKey(values.prefix(plan.groups.count), snapshot: snapshot)
      if let known = positions[key] { return known }
      positions[key] = groups.count
    }
    addGroup(Array(values.prefix(plan.groups.count)), snapshot)
    return groups.count - 1
  }

  private mutating func addGroup(_ keys: [Value], _ snapshot: Int) {
    groups.append(Group(keys: keys, snapshot: snapshot))
    for column in plan.columns { collectors.append(ColumnCollector(column)) }
  }

  /// The rows of the groups that the plan keeps, in their order.
  func rows() -> [TableRow] {
    var all = self
    if plan.groups.isEmpty && groups.isEmpty {
      all.addGroup([], 0)
      // A column that is no aggregate has the same value for all objects, so it needs no object.
      for (position, column) in plan.columns.enumerated() {
        guard case .value(let expression) = column else { continue }
        all.collectors[position].add(CompiledExpression(expression)(TableSource.Group(), in: TableSource(groups: [])))
      }
    }
    let (having, source) = (CompiledPredicate<TableSource>(plan.having), TableSource(groups: plan.groups))
    let rows = all.groups.indices.map(all.row).filter {
      having(TableSource.Group(keys: $0.restKeys, columns: $0.columns), in: source)
    }
    return TableRow.sorted(rows, plan.fetch.sort)
  }

  private func row(_ position: Int) -> TableRow {
    let (group, first) = (groups[position], position * plan.columns.count)
    return TableRow(
      sortKeys: plan.fetch.sort.map { sort in
        plan.groups.firstIndex(of: .path(sort.path)).map { group.keys[$0] } ?? .null
      },
      restKeys: group.keys, columns: collectors[first..<first + plan.columns.count].map(\.value),
      snapshot: group.snapshot)
  }
}

/// Makes one value from the values of a group.
private struct ColumnCollector {
  /// Nil for a column that takes the value of the first object, which all objects share.
  private let aggregate: ResolvedAggregate?
  private var running: Aggregate.Collector?
  /// The values, where they are needed together.
  private var values: [Value] = []
  /// Values added before; nil where duplicates count.
  private var known: Set<EqualValue>?

  init(_ column: TablePlan.Column) {
    guard case .aggregate(let aggregate, _, let isDistinct) = column else {
      self.aggregate = nil
      return
    }
    self.aggregate = aggregate
    if case .aggregate(let aggregate) = aggregate { running = Aggregate.Collector(aggregate) }
    known = isDistinct ? [] : nil
  }

  mutating func add(_ value: Value) {
    if known?.insert(EqualValue(value: value)).inserted == false { return }
    if running != nil {
      running?.add(value)
    } else if aggregate != nil || values.isEmpty {
      values.append(value)
    }
  }

  var value: Value { running?.value ?? aggregate?.evaluate(values) ?? values.first ?? .null }
}

/// The values that conditions on groups read.
private struct TableSource: EvaluationSource {
  struct Group {
    var keys: [Value] = []
    var columns: [Value] = []
  }

  let groups: [ResolvedExpression]

  func value(at path: SlotPath, of group: Group) -> Value {
    if case .column(let position) = path.leaf { return group.columns[position] }
    return groups.firstIndex(of: .path(path)).map { group.keys[$0] } ?? .null
  }

  func objects(over hops: [Relationship], from group: Group) -> [Group] { [] }
}
