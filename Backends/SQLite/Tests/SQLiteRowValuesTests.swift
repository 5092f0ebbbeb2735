import CSQLite
import Foundation
import Testing

@testable import SQLiteBackend

/// The canary of the values that are kept from row to row, and the documented way instead of it.
@Suite struct SQLiteRowValuesTests {
  private static let queries = [
    "SELECT A, B, C FROM T", "SELECT A, B, C FROM T ORDER BY C", "SELECT A FROM T",
    "SELECT A, B, C FROM T WHERE A < 3 UNION ALL SELECT C, B, A FROM T",
    "SELECT A, B, C FROM T UNION SELECT C, B, A FROM T",
    "SELECT A, B, C FROM (SELECT A, B, C FROM T ORDER BY C LIMIT 5) ORDER BY A",
    "WITH R (A, B, C) AS (SELECT 1, 'x', 2 UNION ALL SELECT A + 1, B || 'x', A * 2 FROM R WHERE A < 40) SELECT * FROM R",
    "SELECT count(*), max(B), min(C) FROM T GROUP BY A % 7", "VALUES (1, 2, 3), (4, 5, 6)",
  ]

  private static func withConnection(_ body: (SQLiteConnection) throws -> Void) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let connection = try SQLiteConnection(file.path, .readWriteCreate, timeout: 1)
    try connection.execute("CREATE TABLE T (A INTEGER, B TEXT, C REAL)")
    for number in 0..<50 {
      try connection.execute("INSERT INTO T VALUES (\(number), '\(String(repeating: "b", count: number))', -\(number))")
    }
    try body(connection)
  }

  /// Runs a statement twice, and returns the number of rows and whether all values were those of SQLite's own call.
  private static func run(
    _ statement: SQLiteStatement, _ values: inout SQLiteRowValues
  ) throws -> (rows: Int, areRight: Bool) {
    var result = (rows: 0, areRight: true)
    for _ in 0..<2 {
      while try statement.step() {
        let found = values.current(of: statement.handle)
        for column in 0..<Int(sqlite3_column_count(statement.handle)) {
          if found[column] != sqlite3_column_value(statement.handle, Int32(column)) { result.areRight = false }
        }
        result.rows += 1
      }
      statement.reset()
      values.beginRun()
    }
    return result
  }

  /// Fails where a version of SQLite keeps the values of a row otherwise. Rows are read more slowly then.
  @Test(arguments: queries) func valuesAreAdjacentAndStay(_ query: String) throws {
    try Self.withConnection { connection in
      let statement = try connection.prepare(query)
      var values = SQLiteRowValues(mayKeep: true)
      let result = try Self.run(statement, &values)
      #expect(result.rows > 1 && result.areRight && values.areKept)
    }
  }

  @Test(arguments: queries) func valuesAreFoundWithoutTheTrick(_ query: String) throws {
    try Self.withConnection { connection in
      let statement = try connection.prepare(query)
      var values = SQLiteRowValues(mayKeep: false)
      let result = try Self.run(statement, &values)
      #expect(result.rows > 1 && result.areRight && !values.areKept)
    }
  }

  /// SQLite compiles the statement anew, with other registers.
  @Test func valuesAreFoundAfterAChangeOfTheSchema() throws {
    try Self.withConnection { connection in
      let statement = try connection.prepare("SELECT A, B, C FROM T")
      var values = SQLiteRowValues(mayKeep: true)
      for column in 0..<3 {
        let result = try Self.run(statement, &values)
        #expect(result.rows == 100 && result.areRight && values.areKept)
        try connection.execute("ALTER TABLE T ADD COLUMN Other\(column)")
        try connection.execute("CREATE INDEX I\(column) ON T (Other\(column))")
      }
    }
  }

  @Test func valuesThatAreNotAdjacentAreSeen() {
    func areAdjacent(_ addresses: [Int]) -> Bool {
      addresses.map { OpaquePointer(bitPattern: $0) }.withUnsafeBufferPointer(SQLiteRowValues.areAdjacent)
    }
    #expect(areAdjacent([56]) && areAdjacent([56, 112]) && areAdjacent([56, 112, 168, 224]))
    #expect(!areAdjacent([56, 112, 168, 225]) && !areAdjacent([112, 56]) && !areAdjacent([56, 56, 56]))
    #expect(!areAdjacent([56, 112, 0]) && !areAdjacent([56, 112, 56]))
  }
}
