import Foundation
import SQLiteBackend
import StoreConformance
import StoreProtocol
import StoreSchema
import Testing

/// Commits that do not wait for the disk, and the removal of files whose large values they replace or delete.
@Suite struct DurableCommitTests {
  /// The store syncs the commit before it removes the file. The test runs in a separate process, because it logs the
  /// system calls of the whole process.
  @Test(.enabled(if: FailingFiles.isPossible)) func aCommitIsOnTheDiskBeforeTheFileOfItsObsoleteValueGoes() async {
    await #expect(processExitsWith: .success) {
      for (synchronous, journal) in [("OFF", "WAL"), ("NORMAL", "WAL"), ("OFF", "DELETE"), ("NORMAL", "DELETE")] {
        let world = try StoreWithLargeValue(synchronous, journal)
        let (calls, removal) = try world.delete()
        let mode = "synchronous \(synchronous), journal_mode \(journal)"
        guard let removal else { preconditionFailure("\(mode): the file stays: \(calls)") }
        var before = calls[..<removal]
        if journal == "DELETE" {
          // The removal of the journal completes the commit, so it must be synced too.
          guard let commit = before.lastIndex(of: "unlink \(world.url.path)-journal") else {
            preconditionFailure("\(mode): no journal was removed: \(calls)")
          }
          before = before[(commit + 1)...]
        }
        let folder = world.url.deletingLastPathComponent().path
        for path in journal == "WAL" ? [world.url.path + "-wal"] : [world.url.path, folder] {
          precondition(before.contains("sync \(path)"), "\(mode): \(path) is not synced: \(calls)")
        }
        try world.remove()
      }
    }
  }
}

/// A store with one object, whose large value is in a file.
private struct StoreWithLargeValue {
  let url: URL
  private let store: any Store
  private let object: ObjectReference
  /// The name of the value's file, as stored in the slot.
  private let name: Data

  init(_ synchronous: String, _ journal: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "durable-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    url = URL(fileURLWithPath: folder.resolvingSymlinksInPath().path).appendingPathComponent("store.sqlite")
    FailingFiles.watch(url.deletingLastPathComponent().path)
    var item = EntityDefinition(name: "Item")
    var large = AttributeDefinition(name: "large", type: .binaryData)
    large.allowsExternalBinaryDataStorage = true
    item.attributes = [large]
    var options = StoreOptions()
    options.externalDataGrace = 0
    options.pragmas = ["synchronous": synchronous, "journal_mode": journal]
    let store = try SQLiteBackend().open(at: url, schema: try Schema([item]), options: options)
    guard let name = try store.keepExternalData(Data(repeating: 1, count: 150_000)) else {
      preconditionFailure("the value has no file")
    }
    let builder = RowBuilder()
    builder.begin(slots: 1)
    builder.set(0, .data(name))
    var changes = ChangeSet(time: 0)
    changes.insertions = [builder.finishDraft(key: -1, entity: 0, version: 1)]
    guard case .committed(let receipt) = try store.commit(changes) else { preconditionFailure("there is a conflict") }
    object = ObjectReference(entity: 0, key: receipt.keys[0])
    (self.store, self.name) = (store, name)
  }

  /// Deletes the object. Returns the syncs and removals of files with their paths, and the index of the call that
  /// removes the value's file; nil if no call does.
  func delete() throws -> (calls: [String], removal: Int?) {
    var changes = ChangeSet(time: 0)
    changes.deletions = [ChangeSet.Deletion(object, versionRead: 1)]
    changes.obsoleteExternalData = [name]
    var isCommitted = false
    let found = try FailingFiles.calls([.sync, .remove]) {
      if case .committed = try store.commit(changes) { isCommitted = true }
    }
    precondition(isCommitted, "there is a conflict")
    // The call is fsync or fdatasync, depending on how SQLite was built.
    let calls = found.map { $0.call == "unlink" ? "unlink \($0.path)" : "sync \($0.path)" }
    // The file's name is between the leading byte 2 and the final zero.
    let file = String(decoding: name.dropFirst().dropLast(), as: UTF8.self)
    return (calls, found.firstIndex { $0.call == "unlink" && $0.path.hasSuffix(file) })
  }

  func remove() throws {
    try store.close()
    try FileManager.default.removeItem(at: url.deletingLastPathComponent())
  }
}
