import CSQLiteRaw
import Foundation
import Synchronization

/// Counts the SQL texts that run on any connection of this process, the library's own included.
enum StatementTrace {
  private static let counts = Mutex<[String: Int]>([:])
  /// Whether a measured section runs; what comes before and after it is not counted.
  nonisolated(unsafe) static var isCounting = false

  /// Traces every connection opened from now on.
  static func start() {
    let attach:
      @convention(c) (
        OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, OpaquePointer?
      ) -> Int32 = { database, _, _ in
        sqlite3_trace_v2(
          database, UInt32(SQLITE_TRACE_STMT),
          { _, _, statement, _ in
            guard StatementTrace.isCounting, let statement, let text = sqlite3_sql(OpaquePointer(statement)) else {
              return 0
            }
            let name = String(cString: text)
            StatementTrace.counts.withLock { $0[name, default: 0] += 1 }
            return 0
          }, nil)
      }
    sqlite3_auto_extension(unsafeBitCast(attach, to: (@convention(c) () -> Void).self))
  }

  /// Writes the texts with their counts to standard error, in the order of the texts.
  static func write() {
    for (text, count) in counts.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      FileHandle.standardError.write(Data("\(count) × \(text)\n".utf8))
    }
  }
}
