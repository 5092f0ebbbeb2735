import Foundation
import StoreProtocol

/// The database files that this process has open, by device and inode.
///
/// SQLite's locks are POSIX locks, which the system drops as soon as the process closes *any* descriptor of the file,
/// also one that had nothing to do with SQLite. Every other access to a database file therefore goes through
/// ``exclusively(_:_:)``, and uses a connection instead where the file is open.
enum SQLiteOpenFiles {
  typealias Identity = LockedFiles.Identity

  private static var lock: NSRecursiveLock { LockedFiles.lock }
  // Used under the lock.
  nonisolated(unsafe) private static var files: [Identity: OpenFile] = [:]

  /// What is known of a file that is open.
  private struct OpenFile {
    var connections = 0
    /// The log that its connections have, where they were seen to have one.
    var log: (path: String, identity: Identity)?
  }

  /// Opens a file by `open`. One that will be locked is counted until ``closing(_:_:_:)`` gets its identity.
  static func opening(_ path: String, isLocked: Bool, _ open: () -> Void) -> Identity? {
    lock.lock()
    defer { lock.unlock() }
    open()
    let identity = isLocked ? Identity(path) : nil
    if let identity {
      files[identity, default: OpenFile()].connections += 1
      LockedFiles.add(identity)
    }
    return identity
  }

  /// Closes a file by `close`, which is told whether the file still has its name.
  ///
  /// The inode of a file without a name is free as soon as its last connection is closed, and a new file may get it.
  /// Such a file is therefore closed under the lock, so that no file is opened until this one is forgotten. A file that
  /// has its name is closed without the lock: its last connection may move a long log.
  static func closing(_ identity: Identity, _ path: String, _ close: (_ hasName: Bool) -> Void) {
    let hasName = Identity(path) == identity
    if hasName { close(true) }
    lock.withLock {
      if !hasName { close(false) }
      files[identity]?.connections -= 1
      LockedFiles.remove(identity)
      guard let file = files[identity], file.connections <= 0 else { return }
      files[identity] = nil
      // SQLite has removed the log of a file that has its name still.
      guard let log = file.log, Identity(path) != identity, Identity(path + "-wal") == log.identity else { return }
      // A store that has the name now, and that this process has open, has made its log its own.
      if !LockedFiles.contains(path) && !isSharedMemoryInUse(path) { discard(log) }
    }
  }

  // MARK: Logs of files that have lost their names

  static func noteLog(of identity: Identity, at path: String) {
    lock.withLock {
      if let log = Identity(path + "-wal") { files[identity]?.log = (path, log) }
    }
  }

  /// Removes the log of a file that had the name `path`, and that this process has open although another file has the
  /// name now. SQLite would take it for the log of that one.
  static func discardLogsOfReplacedFiles(_ path: String) {
    lock.withLock {
      if files.isEmpty { return }
      let current = Identity(path)
      for (identity, file) in files where identity != current {
        guard let log = file.log, log.path == path else { continue }
        discard(log)
        files[identity]?.log = nil
      }
    }
  }

  private static func discard(_ log: (path: String, identity: Identity)) {
    guard Identity(log.path + "-wal") == log.identity else { return }
    unlink(log.path + "-wal")
    if FileStatus(log.path + "-shm")?.isRegular == true { unlink(log.path + "-shm") }
  }

  // MARK: Stores

  /// The open stores of each file. Used under the lock.
  nonisolated(unsafe) private static var stores: [Identity: [WeakStoreFile]] = [:]

  private struct WeakStoreFile {
    weak var file: SQLiteStoreFile?
  }

  /// Adds the file of a store that is open now.
  static func add(_ file: SQLiteStoreFile) {
    guard let identity = file.identity else { return }
    lock.withLock { stores[identity, default: []].append(WeakStoreFile(file: file)) }
  }

  /// Takes out the stores of a file that are gone.
  static func forgetStores(of identity: Identity) {
    lock.withLock {
      let open = stores[identity, default: []].filter { $0.file != nil }
      stores[identity] = open.isEmpty ? nil : open
    }
  }

  /// Calls `body`, which lets another store take the place of the one in the file `identity`, or removes it, and which
  /// nobody can commit beside. Afterwards the open stores of that file are replaced, unless it has thrown; see
  /// ``SQLiteStoreFile``.
  static func replacing<R>(_ identity: Identity?, _ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    let open = lock.withLock { identity.flatMap { stores[$0] }?.compactMap(\.file) ?? [] }
    for file in open { file.beginReplacing() }
    var isDone = false
    defer { for file in open { file.endReplacing(isDone: isDone) } }
    let result: R
    do throws(StoreError) { result = try body() } catch {
      // After another error it may be done, or half done.
      isDone = ![.busy, .full, .readOnly].contains(error.code)
      throw error
    }
    isDone = true
    return result
  }

  /// Whether SQLite reads the shared memory of a database without a trace on it.
  ///
  /// For the superuser it sets the owner of what it opens, which changes the time of the last change of status although
  /// nothing is changed. Where another process uses the file, that is no matter. Not for a file that this process has
  /// open.
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

  /// Calls `body`, which may read the file without SQLite's locks; `isOpen` tells that it must not, because this
  /// process has the file open. No connection to any file is opened meanwhile.
  static func exclusively<R, E: Error>(_ path: String, _ body: (_ isOpen: Bool) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(Identity(path).map { files[$0] != nil } ?? false)
  }
}
