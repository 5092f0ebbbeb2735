import Foundation
import StoreProtocol
import Synchronization

/// A way to read a database that leaves its folder as it is: names, bytes and times.
///
/// Where this process has the database open, or it keeps a rollback journal, that is the file itself: SQLite shares the
/// locks of its own connections, and the files beside it are there. Where there is shared memory, left behind or in
/// use, it is read and not written. Else a log that was left behind is read from a private copy, together with the
/// database itself; a database with a journal is copied too, and one with neither is read as immutable.
final class SQLiteFileView: Sendable {
  private enum Way {
    case file, sharedMemory, immutable
    /// The folder has a copy of the log.
    case copiedLog(TemporaryFolder)
    case copy(TemporaryFolder)
  }

  private let path: String
  private let way: Way
  private let stamp: SQLiteFileStamp

  init(_ path: String) throws(StoreError) {
    self.path = path
    (way, stamp) = try SQLiteOpenFiles.exclusively(path) { (isOpen) throws(StoreError) in
      SQLiteOpenFiles.discardLogsOfReplacedFiles(path)
      let stamp = SQLiteFileStamp(path)
      if isOpen { return (.file, stamp) }
      try stamp.requirePlainFiles(path)
      // SQLite rolls back a journal, and then applies a log, whichever of the two the database says it keeps.
      if try SQLiteFormat.isLogged(path) {
        if !stamp.hasJournal {
          if stamp.hasSharedMemory, SQLiteOpenFiles.mayReadSharedMemory(path) { return (.sharedMemory, stamp) }
          if !stamp.hasLog { return (.immutable, stamp) }
        }
      } else if !stamp.hasJournal && !stamp.hasLog {
        return (.file, stamp)
      }
      return try Self.copy(path, stamp)
    }
  }

  /// A connection that finds damaged pages early, which an application's own store is spared: every page would be
  /// checked each time that it comes into the cache.
  func connect(_ options: StoreOptions) throws(StoreError) -> SQLiteConnection {
    let connection = try open(options)
    try connection.execute("PRAGMA cell_size_check = ON")
    return connection
  }

  /// The same, and that what lies beside the database is its own.
  private func connectToOwn(_ options: StoreOptions) throws(StoreError) -> SQLiteConnection {
    let connection = try connect(options)
    connection.limitWork()
    if hasLogOfUnknownOwner { try SQLiteLogOwner.require(path, connection) }
    return connection
  }

  private func open(_ options: StoreOptions) throws(StoreError) -> SQLiteConnection {
    switch way {
    case .file: try SQLiteConnection(path, .readOnly, timeout: options.timeout, trace: options.trace)
    case .sharedMemory:
      try SQLiteConnection(path, .readOnlySharedMemory, timeout: options.timeout, trace: options.trace)
    case .immutable: try SQLiteConnection(path, .immutable, timeout: options.timeout, trace: options.trace)
    case .copiedLog(let folder):
      try SQLiteConnection(
        path, .copiedLog(Self.log(in: folder)), timeout: options.timeout, trace: options.trace)
    case .copy(let folder):
      // For writing, because a journal that was left behind is rolled back in the copy.
      try SQLiteConnection(
        folder.url.appendingPathComponent("store").path, .readWrite, timeout: options.timeout, trace: options.trace)
    }
  }

  /// Whether this still shows the last commit, and whole. What is read without locks is only good if so afterwards.
  var isCurrent: Bool {
    switch way {
    case .file, .sharedMemory: true
    case .immutable, .copiedLog, .copy: SQLiteFileStamp(path) == stamp
    }
  }

  /// Whether reading takes no locks, so that somebody may write meanwhile.
  var isUnlocked: Bool {
    switch way {
    case .immutable, .copiedLog: true
    case .file, .sharedMemory, .copy: false
    }
  }

  /// Whether it shows what a log or a journal adds that this process has not seen being written.
  private var hasLogOfUnknownOwner: Bool {
    switch way {
    case .file, .immutable: false
    case .sharedMemory, .copiedLog, .copy: true
    }
  }

  /// Calls `body` with a connection that sees all of the database at `path`; again if somebody wrote meanwhile.
  static func read<R>(
    _ path: String, _ options: StoreOptions, _ body: (SQLiteConnection) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    for _ in 0..<5 {
      // No other thread is to find the file open, and not to look at it then, before it is known to be sound.
      let (view, opened) = try SQLiteOpenFiles.exclusively(path) { (_) throws(StoreError) in
        let view = try SQLiteFileView(path)
        return (view, Result { () throws(StoreError) in try view.connectToOwn(options) })
      }
      let result: R
      do { result = try body(opened.get()) } catch {
        if view.isCurrent { throw error }
        continue
      }
      if view.isCurrent { return result }
    }
    throw busy(path)
  }

  /// The error for a view that is no longer current.
  var changed: StoreError { Self.busy(path) }

  private static func busy(_ path: String) -> StoreError {
    StoreError(.busy, "The store is being changed while it is read; try again.", context: ["path": path])
  }

  /// Of a name in which SQLite does not look for a database's.
  private static func log(in folder: TemporaryFolder) -> String { folder.url.appendingPathComponent("log.copy").path }

  /// Copies the log into a private folder, and the database too where there is a journal, which is rolled back in the
  /// copy; again if they changed meanwhile, because somebody opened them.
  private static func copy(_ path: String, _ stamp: SQLiteFileStamp) throws(StoreError) -> (Way, SQLiteFileStamp) {
    let files = FileManager.default
    let folder = try TemporaryFolder()
    let copiesLogOnly = !stamp.hasJournal && SQLiteCopiedLog.name != nil
    do {
      for _ in 0..<5 {
        let before = SQLiteFileStamp(path)
        for suffix in copiesLogOnly ? ["-wal"] : ["", "-wal", "-journal"] {
          let target = copiesLogOnly ? log(in: folder) : folder.url.appendingPathComponent("store" + suffix).path
          if files.fileExists(atPath: target) { try files.removeItem(atPath: target) }
          guard files.fileExists(atPath: path + suffix) else { continue }
          try files.copyItem(atPath: path + suffix, toPath: target)
          // A journal is rolled back in the copy, which a file that nobody may write would not let happen.
          try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target)
        }
        if SQLiteFileStamp(path) != before || copiesLogOnly && before.hasJournal { continue }
        return (copiesLogOnly ? .copiedLog(folder) : .copy(folder), before)
      }
    } catch {
      throw StoreError(.io, "The store cannot be copied for reading.", context: ["path": path], cause: "\(error)")
    }
    throw busy(path)
  }
}

/// The view that the readers of a store opened read-only share, made anew when somebody has written to the file.
final class SQLiteSharedView: Sendable {
  private let path: String
  private let view: Mutex<SQLiteFileView>

  init(_ path: String) throws(StoreError) {
    self.path = path
    view = Mutex(try SQLiteFileView(path))
  }

  func current() throws(StoreError) -> SQLiteFileView {
    let known = view.withLock { $0 }
    if known.isCurrent { return known }
    let fresh = try SQLiteFileView(path)
    view.withLock { $0 = fresh }
    return fresh
  }
}
