import AtomicEngine
import Foundation
import StoreProtocol
import StoreSchema
import Testing

@Suite struct AtomicStoreTests {
  /// `Song`s in `List`s, with an order on both sides. A list counts its pages, and each page copies the list's name.
  private static func schema() throws -> Schema {
    var (list, page, song) = (
      EntityDefinition(name: "List"), EntityDefinition(name: "Page"), EntityDefinition(name: "Song")
    )
    func relationship(_ name: String, _ destination: String, _ inverse: String, toMany: Bool, ordered: Bool = false)
      -> RelationshipDefinition
    {
      var result = RelationshipDefinition(name: name, destination: destination)
      (result.inverse, result.maxCount, result.isOrdered) = (inverse, toMany ? 0 : 1, ordered)
      return result
    }
    var count = AttributeDefinition(name: "count", type: .integer64)
    count.derivation = .count(relationship: "pages")
    var title = AttributeDefinition(name: "title", type: .string)
    title.derivation = .keyPath(["list", "name"])
    list.attributes = [AttributeDefinition(name: "name", type: .string), count]
    list.uniquenessConstraints = [["name"]]
    page.attributes = [title]
    list.relationships = [
      relationship("songs", "Song", "lists", toMany: true, ordered: true),
      relationship("pages", "Page", "list", toMany: true),
    ]
    song.relationships = [relationship("lists", "List", "songs", toMany: true, ordered: true)]
    page.relationships = [relationship("list", "List", "pages", toMany: false)]
    return try Schema([list, page, song])
  }

  private let schema: Schema
  private let store: AtomicStore
  private var list: Entity { schema.entities[0] }
  private var page: Entity { schema.entities[1] }
  private var song: Entity { schema.entities[2] }

  init() throws {
    schema = try Self.schema()
    store = AtomicStore(
      AtomicGraph(schema),
      StoreMetadata(
        identifier: "A", storeType: "Test", versionHashes: [:], versionIdentifiers: [], additional: [:]),
      [.derivedAttributes])
  }

  private func row(_ entity: Entity, key: Int64 = 0, version: Int64 = 1, _ values: [String: Value] = [:]) -> RowDraft {
    let builder = RowBuilder()
    builder.begin(slots: entity.slots.count)
    for (name, value) in values {
      if let slot = entity.attribute(named: name)?.slot ?? entity.relationship(named: name)?.slot {
        builder.set(slot, value)
      }
    }
    return builder.finishDraft(key: key, entity: entity.index, version: version)
  }

  private func set(_ slot: Int) -> SlotSet {
    var set = SlotSet()
    set.insert(slot)
    return set
  }

  private func commit(_ fill: (inout ChangeSet) -> Void) throws -> [Int64] {
    var changes = ChangeSet(time: 0)
    fill(&changes)
    switch try store.commit(changes) {
    case .committed(let receipt): return receipt.keys
    case .conflicts(let conflicts): throw StoreError(.constraint, "\(conflicts)")
    }
  }

  private func keys(_ entity: Entity, _ name: String, _ owner: Int64) throws -> [Int64] {
    var keys: [Int64] = []
    let relationship = try #require(entity.relationship(named: name))
    try store.snapshot().destinations(of: relationship, owners: [owner]) { keys.append($1.key) }
    return keys
  }

  @Test func aPairThatBothSidesTellIsThereOnce() throws {
    let (songs, lists) = (
      try #require(list.relationship(named: "songs")), try #require(song.relationship(named: "lists"))
    )
    let keys = try commit { changes in
      changes.insertions = [row(list, ["name": .string("a")]), row(song), row(song)]
      let (owner, first, second) = (
        ObjectReference(entity: list.index, key: -1), ObjectReference(entity: song.index, key: -2),
        ObjectReference(entity: song.index, key: -3)
      )
      changes.links = [
        .init(
          entity: list.index, relationship: songs.index, owner: -1, added: [second, first], removed: [],
          order: [second, first]),
        .init(entity: song.index, relationship: lists.index, owner: -2, added: [owner], removed: [], order: [owner]),
      ]
    }
    #expect(try self.keys(list, "songs", keys[0]) == [keys[2], keys[1]])
    #expect(try self.keys(song, "lists", keys[1]) == [keys[0]])
    // No list contains the deleted song any more.
    _ = try commit { changes in
      changes.deletions = [.init(ObjectReference(entity: song.index, key: keys[2]), versionRead: 1)]
    }
    #expect(try self.keys(list, "songs", keys[0]) == [keys[1]])
  }

  /// The highest key is read from a file, so it can be any number. Source: row IDN-019 of the specification, and goal
  /// G16.
  @Test func theHighestKeyOfAFileMayBeTheLast() throws {
    let loader = AtomicGraphLoader(schema, .plain)
    let store = AtomicStore(
      try loader.finish(highestNumber: .max),
      StoreMetadata(identifier: "A", storeType: "Test", versionHashes: [:], versionIdentifiers: [], additional: [:]),
      [])
    #expect(try store.allocateKeys(root: list.root, count: 0).isEmpty)
    #expect {
      try store.allocateKeys(root: list.root, count: 1)
    } throws: {
      ($0 as? StoreError)?.code == .corrupt
    }
    // A change set that needs no key can still be saved.
    guard case .committed = try store.commit(ChangeSet(time: 0)) else {
      Issue.record("a commit without insertions is refused")
      return
    }
  }

  @Test func viewsStayAsTheyAre() throws {
    let keys = try commit { $0.insertions = [row(list, ["name": .string("a")])] }
    let view = try store.snapshot()
    _ = try commit { changes in
      let update = row(list, key: keys[0], version: 2, ["name": .string("b")])
      changes.updates = [.init(row: update, changed: set(list.attribute(named: "name")?.slot ?? 0))]
    }
    let slot = try #require(list.attribute(named: "name")?.slot)
    #expect(try view.row(of: list.index, key: keys[0])?.string(slot) == "a")
    #expect(try store.snapshot().row(of: list.index, key: keys[0])?.string(slot) == "b")
  }

  @Test func aStaleVersionAndATakenNameAreConflictsThatChangeNothing() throws {
    let keys = try commit { $0.insertions = [row(list, ["name": .string("a")]), row(list, ["name": .string("b")])] }
    let name = try #require(list.attribute(named: "name")?.slot)
    #expect(throws: StoreError.self) {
      try commit { changes in
        changes.insertions = [row(song)]
        changes.updates = [.init(row: row(list, key: keys[0], version: 9, ["name": .string("c")]), changed: set(name))]
      }
    }
    #expect(throws: StoreError.self) { try commit { $0.insertions = [row(song), row(list, ["name": .string("b")])] } }
    var songs = 0
    try store.snapshot().scan(song.index..<song.index + 1) { _ in songs += 1 }
    #expect(songs == 0)
    // Constraints are checked against the state after the save, so two objects can exchange their names.
    _ = try commit { changes in
      changes.updates = [
        .init(row: row(list, key: keys[0], version: 2, ["name": .string("b")]), changed: set(name)),
        .init(row: row(list, key: keys[1], version: 2, ["name": .string("a")]), changed: set(name)),
      ]
    }
  }

  @Test func derivedAttributesFollow() throws {
    let keys = try commit { changes in
      changes.insertions = [
        row(list, ["name": .string("a")]), row(page, ["list": .int(-1)]), row(page, ["list": .int(-1)]),
      ]
    }
    let (count, title) = (
      try #require(list.attribute(named: "count")?.slot), try #require(page.attribute(named: "title")?.slot)
    )
    #expect(try store.snapshot().row(of: list.index, key: keys[0])?.int(count) == 2)
    #expect(try store.snapshot().row(of: page.index, key: keys[1])?.string(title) == "a")
    let name = try #require(list.attribute(named: "name")?.slot)
    _ = try commit { changes in
      changes.updates = [.init(row: row(list, key: keys[0], version: 2, ["name": .string("b")]), changed: set(name))]
      changes.deletions = [.init(ObjectReference(entity: page.index, key: keys[1]), versionRead: 1)]
    }
    #expect(try store.snapshot().row(of: list.index, key: keys[0])?.int(count) == 1)
    #expect(try store.snapshot().row(of: page.index, key: keys[2])?.string(title) == "b")
  }
}
