import Foundation
import StoreProtocol
import StoreSupport

/// Makes the file of a store where there is none.
enum SQLiteNewFile {
  /// Makes an empty file that only its owner can use: SQLite gives the files beside it the same mode. Does nothing
  /// where there is one.
  ///
  /// A log, shared memory and journal without a database are left from an interrupted removal. They are removed first:
  /// SQLite would share the memory with processes that still have the removed store open. The folder's lock protects a
  /// store that another process is just making.
  static func make(_ path: String, timeout: Double) throws(StoreError) {
    if FileStatus(path) != nil { return }
    if let lock = try FolderLock.ifPossible(path, timeout: timeout) {
      if FileStatus(path) == nil {
        try SQLiteRemoval.removeFilesBeside(path)
        create(path)
      }
      withExtendedLifetime(lock) {}
    } else {
      // SQLite reports what is wrong with the folder.
      create(path)
    }
  }

  /// Makes an empty file where there is none. A failure shows when the file is opened.
  static func create(_ path: String) {
    let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if file >= 0 { _ = close(file) }
  }
}
