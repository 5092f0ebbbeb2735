import CSQLite
import Foundation

/// Lets SQLite read a database together with a copy of its log, which a killed process left. Changes nothing beside the
/// database, and does not copy the database.
///
/// This is SQLite's usual access to files with three differences. The log is the file that the parameter `log` of the
/// connection's URI names, no lock is taken on the database, and no file is removed. A connection in exclusive locking
/// mode keeps the log's index in memory ([WAL without shared
/// memory](https://www.sqlite.org/wal.html#use_of_wal_without_shared_memory)). What it reads is valid only if nobody
/// has written meanwhile; see ``SQLiteFileView``.
enum SQLiteCopiedLog {
  /// The name by which a connection selects it, nil where SQLite does not have its usual access to files.
  static let name: String? = isRegistered ? text : nil

  private static let text = "opencoredata-log"
  // Written once, before the first use.
  nonisolated(unsafe) private static var usual: UnsafeMutablePointer<sqlite3_vfs>?
  nonisolated(unsafe) private static var methods: UnsafeMutablePointer<sqlite3_io_methods>?
  private static let lock = NSLock()

  private static let isRegistered: Bool = {
    guard let found = sqlite3_vfs_find("unix") else { return false }
    usual = found
    // SQLite keeps both while the process lives.
    let access = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    access.initialize(to: found.pointee)
    access.pointee.zName = UnsafePointer(strdup(text))
    access.pointee.pNext = nil
    access.pointee.xOpen = { _, name, file, flags, result in
      SQLiteCopiedLog.open(name, file, flags, result)
    }
    access.pointee.xDelete = { _, _, _ in SQLITE_OK }
    return sqlite3_vfs_register(access, 0) == SQLITE_OK
  }()

  private static func open(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ result: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let usual, let open = usual.pointee.xOpen, let file else { return SQLITE_CANTOPEN }
    if flags & SQLITE_OPEN_WAL != 0 {
      guard let log = sqlite3_uri_parameter(name, "log") else { return SQLITE_CANTOPEN }
      return open(usual, log, file, flags, result)
    }
    let code = open(usual, name, file, flags, result)
    if code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let own = file.pointee.pMethods {
      file.pointee.pMethods = UnsafePointer(withoutLocks(own))
    }
    return code
  }

  /// The same functions for a file, without locks.
  private static func withoutLocks(_ own: UnsafePointer<sqlite3_io_methods>) -> UnsafeMutablePointer<sqlite3_io_methods>
  {
    lock.withLock {
      if let methods { return methods }
      let made = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
      made.initialize(to: own.pointee)
      made.pointee.xLock = { _, _ in SQLITE_OK }
      made.pointee.xUnlock = { _, _ in SQLITE_OK }
      made.pointee.xCheckReservedLock = { _, result in
        result?.pointee = 0
        return SQLITE_OK
      }
      methods = made
      return made
    }
  }
}
