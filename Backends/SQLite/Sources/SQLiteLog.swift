import CSQLite
import Foundation
import StoreProtocol

/// Keeps the write-ahead log of a database short where readers keep SQLite from doing so.
///
/// SQLite moves the log into the database when it has 1000 pages, and begins it anew when no view needs any of it.
/// Where each view begins before the former ends it never does ([checkpoint
/// starvation](https://sqlite.org/wal.html#avoiding_excessively_large_wal_files)). A view that needs none of the log is
/// not in the way.
final class SQLiteLog {
  /// How many pages let SQLite move the log, and how many let a commit wait for the views that are open.
  private static let (usual, tooMany): (Int32, Int32) = (1000, 4000)
  /// How long it waits, in milliseconds.
  private static let patience: Int32 = 100
  /// To how many bytes SQLite cuts the log's file when the log begins anew. After a cut, commits allocate blocks of the
  /// disk again; saves of a few thousand objects need less than this.
  static let longestRest: Int64 = 16 << 20
  /// A new reader moves a log whose file is longer. If its pages were moved already, that does nothing.
  private static let long: Int64 = 5 << 20

  /// How long anything else waits for others, in milliseconds.
  let timeout: Int32
  /// With how many pages a commit waits next: each time in vain only after that many more.
  @exclusivity(unchecked) private var next = tooMany

  init(timeout: Int32) { self.timeout = timeout }

  /// Takes the place of what SQLite does after commits by itself. Valid as long as this lives; the pragma
  /// `wal_autocheckpoint` ends it.
  func watch(_ database: OpaquePointer?) {
    let own = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_wal_hook(
      database,
      { own, database, name, pages in
        if let own { Unmanaged<SQLiteLog>.fromOpaque(own).takeUnretainedValue().hasGrown(database, name, pages) }
        return SQLITE_OK
      }, own)
  }

  /// After a commit. Where the log cannot be moved it stays as it is, and what is wrong is told to whoever reads or
  /// saves next.
  private func hasGrown(_ database: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ pages: Int32) {
    if pages < Self.tooMany { next = Self.tooMany }
    if pages < Self.usual { return }
    if pages < next {
      sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
      return
    }
    // New views need none of the log once all of it has been moved, so that it is enough that those of now end.
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
