import Foundation
import StoreProtocol

/// The files of large binary values, beside the store in `.<name>_SUPPORT/_EXTERNAL_DATA`.
///
/// A file is complete and on disk before a row names it, and goes only after no row does.
struct SQLiteExternalFiles: Sendable {
  /// Smaller values stay in the row. Real stores hold up to 58 583 bytes inline; about 100 KB is commonly reported.
  static let threshold = 100_000

  let folder: URL

  /// The data behind a slot's name, with or without its leading byte 2.
  func read(_ name: Data) throws(StoreError) -> Data {
    let url = try file(name)
    try requirePlain(url)
    do { return try Data(contentsOf: url) } catch {
      throw StoreError(
        .missingExternalData, "The file of an external value is missing or cannot be read.",
        context: ["path": url.path], cause: "\(error)")
    }
  }

  /// Throws unless it is a plain file: a link may lead anywhere, and a pipe makes its reader wait.
  private func requirePlain(_ url: URL) throws(StoreError) {
    guard let status = FileStatus(url.path) else { return }
    let folders = [folder, folder.deletingLastPathComponent()]
    if !status.isRegular || status.isHole || folders.contains(where: { !isFolder($0) }) {
      throw StoreError(
        .corrupt, "The file of an external value is no plain file in the store's own folder.",
        context: ["path": url.path])
    }
  }

  private func isFolder(_ url: URL) -> Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
    return attributes?[.type] as? FileAttributeType == .typeDirectory
  }

  /// Writes a value and gives its name; nil for a small one.
  func write(_ data: Data) throws(StoreError) -> Data? {
    if data.count <= Self.threshold { return nil }
    let name = UUID().uuidString
    let url = folder.appendingPathComponent(name)
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try data.write(to: url, options: .withoutOverwriting)
      for item in [url, folder] { try Self.synchronize(item) }
    } catch {
      try? FileManager.default.removeItem(at: url)
      throw StoreError(
        .io, "A large value cannot be written to a file of its own.", context: ["path": url.path], cause: "\(error)")
    }
    return Data([2]) + Data(name.utf8) + Data([0])
  }

  private static func synchronize(_ url: URL) throws {
    let handle = try FileHandle(forReadingFrom: url)
    defer { try? handle.close() }
    try handle.synchronize()
  }

  /// Removes files that no row names. One that is gone already is no error.
  func remove(_ names: [Data]) {
    for name in names {
      if let url = try? file(name) { try? FileManager.default.removeItem(at: url) }
    }
  }

  // MARK: Copying stores

  /// Copies the files of another store that are not here yet, durably. Names are never used again, so that one which is here is
  /// the same.
  func add(_ other: SQLiteExternalFiles) throws(StoreError) {
    let missing = other.names.subtracting(names)
    if missing.isEmpty { return }
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      for name in missing {
        let (source, target) = (other.folder.appendingPathComponent(name), folder.appendingPathComponent(name))
        try FileManager.default.copyItem(at: source, to: target)
        try Self.synchronize(target)
      }
      try Self.synchronize(folder)
    } catch {
      throw StoreError(
        .io, "The store's external data cannot be copied.", context: ["path": other.folder.path], cause: "\(error)")
    }
  }

  /// Removes the files that another store does not have.
  func removeAll(butThoseOf other: SQLiteExternalFiles) { remove(names.subtracting(other.names).map { Data($0.utf8) }) }

  /// What cannot be read as a value is none of them.
  private var names: Set<String> {
    let found = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return Set(
      found.filter {
        UUID(uuidString: $0)?.uuidString == $0 && (try? requirePlain(folder.appendingPathComponent($0))) != nil
      })
  }

  /// Only a UUID is a name: no text from a file may lead out of the folder.
  private func file(_ name: Data) throws(StoreError) -> URL {
    let text = String(decoding: name.drop { $0 == 2 }.prefix { $0 != 0 }, as: UTF8.self)
    guard let uuid = UUID(uuidString: text) else {
      throw StoreError(.corrupt, "An external value's name is no UUID.", context: ["name": text])
    }
    return folder.appendingPathComponent(uuid.uuidString)
  }
}
