import CSQLite
import StoreProtocol
import Testing

@testable import SQLiteBackend

@Suite struct SQLiteErrorTests {
  /// Where many connections begin and end at once, on a slow machine, SQLite gives up with another code than BUSY.
  @Test(arguments: [SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL])
  func whoLosesARaceForTheLockMayTryAgain(_ code: Int32) {
    let error = SQLiteError.make(code, nil, "begin")
    #expect(error.code == .busy && error.message.hasSuffix("try again"), "\(error)")
  }
}
