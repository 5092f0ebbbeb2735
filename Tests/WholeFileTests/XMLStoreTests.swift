import AtomicEngine
import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import Testing

@testable import XMLBackend

@Suite struct XMLStoreTests {
  /// A folder of its own for a store.
  private struct Place {
    let url: URL

    init() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "xml-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      url = folder.appending(path: "store.xml")
    }

    func remove() { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
  }

  private static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .boolean, .double, .float, .date, .decimal, .string, .uri, .uuid, .binaryData,
    .transformable,
  ]

  /// `All`, with an attribute of each type, which leads to others in an order.
  private static func schema() throws -> Schema {
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

  @Test func everyValueComesBackAsItWentIn() throws {
    let place = try Place()
    defer { place.remove() }
    let schema = try Self.schema()
    let store = try XMLBackend().open(at: place.url, schema: schema, options: StoreOptions())
    let builder = RowBuilder()
    var changes = ChangeSet(time: 0)
    for number in 0..<24 {
      builder.begin(slots: schema.entities[0].slots.count)
      for attribute in schema.entities[0].attributes where number != 7 {
        builder.set(attribute.slot, try value(attribute.type, number))
      }
      changes.insertions.append(builder.finish(key: 0, entity: 0, version: 1))
    }
    guard case .committed = try store.commit(changes) else { throw StoreError(.invalidArgument, "not committed") }
    let again = try XMLBackend().open(at: place.url, schema: schema, options: StoreOptions())
    let (read, written) = (try rows(again), try rows(store))
    #expect(read.count == 24)
    for (a, b) in zip(read, written) { for (x, y) in zip(a, b) { #expect(x == y) } }
  }

  @Test func orderAndKeysComeBack() throws {
    let place = try Place()
    defer { place.remove() }
    let schema = try Self.schema()
    let (next, previous) = (
      try #require(schema.entities[0].relationship(named: "next")),
      try #require(schema.entities[0].relationship(named: "previous")?.slot)
    )
    let store = try XMLBackend().open(at: place.url, schema: schema, options: StoreOptions())
    let builder = RowBuilder()
    var changes = ChangeSet(time: 0)
    for number in 0..<4 {
      builder.begin(slots: schema.entities[0].slots.count)
      if number > 0 { builder.setInt(previous, -1) }
      changes.insertions.append(builder.finish(key: 0, entity: 0, version: 1))
    }
    let order = [-3, -2, -4].map { ObjectReference(entity: 0, key: $0) }
    changes.links = [
      .init(entity: 0, relationship: next.index, owner: -1, added: order, removed: [], order: order)
    ]
    guard case .committed(let receipt) = try store.commit(changes) else { throw StoreError(.invalidArgument, "") }
    _ = try store.allocateKeys(root: 0, count: 10)
    let again = try XMLBackend().open(at: place.url, schema: schema, options: StoreOptions())
    var found: [Int64] = []
    try again.snapshot().destinations(of: next, owners: [receipt.keys[0]]) { found.append($1.key) }
    #expect(found == [receipt.keys[2], receipt.keys[1], receipt.keys[3]])
    #expect(try again.allocateKeys(root: 0, count: 1).lowerBound == (receipt.keys.max() ?? 0) + 11)
  }

  @Test func everyChangedByteIsFound() throws {
    let place = try Place()
    defer { place.remove() }
    let schema = try Self.schema()
    _ = try XMLBackend().open(at: place.url, schema: schema, options: StoreOptions())
    let good = try Data(contentsOf: place.url)
    for index in good.indices {
      var bad = good
      bad[index] ^= 1
      try bad.write(to: place.url)
      #expect(throws: StoreError.self, "byte \(index)") {
        try XMLBackend().open(at: place.url, schema: schema, options: StoreOptions())
      }
      #expect(try Data(contentsOf: place.url) == bad)
    }
  }

  @Test func metadataThatXMLCannotSayIsNotSaved() throws {
    let place = try Place()
    defer { place.remove() }
    let schema = try Self.schema()
    let store = try XMLBackend().open(at: place.url, schema: schema, options: StoreOptions())
    let before = try Data(contentsOf: place.url)
    for value in [PropertyList.string("\u{1}"), .date(1e300), .null, .array([.uid(1)])] {
      var changes = ChangeSet(time: 0)
      changes.metadata = store.metadata
      changes.metadata?.additional["mine"] = value
      let error = #expect(throws: StoreError.self) { try store.commit(changes) }
      #expect(error?.code == .invalidArgument && error?.outcome == .notSaved)
      #expect(try Data(contentsOf: place.url) == before)
    }
    var changes = ChangeSet(time: 0)
    changes.metadata = store.metadata
    let mine = PropertyList.dictionary([
      "a & <b>": .array([.bool(true), .integer(-1), .real(0.5), .data(Data([0, 255])), .date(5), .string(" é ")])
    ])
    changes.metadata?.additional["mine"] = mine
    guard case .committed = try store.commit(changes) else { throw StoreError(.invalidArgument, "not committed") }
    #expect(try XMLBackend().metadata(at: place.url, options: StoreOptions()).additional["mine"] == mine)
  }

  @Test(arguments: [
    "<!DOCTYPE database [<!ENTITY a \"b\">]><database/>",
    "<!DOCTYPE database SYSTEM \"file:///etc/passwd\"><database/>",
    "<!DOCTYPE html><html/>", "<html></html>", "no XML", "", "<database>", "<database><object/></database>",
    String(repeating: "<database>", count: 10_000),
  ])
  func whatIsNoStoreIsRefused(_ text: String) throws {
    let place = try Place()
    defer { place.remove() }
    try Data(text.utf8).write(to: place.url)
    #expect(throws: StoreError.self) {
      try XMLBackend().open(at: place.url, schema: Self.schema(), options: StoreOptions())
    }
    #expect(throws: StoreError.self) { try XMLBackend().metadata(at: place.url, options: StoreOptions()) }
    #expect(try Data(contentsOf: place.url) == Data(text.utf8))
  }

  // MARK: Files of Apple's framework

  /// Documents in the corpus: stores of two applications, and mapping models, which Xcode keeps as such stores.
  private static let samples: [URL] = {
    let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../../shared/corpus/models")
    let files = FileManager.default.enumerator(at: corpus, includingPropertiesForKeys: nil)
    return (files?.compactMap { $0 as? URL } ?? []).filter {
      ["Database.xml", "xcmapping.xml"].contains($0.lastPathComponent)
    }
    .sorted { $0.path < $1.path }
  }()

  @Test func thereAreSamples() throws {
    if Self.samples.isEmpty {
      if ProcessInfo.processInfo.environment["OPENCOREDATA_REQUIRE_CORPUS"] == "1" {
        Issue.record("The corpus is required.")
      }
      print("XML samples skipped: there is no corpus beside the repository")
    } else {
      #expect(Self.samples.count >= 15)
    }
  }

  /// Read with the model that the document itself tells; every attribute and every link is counted in the text.
  @Test(arguments: samples) func samplesAreReadWhole(_ url: URL) throws {
    let text = try String(contentsOf: url, encoding: .utf8)
    let backend = XMLBackend()
    let schema = try Schema(try backend.inferredModel(at: url, options: StoreOptions()))
    var options = StoreOptions()
    (options.isReadOnly, options.ignoresModelVersion) = (true, true)
    let snapshot = try backend.open(at: url, schema: schema, options: options).snapshot()
    var (objects, attributes, links) = (0, 0, 0)
    for entity in schema.entities {
      var keys: [Int64] = []
      try snapshot.scan(entity.index..<entity.index + 1) { row in
        keys.append(row.key)
        attributes += entity.attributes.count { !row.isNull($0.slot) }
        links += entity.relationships.count { relationship in relationship.slot.map { !row.isNull($0) } ?? false }
      }
      objects += keys.count
      for relationship in entity.relationships where relationship.isToMany {
        try snapshot.destinations(of: relationship, owners: keys) { _, _ in links += 1 }
      }
    }
    #expect(objects == text.ranges(of: "<object ").count)
    #expect(attributes == text.ranges(of: "<attribute ").count)
    let references = text.ranges(of: /idrefs="([^"]*)"/).reduce(0) { $0 + text[$1].split(separator: " ").count }
    #expect(links == references)
    #expect(objects > 0)
  }
}
