import Foundation
import StoreProtocol
import StoreSchema
import Testing

@testable import SQLiteBackend

/// The option for the page cache of the connection that writes.
@Suite struct WriterCacheTests {
  @Test(arguments: [-1, 0, 1023, Int.max]) func aCacheThatNobodyCanHaveIsRefused(bytes: Int) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "cache-\(UUID())")
    let schema = try Schema([EntityDefinition(name: "Note")])
    var options = StoreOptions()
    options[SQLiteBackend.writerCache] = bytes
    let error = #expect(throws: StoreError.self) {
      try SQLiteBackend().open(at: file, schema: schema, options: options)
    }
    #expect(error?.code == .invalidArgument && error?.context["option"] == "SQLite.writerCacheBytes")
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test func itIsDeclaredAndHasADefault() {
    #expect(SQLiteBackend().ownOptions.map(\.name) == ["SQLite.writerCacheBytes"])
    #expect(StoreOptions()[SQLiteBackend.writerCache] == 16 << 20)
  }
}
