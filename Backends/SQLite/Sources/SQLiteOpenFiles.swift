import Foundation

/// The database files that this process has open, by device and inode.
///
/// SQLite's locks are POSIX locks, which the system drops as soon as the process closes *any* descriptor of the file, also one
/// that had nothing to do with SQLite. Every other access to a database file therefore goes through ``exclusively(_:_:)``, and
/// uses a connection instead where the file is open.
enum SQLiteOpenFiles {
  struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64

    /// Nil where there is no file.
    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      device = UInt64(truncatingIfNeeded: status.st_dev)
      inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
  }

  /// Recursive, because a copy opens its target while it holds the source.
  private static let lock = NSRecursiveLock()
  // Used under the lock.
  nonisolated(unsafe) private static var counts: [Identity: Int] = [:]

  /// Opens a file by `open`. One that will be locked is counted until ``closed(_:)`` gets its identity.
  static func opening(_ path: String, isLocked: Bool, _ open: () -> Void) -> Identity? {
    lock.lock()
    defer { lock.unlock() }
    open()
    let identity = isLocked ? Identity(path) : nil
    if let identity { counts[identity, default: 0] += 1 }
    return identity
  }

  static func closed(_ identity: Identity) {
    lock.withLock {
      let count = (counts[identity] ?? 1) - 1
      counts[identity] = count == 0 ? nil : count
    }
  }

  /// Whether SQLite reads the shared memory of a database without a trace on it.
  ///
  /// For the superuser it sets the owner of what it opens, which changes the time of the last change of status although
  /// nothing is changed. Where another process uses the file, that is no matter. Not for a file that this process has open.
  static func mayReadSharedMemory(_ path: String) -> Bool {
    #if os(Windows)
      return true
    #else
      if geteuid() != 0 { return true }
      let file = open(path + "-shm", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
      guard file >= 0 else { return false }
      defer { close(file) }
      // The byte that every connection holds a lock on (https://sqlite.org/walformat.html, section 2.3.1).
      var lock = flock()
      lock.l_type = Int16(F_WRLCK)
      (lock.l_start, lock.l_len) = (128, 1)
      return fcntl(file, F_GETLK, &lock) == 0 && Int32(lock.l_type) != Int32(F_UNLCK)
    #endif
  }

  /// Calls `body`, which may read the file without SQLite's locks; `isOpen` tells that it must not, because this process has
  /// the file open. No connection to any file is opened meanwhile.
  static func exclusively<R, E: Error>(_ path: String, _ body: (_ isOpen: Bool) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(Identity(path).map { counts[$0] != nil } ?? false)
  }
}
