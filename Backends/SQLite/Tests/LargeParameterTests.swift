import CSQLite
import Foundation
import SQLEngine
import StoreProtocol
import StoreSchema
import Testing

@testable import SQLiteBackend

/// A value that SQLite refuses as a parameter causes an error; NULL is never stored instead.
@Suite struct LargeParameterTests {
  @Test func aValueThatIsTooLongIsRefused() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "large-\(UUID().uuidString)").path
    defer { for end in ["", "-journal"] { try? FileManager.default.removeItem(atPath: path + end) } }
    let connection = try SQLiteConnection(path, .readWriteCreate, timeout: 1)
    try connection.execute("CREATE TABLE t (x)")
    sqlite3_limit(connection.database, SQLITE_LIMIT_LENGTH, 1000)
    let insert = try connection.prepare("INSERT INTO t VALUES (?)")
    let builder = RowBuilder()
    for value in [Value.data(Data(repeating: 7, count: 1001)), .string(String(repeating: "x", count: 1001))] {
      insert.bind(value, at: 1)
      let error = #expect(throws: StoreError.self) { try insert.run() }
      #expect(error?.code == .invalidArgument)
      builder.begin(slots: 1)
      builder.set(0, value)
      let row = builder.finish(key: 1, entity: 0, version: 1)
      let kind: SlotKind = if case .data = value { .data } else { .string }
      insert.bind(row, [BoundColumn(slot: 0, kind: kind, column: 0)], from: 1, EntityNumbers([1]))
      #expect(throws: StoreError.self) { try insert.run() }
    }
    insert.bind(.string("y"), at: 1)
    try insert.run()
    #expect(try connection.integer("SELECT count(*) FROM t") == 1)
  }
}
