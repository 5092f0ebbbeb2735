import Foundation
import SQLEngine
import StoreProtocol
import StoreQuery
import StoreSchema
import StoreSupport

/// A pooled connection inside a read transaction.
///
/// Sendable, unchecked: the protocol promises one caller at a time.
final class SQLiteSnapshot: FetchingSnapshot, InspectingSnapshot, @unchecked Sendable {
  let commitNumber: UInt64
  private let reader: SQLiteReader
  let rows: SQLReader<SQLiteConnection>
  private let pool: SQLitePool
  private let externalData: ExternalDataView?

  init(_ pool: SQLitePool, commitNumber: UInt64, _ externalData: ExternalDataView?) throws(StoreError) {
    self.pool = pool
    self.externalData = externalData
    self.commitNumber = commitNumber
    reader = try pool.take()
    rows = SQLReader(reader.statements)
    // After an error here `deinit` runs and gives the reader back.
    do throws(StoreError) {
      try begin()
      // It is unknown whether the view is of the store or of the one that replaces it.
      while reader.file.isBeingReplaced {
        try reader.statements.statement(text: "COMMIT").run()
        reader.file.waitForReplacement()
        try begin()
      }
    } catch { throw reader.file.explained(error) }
  }

  /// BEGIN alone takes no view; the first read does. The read also checks that the store is the one that was opened.
  private func begin() throws(StoreError) {
    try reader.statements.statement(text: "BEGIN").run()
    let metadata = try reader.statements.statement(text: "SELECT Z_UUID FROM Z_METADATA")
    defer { metadata.reset() }
    try reader.file.require(identifier: try metadata.step() ? metadata.string(0) : nil)
    reader.connection.noteLog()
  }

  deinit {
    // A connection that cannot end its transaction is dropped, which ends it.
    let isClean: Bool
    do {
      try reader.statements.statement(text: "COMMIT").run()
      isClean = true
    } catch { isClean = false }
    pool.give(isClean ? reader : nil)
  }

  func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError) {
    try confirmed { () throws(StoreError) in try rows.rows(of: entity, keys: keys, body) }
  }

  func externalDataNames(_ schema: Schema, _ body: (Data) -> Bool) throws(StoreError) {
    try confirmed { () throws(StoreError) in try rows.externalDataNames(body) }
  }

  func row(of entity: Int, key: Int64) throws(StoreError) -> Row? {
    let row = try rows.row(of: entity, key: key)
    try reader.confirm()
    return row
  }

  func rows(
    of entity: Int, between keys: ClosedRange<Int64>, _ body: (consuming Row) -> Void
  ) throws(StoreError) -> Bool {
    try confirmed { () throws(StoreError) in try rows.rows(of: entity, between: keys, body) }
    return true
  }

  func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {
    try confirmed { () throws(StoreError) in try rows.scan(entities, body) }
  }

  func destinations(
    of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError) {
    try confirmed { () throws(StoreError) in try rows.destinations(of: relationship, owners: owners, body) }
  }

  func prepare(_ plan: FetchPlan) -> any PreparedFetch { SQLitePreparedFetch(self, rows.prepare(plan)) }

  func prepare(_ plan: TablePlan) -> (any PreparedTable)? { rows.prepare(plan).map { SQLitePreparedTable(self, $0) } }

  func estimatedCount(_ plan: FetchPlan) -> Int? { rows.estimatedCount(plan) }

  func inspect(
    _ entity: Int, _ body: (InspectedObject) throws(StoreError) -> Void
  ) throws(StoreError) {
    try confirmed { () throws(StoreError) in try SQLInspection(reader.statements).inspect(entity, body) }
  }

  func findings(_ body: (StoreFinding) -> Void) throws(StoreError) {
    try confirmed { () throws(StoreError) in try SQLiteFindings(reader).findings(body) }
  }

  /// Writes what a fetch leaves to the caller into the log of statements.
  func log(_ residual: FetchResidual) {
    let trace = reader.statements.connection.debugTrace
    if trace.level <= 0 { return }
    let schema = reader.statements.binding.layout.schema
    trace.noteResidual(
      residual.predicate?.text(schema, showsValues: trace.level > 1), isSorted: !residual.sort.isEmpty)
  }

  /// The result of `read`. Throws where a file that is read without locks was written meanwhile, because the result is
  /// then invalid.
  func confirmed<R>(_ read: () throws(StoreError) -> R) throws(StoreError) -> R {
    let result: R
    do { result = try read() } catch {
      try reader.confirm()
      throw error
    }
    try reader.confirm()
    return result
  }
}
