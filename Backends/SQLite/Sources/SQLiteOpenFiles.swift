import Foundation
import StoreProtocol
import StoreSupport
import Synchronization

/// The database files that this process has open, by device and inode.
///
/// SQLite's locks are POSIX locks. The system drops them as soon as the process closes *any* descriptor of the file,
/// even one unrelated to SQLite. Every other access to a database file therefore goes through ``exclusively(_:_:)``,
/// and uses a connection instead where the file is open.
enum SQLiteOpenFiles {
  typealias Identity = LockedFiles.Identity

  private static var lock: NSRecursiveLock { LockedFiles.lock }
  /// Used while the lock is held, so that what is known of a file belongs to what the caller does with it.
  private static let files = Mutex<[Identity: OpenFile]>([:])

  /// An open file with its connections and its log.
  private struct OpenFile {
    var connections = 0
    /// The log that its connections have, where they were seen to have one.
    var log: (path: String, identity: Identity)?
  }

  /// Opens a file by `open`. A file that will be locked is counted until ``closing(_:_:_:)`` gets its identity.
  static func opening(_ path: String, isLocked: Bool, _ open: () -> Void) -> Identity? {
    lock.lock()
    defer { lock.unlock() }
    open()
    let identity = isLocked ? Identity(path) : nil
    if let identity {
      files.withLock { $0[identity, default: OpenFile()].connections += 1 }
      LockedFiles.add(identity)
    }
    return identity
  }

  /// Closes a file by `close`, which gets whether the file still has its name.
  ///
  /// The inode of a file without a name is free as soon as its last connection is closed, and a new file may get it.
  /// Such a file is therefore closed under the lock, so that no file is opened until this one is forgotten. A file with
  /// its name is closed without the lock, because its last connection may move a long log.
  static func closing(_ identity: Identity, _ path: String, _ close: (_ hasName: Bool) -> Void) {
    let hasName = Identity(path) == identity
    if hasName { close(true) }
    lock.withLock {
      if !hasName { close(false) }
      LockedFiles.remove(identity)
      let closed = files.withLock { files -> OpenFile? in
        files[identity]?.connections -= 1
        guard let file = files[identity], file.connections <= 0 else { return nil }
        files[identity] = nil
        return file
      }
      guard let file = closed else { return }
      // SQLite has already removed the log of a file that still has its name.
      guard let log = file.log, Identity(path) != identity, Identity(path + "-wal") == log.identity else { return }
      // A store that has the name now, and that this process has open, uses the log as its own.
      if !LockedFiles.contains(path) && !isSharedMemoryInUse(path) { discard(log) }
    }
  }

  // MARK: Logs of files that have lost their names

  static func noteLog(of identity: Identity, at path: String) {
    lock.withLock {
      if let log = Identity(path + "-wal") { files.withLock { $0[identity]?.log = (path, log) } }
    }
  }

  /// Removes the log of a file that had the name `path`, and that this process has open although another file has the
  /// name now. SQLite would use it as that file's log.
  static func discardLogsOfReplacedFiles(_ path: String) {
    lock.withLock {
      let open = files.withLock { $0 }
      if open.isEmpty { return }
      let current = Identity(path)
      for (identity, file) in open where identity != current {
        guard let log = file.log, log.path == path else { continue }
        discard(log)
        files.withLock { $0[identity]?.log = nil }
      }
    }
  }

  private static func discard(_ log: (path: String, identity: Identity)) {
    guard Identity(log.path + "-wal") == log.identity else { return }
    unlink(log.path + "-wal")
    if FileStatus(log.path + "-shm")?.isRegular == true { unlink(log.path + "-shm") }
  }

  // MARK: Stores

  /// The open stores of each file. Used while the lock is held.
  private static let stores = Mutex<[Identity: [WeakStoreFile]]>([:])

  private struct WeakStoreFile {
    weak var file: SQLiteStoreFile?
  }

  /// Adds the file of an open store.
  static func add(_ file: SQLiteStoreFile) {
    guard let identity = file.identity else { return }
    lock.withLock { stores.withLock { $0[identity, default: []].append(WeakStoreFile(file: file)) } }
  }

  /// Removes the stores of a file that no longer exist.
  static func forgetStores(of identity: Identity) {
    lock.withLock {
      // A file whose last reference ends here must not end inside of the mutex.
      let open = stores.withLock { $0[identity] ?? [] }.filter { $0.file != nil }
      stores.withLock { $0[identity] = open.isEmpty ? nil : open }
    }
  }

  /// Calls `body`, which replaces or removes the store in the file `identity`; nobody can commit meanwhile. Afterwards
  /// the open stores of that file are replaced, unless `body` has thrown; see ``SQLiteStoreFile``.
  static func replacing<R>(_ identity: Identity?, _ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    let open = lock.withLock { identity.flatMap { file in stores.withLock { $0[file] } }?.compactMap(\.file) ?? [] }
    for file in open { file.beginReplacing() }
    var isDone = false
    defer { for file in open { file.endReplacing(isDone: isDone) } }
    let result: R
    do throws(StoreError) { result = try body() } catch {
      // After another error it may be done completely or in part.
      isDone = ![.busy, .full, .readOnly].contains(error.code)
      throw error
    }
    isDone = true
    return result
  }

  /// Whether SQLite can read the shared memory of a database without leaving a trace.
  ///
  /// For the superuser SQLite sets the owner of each file that it opens. That changes the time of the last status
  /// change, even if the owner stays the same. Where another process uses the file, that does not matter. Not for a
  /// file that this process has open.
  static func mayReadSharedMemory(_ path: String) -> Bool {
    #if os(Windows)
      return true
    #else
      return geteuid() != 0 || isSharedMemoryInUse(path)
    #endif
  }

  /// Whether another process has the database open with its log. Not for a file that this process has open.
  private static func isSharedMemoryInUse(_ path: String) -> Bool {
    #if os(Windows)
      return true
    #else
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

  /// Calls `body`, which may read the file without SQLite's locks. With `isOpen` it must not, because this process has
  /// the file open. No connection to any file is opened meanwhile.
  static func exclusively<R, E: Error>(_ path: String, _ body: (_ isOpen: Bool) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    let open = files.withLock { $0 }
    return try body(!open.isEmpty && Identity(path).map { open[$0] != nil } ?? false)
  }
}
