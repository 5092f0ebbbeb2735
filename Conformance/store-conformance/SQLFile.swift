import CSQLite
import Foundation
import StoreConformance

/// Files of SQLite as another program changes them: by statements, and nothing keeps them from doing damage.
enum SQLFile {
  static func execute(_ statements: [String], at url: URL) throws {
    var database: OpaquePointer?
    defer { sqlite3_close_v2(database) }
    guard sqlite3_open_v2(url.path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      throw HarnessProblem("the file does not open in SQLite")
    }
    for statement in statements where sqlite3_exec(database, statement, nil, nil, nil) != SQLITE_OK {
      throw HarnessProblem("\(statement): \(String(cString: sqlite3_errmsg(database)))")
    }
  }
}
