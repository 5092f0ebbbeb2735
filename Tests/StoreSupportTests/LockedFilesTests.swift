import Foundation
import StoreProtocol
import StoreSupport
import Testing

/// The list of database files that must only be opened through SQLite.
@Suite struct LockedFilesTests {
  /// The inode of a removed and closed database may belong to another file before the list is updated.
  @Test func aFileWithTheInodeOfAClosedDatabaseCanBeOpened() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "listed-\(UUID())")
    try Data("other".utf8).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let identity = try #require(LockedFiles.Identity(url.path))
    LockedFiles.add(identity)
    defer { LockedFiles.remove(identity) }
    let first = try LockedFiles.opening(url.path) { open(url.path, O_RDONLY) }
    #expect(first >= 0)
    // While this process has the database open, its entry in the list applies.
    let error = #expect(throws: StoreError.self) { try LockedFiles.opening(url.path) { open(url.path, O_RDONLY) } }
    #expect(error?.code == .notAStore)
    close(first)
  }
}
