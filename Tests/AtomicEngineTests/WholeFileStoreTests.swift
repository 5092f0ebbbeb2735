import BinaryBackend
import Foundation
import StoreProtocol
import StoreSchema
import TestSupport
import Testing
import XMLBackend

/// The formats of stores that consist of one file.
enum Format: String, CaseIterable {
  case xml, binary

  var backend: any StoreBackend {
    switch self {
    case .xml: XMLBackend()
    case .binary: BinaryBackend()
    }
  }
}

/// Requirements for every store that is a single file.
@Suite struct WholeFileStoreTests {
  private func rows(_ store: any Store) throws -> [[Value]] {
    let kinds = store.schema.entities[0].slots
    var rows: [[Value]] = []
    try store.snapshot().scan(0..<1) { row in rows.append(kinds.indices.map { row.value($0, kinds[$0]) }) }
    return rows
  }

  @Test(arguments: Format.allCases) func everyValueComesBackAsItWentIn(_ format: Format) throws {
    let folder = try StoreFolder(format.rawValue)
    defer { folder.remove() }
    let schema = try EveryType.schema()
    let store = try format.backend.open(at: folder.url, schema: schema, options: StoreOptions())
    let builder = RowBuilder()
    var changes = ChangeSet(time: 0)
    for number in 0..<24 {
      builder.begin(slots: schema.entities[0].slots.count)
      for attribute in schema.entities[0].attributes where number != 7 {
        builder.set(attribute.slot, EveryType.value(attribute.type, number))
      }
      changes.insertions.append(builder.finishDraft(key: 0, entity: 0, version: 1))
    }
    _ = try committed(changes, store)
    let again = try format.backend.open(at: folder.url, schema: schema, options: StoreOptions())
    let (read, written) = (try rows(again), try rows(store))
    #expect(read.count == 24)
    for (a, b) in zip(read, written) { for (x, y) in zip(a, b) { #expect(x == y) } }
  }

  @Test(arguments: Format.allCases) func orderAndKeysComeBack(_ format: Format) throws {
    let folder = try StoreFolder(format.rawValue)
    defer { folder.remove() }
    let schema = try EveryType.schema()
    let (next, previous) = (
      try #require(schema.entities[0].relationship(named: "next")),
      try #require(schema.entities[0].relationship(named: "previous")?.slot)
    )
    let store = try format.backend.open(at: folder.url, schema: schema, options: StoreOptions())
    let builder = RowBuilder()
    var changes = ChangeSet(time: 0)
    for number in 0..<4 {
      builder.begin(slots: schema.entities[0].slots.count)
      if number > 0 { builder.setInt(previous, -1) }
      changes.insertions.append(builder.finishDraft(key: 0, entity: 0, version: 1))
    }
    let order = [-3, -2, -4].map { ObjectReference(entity: 0, key: $0) }
    changes.links = [
      .init(entity: 0, relationship: next.index, owner: -1, added: order, removed: [], order: order)
    ]
    let receipt = try committed(changes, store)
    _ = try store.allocateKeys(root: 0, count: 10)
    let again = try format.backend.open(at: folder.url, schema: schema, options: StoreOptions())
    var found: [Int64] = []
    try again.snapshot().destinations(of: next, owners: [receipt.keys[0]]) { found.append($1.key) }
    #expect(found == [receipt.keys[2], receipt.keys[1], receipt.keys[3]])
    #expect(try again.allocateKeys(root: 0, count: 1).lowerBound == (receipt.keys.max() ?? 0) + 11)
  }

  @Test(arguments: Format.allCases) func everyChangedByteIsFound(_ format: Format) throws {
    let folder = try StoreFolder(format.rawValue)
    defer { folder.remove() }
    let schema = try EveryType.schema()
    _ = try format.backend.open(at: folder.url, schema: schema, options: StoreOptions())
    let good = try Data(contentsOf: folder.url)
    for index in good.indices {
      var bad = good
      bad[index] ^= 1
      try bad.write(to: folder.url)
      #expect(throws: StoreError.self, "byte \(index)") {
        try format.backend.open(at: folder.url, schema: schema, options: StoreOptions())
      }
      #expect(try Data(contentsOf: folder.url) == bad)
    }
  }
}
