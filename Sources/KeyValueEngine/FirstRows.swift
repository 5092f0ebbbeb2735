import StoreProtocol
import StoreQuery
import StoreSchema

extension FetchPlan {
  func precedes(_ a: Row, _ b: Row) -> Bool {
    SortEvaluation.precedes(sort, { a.value(of: $0.leaf) }, { b.value(of: $0.leaf) }) ?? (a.key < b.key)
  }
}

/// The first rows of a plan, chosen from more rows in any order.
struct FirstRows {
  private let plan: FetchPlan
  /// How many rows are needed, nil for all.
  private let required: Int?
  /// Sorted where only some rows are needed.
  private var rows: [Row] = []

  init(_ plan: FetchPlan) {
    self.plan = plan
    let (sum, overflow) = plan.offset.addingReportingOverflow(plan.limit ?? .max)
    required = overflow || sum > 1000 ? nil : sum
  }

  mutating func add(_ row: Row) {
    guard let required else { return rows.append(row) }
    if rows.count == required, let last = rows.last, !plan.precedes(row, last) { return }
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if plan.precedes(rows[middle], row) { low = middle + 1 } else { high = middle }
    }
    if rows.count == required { rows.removeLast() }
    rows.insert(row, at: low)
  }

  consuming func finish() -> ArraySlice<Row> {
    if required == nil { rows.sort { plan.precedes($0, $1) } }
    let tail = rows.dropFirst(plan.offset)
    return plan.limit.map { tail.prefix($0) } ?? tail
  }
}
