import Foundation
import StoreProtocol
import Testing

@testable import SQLiteBackend

/// The file of shared memory beside a database, which other processes make and remove.
@Suite struct SharedMemoryTests {
  /// The process that closes a database last removes its shared memory. A process that has just seen the file cannot
  /// open it then: it has to look again.
  @Test func sharedMemoryThatIsRemovedBeforeItIsOpenedIsNotMissed() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "shared-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let original = folder.appending(path: "original").path
    let path = folder.appending(path: "store").path
    do {
      let connection = try SQLiteConnection(original, .readWriteCreate, timeout: 1)
      try connection.execute("PRAGMA journal_mode = WAL")
      try connection.execute("CREATE TABLE t (x)")
      try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      // What another process has left that still has the database open.
      for end in ["", "-shm"] { try FileManager.default.copyItem(atPath: original + end, toPath: path + end) }
    }
    var tries = 0
    let tables = try SQLiteFileView.read(path, StoreOptions()) { (connection) throws(StoreError) in
      tries += 1
      if tries == 1 { try? FileManager.default.removeItem(atPath: path + "-shm") }
      return try connection.integer("SELECT count(*) FROM sqlite_master")
    }
    #expect(tables == 1)
    #expect(tries == 2)
  }
}
