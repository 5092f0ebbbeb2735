import CSQLite
import Foundation
import SQLEngine
import StoreProtocol

/// One connection to an SQLite database. Used by one caller at a time, from any thread.
final class SQLiteConnection: SQLConnection {
  private(set) var database: OpaquePointer?
  let functions = SQLiteFunctions()
  let debugTrace = SQLiteTrace()
  private let trace: (@Sendable (String, Double) -> Void)?
  private let path: String
  /// The file of the connection, where it is counted as open; see ``SQLiteOpenFiles``.
  private(set) var identity: SQLiteOpenFiles.Identity?
  /// The data version at which the store's UUID was last checked, nil for none.
  var checkedDataVersion: UInt32?
  /// Whether the log beside the file was noted.
  private var hasNotedLog = false
  private let process = ProcessCopy.current
  let log: SQLiteLog
  let isImmutable: Bool

  enum Mode: Equatable {
    case readWriteCreate, readWrite, readOnly
    /// Reads the shared memory of other processes, and makes none.
    case readOnlySharedMemory
    /// Takes no locks and reads no other file: for a database that nobody changes meanwhile.
    case immutable
    /// Reads a database together with a copy of its log, which is at this path; see ``SQLiteCopiedLog``.
    case copiedLog(String)

    /// Whether SQLite takes locks on the file.
    var isLocking: Bool {
      switch self {
      case .immutable, .copiedLog: false
      case .readWriteCreate, .readWrite, .readOnly, .readOnlySharedMemory: true
      }
    }
  }

  init(_ path: String, _ mode: Mode, timeout: Double, trace: (@Sendable (String, Double) -> Void)? = nil)
    throws(StoreError)
  {
    self.trace = trace
    self.path = path
    log = SQLiteLog(timeout: Int32(clamping: Int64(min(timeout, 1e6) * 1000)))
    isImmutable = mode == .immutable
    var (access, name, files) = (SQLITE_OPEN_READONLY, path, String?.none)
    switch mode {
    case .readWriteCreate: access = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    case .readWrite: access = SQLITE_OPEN_READWRITE
    case .readOnly: break
    case .readOnlySharedMemory: name = Self.uri(path, "readonly_shm=1")
    case .immutable: name = Self.uri(path, "immutable=1")
    case .copiedLog(let log):
      name = Self.uri(path, "log=" + Self.escaped(log))
      files = SQLiteCopiedLog.name
    }
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE
    if mode == .readWriteCreate { try SQLiteNewFile.make(path, timeout: timeout) }
    var (result, database) = (SQLITE_OK, OpaquePointer?.none)
    let opened = SQLiteOpenFiles.opening(path, isLocked: mode.isLocking) {
      result = sqlite3_open_v2(name, &database, flags, files)
    }
    (identity, self.database) = (opened, database)
    guard result == SQLITE_OK else {
      let error = SQLiteError.make(result, database, "opening the file")
      closeFile()
      throw error
    }
    // The file may come from anywhere: its schema must not run anything unsafe.
    _ = ocd_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1)
    _ = ocd_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    _ = ocd_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)
    if case .copiedLog = mode {
      _ = ocd_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
      try execute("PRAGMA locking_mode = EXCLUSIVE")
    }
    // One, because VACUUM attaches a database of its own.
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 1)
    sqlite3_limit(database, SQLITE_LIMIT_TRIGGER_DEPTH, 64)
    sqlite3_busy_timeout(database, log.timeout)
    log.watch(database)
    debugTrace.follow(database)
    try functions.register(on: self)
    try SQLiteCollations.register(on: self)
  }

  private static func uri(_ path: String, _ parameters: String) -> String {
    "file:" + escaped(path) + "?" + parameters
  }

  /// Percent-encodes all but letters, digits and `-./_`. To ask Foundation for its set of characters takes longer.
  private static func escaped(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    for byte in path.utf8 {
      if UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || 0x2D...0x39 ~= byte || byte == UInt8(ascii: "_") {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  deinit { closeFile() }

  private func closeFile() {
    if let identity { SQLiteOpenFiles.closing(identity, path, close) } else { close(hasName: true) }
    identity = nil
  }

  private func close(hasName: Bool) {
    // In a forked copy of the process, closing would end and undo the work of the parent.
    if ProcessCopy.current == process {
      // Where another file has taken this file's name, the log and the other files beside it belong to that file.
      if !hasName { _ = ocd_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
      sqlite3_close_v2(database)
    }
    database = nil
  }

  func check(_ result: Int32, _ doing: String, sql: String? = nil) throws(StoreError) {
    if result != SQLITE_OK { throw SQLiteError.make(result, database, doing, sql: sql) }
  }

  func prepare(_ sql: String) throws(StoreError) -> SQLiteStatement {
    var handle: OpaquePointer?
    let result = sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
    try check(result, "preparing a statement", sql: sql)
    guard let handle else { throw StoreError(.invalidArgument, "The statement is empty.", context: ["sql": sql]) }
    return SQLiteStatement(handle, self, sql: sql, trace: trace)
  }

  func execute(_ sql: String) throws(StoreError) {
    let began = trace == nil ? 0 : Date.timeIntervalSinceReferenceDate
    try check(sqlite3_exec(database, sql, nil, nil, nil), "running a statement", sql: sql)
    if let trace { trace(sql, Date.timeIntervalSinceReferenceDate - began) }
  }

  /// Runs `body` without waiting for any lock.
  func withoutWaiting<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    sqlite3_busy_timeout(database, 0)
    defer { sqlite3_busy_timeout(database, log.timeout) }
    return try body()
  }

  /// Changes how commits are written, a word of SQLite's `journal_mode`. Waits for other connections up to `timeout`
  /// seconds, because SQLite itself does not always wait here: several processes that make a store at once meet in this
  /// call.
  func setJournalMode(_ mode: String, timeout: Double) throws(StoreError) {
    let deadline = Date(timeIntervalSinceNow: min(timeout, 1e6))
    while true {
      do { return try execute("PRAGMA journal_mode = \(mode)") } catch {
        if error.code != .busy || Date() > deadline { throw error }
      }
      Thread.sleep(forTimeInterval: 0.002)
    }
  }

  var changedRows: Int { Int(sqlite3_changes(database)) }

  /// Limits the work of each later step of a statement; nil is no limit.
  ///
  /// For the queries that every opening runs. They take a few thousand instructions, and a hostile file must not make
  /// them endless.
  func limitWork(_ instructions: Int32? = 50_000_000) {
    sqlite3_progress_handler(database, instructions ?? 0, instructions == nil ? nil : { _ in 1 }, nil)
  }

  /// Lets SQLite read a file that is shorter than it says, or whose schema it understands only in part. For a
  /// connection that cannot write, or writes to a copy, because this also lets the schema be written.
  func readDamaged() throws(StoreError) {
    _ = ocd_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 0)
    try execute("PRAGMA writable_schema = ON")
  }

  /// A number that changes with each commit to the database, by any process, as seen by the last transaction.
  var dataVersion: UInt32? {
    var version: UInt32 = 0
    return sqlite3_file_control(database, "main", SQLITE_FCNTL_DATA_VERSION, &version) == SQLITE_OK ? version : nil
  }

  /// Notes the log beside the file, once. Called in a transaction, when SQLite has opened the log, and while the file
  /// is known to have its name.
  func noteLog() {
    if hasNotedLog { return }
    hasNotedLog = true
    if let identity { SQLiteOpenFiles.noteLog(of: identity, at: path) }
  }

  /// Whether a transaction is open.
  var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

  /// Whether the file could be opened for reading only.
  var isReadOnly: Bool { sqlite3_db_readonly(database, "main") == 1 }

  /// The first column of the first row as an integer, nil without rows.
  func integer(_ sql: String) throws(StoreError) -> Int64? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.int(0) : nil
  }

  func text(_ sql: String) throws(StoreError) -> String? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.string(0) : nil
  }
}
