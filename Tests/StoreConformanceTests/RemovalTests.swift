import Foundation
import SQLiteBackend
import StoreConformance
import StoreProtocol
import StoreSchema
import Testing

/// The interrupted removal of an SQLite store whose last saves are still in the log.
@Suite struct RemovalTests {
  /// Ends a process at each call that changes a file, with one run for each call. The test runs in a separate process,
  /// because the process is forked.
  @Test(.enabled(if: FailingFiles.isPossible)) func aRemovalThatDiesLeavesTheWholeStoreOrNone() async {
    await #expect(processExitsWith: .success) {
      let world = try LeftStore()
      defer { world.remove() }
      var (isDone, kept, gone) = (false, 0, 0)
      for at in 1..<60 where !isDone {
        try world.makeAgain()
        let said = FailingFiles.inFork {
          do {
            try FailingFiles.disturb(FileFault(.dieBefore, .changes, at: at)) {
              try SQLiteBackend().destroy(at: world.url, options: StoreOptions())
            }
            return "done"
          } catch { return "\(error)" }
        }
        isDone = said == "done"
        precondition(isDone || said == nil, "killed at \(at): \(said ?? "")")
        if FileStatus(world.url.path) == nil {
          gone += 1
          // A new store does not use files that the interrupted removal left, and the next removal deletes them.
          if at % 2 == 0 {
            let count = try world.count()
            precondition(count == 0, "killed at \(at): a new store has \(count) rows")
          }
        } else {
          kept += 1
          let count = try world.count()
          precondition(count == 3, "killed at \(at): the store has \(count) of 3 rows")
        }
        try SQLiteBackend().destroy(at: world.url, options: StoreOptions())
        let left = try FileManager.default.contentsOfDirectory(atPath: world.url.deletingLastPathComponent().path)
        precondition(left == [], "killed at \(at): \(left)")
      }
      precondition(isDone && kept > 0 && gone > 2, "\(kept) kept, \(gone) gone")
    }
  }
}

/// A store with two rows in its file and a third in its log, as a killed process leaves it.
private struct LeftStore {
  let url: URL
  private let original: URL
  private let schema: Schema

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "left-\(UUID().uuidString)")
    url = folder.appending(path: "target/store.sqlite")
    original = folder.appending(path: "original")
    schema = try Schema([EntityDefinition(name: "Item")])
    let files = FileManager.default
    for folder in [url.deletingLastPathComponent(), original] {
      try files.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    FailingFiles.watch(url.deletingLastPathComponent().resolvingSymlinksInPath().path)
    let first = try open()
    try insert(2, into: first)
    try first.close()
    let second = try open()
    try insert(1, into: second)
    for name in try files.contentsOfDirectory(atPath: url.deletingLastPathComponent().path) {
      try files.copyItem(at: url.deletingLastPathComponent().appending(path: name), to: original.appending(path: name))
    }
    try second.close()
    try SQLiteBackend().destroy(at: url, options: StoreOptions())
  }

  func remove() { try? FileManager.default.removeItem(at: original.deletingLastPathComponent()) }

  func makeAgain() throws {
    let files = FileManager.default
    for name in try files.contentsOfDirectory(atPath: original.path) {
      try files.copyItem(at: original.appending(path: name), to: url.deletingLastPathComponent().appending(path: name))
    }
  }

  func count() throws -> Int {
    let store = try open()
    defer { try? store.close() }
    var count = 0
    try store.snapshot().scan(0..<1) { _ in count += 1 }
    return count
  }

  private func open() throws -> any Store {
    try SQLiteBackend().open(at: url, schema: schema, options: StoreOptions())
  }

  private func insert(_ count: Int, into store: any Store) throws {
    let builder = RowBuilder()
    var changes = ChangeSet(time: 0)
    for index in 0..<count {
      builder.begin(slots: 0)
      changes.insertions.append(builder.finishDraft(key: Int64(-(index + 1)), entity: 0, version: 1))
    }
    _ = try store.commit(changes)
  }
}
