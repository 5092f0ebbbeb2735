import Foundation
import StoreProtocol
import Synchronization

/// Where a store's files are, by its URL.
///
/// `/dev/null` and `file:///dev/null/Name` stand for a store without a trace on disk. It is kept in a private file of the
/// temporary folder, so that snapshots and commits work side by side as in any other, and removed when it is closed or
/// the program ends. A name is shared within the process.
struct SQLitePlace: Sendable {
  let path: String
  private let temporaryFolder: URL?

  init(_ url: URL) throws(StoreError) {
    guard url.isFileURL else {
      throw StoreError(.invalidArgument, "A store's URL must be a file URL.", context: ["url": url.absoluteString])
    }
    guard url.path == "/dev/null" || url.path.hasPrefix("/dev/null/") else {
      // SQLite names the files beside the database after what a symbolic link leads to.
      path = url.resolvingSymlinksInPath().path
      temporaryFolder = nil
      return
    }
    let name = url.path.dropFirst("/dev/null/".count)
    let folder = try Self.folder(named: String(name))
    temporaryFolder = folder
    path = folder.appendingPathComponent("store.sqlite").path
  }

  private var supportFolder: URL {
    let file = URL(fileURLWithPath: path)
    let name = file.deletingPathExtension().lastPathComponent
    return file.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT")
  }

  var externalData: ExternalDataFolder { ExternalDataFolder("_EXTERNAL_DATA", within: supportFolder) }

  // MARK: Stores without a trace

  private struct Shared {
    var users = 0
    var folder: URL
    /// A copy of the process must not take the files of the one that made them.
    let process = ProcessCopy.current
  }

  private static let shared = Mutex<[String: Shared]>([:])

  /// What nobody closed goes when the program ends as it should.
  private static let isRemovedAtExit: Bool =
    atexit {
      SQLitePlace.shared.withLock { known in
        for entry in known.values { SQLitePlace.remove(entry) }
        known = [:]
      }
    } == 0

  private static func remove(_ entry: Shared) {
    // A folder that stays holds nothing that anyone will open again.
    if entry.process == ProcessCopy.current { try? FileManager.default.removeItem(at: entry.folder) }
  }

  private static func folder(named name: String) throws(StoreError) -> URL {
    _ = isRemovedAtExit
    let result: Result<URL, any Error> = shared.withLock { known in
      if !name.isEmpty, var entry = known[name] {
        entry.users += 1
        known[name] = entry
        return .success(entry.folder)
      }
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("CoreData-" + UUID().uuidString)
      return Result {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        known[name.isEmpty ? folder.path : name] = Shared(users: 1, folder: folder)
        return folder
      }
    }
    do { return try result.get() } catch {
      throw StoreError(.io, "The temporary folder for an in-memory store cannot be made.", cause: "\(error)")
    }
  }

  /// Gives up one use of a store without a trace; its files go with the last.
  func release() {
    guard let temporaryFolder else { return }
    Self.shared.withLock { known in
      guard let (key, entry) = known.first(where: { $0.value.folder == temporaryFolder }) else { return }
      if entry.users > 1 {
        known[key]?.users -= 1
      } else {
        known[key] = nil
        Self.remove(entry)
      }
    }
  }
}
