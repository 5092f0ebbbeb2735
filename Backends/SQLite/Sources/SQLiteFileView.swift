import Foundation
import StoreProtocol
import StoreSupport
import Synchronization

/// A way to read a database that leaves its folder as it is: names, bytes and times.
///
/// How the database is read:
/// - The file itself, where this process has it open, because SQLite shares the locks of its own connections. The same
///   where the database keeps a rollback journal, and neither a journal nor a log was left behind.
/// - With the shared memory of its log, where there is one. The shared memory is read and not written.
/// - As immutable, where it keeps a log and none was left behind.
/// - With a private copy of a log that was left behind. Where a journal was left behind, both files are copied.
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
      // SQLite rolls back a journal and then applies a log, whichever of them the database says it keeps.
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

  /// A connection that finds damaged pages early. An application's own store does without, because every page would be
  /// checked each time it comes into the cache.
  func connect(_ options: StoreOptions) throws(StoreError) -> SQLiteConnection {
    let connection = try open(options)
    try connection.execute("PRAGMA cell_size_check = ON")
    return connection
  }

  /// The same, and checks that the files beside the database are its own.
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
      // For writing: a journal that was left behind is rolled back in the copy.
      try SQLiteConnection(
        folder.url.appendingPathComponent("store").path, .readWrite, timeout: options.timeout, trace: options.trace)
    }
  }

  /// Whether this still shows all of the last commit. A read without locks is valid only if this is true afterwards.
  var isCurrent: Bool {
    switch way {
    case .file, .sharedMemory: true
    case .immutable, .copiedLog, .copy: SQLiteFileStamp(path) == stamp
    }
  }

  /// Whether reading takes no locks, so that other processes may write meanwhile.
  var isUnlocked: Bool {
    switch way {
    case .immutable, .copiedLog: true
    case .file, .sharedMemory, .copy: false
    }
  }

  /// Whether it applies a log or a journal that this process has not seen being written.
  private var hasLogOfUnknownOwner: Bool {
    switch way {
    case .file, .immutable: false
    case .sharedMemory, .copiedLog, .copy: true
    }
  }

  /// Whether an error says that the shared memory is gone: another process was the last to close the database, and
  /// removed the file between the look at it and its opening.
  private func hasLostSharedMemory(_ error: StoreError) -> Bool {
    if case .sharedMemory = way { error.code == .notFound } else { false }
  }

  /// Calls `body` with a connection that sees all of the database at `path`. Calls it again if the file was written or
  /// closed meanwhile.
  static func read<R>(
    _ path: String, _ options: StoreOptions, _ body: (SQLiteConnection) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    for _ in 0..<5 {
      // No other thread may use the open file without checking it before it is known to be sound.
      let (view, opened) = try SQLiteOpenFiles.exclusively(path) { (_) throws(StoreError) in
        let view = try SQLiteFileView(path)
        return (view, Result { () throws(StoreError) in try view.connectToOwn(options) })
      }
      let result: R
      do { result = try body(opened.get()) } catch {
        if view.isCurrent && !view.hasLostSharedMemory(error) { throw error }
        continue
      }
      if view.isCurrent { return result }
    }
    throw busy(path)
  }

  /// The error for a view that is no longer current.
  var changed: StoreError { Self.busy(path) }

  private static func busy(_ path: String) -> StoreError {
    StoreError(.busy, "The store changes while it is read; try again.", context: ["path": path])
  }

  /// A name under which SQLite does not look for a database's log.
  private static func log(in folder: TemporaryFolder) -> String { folder.url.appendingPathComponent("log.copy").path }

  /// Copies the log into a private folder. Copies the database too where there is a journal, which is rolled back in
  /// the copy. Copies again if the files changed meanwhile.
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
          // The journal is rolled back in the copy, which fails for a file that nobody may write.
          try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target)
        }
        if SQLiteFileStamp(path) != before || copiesLogOnly && before.hasJournal { continue }
        return (copiesLogOnly ? .copiedLog(folder) : .copy(folder), before)
      }
    } catch {
      throw StoreError(
        .io, "The private copy for reading the store cannot be made. Check the temporary folder.",
        context: ["path": path], cause: "\(error)")
    }
    throw busy(path)
  }
}

/// The view that the readers of a read-only store share. It is made anew when the file was written.
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
