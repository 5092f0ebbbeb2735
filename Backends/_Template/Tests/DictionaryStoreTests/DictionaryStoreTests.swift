import DictionaryStore
import Foundation
import StoreProtocol
import StoreSchema
import Testing

/// What holds for this store alone. The conformance suite has what it shares with every other store.
@Suite struct DictionaryStoreTests {
  private let backend = DictionaryBackend()
  private let schema: Schema

  init() throws {
    var note = EntityDefinition(name: "Note")
    note.attributes = [AttributeDefinition(name: "text", type: .string)]
    schema = try Schema([note])
  }

  private func open() throws -> any Store {
    try backend.open(at: URL(fileURLWithPath: "/dev/null"), schema: schema, options: StoreOptions())
  }

  private func insert(_ text: String, _ store: any Store) throws {
    let builder = RowBuilder()
    builder.begin(slots: 1)
    builder.setString(0, text)
    var changes = ChangeSet(time: 0)
    changes.insertions = [builder.finishDraft(key: 0, entity: 0, version: 1)]
    guard case .committed = try store.commit(changes) else {
      throw StoreError(.constraint, "The commit has conflicts.")
    }
  }

  private func texts(_ store: any Store) throws -> [String] {
    var texts: [String] = []
    try store.snapshot().scan(0..<1) { texts.append($0.string(0)) }
    return texts
  }

  @Test func eachStoreIsApart() throws {
    let (one, other) = (try open(), try open())
    try insert("one", one)
    #expect(try texts(one) == ["one"])
    #expect(try texts(other) == [])
    #expect(one.identifier != other.identifier)
  }

  @Test func thereIsNoMetadataWithoutAnOpenStore() throws {
    let error = #expect(throws: StoreError.self) {
      try backend.metadata(at: URL(fileURLWithPath: "/dev/null"), options: StoreOptions())
    }
    #expect(error?.code == .notFound)
  }
}
