import CSQLiteRaw
import Foundation

/// One SQLite connection, used through the C API as directly as Swift allows.
final class RawDatabase {
  let handle: OpaquePointer

  /// Opens an existing store, or makes an empty database file. `cache` is the bytes of its page cache where that is not
  /// SQLite's default.
  init(_ path: String, synchronous: String, cache: Int? = nil) throws {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK, let handle else {
      throw BenchmarkError("SQLite cannot open \(path).")
    }
    self.handle = handle
    // Another connection may be about to open or to close the log.
    sqlite3_busy_timeout(handle, 60_000)
    try execute("PRAGMA synchronous = \(synchronous)")
    if let cache { try execute("PRAGMA cache_size = \(-cache / 1024)") }
  }

  deinit { sqlite3_close_v2(handle) }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error(sql) }
  }

  func prepare(_ sql: String) throws -> RawStatement {
    var statement: OpaquePointer?
    let result = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard result == SQLITE_OK, let statement else { throw error(sql) }
    return RawStatement(statement)
  }

  /// How many rows the last statement changed.
  @inline(__always) var changedRows: Int32 { sqlite3_changes(handle) }

  func error(_ doing: String) -> BenchmarkError {
    BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(handle))), doing: \(doing)")
  }
}

/// A compiled statement, finalized with its last reference.
final class RawStatement {
  let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  /// Whether there is a row.
  @inline(__always) func step() -> Bool { sqlite3_step(handle) == SQLITE_ROW }

  @inline(__always) func reset() { sqlite3_reset(handle) }

  /// Runs a statement without rows; false where SQLite refuses it.
  @inline(__always) func run() -> Bool {
    let result = sqlite3_step(handle)
    sqlite3_reset(handle)
    return result == SQLITE_DONE
  }

  @inline(__always) func bind(_ value: Int64, _ index: Int32) { sqlite3_bind_int64(handle, index, value) }
  @inline(__always) func bind(double value: Double, _ index: Int32) { sqlite3_bind_double(handle, index, value) }

  /// The bytes must live until the statement has run.
  @inline(__always) func bind(text: UnsafeBufferPointer<UInt8>, _ index: Int32) {
    let start = UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)
    sqlite3_bind_text(handle, index, start, Int32(text.count), nil)
  }

  /// The bytes must live until the statement has run.
  @inline(__always) func bind(blob: UnsafeRawBufferPointer, _ index: Int32) {
    sqlite3_bind_blob(handle, index, blob.baseAddress, Int32(blob.count), nil)
  }

  @inline(__always) func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  @inline(__always) func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  @inline(__always) func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  @inline(__always) func data(_ column: Int32) -> Data {
    guard let start = sqlite3_column_blob(handle, column) else { return Data() }
    return Data(bytes: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  @inline(__always) func uuid(_ column: Int32) -> UUID {
    guard let start = sqlite3_column_blob(handle, column), sqlite3_column_bytes(handle, column) == 16 else {
      return UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }
    return UUID(uuid: start.loadUnaligned(as: uuid_t.self))
  }
}
