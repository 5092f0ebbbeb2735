import StoreQuery
import StoreSchema

/// A row of a table before the table is sorted.
struct TableRow {
  /// The values of the plan's sorts.
  var sortKeys: [Value] = []
  /// Values that order rows with equal sort keys.
  var restKeys: [Value] = []
  var columns: [Value]
  /// The index of the snapshot that the row comes from.
  var snapshot: Int

  /// The rows by the sorts, then ascending by their other keys, then in their order of arrival.
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

/// Identifies equal rows or groups: equal values, and the same store if there are references among them.
struct TableKey: Hashable {
  private let values: [EqualValue]
  private let snapshot: Int?

  init(_ values: some Sequence<Value>, snapshot: Int) {
    self.values = values.map(EqualValue.init)
    let hasReferences = self.values.contains { if case .reference = $0.value { true } else { false } }
    self.snapshot = hasReferences ? snapshot : nil
  }
}
