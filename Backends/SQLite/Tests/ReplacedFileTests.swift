import Foundation
import StoreProtocol
import StoreSchema
import Synchronization
import Testing

@testable import SQLiteBackend

/// Files that are removed, or changed by others, while SQLite has them open.
@Suite struct ReplacedFileTests {
  private static func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "replaced-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Once the last connection to a removed file is closed, a new file may get its inode. The two must not be confused.
  /// When they were, a log file was left behind once in several thousand rounds.
  @Test func anotherFileMayGetTheNumberOfARemovedOne() throws {
    let (folder, others) = (try Self.folder(), try Self.folder())
    defer { for made in [folder, others] { try? FileManager.default.removeItem(at: made) } }
    let url = folder.appending(path: "store.sqlite")
    let isDone = Mutex(false)
    let thread = Thread {
      while !isDone.withLock({ $0 }) {
        let path = others.appending(path: UUID().uuidString).path
        // This file only has to get the inode, so errors on it are ignored.
        guard let connection = try? SQLiteConnection(path, .readWriteCreate, timeout: 1) else { return }
        try? connection.execute("CREATE TABLE t (x)")
        withExtendedLifetime(connection) {}
        try? FileManager.default.removeItem(atPath: path)
      }
    }
    thread.start()
    defer { isDone.withLock { $0 = true } }
    for round in 0..<2000 {
      var connection: SQLiteConnection? = try SQLiteConnection(url.path, .readWriteCreate, timeout: 1)
      try connection?.execute("PRAGMA journal_mode = WAL")
      try connection?.execute("BEGIN; CREATE TABLE t (x)")
      connection?.noteLog()
      try connection?.execute("COMMIT")
      try FileManager.default.removeItem(at: url)
      connection = nil
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(names == [], "round \(round)")
    }
  }

  /// The cost of the check: a writing connection reads the UUID once, as long as nobody else commits.
  @Test func theUUIDIsReadOnlyAfterOthersHaveCommitted() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "store.sqlite")
    let requested = Mutex(0)
    var options = StoreOptions()
    options.trace = { sql, _ in if sql == "SELECT Z_UUID FROM Z_METADATA" { requested.withLock { $0 += 1 } } }
    let schema = try Schema([EntityDefinition(name: "Item")])
    let store = try SQLiteBackend().open(at: url, schema: schema, options: options)
    for _ in 0..<5 { _ = try store.allocateKeys(root: 0, count: 1) }
    #expect(requested.withLock { $0 } == 1)
    try SQLiteConnection(url.path, .readWrite, timeout: 1).execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1")
    for _ in 0..<5 { _ = try store.allocateKeys(root: 0, count: 1) }
    #expect(requested.withLock { $0 } == 2)
    try store.close()
  }
}
