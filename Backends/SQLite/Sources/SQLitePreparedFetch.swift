import SQLEngine
import StoreProtocol
import StoreQuery
import StoreSchema

/// A fetch that a snapshot has translated.
struct SQLitePreparedFetch: PreparedFetch {
  private let snapshot: SQLiteSnapshot
  private let sql: SQLFetch

  init(_ snapshot: SQLiteSnapshot, _ sql: SQLFetch) { (self.snapshot, self.sql) = (snapshot, sql) }

  var residual: FetchResidual { sql.residual }

  func fetch(_ body: (consuming Row) -> Void) throws(StoreError) {
    if !residual.isEmpty { snapshot.log(residual) }
    try snapshot.confirmed { () throws(StoreError) in try snapshot.rows.fetch(sql, body) }
  }

  func references(_ body: (ObjectReference) -> Void) throws(StoreError) {
    try snapshot.confirmed { () throws(StoreError) in try snapshot.rows.references(sql, body) }
  }

  func count() throws(StoreError) -> Int {
    try snapshot.confirmed { () throws(StoreError) in try snapshot.rows.count(sql) }
  }

  func explanation() throws(StoreError) -> [String] { try snapshot.rows.explanation(of: sql) }
}

/// A table that a snapshot has translated.
struct SQLitePreparedTable: PreparedTable {
  private let snapshot: SQLiteSnapshot
  private let sql: SQLTable

  init(_ snapshot: SQLiteSnapshot, _ sql: SQLTable) { (self.snapshot, self.sql) = (snapshot, sql) }

  func run(_ body: ([Value]) -> Void) throws(StoreError) {
    try snapshot.confirmed { () throws(StoreError) in try snapshot.rows.run(sql, body) }
  }
}
