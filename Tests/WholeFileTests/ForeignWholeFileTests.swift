import Foundation
import StoreProtocol
import StoreSchema
import Testing

/// Files with the same contents as this package's own, written differently, as other programs may write them.
@Suite struct ForeignWholeFileTests {
  /// Removes the checksum from a file.
  static func unseal(_ file: inout Data) throws {
    for text in ["OpenCoreDataChecksum", "crc64-of-all-other-bytes:"] {
      let place = try #require(file.range(of: Data(text.utf8)))
      file[place.lowerBound] = UInt8(ascii: "x")
    }
  }

  private static func filled(_ format: Format, _ place: Place) throws -> any Store {
    let schema = try LargeWholeFileTests.schema()
    let store = try format.backend.open(at: place.url, schema: schema, options: StoreOptions())
    try LargeWholeFileTests.fill(store)
    return store
  }

  private static func facts(_ format: Format, _ place: Place) throws -> [String] {
    let schema = try LargeWholeFileTests.schema()
    return try LargeWholeFileTests.facts(format.backend.open(at: place.url, schema: schema, options: StoreOptions()))
  }

  @Test(arguments: ["ones", "others"]) func linksThatOneSideTellsAreThere(_ name: String) throws {
    let place = try Place("xml")
    defer { place.remove() }
    let expected = try LargeWholeFileTests.facts(Self.filled(.xml, place))
    var file = try Data(contentsOf: place.url)
    try Self.unseal(&file)
    let lines = String(decoding: file, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    let fewer = lines.map { line in
      guard line.contains("<relationship name=\"\(name)\""), let end = line.range(of: " idrefs=") else { return line }
      return line[..<end.lowerBound] + "></relationship>"
    }
    #expect(fewer != lines)
    try Data(fewer.joined(separator: "\n").utf8).write(to: place.url)
    #expect(try Self.facts(.xml, place) == expected)
  }

  @Test func anObjectWithThousandsOfPropertiesIsReadToItsEnd() throws {
    let place = try Place("xml")
    defer { place.remove() }
    let store = try Self.filled(.xml, place)
    var file = try Data(contentsOf: place.url)
    try Self.unseal(&file)
    let end = try #require(file.range(of: Data("    </object>".utf8)))
    let more = (1...3000).map { "<attribute name=\"size\" type=\"double\">\($0).5</attribute>" }
    file.insert(contentsOf: Data(more.joined(separator: "\n").utf8), at: end.lowerBound)
    try file.write(to: place.url)
    let schema = store.schema
    let one = try #require(schema.entity(named: "One"))
    let size = try #require(one.attributes.first { $0.name == "size" }?.slot)
    var values: [Double] = []
    let again = try Format.xml.backend.open(at: place.url, schema: schema, options: StoreOptions())
    try again.snapshot().scan(one.index..<one.index + 1) { values.append($0.double(size)) }
    #expect(values.count == 3000)
    #expect(values.first == 3000.5)
  }

  @Test func aDocumentThatWasCutSaysThatItIsDamaged() throws {
    let place = try Place("xml")
    defer { place.remove() }
    _ = try Self.filled(.xml, place)
    let file = try Data(contentsOf: place.url)
    try file.prefix(file.count / 2).write(to: place.url)
    let error = #expect(throws: StoreError.self) { try Self.facts(.xml, place) }
    #expect(error?.code == .corrupt)
    #expect(error?.message.contains("checksum") == true)
  }

  /// The objects are in reverse order, so that each refers to objects whose bytes were already released.
  @Test func objectsOfAnArchiveComeInAnyOrder() throws {
    let place = try Place("binary")
    defer { place.remove() }
    let schema = try LargeWholeFileTests.schema()
    let store = try Format.binary.backend.open(at: place.url, schema: schema, options: StoreOptions())
    let (other, builder) = (try #require(schema.entity(named: "Other")), RowBuilder())
    let text = try #require(other.attributes.first { $0.name == "text" }?.slot)
    var changes = ChangeSet(time: 0)
    for number in 0..<5000 {
      builder.begin(slots: other.slots.count)
      builder.setString(text, String(repeating: "number \(number) ", count: 60))
      changes.insertions.append(builder.finishDraft(key: 0, entity: other.index, version: 1))
    }
    guard case .committed = try store.commit(changes) else { throw StoreError(.invalidArgument, "not committed") }
    var file = try Data(contentsOf: place.url)
    #expect(file.count > 1 << 22)
    try Self.unseal(&file)
    // The two lists of 5000 references with four bytes each.
    var (lists, start) = (0, file.startIndex)
    while let found = file.range(of: Data([0xAF, 0x11, 0x13, 0x88]), in: start..<file.endIndex) {
      let list = found.upperBound..<found.upperBound + 4 * 5000
      let references = stride(from: list.lowerBound, to: list.upperBound, by: 4).map { file[$0..<$0 + 4] }
      file.replaceSubrange(list, with: references.reversed().flatMap { $0 })
      (lists, start) = (lists + 1, list.upperBound)
    }
    #expect(lists == 2)
    try file.write(to: place.url)
    #expect(try Self.facts(.binary, place) == LargeWholeFileTests.facts(store))
  }

  /// Without a checksum the contents of the file are unverified until they are read.
  @Test(arguments: Format.allCases) func damageWithoutAChecksumNeverStopsTheProgram(_ format: Format) throws {
    let place = try Place(format.rawValue)
    defer { place.remove() }
    let schema = try WholeFileStoreTests.schema()
    let store = try format.backend.open(at: place.url, schema: schema, options: StoreOptions())
    let (entity, builder) = (schema.entities[0], RowBuilder())
    let previous = try #require(entity.relationship(named: "previous")?.slot)
    var changes = ChangeSet(time: 0)
    for number in 0..<4 {
      builder.begin(slots: entity.slots.count)
      for (slot, kind) in entity.slots.enumerated() {
        if kind == .string { builder.setString(slot, "text \(number)") }
        if kind == .uuid { builder.setUUID(slot, UUID()) }
        if kind == .date || kind == .double { builder.setDouble(slot, Double(number) + 0.25) }
        if kind == .data { builder.set(slot, .data(Data("data".utf8))) }
      }
      if number > 0 { builder.setInt(previous, -1) }
      changes.insertions.append(builder.finishDraft(key: 0, entity: 0, version: 1))
    }
    guard case .committed = try store.commit(changes) else { throw StoreError(.invalidArgument, "not committed") }
    var sound = try Data(contentsOf: place.url)
    try Self.unseal(&sound)
    var generator = SystemRandomNumberGenerator()
    var options = StoreOptions()
    (options.ignoresModelVersion, options.isReadOnly) = (true, true)
    var opened = 0
    for round in 0..<4000 {
      var bad = sound
      for _ in 0...round % 4 {
        bad[Int.random(in: bad.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      if round % 7 == 0 { bad = bad.prefix(Int.random(in: 0...bad.count, using: &generator)) }
      try bad.write(to: place.url)
      do {
        let store = try format.backend.open(at: place.url, schema: schema, options: options)
        try store.snapshot().scan(0..<1) { row in
          for (slot, kind) in entity.slots.enumerated() { _ = row.value(slot, kind) }
        }
        opened += 1
      } catch {
        // Every error is a StoreError.
        #expect(!error.message.isEmpty)
      }
    }
    // A changed value can leave a valid file.
    #expect(opened > 0 && opened < 4000)
  }
}
