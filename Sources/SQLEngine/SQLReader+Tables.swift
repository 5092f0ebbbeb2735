import StoreProtocol
import StoreQuery
import StoreSchema

/// Tables of values.
extension SQLReader {
  /// Whether SQL can express the table; see `FetchingSnapshot`.
  public func canPush(_ plan: TablePlan) -> Bool { SQLTable(plan, binding.layout) != nil }

  /// Calls `body` with the values of each row of a table.
  public func table(_ plan: TablePlan, _ body: ([Value]) -> Void) throws(StoreError) {
    guard let table = SQLTable(plan, binding.layout) else {
      throw StoreError(.unsupported, "This table cannot be said in SQL; it should have been made of rows.")
    }
    var text = table.text
    text.append(Self.window(plan.fetch))
    try run(text) { (statement) throws(StoreError) in try statement.drain(table.columns, binding.numbers, body) }
  }
}
