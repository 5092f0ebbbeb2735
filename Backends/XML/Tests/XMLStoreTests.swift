import AtomicEngine
import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import TestSupport
import Testing
import XMLBackend

@Suite struct XMLStoreTests {
  @Test func metadataThatXMLCannotSayIsNotSaved() throws {
    let folder = try StoreFolder("xml")
    defer { folder.remove() }
    let schema = try EveryType.schema()
    let store = try XMLBackend().open(at: folder.url, schema: schema, options: StoreOptions())
    let before = try Data(contentsOf: folder.url)
    for value in [PropertyList.string("\u{1}"), .date(1e300), .null, .array([.uid(1)])] {
      var changes = ChangeSet(time: 0)
      changes.metadata = store.metadata
      changes.metadata?.additional["mine"] = value
      let error = #expect(throws: StoreError.self) { try store.commit(changes) }
      #expect(error?.code == .invalidArgument && error?.outcome == .notSaved)
      #expect(try Data(contentsOf: folder.url) == before)
    }
    var changes = ChangeSet(time: 0)
    changes.metadata = store.metadata
    let mine = PropertyList.dictionary([
      "a & <b>": .array([.bool(true), .integer(-1), .real(0.5), .data(Data([0, 255])), .date(5), .string(" é ")])
    ])
    changes.metadata?.additional["mine"] = mine
    _ = try committed(changes, store)
    #expect(try XMLBackend().metadata(at: folder.url, options: StoreOptions()).additional["mine"] == mine)
  }

  @Test(arguments: [
    "<!DOCTYPE database [<!ENTITY a \"b\">]><database/>",
    "<!DOCTYPE database SYSTEM \"file:///etc/passwd\"><database/>",
    "<!DOCTYPE html><html/>", "<html></html>", "no XML", "", "<database>", "<database><object/></database>",
    String(repeating: "<database>", count: 10_000),
  ])
  func whatIsNoStoreIsRefused(_ text: String) throws {
    let folder = try StoreFolder("xml")
    defer { folder.remove() }
    try Data(text.utf8).write(to: folder.url)
    #expect(throws: StoreError.self) {
      try XMLBackend().open(at: folder.url, schema: EveryType.schema(), options: StoreOptions())
    }
    #expect(throws: StoreError.self) { try XMLBackend().metadata(at: folder.url, options: StoreOptions()) }
    #expect(try Data(contentsOf: folder.url) == Data(text.utf8))
  }

  // MARK: Files of Apple's framework

  /// Documents of the corpus: the stores of two applications, and mapping models, which Xcode saves as XML stores.
  private static let samples = Corpus.files(under: "models") {
    ["Database.xml", "xcmapping.xml"].contains($0.lastPathComponent)
  }

  @Test(Corpus.condition) func thereAreSamples() { #expect(Self.samples.count >= 15) }

  /// Reads the document with the model that it contains. The text gives the expected number of attributes and links.
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
