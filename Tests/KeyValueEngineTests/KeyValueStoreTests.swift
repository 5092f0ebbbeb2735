import Foundation
import KeyValueEngine
import StoreProtocol
import StoreSchema
import Testing

@Suite struct KeyValueStoreTests {
  /// `Song`s in `List`s, with an order on both sides. A list counts its pages, each of which copies its name, and has
  /// notes without an inverse.
  private static func schema(indexesTitles: Bool = false) throws -> Schema {
    var (list, page, song) = (
      EntityDefinition(name: "List"), EntityDefinition(name: "Page"), EntityDefinition(name: "Song")
    )
    func relationship(_ name: String, _ destination: String, _ inverse: String?, toMany: Bool, ordered: Bool = false)
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
    if indexesTitles { page.fetchIndexes = [.init(name: "t", elements: [.init(property: "title")])] }
    list.relationships = [
      relationship("songs", "Song", "lists", toMany: true, ordered: true),
      relationship("pages", "Page", "list", toMany: true),
      relationship("favourites", "Song", nil, toMany: true),
    ]
    song.relationships = [relationship("lists", "List", "songs", toMany: true, ordered: true)]
    page.relationships = [relationship("list", "List", "pages", toMany: false)]
    return try Schema([list, page, song])
  }

  private let schema: Schema
  private let map = MemoryMap()
  private let store: KeyValueStore<MemoryMap>
  private var list: Entity { schema.entities[0] }
  private var page: Entity { schema.entities[1] }
  private var song: Entity { schema.entities[2] }

  init() throws {
    schema = try Self.schema()
    try KeyValueStore.make(map, schema, storeType: "Test", options: StoreOptions())
    store = try Self.open(map, schema)
  }

  private static func open(_ map: MemoryMap, _ schema: Schema) throws -> KeyValueStore<MemoryMap> {
    try KeyValueStore(
      map, schema, storeType: "Test", capabilities: [.derivedAttributes, .rowLevel], options: StoreOptions())
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

  private func change(_ fill: (inout ChangeSet) -> Void) throws -> CommitResult {
    var changes = ChangeSet(time: 0)
    fill(&changes)
    return try store.commit(changes)
  }

  private func commit(_ fill: (inout ChangeSet) -> Void) throws -> [Int64] {
    switch try change(fill) {
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

  private func reference(_ entity: Entity, _ key: Int64) -> ObjectReference {
    ObjectReference(entity: entity.index, key: key)
  }

  private func count(_ entity: Entity) throws -> Int {
    var count = 0
    try store.snapshot().scan(entity.subtree) { _ in count += 1 }
    return count
  }

  /// A file may contain any version. No version comes after the greatest one, and a row with such a version could not
  /// be read again.
  @Test func aVersionWithoutANextOneIsNotWritten() throws {
    let name = try #require(list.attribute(named: "name")?.slot)
    func rename(_ key: Int64, to next: Int64, _ text: String) throws {
      _ = try commit { changes in
        changes.updates = [.init(row: row(list, key: key, version: next, ["name": .string(text)]), changed: set(name))]
      }
    }
    let key = try commit { $0.insertions = [row(list, ["name": .string("a")])] }[0]
    map.forge(.rows, entry: 0, byte: 16, .max - 1)
    try rename(key, to: .max, "b")
    let error = #expect(throws: StoreError.self) { try rename(key, to: .min, "c") }
    #expect(error?.code == .corrupt && error?.outcome == .notSaved)
    var names: [String] = []
    try store.snapshot().scan(list.subtree) { names.append($0.string(name)) }
    #expect(names == ["b"])
    // The object can be deleted nevertheless.
    _ = try commit { $0.deletions = [.init(reference(list, key), versionRead: .max)] }
    #expect(try count(list) == 0)
  }

  @Test func aPairThatBothSidesTellIsThereOnce() throws {
    let (songs, lists) = (
      try #require(list.relationship(named: "songs")), try #require(song.relationship(named: "lists"))
    )
    let keys = try commit { changes in
      changes.insertions = [row(list, ["name": .string("a")]), row(song), row(song), row(song)]
      let order = [reference(song, -3), reference(song, -2), reference(song, -4)]
      changes.links = [
        .init(entity: list.index, relationship: songs.index, owner: -1, added: order, removed: [], order: order),
        .init(
          entity: song.index, relationship: lists.index, owner: -2, added: [reference(list, -1)], removed: [],
          order: [reference(list, -1)]),
      ]
    }
    #expect(try self.keys(list, "songs", keys[0]) == [keys[2], keys[1], keys[3]])
    #expect(try self.keys(song, "lists", keys[1]) == [keys[0]])
    let turned = [keys[3], keys[2], keys[1]]
    _ = try commit { changes in
      changes.links = [
        .init(
          entity: list.index, relationship: songs.index, owner: keys[0], added: [], removed: [],
          order: turned.map { reference(song, $0) })
      ]
    }
    #expect(try self.keys(list, "songs", keys[0]) == turned)
    // No list contains the deleted song any more.
    _ = try commit { $0.deletions = [.init(reference(song, keys[2]), versionRead: 1)] }
    #expect(try self.keys(list, "songs", keys[0]) == [keys[3], keys[1]])
    _ = try commit { $0.deletions = [.init(reference(list, keys[0]), versionRead: 1)] }
    #expect(try self.keys(song, "lists", keys[1]) == [])
    #expect(map.sizes(.links) == [])
  }

  @Test func aOneWayLinkHasOneOwner() throws {
    let favourites = try #require(list.relationship(named: "favourites"))
    let keys = try commit { changes in
      changes.insertions = [row(list, ["name": .string("a")]), row(list, ["name": .string("b")]), row(song), row(song)]
      changes.links = [
        .init(
          entity: list.index, relationship: favourites.index, owner: -1,
          added: [reference(song, -3), reference(song, -4)], removed: [])
      ]
    }
    _ = try commit { changes in
      changes.links = [
        .init(
          entity: list.index, relationship: favourites.index, owner: keys[1], added: [reference(song, keys[2])],
          removed: [])
      ]
    }
    #expect(try self.keys(list, "favourites", keys[0]) == [keys[3]])
    #expect(try self.keys(list, "favourites", keys[1]) == [keys[2]])
    _ = try commit { $0.deletions = [2, 3].map { .init(reference(song, keys[$0]), versionRead: 1) } }
    #expect(map.sizes(.links) == [])
  }

  @Test func viewsStayAsTheyAre() throws {
    let keys = try commit { $0.insertions = [row(list, ["name": .string("a")])] }
    let view = try store.snapshot()
    let slot = try #require(list.attribute(named: "name")?.slot)
    _ = try commit { changes in
      let update = row(list, key: keys[0], version: 2, ["name": .string("b")])
      changes.updates = [.init(row: update, changed: set(slot))]
    }
    #expect(try view.row(of: list.index, key: keys[0])?.string(slot) == "a")
    #expect(try store.snapshot().row(of: list.index, key: keys[0])?.string(slot) == "b")
    #expect(try store.snapshot().commitNumber > view.commitNumber)
  }

  @Test func aStaleVersionAndATakenNameAreConflictsThatChangeNothing() throws {
    let keys = try commit { $0.insertions = [row(list, ["name": .string("a")]), row(list, ["name": .string("b")])] }
    let name = try #require(list.attribute(named: "name")?.slot)
    let stale = try change { changes in
      changes.insertions = [row(song)]
      changes.updates = [.init(row: row(list, key: keys[0], version: 9, ["name": .string("c")]), changed: set(name))]
    }
    guard case .conflicts(let conflicts) = stale, case .version(let stored)? = conflicts.first?.kind else {
      throw StoreError(.invalidArgument, "a stale version was taken")
    }
    #expect(stored?.version == 1 && stored?.string(name) == "a")
    let taken = try change { $0.insertions = [row(song), row(list, ["name": .string("b")])] }
    guard case .conflicts(let more) = taken, case .constraint(let slots, let other, let holder)? = more.first?.kind
    else {
      throw StoreError(.invalidArgument, "a taken name was taken again")
    }
    #expect(slots == [name] && other == reference(list, keys[1]) && holder?.string(name) == "b")
    #expect(try count(song) == 0)
    // Constraints are checked against the state after the save: two objects can exchange their names, and the name of a
    // deleted object is free.
    _ = try commit { changes in
      changes.updates = [
        .init(row: row(list, key: keys[0], version: 2, ["name": .string("b")]), changed: set(name)),
        .init(row: row(list, key: keys[1], version: 2, ["name": .string("a")]), changed: set(name)),
      ]
    }
    _ = try commit { changes in
      changes.deletions = [.init(reference(list, keys[0]), versionRead: 2)]
      changes.insertions = [row(list, ["name": .string("b")])]
    }
    // Two objects without a name do not conflict, and neither do long names that differ only at the end.
    let long = String(repeating: "x", count: 500)
    _ = try commit { changes in
      changes.insertions = [
        row(list), row(list), row(list, ["name": .string(long + "1")]), row(list, ["name": .string(long + "2")]),
      ]
    }
    #expect(throws: StoreError.self) { try commit { $0.insertions = [row(list, ["name": .string(long + "1")])] } }
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
    let result = try change { changes in
      changes.updates = [.init(row: row(list, key: keys[0], version: 2, ["name": .string("b")]), changed: set(name))]
      changes.deletions = [.init(reference(page, keys[1]), versionRead: 1)]
    }
    #expect(try store.snapshot().row(of: list.index, key: keys[0])?.int(count) == 1)
    #expect(try store.snapshot().row(of: page.index, key: keys[2])?.string(title) == "b")
    guard case .committed(let receipt) = result else { throw StoreError(.constraint, "") }
    #expect(receipt.touched == [reference(list, keys[0]), reference(page, keys[2])])
  }

  @Test func keysAreNeverUsedAgain() throws {
    let keys = try commit { $0.insertions = [row(song), row(song), row(song, key: 10)] }
    #expect(Set(keys).count == 3 && keys[2] == 10 && keys.allSatisfy { $0 > 0 })
    _ = try commit { $0.deletions = keys.map { .init(reference(song, $0), versionRead: 1) } }
    let taken = try store.allocateKeys(root: song.index, count: 5)
    #expect(taken.lowerBound > 10)
    let more = try Self.open(map, schema).allocateKeys(root: song.index, count: 1)
    #expect(more.lowerBound >= taken.upperBound)
    _ = try commit { $0.insertions = [row(song, key: 30)] }
    #expect(throws: StoreError.self) { try commit { $0.insertions = [row(song, key: 30)] } }
  }

  /// A file may record fewer used keys than it has objects. A new object must not replace an existing one.
  @Test func aRecordOfKeysThatIsTooLowLosesNoObject() throws {
    let keys = try commit { $0.insertions = [row(list, ["name": .string("a")]), row(list, ["name": .string("b")])] }
    let record = try #require(map.entry(.facts, key: "key List"))
    map.forge(.facts, entry: record, byte: 16, 0)
    let more = try commit { $0.insertions = [row(list, ["name": .string("c")])] }
    #expect(Set(keys + more).count == 3)
    map.forge(.facts, entry: record, byte: 16, 1)
    #expect(try store.allocateKeys(root: list.root, count: 2).lowerBound > more[0])
    #expect(try count(list) == 3)
  }

  @Test func aCommitThatFailsLeavesNothing() throws {
    map.failure = StoreError(.io, "Broken.")
    #expect(throws: StoreError.self) { try commit { $0.insertions = [row(song)] } }
    map.failure = nil
    #expect(try count(song) == 0)
    _ = try commit { $0.insertions = [row(song)] }
    #expect(try count(song) == 1)
  }

  @Test func everyDamagedValueIsFound() throws {
    let songs = try #require(list.relationship(named: "songs"))
    _ = try commit { changes in
      changes.insertions = [row(list, ["name": .string(String(repeating: "long name ", count: 12))]), row(song)]
      let order = [reference(song, -2)]
      changes.links = [
        .init(entity: list.index, relationship: songs.index, owner: -1, added: order, removed: [], order: order)
      ]
    }
    for space in [KeySpace.rows, .links] {
      for (entry, size) in map.sizes(space).enumerated() {
        for byte in 0..<size {
          map.damage(space, entry: entry, byte: byte)
          #expect(throws: StoreError.self, "\(space) \(entry) \(byte)") { try readAll() }
          map.damage(space, entry: entry, byte: byte)
        }
      }
    }
    for (entry, size) in map.sizes(.facts).enumerated() {
      for byte in 0..<size {
        map.damage(.facts, entry: entry, byte: byte)
        #expect(throws: StoreError.self, "fact \(entry) \(byte)") {
          _ = try Self.open(map, schema).allocateKeys(root: list.index, count: 1)
          _ = try store.allocateKeys(root: song.index, count: 1)
        }
        map.damage(.facts, entry: entry, byte: byte)
      }
    }
    try readAll()
  }

  private func readAll() throws {
    let view = try store.snapshot()
    for entity in schema.entities {
      try view.scan(entity.subtree) { _ in }
      for relationship in entity.relationships where relationship.isToMany {
        try view.destinations(of: relationship, owners: [1, 2]) { _, _ in }
      }
    }
  }

  @Test func aNewIndexIsMadeOfWhatIsThere() throws {
    _ = try commit { $0.insertions = [row(list, ["name": .string("a")]), row(page, ["list": .int(-1)]), row(page)] }
    let before = map.sizes(.indexes).count
    let indexed = try Self.open(map, Self.schema(indexesTitles: true))
    var changes = ChangeSet(time: 0)
    changes.insertions = [row(song)]
    guard case .committed = try indexed.commit(changes) else { throw StoreError(.constraint, "") }
    #expect(map.sizes(.indexes).count == before + 2)
    // The same in the opposite direction.
    _ = try Self.open(map, schema).allocateKeys(root: 0, count: 1)
    #expect(map.sizes(.indexes).count == before)
  }

  @Test func anotherModelIsRefused() throws {
    var other = EntityDefinition(name: "List")
    other.attributes = [AttributeDefinition(name: "name", type: .integer16)]
    let schema = try Schema([other])
    #expect { try Self.open(map, schema) } throws: { ($0 as? StoreError)?.code == .modelMismatch }
    try store.close()
    #expect { try store.snapshot() } throws: { ($0 as? StoreError)?.code == .closed }
  }
}
