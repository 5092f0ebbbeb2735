import BinaryBackend
import Foundation
import StoreProtocol
import StoreSchema
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

/// A temporary folder for one store.
struct Place {
  let url: URL

  init(_ name: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    url = folder.appending(path: "store")
  }

  func remove() { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
}

/// Requirements for every store that is a single file.
@Suite struct WholeFileStoreTests {
  private static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .boolean, .double, .float, .date, .decimal, .string, .uri, .uuid, .binaryData,
    .transformable,
  ]

  /// `All`s with an attribute of each type and an ordered relationship.
  static func schema() throws -> Schema {
    var entity = EntityDefinition(name: "All")
    entity.attributes = types.map { AttributeDefinition(name: "a\($0)", type: $0) }
    var next = RelationshipDefinition(name: "next", destination: "All")
    (next.inverse, next.isOrdered) = ("previous", true)
    var previous = RelationshipDefinition(name: "previous", destination: "All")
    (previous.inverse, previous.maxCount) = ("next", 1)
    entity.relationships = [next, previous]
    return try Schema([entity])
  }

  private static let texts = [
    "", " ", "a & b <c> \\ \"d\" 'e'", "\u{0}\u{1}\u{1f}\t\n\r\n\r", "\u{FFFE}\u{FFFF}", "😀 é e\u{301}", "\\u2600",
    "]]>",
    "\u{2028}\u{85}",
  ]

  private func value(_ type: AttributeType, _ number: Int) throws -> Value {
    switch type {
    case .integer16: .int([Int64(Int16.min), Int64(Int16.max), 0][number % 3])
    case .integer32: .int([Int64(Int32.min), Int64(Int32.max), 0][number % 3])
    case .integer64: .int([Int64.min, .max, 0][number % 3])
    case .boolean: .bool(number % 2 == 0)
    case .double: .double([.leastNonzeroMagnitude, .greatestFiniteMagnitude, -.infinity, 0.1][number % 4])
    case .float: .double(Double([Float.leastNonzeroMagnitude, .greatestFiniteMagnitude, 19.6][number % 3]))
    case .date: .date([259257205.15052399, -1e-12, 1e300, 0][number % 4])
    case .decimal:
      .decimal(try #require(Decimal(string: ["-0.000000000000000000000000000000000001", "12e100"][number % 2])))
    case .string: .string(Self.texts[number % Self.texts.count])
    case .uri: .uri("http://x/?a=1&b=<2>")
    case .uuid: .uuid(UUID())
    default: .data(Data((0..<(number * 29)).map { UInt8(truncatingIfNeeded: $0) }))
    }
  }

  private func rows(_ store: any Store) throws -> [[Value]] {
    let kinds = store.schema.entities[0].slots
    var rows: [[Value]] = []
    try store.snapshot().scan(0..<1) { row in rows.append(kinds.indices.map { row.value($0, kinds[$0]) }) }
    return rows
  }

  @Test(arguments: Format.allCases) func everyValueComesBackAsItWentIn(_ format: Format) throws {
    let place = try Place(format.rawValue)
    defer { place.remove() }
    let schema = try Self.schema()
    let store = try format.backend.open(at: place.url, schema: schema, options: StoreOptions())
    let builder = RowBuilder()
    var changes = ChangeSet(time: 0)
    for number in 0..<24 {
      builder.begin(slots: schema.entities[0].slots.count)
      for attribute in schema.entities[0].attributes where number != 7 {
        builder.set(attribute.slot, try value(attribute.type, number))
      }
      changes.insertions.append(builder.finishDraft(key: 0, entity: 0, version: 1))
    }
    guard case .committed = try store.commit(changes) else { throw StoreError(.invalidArgument, "not committed") }
    let again = try format.backend.open(at: place.url, schema: schema, options: StoreOptions())
    let (read, written) = (try rows(again), try rows(store))
    #expect(read.count == 24)
    for (a, b) in zip(read, written) { for (x, y) in zip(a, b) { #expect(x == y) } }
  }

  @Test(arguments: Format.allCases) func orderAndKeysComeBack(_ format: Format) throws {
    let place = try Place(format.rawValue)
    defer { place.remove() }
    let schema = try Self.schema()
    let (next, previous) = (
      try #require(schema.entities[0].relationship(named: "next")),
      try #require(schema.entities[0].relationship(named: "previous")?.slot)
    )
    let store = try format.backend.open(at: place.url, schema: schema, options: StoreOptions())
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
    guard case .committed(let receipt) = try store.commit(changes) else { throw StoreError(.invalidArgument, "") }
    _ = try store.allocateKeys(root: 0, count: 10)
    let again = try format.backend.open(at: place.url, schema: schema, options: StoreOptions())
    var found: [Int64] = []
    try again.snapshot().destinations(of: next, owners: [receipt.keys[0]]) { found.append($1.key) }
    #expect(found == [receipt.keys[2], receipt.keys[1], receipt.keys[3]])
    #expect(try again.allocateKeys(root: 0, count: 1).lowerBound == (receipt.keys.max() ?? 0) + 11)
  }

  @Test(arguments: Format.allCases) func everyChangedByteIsFound(_ format: Format) throws {
    let place = try Place(format.rawValue)
    defer { place.remove() }
    let schema = try Self.schema()
    _ = try format.backend.open(at: place.url, schema: schema, options: StoreOptions())
    let good = try Data(contentsOf: place.url)
    for index in good.indices {
      var bad = good
      bad[index] ^= 1
      try bad.write(to: place.url)
      #expect(throws: StoreError.self, "byte \(index)") {
        try format.backend.open(at: place.url, schema: schema, options: StoreOptions())
      }
      #expect(try Data(contentsOf: place.url) == bad)
    }
  }
}
