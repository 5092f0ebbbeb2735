import AtomicEngine
import Foundation
import StoreProtocol
import StoreSchema
import TestSupport
import Testing
import XMLBackend

/// The text of documents: what this store writes, and what it takes from other writers.
@Suite struct XMLDocumentTests {
  private static func filled(_ folder: StoreFolder) throws -> any Store {
    let store = try XMLBackend().open(at: folder.url, schema: LargeGraph.schema(), options: StoreOptions())
    try LargeGraph.fill(store)
    return store
  }

  private static func headerFields(_ folder: StoreFolder) throws -> [String] {
    try LargeGraph.facts(XMLBackend().open(at: folder.url, schema: LargeGraph.schema(), options: StoreOptions()))
  }

  @Test(arguments: ["ones", "others"]) func linksThatOneSideTellsAreThere(_ name: String) throws {
    let folder = try StoreFolder("xml")
    defer { folder.remove() }
    let expected = try LargeGraph.facts(Self.filled(folder))
    var file = try Data(contentsOf: folder.url)
    try WholeFileChecksum.remove(from: &file)
    let lines = String(decoding: file, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    let fewer = lines.map { line in
      guard line.contains("<relationship name=\"\(name)\""), let end = line.range(of: " idrefs=") else { return line }
      return line[..<end.lowerBound] + "></relationship>"
    }
    #expect(fewer != lines)
    try Data(fewer.joined(separator: "\n").utf8).write(to: folder.url)
    #expect(try Self.headerFields(folder) == expected)
  }

  @Test func anObjectWithThousandsOfPropertiesIsReadToItsEnd() throws {
    let folder = try StoreFolder("xml")
    defer { folder.remove() }
    let store = try Self.filled(folder)
    var file = try Data(contentsOf: folder.url)
    try WholeFileChecksum.remove(from: &file)
    let end = try #require(file.range(of: Data("    </object>".utf8)))
    let more = (1...3000).map { "<attribute name=\"size\" type=\"double\">\($0).5</attribute>" }
    file.insert(contentsOf: Data(more.joined(separator: "\n").utf8), at: end.lowerBound)
    try file.write(to: folder.url)
    let schema = store.schema
    let one = try #require(schema.entity(named: "One"))
    let size = try #require(one.attributes.first { $0.name == "size" }?.slot)
    var values: [Double] = []
    let again = try XMLBackend().open(at: folder.url, schema: schema, options: StoreOptions())
    try again.snapshot().scan(one.index..<one.index + 1) { values.append($0.double(size)) }
    #expect(values.count == 3000)
    #expect(values.first == 3000.5)
  }

  @Test func aDocumentThatWasCutSaysThatItIsDamaged() throws {
    let folder = try StoreFolder("xml")
    defer { folder.remove() }
    _ = try Self.filled(folder)
    let file = try Data(contentsOf: folder.url)
    try file.prefix(file.count / 2).write(to: folder.url)
    let error = #expect(throws: StoreError.self) { try Self.headerFields(folder) }
    #expect(error?.code == .corrupt)
    #expect(error?.message.contains("checksum") == true)
  }

  /// The digits that the C library prints for `%.20f`.
  @Test func datesHaveTwentyDigitsInADocument() throws {
    let folder = try StoreFolder("xml")
    defer { folder.remove() }
    let store = try XMLBackend().open(at: folder.url, schema: LargeGraph.schema(), options: StoreOptions())
    try LargeGraph.fill(store)
    let text = try String(contentsOf: folder.url, encoding: .utf8)
    var found: [String] = []
    for line in text.split(separator: "\n") where line.contains("type=\"date\"") {
      found.append(String(line.drop { $0 != ">" }.dropFirst().prefix { $0 != "<" }))
    }
    let expected = LargeGraph.dates(3000).map { date in
      let text = String(format: "%.20f", date)
      return Double(text) == date ? text : "\(date)"
    }
    #expect(found == expected)
  }
}
