import Foundation
import StoreProtocol

/// A way to read a database that leaves its folder as it is: names, bytes and times.
struct SQLiteFileView {
  /// What to open, read-only.
  let uri: String
  private let copy: URL?

  init(_ path: String) throws(StoreError) {
    let files = FileManager.default
    let hasLog = Self.size(path + "-wal") > 0 || Self.size(path + "-journal") > 0
    if !hasLog {
      // Nothing but the main file counts, and nobody is writing to it.
      uri = Self.uri(path, "immutable=1")
      copy = nil
    } else {
      let folder = files.temporaryDirectory.appendingPathComponent("CoreData-" + UUID().uuidString)
      do {
        try files.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for suffix in ["", "-wal", "-journal"] where files.fileExists(atPath: path + suffix) {
          try files.copyItem(atPath: path + suffix, toPath: folder.appendingPathComponent("store" + suffix).path)
        }
      } catch {
        try? files.removeItem(at: folder)
        throw StoreError(
          .io, "The store cannot be copied for reading.", context: ["path": path], cause: "\(error)")
      }
      uri = folder.appendingPathComponent("store").path
      copy = folder
    }
  }

  func remove() {
    if let copy { try? FileManager.default.removeItem(at: copy) }
  }

  private static func size(_ path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }

  private static func uri(_ path: String, _ parameters: String) -> String {
    let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#%"))
    return "file:" + (path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path) + "?" + parameters
  }
}
