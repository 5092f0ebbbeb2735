import Foundation
import StoreProtocol
import StoreSupport
import Synchronization

/// The paths of a store's files, by its URL.
///
/// `/dev/null` and `file:///dev/null/Name` stand for a store without a trace on disk. It is a private file in the
/// temporary folder, so that snapshots and commits run side by side as in any other store. The file is removed when the
/// store is closed or the program ends. Stores of one name are shared within the process.
struct SQLiteLocation: Sendable {
  let path: String
  /// The folder of the files.
  let folder: URL
  private let temporaryFolder: TemporaryFolder?

  init(_ url: URL) throws(StoreError) {
    guard url.isFileURL else {
      throw StoreError(
        .invalidArgument, "The URL of the store is not a file URL. Use a file URL.",
        context: ["url": url.absoluteString])
    }
    guard url.path == "/dev/null" || url.path.hasPrefix("/dev/null/") else {
      // SQLite names the files beside the database after the target of a symbolic link.
      path = url.resolvingSymlinksInPath().path
      self.folder = Self.folder(of: path)
      temporaryFolder = nil
      return
    }
    let name = url.path.dropFirst("/dev/null/".count)
    let folder = try Self.folder(named: String(name))
    temporaryFolder = folder
    path = folder.url.appendingPathComponent("store.sqlite").path
    self.folder = folder.url
  }

  // Foundation asks the system whether a path is a folder, unless the caller says so.

  private static func folder(of path: String) -> URL {
    URL(fileURLWithPath: path, isDirectory: false).deletingLastPathComponent()
  }

  private var supportFolder: URL {
    let name = URL(fileURLWithPath: path, isDirectory: false).deletingPathExtension().lastPathComponent
    return folder.appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
  }

  var externalData: ExternalDataFolder { ExternalDataFolder("_EXTERNAL_DATA", within: supportFolder) }

  /// Whether another database has the same folder of large values: its name differs by the extension alone.
  func sharesExternalData() throws(StoreError) -> Bool { try !neighbours().isEmpty }

  /// Whether a database with the same folder of large values has this UUID, as a copy of the store has. Then file names
  /// do not tell the two stores apart, and no file may be removed. True also where a UUID cannot be read.
  func sharesExternalData(withCopyOf identifier: String) throws(StoreError) -> Bool {
    try neighbours().contains { Self.mayBe($0, copyOf: identifier) }
  }

  /// The suffixes of files that SQLite and LMDB keep beside a database. LMDB has locks on its file.
  private static let companions = SQLiteRemoval.suffixes + ["-lock"]

  /// The paths of the other databases with large values in ``externalData``. A file that cannot be read may be one.
  private func neighbours() throws(StoreError) -> [String] {
    let file = URL(fileURLWithPath: path)
    let (own, stem) = (file.lastPathComponent, file.deletingPathExtension().lastPathComponent)
    guard let folder = try OwnedFolder(file.deletingLastPathComponent().path) else { return [] }
    var result: [String] = []
    for name in try folder.names() where name != own && (name as NSString).deletingPathExtension == stem {
      if Self.companions.contains(where: name.hasSuffix) { continue }
      guard try folder.status(name)?.isRegular == true else { continue }
      let neighbour = file.deletingLastPathComponent().appendingPathComponent(name).path
      switch LockedFiles.unlisted(neighbour) {
      case .database: break
      case .other: continue
      case nil:
        do throws(StoreError) { if try !SQLiteFormat.isStoreFile(neighbour) { continue } } catch {
          if error.code == .notAStore { continue }
        }
      }
      result.append(neighbour)
    }
    return result
  }

  /// Whether the database at a path has this UUID, or has a UUID that cannot be read within a second. A database of
  /// another program has none.
  private static func mayBe(_ path: String, copyOf identifier: String) -> Bool {
    if LockedFiles.unlisted(path) != nil { return true }
    var options = StoreOptions()
    options.timeout = 1
    let answer = try? SQLiteFileView.read(path, options) { (connection) throws(StoreError) -> Bool in
      let tables = try connection.integer("SELECT count(*) FROM sqlite_master") ?? 0
      let own = try connection.integer("SELECT count(*) FROM sqlite_master WHERE name = 'Z_METADATA'") ?? 0
      if tables > 0 && own == 0 { return false }
      try SQLiteFormat.requireSystemTables(on: connection)
      let found = try connection.text("SELECT Z_UUID FROM Z_METADATA")
      return found == nil || found == identifier
    }
    return answer ?? true
  }

  // MARK: Stores without a trace

  private struct Shared {
    var users = 0
    let folder: TemporaryFolder
  }

  private static let shared = Mutex<[String: Shared]>([:])

  /// Files that nobody closed are removed when the program ends normally.
  private static let isRemovedAtExit: Bool =
    atexit {
      SQLiteLocation.shared.withLock { known in
        for entry in known.values { entry.folder.remove() }
        known = [:]
      }
    } == 0

  private static func folder(named name: String) throws(StoreError) -> TemporaryFolder {
    _ = isRemovedAtExit
    let result: Result<TemporaryFolder, StoreError> = shared.withLock { known in
      if !name.isEmpty, let entry = known[name] {
        known[name] = Shared(users: entry.users + 1, folder: entry.folder)
        return .success(entry.folder)
      }
      return Result { () throws(StoreError) in
        let folder = try TemporaryFolder()
        known[name.isEmpty ? folder.url.path : name] = Shared(users: 1, folder: folder)
        return folder
      }
    }
    return try result.get()
  }

  /// Releases one use of a store without a trace; its files are removed with the last.
  func release() {
    guard let temporaryFolder else { return }
    Self.shared.withLock { known in
      guard let (key, entry) = known.first(where: { $0.value.folder === temporaryFolder }) else { return }
      if entry.users > 1 {
        known[key] = Shared(users: entry.users - 1, folder: entry.folder)
      } else {
        known[key] = nil
        entry.folder.remove()
      }
    }
  }
}
