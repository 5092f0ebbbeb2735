import CSQLiteRaw

/// A hash over everything that a store holds, to compare what both sides wrote.
enum StoreDigest {
  private static let queries = [
    "SELECT * FROM ZDEPARTMENT ORDER BY Z_PK",
    "SELECT * FROM ZEMPLOYEE ORDER BY Z_PK",
    "SELECT * FROM ZTAG ORDER BY Z_PK",
    "SELECT * FROM Z_2TAGS ORDER BY Z_2EMPLOYEES, Z_3TAGS",
    "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT",
  ]

  /// Row counts and a hash of each table, every column of every row included.
  static func digest(_ path: String) throws -> String {
    let database = try RawDatabase(path, synchronous: "NORMAL")
    return try queries.map { query in
      let statement = try database.prepare(query)
      var (count, hash) = (0, UInt64(0xcbf2_9ce4_8422_2325))
      while statement.step() {
        count += 1
        for column in 0..<sqlite3_column_count(statement.handle) { add(statement, column, &hash) }
      }
      return "\(count):\(String(hash, radix: 16))"
    }.joined(separator: " ")
  }

  private static func add(_ statement: RawStatement, _ column: Int32, _ hash: inout UInt64) {
    let type = sqlite3_column_type(statement.handle, column)
    add(UInt64(type), &hash)
    switch type {
    case SQLITE_INTEGER: add(UInt64(bitPattern: statement.int(column)), &hash)
    case SQLITE_FLOAT: add(statement.double(column).bitPattern, &hash)
    case SQLITE_NULL: break
    default:
      let count = Int(sqlite3_column_bytes(statement.handle, column))
      add(UInt64(count), &hash)
      let bytes = UnsafeRawBufferPointer(start: sqlite3_column_blob(statement.handle, column), count: count)
      for byte in bytes { add(UInt64(byte), &hash) }
    }
  }

  @inline(__always)
  private static func add(_ value: UInt64, _ hash: inout UInt64) { hash = (hash ^ value) &* 0x100_0000_01b3 }
}
