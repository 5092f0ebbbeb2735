import Foundation
import KeyValueEngine
import StoreProtocol
import StoreSchema
import Testing

/// The many links of one owner are stored in blocks. Reads return the links as written, after any order of changes.
@Suite struct KeyValueLinkTests {
  private let schema: Schema
  private let map = MemoryMap()
  private let store: KeyValueStore<MemoryMap>

  init() throws {
    var (list, song) = (EntityDefinition(name: "List"), EntityDefinition(name: "Song"))
    func relationship(_ name: String, _ destination: String, _ inverse: String, ordered: Bool) -> RelationshipDefinition
    {
      var result = RelationshipDefinition(name: name, destination: destination)
      (result.inverse, result.isOrdered) = (inverse, ordered)
      return result
    }
    list.relationships = [
      relationship("songs", "Song", "lists", ordered: false), relationship("ranks", "Song", "rankings", ordered: true),
    ]
    song.relationships = [
      relationship("lists", "List", "songs", ordered: false), relationship("rankings", "List", "ranks", ordered: false),
    ]
    schema = try Schema([list, song])
    try KeyValueStore.make(map, schema, storeType: "Test", options: StoreOptions())
    store = try KeyValueStore(map, schema, storeType: "Test", capabilities: [], options: StoreOptions())
  }

  private func commit(_ fill: (inout ChangeSet) -> Void) throws {
    var changes = ChangeSet(time: 0)
    fill(&changes)
    guard case .committed = try store.commit(changes) else { throw StoreError(.constraint, "a conflict") }
  }

  private func insert(_ entity: Entity, _ count: Int) throws {
    try commit { changes in
      let builder = RowBuilder()
      for _ in 0..<count {
        builder.begin(slots: entity.slots.count)
        changes.insertions.append(builder.finishDraft(key: 0, entity: entity.index, version: 1))
      }
    }
  }

  private func members(_ entity: Entity, _ name: String, _ owner: Int64) throws -> [Int64] {
    var keys: [Int64] = []
    let relationship = try #require(entity.relationship(named: name))
    try store.snapshot().destinations(of: relationship, owners: [owner]) { keys.append($1.key) }
    return keys
  }

  @Test func linksAreReadAsTheyWereMade() throws {
    let (list, song) = (schema.entities[0], schema.entities[1])
    try insert(list, 4)
    try insert(song, 900)
    let (songs, ranks) = (
      try #require(list.relationship(named: "songs")), try #require(list.relationship(named: "ranks"))
    )
    var (plain, ordered) = ([Set<Int64>](repeating: [], count: 5), [[Int64]](repeating: [], count: 5))
    var state: UInt64 = 7
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(count))
    }
    var most = 0
    for round in 0..<120 {
      try commit { changes in
        for owner in 1...4 {
          let known = plain[owner].sorted()
          // Adds ascending links at the end or links anywhere, and removes many.
          let start = Int64(random(600))
          let added =
            round % 3 == 0
            ? Array((start + 1)...(start + Int64(random(250)) + 1))
            : (0..<random(40)).map { _ in Int64(random(900)) + 1 }
          let removed = known.filter { _ in random(round % 5 == 0 ? 2 : 10) == 0 }
          plain[owner].subtract(removed)
          plain[owner].formUnion(added)
          func references(_ keys: [Int64]) -> [ObjectReference] { keys.map { ObjectReference(entity: 1, key: $0) } }
          changes.links.append(
            .init(
              entity: 0, relationship: songs.index, owner: Int64(owner), added: references(added),
              removed: references(removed)))
          var order = ordered[owner].filter { !removed.contains($0) }
          let new = added.filter { !order.contains($0) }
          for key in Set(new).sorted() { order.insert(key, at: random(order.count + 1)) }
          changes.links.append(
            .init(
              entity: 0, relationship: ranks.index, owner: Int64(owner), added: references(new),
              removed: references(ordered[owner].filter(removed.contains)), order: references(order)))
          ordered[owner] = order
          most = max(most, plain[owner].count)
        }
      }
      for owner in 1...4 {
        #expect(try members(list, "songs", Int64(owner)) == plain[owner].sorted(), "round \(round)")
        #expect(try members(list, "ranks", Int64(owner)) == ordered[owner], "round \(round)")
      }
      let key = Int64(random(900)) + 1
      #expect(try members(song, "lists", key) == (1...4).filter { plain[Int($0)].contains(key) })
      #expect(try members(song, "rankings", key) == (1...4).filter { ordered[Int($0)].contains(key) })
    }
    #expect(most > 400)
    #expect(map.sizes(.links).allSatisfy { $0 <= 8 + 976 })
    try commit { changes in
      changes.deletions = (1...4).map { .init(ObjectReference(entity: 0, key: $0), versionRead: 1) }
    }
    #expect(map.sizes(.links) == [])
  }

  @Test func linksThatComeInOrderFillTheirBlocks() throws {
    let list = schema.entities[0]
    try insert(list, 1)
    try insert(schema.entities[1], 1000)
    let songs = try #require(list.relationship(named: "songs"))
    for start in stride(from: Int64(1), to: 1001, by: 10) {
      try commit { changes in
        changes.links = [
          .init(
            entity: 0, relationship: songs.index, owner: 1,
            added: (start..<(start + 10)).map { ObjectReference(entity: 1, key: $0) }, removed: [])
        ]
      }
    }
    let blocks = map.sizes(.links).filter { $0 > 16 }
    #expect(blocks.count == 9 && blocks.dropLast().allSatisfy { $0 == 8 + 976 })
  }

  /// A block with a valid checksum may still have content that no commit of this package writes.
  @Test(arguments: [(8, 7), (16, 1), (16, 3), (24, Int64.max)] as [(Int, Int64)])
  func blocksOutOfOrderAreDamage(_ byte: Int, _ number: Int64) throws {
    let list = schema.entities[0]
    try insert(list, 1)
    try insert(schema.entities[1], 3)
    let songs = try #require(list.relationship(named: "songs"))
    func link(_ added: [Int64], _ removed: [Int64]) throws {
      func references(_ keys: [Int64]) -> [ObjectReference] { keys.map { ObjectReference(entity: 1, key: $0) } }
      try commit { changes in
        changes.links = [
          .init(
            entity: 0, relationship: songs.index, owner: 1, added: references(added), removed: references(removed))
        ]
      }
    }
    try link([1, 2, 3], [])
    let block = try #require(map.sizes(.links).firstIndex(of: 8 + 3 * 8))
    map.forge(.links, entry: block, byte: byte, number)
    if number == .max {
      #expect(try members(list, "songs", 1).prefix(2) == [1, 2])
      try link([], [3])
    } else {
      #expect(throws: StoreError.self) { try members(list, "songs", 1) }
      #expect(throws: StoreError.self) { try link([], [2]) }
    }
  }
}
