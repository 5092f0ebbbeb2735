import StoreProtocol
import StoreQuery
import StoreSchema

/// Tables of values.
extension SQLReader {
  /// Translates a table; nil where SQL cannot express it. See `FetchingSnapshot`.
  public func prepare(_ plan: TablePlan) -> SQLTable? { SQLTable(plan, binding.layout) }

  /// Calls `body` with the values of each row of a table.
  public func run(_ table: SQLTable, _ body: ([Value]) -> Void) throws(StoreError) {
    try run(table.text) { (statement) throws(StoreError) in try statement.drain(table.columns, binding.numbers, body) }
  }
}
