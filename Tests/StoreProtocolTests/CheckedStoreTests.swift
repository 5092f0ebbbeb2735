import Foundation
import SQLiteBackend
import StoreProtocol
import StoreSchema
import Testing

/// The calls and results that the checks around every store refuse.
@Suite struct CheckedStoreTests {
  private static func schema(derived: Bool = false) throws -> Schema {
    var person = EntityDefinition(name: "Person")
    person.attributes = [AttributeDefinition(name: "name", type: .string)]
    if derived {
      var folded = AttributeDefinition(name: "changed", type: .date)
      folded.derivation = .now
      person.attributes.append(folded)
    }
    var friends = RelationshipDefinition(name: "friends", destination: "Person")
    friends.inverse = "friends"
    person.relationships = [friends]
    var thing = EntityDefinition(name: "Thing")
    thing.isAbstract = true
    return try Schema([person, thing])
  }

  private let url = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("\(UUID()).sqlite")

  private func removeStore() throws { try SQLiteBackend().destroy(at: url, options: StoreOptions()) }

  private static func row(entity: Int = 0, slots: Int = 1, key: Int64 = -1, version: Int64 = 1) -> RowDraft {
    let builder = RowBuilder()
    builder.begin(slots: slots)
    builder.setString(0, "x")
    return builder.finishDraft(key: key, entity: entity, version: version)
  }

  private func expectRefusal(_ text: String, _ store: any Store, _ change: (inout ChangeSet) -> Void) {
    var changes = ChangeSet(time: 0)
    changes.insertions = [Self.row()]
    change(&changes)
    do {
      _ = try store.commit(changes)
      Issue.record("was not refused: \(text)")
    } catch {
      #expect(error.code == .invalidArgument && error.outcome == .notSaved)
      #expect(error.message.contains(text), "\(error)")
    }
  }

  @Test func changeSetsThatDoNotFitTheModelAreRefusedWhole() throws {
    let store = try CheckedBackend(SQLiteBackend()).open(at: url, schema: try Self.schema(), options: StoreOptions())
    expectRefusal("no entity 7", store) { $0.insertions.append(Self.row(entity: 7)) }
    expectRefusal("Thing is abstract", store) { $0.insertions.append(Self.row(entity: 1)) }
    expectRefusal("3 slots", store) { $0.insertions.append(Self.row(slots: 3)) }
    expectRefusal("updated object has no key", store) {
      $0.updates.append(.init(row: Self.row(key: 0, version: 2), changed: SlotSet()))
    }
    expectRefusal("deleted or checked object has no key", store) {
      $0.deletions.append(.init(ObjectReference(entity: 0, key: 0), versionRead: 1))
    }
    for entity in [-1, 7] {
      let reference = ObjectReference(entity: entity, key: 1)
      expectRefusal("no entity \(entity)", store) {
        ($0.insertions, $0.deletions) = ([], [.init(reference, versionRead: 1)])
      }
      expectRefusal("no entity \(entity)", store) {
        ($0.insertions, $0.checks) = ([], [.init(reference, versionRead: 1)])
      }
    }
    let link = { (owner: Int64, relationship: Int, other: ObjectReference) in
      ChangeSet.LinkChange(entity: 0, relationship: relationship, owner: owner, added: [other], removed: [])
    }
    let first = ObjectReference(entity: 0, key: -1)
    expectRefusal("no to-many relationship", store) { $0.links = [link(-1, 1, first)] }
    expectRefusal("leads to no object", store) { $0.links = [link(-2, 0, first)] }
    expectRefusal("leads to no object", store) { $0.links = [link(-1, 0, ObjectReference(entity: 0, key: 0))] }
    expectRefusal("no entity -1", store) { $0.links = [link(-1, 0, ObjectReference(entity: -1, key: -1))] }
    var rows = 0
    try store.snapshot().scan(0..<1) { _ in rows += 1 }
    #expect(rows == 0, "something was written")

    var changes = ChangeSet(time: 0)
    changes.insertions = [Self.row(), Self.row()]
    changes.links = [link(-1, 0, ObjectReference(entity: 0, key: -2))]
    guard case .committed(let receipt) = try store.commit(changes) else { throw CocoaError(.coderInvalidValue) }
    #expect(receipt.keys == [1, 2])
    try store.close()
    try removeStore()
  }

  @Test func keysAreAllocatedForRootsOnly() throws {
    let store = try CheckedBackend(SQLiteBackend()).open(at: url, schema: try Self.schema(), options: StoreOptions())
    #expect(throws: StoreError.self) { try store.allocateKeys(root: 9, count: 1) }
    #expect(throws: StoreError.self) { try store.allocateKeys(root: 0, count: -1) }
    #expect(try store.allocateKeys(root: 0, count: 3) == 1..<4)
    try store.close()
    try removeStore()
  }

  @Test func capabilitiesThatAStoreLacksAreRefusedBeforeItIsOpened() throws {
    let backend = CheckedBackend(PowerlessBackend())
    #expect(throws: Never.self) { try backend.open(at: url, schema: try Self.schema(), options: StoreOptions()) }
    do {
      _ = try backend.open(at: url, schema: try Self.schema(derived: true), options: StoreOptions())
      Issue.record("a derived attribute was taken")
    } catch let error as StoreError {
      #expect(error.code == .unsupported && error.context["attribute"] == "Person.changed")
    }
    var options = StoreOptions()
    options.tracksHistory = true
    let schema = try Self.schema()
    do {
      _ = try backend.open(at: url, schema: schema, options: options)
      Issue.record("history was promised")
    } catch { #expect(error.code == .unsupported) }
  }

  @Test func theWrapperPassesCapabilitiesThatItDoesNotKnow() throws {
    let backend = CheckedBackend(PowerlessBackend())
    #expect(backend.capability((any Describing).self)?.words == "a backend")
    #expect(backend.capability((any ModelInferringBackend).self) == nil)
    let store = try backend.open(at: url, schema: try Self.schema(), options: StoreOptions())
    #expect(!(store is any Describing))
    #expect(try store.capability((any Describing).self)?.words == "a store")
    // A capability may be another value than the store.
    #expect(try store.capability(Counter.self)?.count == 7)
    #expect(store.externalDataStore == nil)
  }

  @Test func aReceiptThatLacksKeysIsNotBelieved() throws {
    let store = try CheckedBackend(PowerlessBackend()).open(
      at: url, schema: try Self.schema(), options: StoreOptions())
    var changes = ChangeSet(time: 0)
    changes.insertions = [Self.row()]
    do {
      _ = try store.commit(changes)
      Issue.record("the receipt was believed")
    } catch { #expect(error.outcome == .outcomeUnknown) }
  }
}

/// A capability that the wrapper does not know.
private protocol Describing {
  var words: String { get }
}

/// A capability that is a value.
private struct Counter {
  let count: Int
}

/// A backend without capabilities, whose stores keep nothing and report success.
private struct PowerlessBackend: StoreBackend, Describing {
  let words = "a backend"
  let storeType = "Powerless"
  let capabilities: Capabilities = []

  func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    PowerlessStore(schema)
  }
  func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    throw StoreError(.notFound, "There is nothing.")
  }
  func destroy(at url: URL, options: StoreOptions) throws(StoreError) {}
  func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {}
}

private final class PowerlessStore: Store, Describing {
  let words = "a store"
  let schema: Schema
  let identifier = "0"
  let capabilities: Capabilities = []
  let isReadOnly = false

  init(_ schema: Schema) { self.schema = schema }

  var metadata: StoreMetadata {
    StoreMetadata(
      identifier: identifier, storeType: "Powerless", versionHashes: [:], versionIdentifiers: [], additional: [:])
  }
  func snapshot() throws(StoreError) -> any StoreSnapshot { throw StoreError(.closed, "There is nothing to see.") }
  func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
    .committed(Receipt(keys: [], commitNumber: 1))
  }
  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> { 1..<(1 + Int64(count)) }
  func externalData(_ name: Data) throws(StoreError) -> Data { throw StoreError(.missingExternalData, "None.") }
  func close() throws(StoreError) {}

  func capability<Capability>(_ type: Capability.Type) throws(StoreError) -> Capability? {
    Counter(count: 7) as? Capability ?? self as? Capability
  }
}
