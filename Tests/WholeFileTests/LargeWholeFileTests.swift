import Foundation
import StoreProtocol
import StoreSchema
import Testing

/// Files that are larger than every buffer in use.
@Suite struct LargeWholeFileTests {
  static func schema() throws -> Schema {
    var (one, other) = (EntityDefinition(name: "One"), EntityDefinition(name: "Other"))
    one.attributes = [
      AttributeDefinition(name: "born", type: .date), AttributeDefinition(name: "size", type: .double),
      AttributeDefinition(name: "text", type: .string), AttributeDefinition(name: "bytes", type: .binaryData),
    ]
    other.attributes = [AttributeDefinition(name: "text", type: .string)]
    var (others, ones) = (
      RelationshipDefinition(name: "others", destination: "Other"),
      RelationshipDefinition(name: "ones", destination: "One")
    )
    (others.inverse, ones.inverse) = ("ones", "others")
    (one.relationships, other.relationships) = ([others], [ones])
    return try Schema([one, other])
  }

  private static func dates(_ count: Int) -> [Double] {
    let special: [Double] = [
      0, 1, -1, 0.5, -0.25, 1e-12, 259257205.15052399, Double(1).nextUp, Double(2).nextDown, 9_007_199_254_740_991,
      -9_007_199_254_740_992, 1e300, 123456789.000000001, .leastNonzeroMagnitude,
    ]
    return special + (0..<count - special.count).map { Double($0) * 1234.567 - 1e6 }
  }

  /// Inserts three thousand objects, each linked to the next two others: keys 1 to 3 000, then ten others.
  static func fill(_ store: any Store) throws {
    let schema = store.schema
    let builder = RowBuilder()
    var changes = ChangeSet(time: 0)
    let (one, other) = (try #require(schema.entity(named: "One")), try #require(schema.entity(named: "Other")))
    for (index, date) in dates(3000).enumerated() {
      builder.begin(slots: one.slots.count)
      for (name, value) in [
        ("born", Value.date(date)), ("size", .double(-date)), ("text", .string("text \(index % 100) é & <")),
        ("bytes", .data(Data((0..<index % 300).map { UInt8(truncatingIfNeeded: $0 &* index) }))),
      ] {
        for attribute in one.attributes where attribute.name == name { builder.set(attribute.slot, value) }
      }
      changes.insertions.append(builder.finishDraft(key: 0, entity: one.index, version: 1))
    }
    changes.links = try links(one, other)
    for _ in 0..<10 {
      builder.begin(slots: other.slots.count)
      changes.insertions.append(builder.finishDraft(key: 0, entity: other.index, version: 1))
    }
    guard case .committed = try store.commit(changes) else { throw StoreError(.invalidArgument, "not committed") }
  }

  /// Links as change sets record them, from the side that they describe.
  private static func links(_ one: Entity, _ other: Entity) throws -> [ChangeSet.LinkChange] {
    let (others, ones) = (
      try #require(one.relationship(named: "others")), try #require(other.relationship(named: "ones"))
    )
    var pairs: [(one: Int64, other: Int64)] = []
    for index in 0..<3000 {
      for next in 0..<2 { pairs.append((-Int64(index + 1), -3001 - Int64((index + next) % 10))) }
    }
    if case .pairs(isPrimary: true) = others.storage {
      return Dictionary(grouping: pairs, by: { $0.one }).map { owner, pairs in
        ChangeSet.LinkChange(
          entity: one.index, relationship: others.index, owner: owner,
          added: pairs.map { ObjectReference(entity: other.index, key: $0.other) }, removed: [], order: nil)
      }
    }
    return Dictionary(grouping: pairs, by: { $0.other }).map { owner, pairs in
      ChangeSet.LinkChange(
        entity: other.index, relationship: ones.index, owner: owner,
        added: pairs.map { ObjectReference(entity: one.index, key: $0.one) }, removed: [], order: nil)
    }
  }

  static func facts(_ store: any Store) throws -> [String] {
    var facts: [String] = []
    let snapshot = try store.snapshot()
    for entity in store.schema.entities {
      var keys: [Int64] = []
      try snapshot.scan(entity.index..<entity.index + 1) { row in
        facts.append("\(row.key) \(entity.slots.indices.map { row.value($0, entity.slots[$0]) })")
        keys.append(row.key)
      }
      for relationship in entity.relationships {
        try snapshot.destinations(of: relationship, owners: keys) { facts.append("\($0) > \($1.key)") }
      }
    }
    return facts
  }

  @Test(arguments: Format.allCases) func everythingComesBack(_ format: Format) throws {
    let place = try Place(format.rawValue)
    defer { place.remove() }
    let store = try format.backend.open(at: place.url, schema: Self.schema(), options: StoreOptions())
    try Self.fill(store)
    let again = try format.backend.open(at: place.url, schema: Self.schema(), options: StoreOptions())
    let (written, read) = (try Self.facts(store), try Self.facts(again))
    #expect(written.count == 3010 + 12000)
    #expect(written == read)
    let file = try Data(contentsOf: place.url)
    #expect(file.count > 1 << 19)
    #expect(try Self.statedSum(file, isLast: format == .binary) == Self.sum(file, isLast: format == .binary))
  }

  /// Foundation's own property list reader can read the archive.
  @Test func anotherReaderTakesTheArchive() throws {
    let place = try Place("binary")
    defer { place.remove() }
    let store = try Format.binary.backend.open(at: place.url, schema: Self.schema(), options: StoreOptions())
    try Self.fill(store)
    let file = try Data(contentsOf: place.url)
    let count = file[40..<48].reduce(0) { $0 << 8 | Int($1) }
    let list = try PropertyListSerialization.propertyList(from: file[64..<64 + count], format: nil) as? [String: Any]
    #expect(list?["$archiver"] as? String == "NSKeyedArchiver")
    let objects = try #require(list?["$objects"] as? [Any])
    #expect(objects.filter { ($0 as? [String: Any])?["NSPrimaryKey64"] != nil }.count == 3010)
    #expect(objects.filter { $0 as? String == "text 7 é & <" }.count == 1)
  }

  /// The digits that the C library prints for `%.20f`.
  @Test func datesHaveTwentyDigitsInADocument() throws {
    let place = try Place("xml")
    defer { place.remove() }
    let store = try Format.xml.backend.open(at: place.url, schema: Self.schema(), options: StoreOptions())
    try Self.fill(store)
    let text = try String(contentsOf: place.url, encoding: .utf8)
    var found: [String] = []
    for line in text.split(separator: "\n") where line.contains("type=\"date\"") {
      found.append(String(line.drop { $0 != ">" }.dropFirst().prefix { $0 != "<" }))
    }
    let expected = Self.dates(3000).map { date in
      let text = String(format: "%.20f", date)
      return Double(text) == date ? text : "\(date)"
    }
    #expect(found == expected)
  }

  // MARK: The checksum, bit by bit

  private static let prefix = Data("crc64-of-all-other-bytes:".utf8)

  private static func place(_ file: Data, isLast: Bool) throws -> Range<Int> {
    let found = try #require(file.range(of: prefix, options: isLast ? .backwards : []))
    return found.upperBound..<found.upperBound + 16
  }

  private static func statedSum(_ file: Data, isLast: Bool) throws -> UInt64 {
    try #require(UInt64(String(decoding: file[place(file, isLast: isLast)], as: UTF8.self), radix: 16))
  }

  private static func sum(_ file: Data, isLast: Bool) throws -> UInt64 {
    let place = try place(file, isLast: isLast)
    var bytes = [UInt8](file)
    for index in place { bytes[index] = UInt8(ascii: "0") }
    var state = UInt64.max
    for byte in bytes {
      state ^= UInt64(byte)
      for _ in 0..<8 { state = state & 1 == 1 ? state >> 1 ^ 0xC96C_5795_D787_0F42 : state >> 1 }
    }
    return ~state
  }
}
