import Foundation
import KeyValueEngine
import StoreProtocol
import StoreSchema
import Testing

/// Every read of an entry verifies its checksum, even if the read uses only a small part of the entry.
@Suite struct KeyValueDamageTests {
  /// `Dog`s and `Cat`s are `Animal`s. Their names are unique.
  private let schema: Schema
  private let map = MemoryMap()
  private let store: KeyValueStore<MemoryMap>
  private let dog: Entity
  private let cat: Entity

  init() throws {
    var animal = EntityDefinition(name: "Animal")
    animal.attributes = [AttributeDefinition(name: "name", type: .string)]
    animal.uniquenessConstraints = [["name"]]
    var (dog, cat) = (EntityDefinition(name: "Dog"), EntityDefinition(name: "Cat"))
    (dog.superentity, cat.superentity) = ("Animal", "Animal")
    schema = try Schema([animal, dog, cat])
    self.dog = try #require(schema.entity(named: "Dog"))
    self.cat = try #require(schema.entity(named: "Cat"))
    try KeyValueStore.make(map, schema, storeType: "Test", options: StoreOptions())
    store = try KeyValueStore(map, schema, storeType: "Test", capabilities: [.rowLevel], options: StoreOptions())
    var changes = ChangeSet(time: 0)
    changes.insertions = try [row(self.dog, 0, "a"), row(self.cat, 0, "b"), row(self.dog, 0, "c")]
    #expect(try commit(changes) == [1, 2, 3])
  }

  private func row(_ entity: Entity, _ key: Int64, version: Int64 = 1, _ name: String) throws -> RowDraft {
    let builder = RowBuilder()
    builder.begin(slots: entity.slots.count)
    builder.setString(try #require(entity.attribute(named: "name")?.slot), name)
    return builder.finishDraft(key: key, entity: entity.index, version: version)
  }

  private func commit(_ changes: ChangeSet) throws -> [Int64] {
    guard case .committed(let receipt) = try store.commit(changes) else { throw StoreError(.constraint, "conflict") }
    return receipt.keys
  }

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do { try body() } catch { return (error as? StoreError)?.code }
    return nil
  }

  /// A fetch reads only the entity number to decide whether a row belongs to it.
  @Test func aDamagedEntityDoesNotHideAnObject() throws {
    for byte in 13..<16 {
      map.damage(.rows, entry: 0, byte: byte)
      #expect(code { try store.snapshot().scan(dog.subtree) { _ in } } == .corrupt, "byte \(byte)")
      #expect(code { try store.snapshot().scan(cat.subtree) { _ in } } == .corrupt, "byte \(byte)")
      map.damage(.rows, entry: 0, byte: byte)
    }
    var found: [Int64] = []
    try store.snapshot().scan(dog.subtree) { found.append($0.key) }
    #expect(found == [1, 3])
  }

  /// A save compares only the version.
  @Test func aDamagedObjectIsNotReplaced() throws {
    map.damage(.rows, entry: 0, byte: 30)
    let reference = ObjectReference(entity: dog.index, key: 1)
    var update = ChangeSet(time: 0)
    let name = try #require(dog.attribute(named: "name")?.slot)
    var changed = SlotSet()
    changed.insert(name)
    update.updates = [.init(row: try row(dog, 1, version: 2, "d"), changed: changed)]
    #expect(code { _ = try commit(update) } == .corrupt)
    var check = ChangeSet(time: 0)
    check.checks = [.init(reference, versionRead: 1)]
    check.insertions = [try row(cat, 0, "e")]
    #expect(code { _ = try commit(check) } == .corrupt)
    map.damage(.rows, entry: 0, byte: 30)
    #expect(try commit(check) == [4])
  }

  /// New keys continue after the last object, of which only the key is used.
  @Test func aDamagedLastObjectIsFoundWhereKeysAreGiven() throws {
    map.damage(.rows, entry: 2, byte: 30)
    #expect(code { _ = try store.allocateKeys(root: dog.root, count: 1) } == .corrupt)
  }

  /// A save finds the owner of a unique value in the index alone.
  @Test func aDamagedEntryOfAConstraintIsFound() throws {
    map.damage(.indexes, entry: 0, byte: 3)
    var changes = ChangeSet(time: 0)
    changes.insertions = [try row(cat, 0, "a")]
    #expect(code { _ = try commit(changes) } == .corrupt)
  }
}
