import Foundation
import StoreProtocol

/// A way to read a database that leaves its folder as it is: names, bytes and times.
enum SQLiteFileView {
  /// Calls `body` with what to open read-only to see all of the database at `path`, its log included.
  ///
  /// Where this process has the database open, or it keeps a rollback journal, that is the file itself: SQLite shares the locks of its own connections, and
  /// the files beside it are there. Where another process has it open, its shared memory is used and not written. Where
  /// nobody has, a log that was left behind is read from a private copy, and a database without one as immutable.
  static func read<R>(_ path: String, _ body: (_ uri: String) throws(StoreError) -> R) throws(StoreError) -> R {
    try SQLiteOpenFiles.exclusively(path) { (isOpen) throws(StoreError) in
      if isOpen { return try body(path) }
      if FileManager.default.fileExists(atPath: path + "-shm") { return try body(uri(path, "readonly_shm=1")) }
      if size(path + "-wal") == 0 && size(path + "-journal") == 0 {
        return try body(isLogged(path) ? uri(path, "immutable=1") : path)
      }
      let folder = try copy(path)
      defer { try? FileManager.default.removeItem(at: folder) }
      return try body(folder.appendingPathComponent("store").path)
    }
  }

  /// Whether the header says that changes go to a write-ahead log; without one, locks are all that others show.
  private static func isLogged(_ path: String) -> Bool {
    guard let file = FileHandle(forReadingAtPath: path) else { return false }
    defer { try? file.close() }
    let header = (try? file.read(upToCount: 20)) ?? Data()
    return header.count == 20 && header.suffix(2) == Data([2, 2])
  }

  private static let suffixes = ["", "-wal", "-journal"]

  /// Copies the database and its log into a private folder; again if they changed meanwhile, because somebody opened them.
  private static func copy(_ path: String) throws(StoreError) -> URL {
    let files = FileManager.default
    let folder = files.temporaryDirectory.appendingPathComponent("CoreData-" + UUID().uuidString)
    do {
      try files.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      for _ in 0..<5 {
        let before = stamp(path)
        for suffix in suffixes {
          let target = folder.appendingPathComponent("store" + suffix).path
          if files.fileExists(atPath: target) { try files.removeItem(atPath: target) }
          if files.fileExists(atPath: path + suffix) { try files.copyItem(atPath: path + suffix, toPath: target) }
        }
        if stamp(path) == before { return folder }
      }
    } catch {
      try? files.removeItem(at: folder)
      throw StoreError(.io, "The store cannot be copied for reading.", context: ["path": path], cause: "\(error)")
    }
    try? files.removeItem(at: folder)
    throw StoreError(.busy, "The store is being changed while it is read; try again.", context: ["path": path])
  }

  /// Sizes and times of the files: what changes when anybody writes.
  private static func stamp(_ path: String) -> [String] {
    (suffixes + ["-shm"]).map { suffix in
      let attributes = try? FileManager.default.attributesOfItem(atPath: path + suffix)
      let date = (attributes?[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate
      return "\(attributes?[.size] ?? 0) \(date ?? 0)"
    }
  }

  private static func size(_ path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }

  private static func uri(_ path: String, _ parameters: String) -> String {
    let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#%"))
    return "file:" + (path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path) + "?" + parameters
  }
}
