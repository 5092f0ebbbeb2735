import CSQLite
import Foundation
import StoreProtocol
import StoreSupport

/// Keeps the write-ahead log of a database short where readers keep SQLite from doing so.
///
/// SQLite moves the log into the database when it has 1000 pages, and begins it anew when no view needs any of it.
/// Where each view begins before the last one ends, that never happens ([checkpoint
/// starvation](https://sqlite.org/wal.html#avoiding_excessively_large_wal_files)). A view that needs none of the log
/// does not prevent it.
final class SQLiteLog {
  /// The number of pages at which SQLite moves the log, and the number at which a commit waits for the open views.
  private static let (usual, tooMany): (Int32, Int32) = (1000, 4000)
  /// How long a commit waits, in milliseconds.
  private static let patience: Int32 = 100
  /// The size in bytes to which SQLite cuts the log's file when the log begins anew. After a cut, commits allocate disk
  /// blocks again. Saves of a few thousand objects need less than this.
  static let longestRest: Int64 = 16 << 20
  /// A new reader moves a log whose file is longer. If its pages were moved already, that does nothing.
  private static let long: Int64 = 5 << 20

  /// How long everything else waits for other connections, in milliseconds.
  let timeout: Int32
  /// The number of pages at which a commit waits next. After each vain wait it grows by that many.
  private var next = tooMany

  init(timeout: Int32) { self.timeout = timeout }

  /// Replaces what SQLite itself does after commits. Valid while this object lives; the pragma `wal_autocheckpoint`
  /// ends it.
  func watch(_ database: OpaquePointer?) {
    let own = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_wal_hook(
      database,
      { own, database, name, pages in
        if let own { Unmanaged<SQLiteLog>.fromOpaque(own).takeUnretainedValue().hasGrown(database, name, pages) }
        return SQLITE_OK
      }, own)
  }

  /// Runs after a commit. Where the log cannot be moved it stays as it is, and the next read or save gets the error.
  private func hasGrown(_ database: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ pages: Int32) {
    if pages < Self.tooMany { next = Self.tooMany }
    if pages < Self.usual { return }
    if pages < next {
      sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
      return
    }
    // Once all of the log has been moved, new views need none of it. So only the present views have to end.
    sqlite3_busy_timeout(database, min(timeout, Self.patience))
    let result = sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_RESTART, nil, nil)
    sqlite3_busy_timeout(database, timeout)
    if result != SQLITE_OK { next = pages + Self.tooMany }
  }

  /// Moves a long log at once, for a reader before its first view.
  func shorten(_ database: OpaquePointer?, _ path: String) {
    guard let size = FileStatus(path + "-wal")?.size, size > Self.long else { return }
    sqlite3_wal_checkpoint_v2(database, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
  }
}
