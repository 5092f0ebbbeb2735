import Foundation
import StoreProtocol
import Testing

/// The list of files that must not be opened beside SQLite.
@Suite struct LockedFilesTests {
  /// The inode of a database that was removed and closed may be that of another file, before the list knows.
  @Test func aFileWithTheInodeOfAClosedDatabaseCanBeOpened() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "listed-\(UUID())")
    try Data("other".utf8).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let identity = try #require(LockedFiles.Identity(url.path))
    LockedFiles.add(identity)
    defer { LockedFiles.remove(identity) }
    let first = try LockedFiles.opening(url.path) { open(url.path, O_RDONLY) }
    #expect(first >= 0)
    // While this process has it open, it is what the list says.
    let error = #expect(throws: StoreError.self) { try LockedFiles.opening(url.path) { open(url.path, O_RDONLY) } }
    #expect(error?.code == .notAStore)
    close(first)
  }
}
