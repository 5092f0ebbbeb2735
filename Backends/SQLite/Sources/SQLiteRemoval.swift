import Foundation
import StoreProtocol
import StoreSupport

/// Removes the files of a store, the database first and durably. Without it the other files are worthless, but a
/// database without its log would be a store without its last saves.
enum SQLiteRemoval {
  /// The suffixes of files that SQLite makes beside a database.
  static let suffixes = ["-journal", "-wal", "-shm"]

  /// Removes a store with everything that belongs to it, or leaves an empty file of its name where the options say so.
  /// Waits for a running commit of any process, and throws `busy` where it does not end in time. Throws `notAStore`,
  /// and removes nothing, where a file name of the store belongs to another kind of item.
  static func remove(_ location: SQLiteLocation, _ options: StoreOptions) throws(StoreError) {
    let url = URL(fileURLWithPath: location.path)
    guard let folder = try OwnedFolder(url.deletingLastPathComponent().path) else { return }
    try requireFiles(location.path)
    try location.externalData.requireOwn()
    let lock = try FolderLock.ifPossible(location.path, timeout: options.timeout)
    defer { withExtendedLifetime(lock) {} }
    if try folder.status(url.lastPathComponent) != nil {
      if !options.forceDestroy { guard try SQLiteFormat.isStoreFile(location.path) else { return } }
      // In a folder of large values that two stores share, only files whose names identify their store are removed.
      // Names of a store and its copy are the same, so those files stay.
      let isShared = try location.sharesExternalData()
      let owner = isShared ? try? SQLiteBackend().metadata(at: url, options: options).identifier : nil
      let writer = try SQLiteWriteLock(location.path, timeout: options.timeout)
      defer { withExtendedLifetime(writer) {} }
      try SQLiteOpenFiles.replacing(SQLiteOpenFiles.Identity(location.path)) { () throws(StoreError) in
        try removeDatabase(location.path)
      }
      if !isShared {
        try location.externalData.removeAll()
      } else if let owner, (try? location.sharesExternalData(withCopyOf: owner)) == false {
        location.externalData.removeValues(ofStore: owner)
      }
    } else {
      // Left by an interrupted earlier removal. External data may belong to a renamed store, and stays.
      try removeFilesBeside(location.path)
      if options.forceDestroy, try !location.sharesExternalData() { try location.externalData.removeAll() }
    }
    if options.leavesEmptyFile { SQLiteNewFile.create(location.path) }
  }

  /// Throws `notAStore` where the database, or an item beside it with one of its names, is no regular file.
  static func requireFiles(_ path: String) throws(StoreError) {
    let url = URL(fileURLWithPath: path)
    guard let folder = try OwnedFolder(url.deletingLastPathComponent().path) else { return }
    for suffix in [""] + suffixes { try folder.requireFile(url.lastPathComponent + suffix) }
  }

  /// Removes a database and what SQLite made beside it.
  static func removeDatabase(_ path: String) throws(StoreError) {
    let url = URL(fileURLWithPath: path)
    guard let folder = try OwnedFolder(url.deletingLastPathComponent().path) else { return }
    try folder.removeFile(url.lastPathComponent)
    try folder.synchronize()
    try removeFilesBeside(path)
  }

  /// Removes what SQLite made beside a database that is gone.
  static func removeFilesBeside(_ path: String) throws(StoreError) {
    let url = URL(fileURLWithPath: path)
    guard let folder = try OwnedFolder(url.deletingLastPathComponent().path) else { return }
    var isAnyThere = false
    for suffix in suffixes where try folder.removeFile(url.lastPathComponent + suffix) { isAnyThere = true }
    if isAnyThere { try folder.synchronize() }
  }
}

/// Keeps every process from committing to a database while this lives.
final class SQLiteWriteLock {
  private let connection: SQLiteConnection?

  /// Throws `busy` where a running commit does not end in time. A file that cannot be locked, because it is damaged or
  /// no database, has no commits to wait for.
  init(_ path: String, timeout: Double) throws(StoreError) {
    do throws(StoreError) {
      let connection = try SQLiteConnection(path, .readWrite, timeout: timeout)
      try connection.execute("BEGIN IMMEDIATE")
      self.connection = connection
    } catch {
      if error.code == .busy {
        throw StoreError(
          .busy, "A save to the store is running and has not ended in time; try again.", context: ["path": path],
          cause: error.description)
      }
      connection = nil
    }
  }
}
