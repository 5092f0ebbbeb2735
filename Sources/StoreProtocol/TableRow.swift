import StoreQuery
import StoreSchema

/// A row of a table before the table is sorted.
struct TableRow {
  /// The values of the plan's sorts.
  var sortKeys: [Value] = []
  /// What orders rows that the sorts do not tell apart.
  var restKeys: [Value] = []
  var columns: [Value]
  /// The place of the snapshot that it comes from.
  var snapshot: Int

  /// The rows by the sorts, then in the ascending order of their other keys, else as they came.
  static func sorted(_ rows: [TableRow], _ sorts: [ResolvedSort]) -> [TableRow] {
    rows.enumerated().sorted { a, b in
      if let isBefore = SortEvaluation.precedes(sorts, a.element.sortKeys, b.element.sortKeys) { return isBefore }
      for (x, y) in zip(a.element.restKeys, b.element.restKeys) {
        let order = SortComparison.compare(x, y)
        if order != .same { return order == .ascending }
      }
      return a.offset < b.offset
    }.map(\.element)
  }
}

/// What makes rows or groups the same: equal values, and with references among them the same store.
struct TableKey: Hashable {
  private let values: [EqualValue]
  private let snapshot: Int?

  init(_ values: some Sequence<Value>, snapshot: Int) {
    self.values = values.map(EqualValue.init)
    let hasReferences = self.values.contains { if case .reference = $0.value { true } else { false } }
    self.snapshot = hasReferences ? snapshot : nil
  }
}
