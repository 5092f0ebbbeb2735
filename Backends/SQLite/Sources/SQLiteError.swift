import CSQLite
import Foundation
import StoreProtocol

/// The one place where SQLite's result codes become store errors.
enum SQLiteError {
  /// The error for a failed call on `database`.
  static func make(_ code: Int32, _ database: OpaquePointer?, _ doing: String, sql: String? = nil) -> StoreError {
    var context = ["sqlite": String(code)]
    if let sql { context["sql"] = sql }
    let text = database.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
    let number = database.map { sqlite3_system_errno($0) } ?? 0
    if number != 0 { context["errno"] = String(number) }
    return StoreError(
      self.code(code, systemError: number), "SQLite failed at \(doing): \(advice(code))", context: context, cause: text)
  }

  /// A failed read that SQLite reports as corruption stays an I/O error: nobody shall delete good data because of it.
  private static func code(_ code: Int32, systemError: Int32) -> StoreError.Code {
    switch code & 0xff {
    case SQLITE_CORRUPT: systemError == 0 ? .corrupt : .io
    case SQLITE_NOTADB: .notAStore
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_READONLY: .readOnly
    case SQLITE_FULL: .full
    case SQLITE_CANTOPEN: systemError == 0 || POSIXErrorCode(rawValue: systemError) == .ENOENT ? .notFound : .io
    case SQLITE_CONSTRAINT: .constraint
    case SQLITE_IOERR, SQLITE_NOMEM, SQLITE_PROTOCOL: .io
    case SQLITE_PERM, SQLITE_AUTH: .readOnly
    // Nobody interrupts but the limit on the work that opening may take.
    case SQLITE_INTERRUPT: .corrupt
    default: .corrupt
    }
  }

  private static func advice(_ code: Int32) -> String {
    switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED: "another connection holds the store; try again"
    case SQLITE_READONLY: "the store or its folder cannot be written"
    case SQLITE_FULL: "the disk is full; free some room and save again"
    case SQLITE_CANTOPEN: "the file cannot be opened; check that its folder exists and may be used"
    case SQLITE_INTERRUPT: "the file asks for more work than any store needs; work on a copy"
    case SQLITE_NOTADB: "the file is no SQLite database"
    case SQLITE_CONSTRAINT: "a value that must be unique is there already"
    case SQLITE_IOERR: "the operating system could not read or write the file"
    case SQLITE_CORRUPT: "the content of the file contradicts SQLite's format; work on a copy"
    default: "see the cause"
    }
  }
}
