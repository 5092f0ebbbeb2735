import CSQLite
import Foundation
import StoreProtocol
import StoreSupport

/// Maps SQLite's result codes to store errors. No other code does.
enum SQLiteError {
  /// The error for a failed call on `database`.
  static func make(_ code: Int32, _ database: OpaquePointer?, _ doing: String, sql: String? = nil) -> StoreError {
    var context = ["sqlite": String(code)]
    if let sql { context["sql"] = sql }
    let text = database.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
    let number = systemError(code, database)
    if number != 0 { context["errno"] = String(number) }
    if code & 0xff == SQLITE_ERROR, sql != nil, !(text ?? "").hasPrefix("no such ") {
      return refused(doing, context, text)
    }
    return StoreError(
      self.code(code, systemError: number), "SQLite failed at \(doing): \(advice(code, number))", context: context,
      cause: text)
  }

  /// A statement that SQLite rejects, for example because it is too deep. This says nothing about the file, unless a
  /// table or column is missing.
  private static func refused(_ doing: String, _ context: [String: String], _ text: String?) -> StoreError {
    StoreError(
      .unsupported, "SQLite failed at \(doing): it refuses the statement. The file is not at fault",
      context: context, cause: text)
  }

  /// The `errno` behind a failure, 0 for none, from SQLite or from the last failed call on one of its two files.
  ///
  /// SQLite gives none for a failed read that it reports as corruption. The `errno` of a file may be of an earlier
  /// failure.
  private static func systemError(_ code: Int32, _ database: OpaquePointer?) -> Int32 {
    guard let database else { return 0 }
    let said = sqlite3_system_errno(database)
    guard said == 0, [SQLITE_CORRUPT, SQLITE_IOERR].contains(code & 0xff) else { return said }
    for file in [SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER] {
      var pointer: UnsafeMutablePointer<sqlite3_file>?
      guard sqlite3_file_control(database, "main", file, &pointer) == SQLITE_OK, let pointer,
        let control = pointer.pointee.pMethods?.pointee.xFileControl
      else { continue }
      var number: Int32 = 0
      if control(pointer, SQLITE_FCNTL_LAST_ERRNO, &number) != SQLITE_OK || number == 0 { continue }
      if code & 0xff == SQLITE_IOERR || readErrors.contains(number) { return number }
    }
    return 0
  }

  /// Errors that SQLite reports as corruption.
  private static let readErrors = [EIO, ENXIO, ERANGE]

  /// A failed read that SQLite reports as corruption is an I/O error, so that nobody deletes good data because of it.
  private static func code(_ code: Int32, systemError: Int32) -> StoreError.Code {
    switch code & 0xff {
    case SQLITE_CORRUPT: systemError == 0 ? .corrupt : .io
    case SQLITE_NOTADB: .notAStore
    // PROTOCOL: transactions began at the same time, and for seconds this one has lost each race for the lock of the
    // log (https://sqlite.org/rescode.html#protocol).
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
    case SQLITE_READONLY: .readOnly
    case SQLITE_FULL: .full
    case SQLITE_CANTOPEN: systemError == 0 || POSIXErrorCode(rawValue: systemError) == .ENOENT ? .notFound : .io
    case SQLITE_CONSTRAINT: .constraint
    case SQLITE_IOERR where systemError != ENOENT && systemError != ENOTDIR: .init(systemError: systemError)
    case SQLITE_IOERR, SQLITE_NOMEM: .io
    case SQLITE_PERM, SQLITE_AUTH: .readOnly
    case SQLITE_TOOBIG: .invalidArgument
    // Only the limit on the work of opening interrupts a statement.
    case SQLITE_INTERRUPT: .corrupt
    default: .corrupt
    }
  }

  private static func advice(_ code: Int32, _ systemError: Int32) -> String {
    switch code & 0xff {
    case SQLITE_CORRUPT where systemError != 0: "the operating system could not read the file"
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: "another connection holds the store; try again"
    case SQLITE_READONLY: "the store or its folder cannot be written"
    case SQLITE_FULL: "the disk is full; free some room and save again"
    case SQLITE_CANTOPEN: "the file cannot be opened; check that its folder exists and may be used"
    case SQLITE_INTERRUPT: "the file asks for more work than any store needs; work on a copy"
    case SQLITE_TOOBIG: "a value or an object is larger than SQLite takes, which is a billion bytes; keep it in a file"
    case SQLITE_NOTADB: "the file is no SQLite database"
    case SQLITE_CONSTRAINT: "a value that must be unique is there already"
    case SQLITE_IOERR: "the operating system could not read or write the file"
    case SQLITE_CORRUPT: "the content of the file contradicts SQLite's format; work on a copy"
    default: "see the cause"
    }
  }
}
