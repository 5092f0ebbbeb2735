import Foundation
import InMemoryBackend
import StoreProtocol
import StoreSchema
import TestSupport
import Testing

/// What holds for stores in memory alone. The conformance suite has what they share with every other store.
@Suite struct InMemoryStoreTests {
  private let backend = InMemoryBackend()
  private let schema: Schema

  init() throws {
    var note = EntityDefinition(name: "Note")
    note.attributes = [AttributeDefinition(name: "text", type: .string)]
    schema = try Schema([note])
  }

  private func insertion(_ text: String) -> ChangeSet {
    let builder = RowBuilder()
    builder.begin(slots: 1)
    builder.setString(0, text)
    var changes = ChangeSet(time: 0)
    changes.insertions = [builder.finishDraft(key: 0, entity: 0, version: 1)]
    return changes
  }

  private func texts(_ snapshot: any StoreSnapshot) throws -> [String] {
    var texts: [String] = []
    try snapshot.scan(0..<1) { texts.append($0.string(0)) }
    return texts
  }

  @Test func storesOfOneURLAreApart() throws {
    let folder = try StoreFolder("memory")
    defer { folder.remove() }
    let stores = try (0..<2).map { _ in try backend.open(at: folder.url, schema: schema, options: StoreOptions()) }
    #expect(stores[0].identifier != stores[1].identifier)
    _ = try committed(insertion("one"), stores[0])
    #expect(try texts(stores[0].snapshot()) == ["one"])
    #expect(try texts(stores[1].snapshot()) == [])
    // Neither of them has made a file.
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.deletingLastPathComponent().path)
    #expect(names == [])
  }

  @Test func aFileAtTheURLIsNeitherReadNorRemoved() throws {
    let folder = try StoreFolder("memory")
    defer { folder.remove() }
    let content = Data("no store".utf8)
    try content.write(to: folder.url)
    let store = try backend.open(at: folder.url, schema: schema, options: StoreOptions())
    _ = try committed(insertion("one"), store)
    try store.close()
    try backend.destroy(at: folder.url, options: StoreOptions())
    #expect(try Data(contentsOf: folder.url) == content)
    let error = #expect(throws: StoreError.self) { try backend.metadata(at: folder.url, options: StoreOptions()) }
    #expect(error?.code == .notFound)
  }

  @Test func contentEndsWithTheStore() throws {
    let url = URL(filePath: "/dev/null")
    let store = try backend.open(at: url, schema: schema, options: StoreOptions())
    _ = try committed(insertion("one"), store)
    try store.close()
    #expect(throws: StoreError.self) { try store.snapshot() }
    #expect(try texts(backend.open(at: url, schema: schema, options: StoreOptions()).snapshot()) == [])
  }

  @Test func aSnapshotKeepsWhatItReadsBesideLaterCommits() throws {
    let store = try backend.open(at: URL(filePath: "/dev/null"), schema: schema, options: StoreOptions())
    _ = try committed(insertion("one"), store)
    let before = try store.snapshot()
    _ = try committed(insertion("two"), store)
    #expect(try texts(before) == ["one"])
    #expect(try texts(store.snapshot()) == ["one", "two"])
  }

  @Test func aStoreInMemoryReplacesNoFile() throws {
    let folder = try StoreFolder("memory")
    defer { folder.remove() }
    let other = folder.url.appendingPathExtension("other")
    let error = #expect(throws: StoreError.self) {
      try backend.replace(at: other, with: folder.url, options: StoreOptions())
    }
    #expect(error?.code == .unsupported)
    #expect(!FileManager.default.fileExists(atPath: other.path))
  }
}
