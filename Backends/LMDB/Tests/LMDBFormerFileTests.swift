#if LMDB
  import Foundation
  import LMDBBackend
  import StoreProtocol
  import StoreSchema
  import Testing

  /// A file takes the name of another one that a process still has open. The lock file beside it belongs to the former
  /// file.
  @Suite struct LMDBFormerFileTests {
    @Test func itIsOpenedWhenNobodyHasTheFormerOne() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "lmdb-former-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      var entity = EntityDefinition(name: "Item")
      entity.attributes = [AttributeDefinition(name: "text", type: .string)]
      let schema = try Schema([entity])
      let (former, next) = (folder.appending(path: "store"), folder.appending(path: "next"))
      func fill(_ url: URL, _ count: Int) throws {
        let store = try LMDBBackend().open(at: url, schema: schema, options: StoreOptions())
        for _ in 0..<count {
          let builder = RowBuilder()
          builder.begin(slots: 1)
          builder.setString(0, "x")
          var changes = ChangeSet(time: 0)
          changes.insertions = [builder.finishDraft(key: 0, entity: 0, version: 1)]
          guard case .committed = try store.commit(changes) else { throw StoreError(.constraint, "a conflict") }
        }
        try store.close()
      }
      func count() throws -> Int {
        let store = try LMDBBackend().open(at: former, schema: schema, options: StoreOptions())
        var count = 0
        try store.snapshot().scan(0..<1) { _ in count += 1 }
        try store.close()
        return count
      }
      // LMDB chooses between the last two commits by the parity of the number in the lock file.
      for (before, after) in [(10, 5), (11, 5), (10, 6), (11, 6)] {
        try fill(former, before)
        try fill(next, after)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
          .appending(path: "lmdb-process")
        process.arguments = ["view", former.path]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        _ = pipe.fileHandleForReading.availableData
        #expect(rename(next.path, former.path) == 0)
        do {
          _ = try count()
          Issue.record("\(before), \(after): the store was opened with the lock file of another one")
        } catch let error as StoreError { #expect(error.code == .busy, "\(error)") }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(try count() == after)
        try LMDBBackend().destroy(at: former, options: StoreOptions())
        try? FileManager.default.removeItem(at: folder.appending(path: "next-lock"))
      }
    }
  }
#endif
