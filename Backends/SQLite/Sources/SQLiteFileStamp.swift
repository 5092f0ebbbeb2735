import StoreProtocol
import StoreSupport

/// The status of a database's files, which changes when anybody writes to them.
struct SQLiteFileStamp: Equatable {
  private let main: FileStatus?
  private let log: FileStatus?
  private let journal: FileStatus?
  private let sharedMemory: FileStatus?

  init(_ path: String) {
    main = FileStatus(path)
    log = FileStatus(path + "-wal")
    journal = FileStatus(path + "-journal")
    sharedMemory = FileStatus(path + "-shm")
  }

  static func == (a: SQLiteFileStamp, b: SQLiteFileStamp) -> Bool {
    // A reader of shared memory may change its time.
    a.main == b.main && a.log == b.log && a.journal == b.journal && a.hasSharedMemory == b.hasSharedMemory
  }

  /// Whether there is a log with anything in it.
  var hasLog: Bool { log.map { $0.size > 0 } ?? false }
  var hasJournal: Bool { journal.map { $0.size > 0 } ?? false }
  var hasSharedMemory: Bool { sharedMemory != nil }

  /// Throws where the database or a file beside it is not of the kind that SQLite makes there.
  func requirePlainFiles(_ path: String) throws(StoreError) {
    if let main, main.isHole {
      throw StoreError(
        .corrupt, "The file has almost no data: most of it was never written. Use a backup.", context: ["path": path])
    }
    for (suffix, status) in [("-wal", log), ("-journal", journal), ("-shm", sharedMemory)] {
      guard let status, !status.isRegular || status.isHole else { continue }
      throw StoreError(
        .corrupt,
        "A file beside the store has the name of an SQLite log or journal, but SQLite has not made it. Move it away.",
        context: ["path": path + suffix])
    }
    if hasJournal {
      try SQLiteJournal.requireOwn(path + "-journal", room: (main?.size ?? 0) + (journal?.size ?? 0))
    }
  }
}
