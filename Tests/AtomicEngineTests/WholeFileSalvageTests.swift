import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport
import TestSupport
import Testing

/// The reports on damaged files without a checksum, and the objects that salvage finds in them.
@Suite struct WholeFileSalvageTests {
  /// `Note`s with a text, large data, and links to other notes.
  private static func schema() throws -> Schema {
    var note = EntityDefinition(name: "Note")
    var photo = AttributeDefinition(name: "photo", type: .binaryData)
    photo.allowsExternalBinaryDataStorage = true
    note.attributes = [AttributeDefinition(name: "text", type: .string), photo]
    var links = RelationshipDefinition(name: "links", destination: "Note")
    var owner = RelationshipDefinition(name: "owner", destination: "Note")
    (links.inverse, owner.inverse, owner.maxCount) = ("owner", "links", 1)
    note.relationships = [links, owner]
    return try Schema([note])
  }

  private static let photo = Data(repeating: 7, count: 200_000)

  /// Makes a store and returns its file: with three notes, of which the first links to the others, or with none.
  private static func made(_ format: Format, _ home: StoreFolder, isEmpty: Bool = false) throws -> Data {
    let store = try format.backend.open(at: home.url, schema: schema(), options: StoreOptions())
    let note = store.schema.entities[0]
    func slot(_ name: String) throws -> Int {
      try #require(
        note.attributes.first { $0.name == name }?.slot ?? note.relationships.first { $0.name == name }?.slot)
    }
    var changes = ChangeSet(time: 0)
    let builder = RowBuilder()
    for key in (isEmpty ? 1..<1 : 1..<4) as Range<Int64> {
      builder.begin(slots: note.slots.count)
      builder.setString(try slot("text"), "note \(key)")
      if key == 2 {
        let name = try #require(try store.externalDataStore?.keepExternalData(photo))
        builder.set(try slot("photo"), .data(name))
      }
      if key > 1 {
        let owner = try #require(note.relationship(named: "owner"))
        builder.setInt(try slot("owner"), 1)
        if let entitySlot = owner.entitySlot { builder.setInt(entitySlot, 0) }
      }
      changes.insertions.append(builder.finishDraft(key: key, entity: 0, version: 1))
    }
    changes.metadata = store.metadata
    guard case .committed = try store.commit(changes) else { throw StoreError(.invalidArgument, "not committed") }
    try store.close()
    return try Data(contentsOf: home.url)
  }

  /// The contents of a store made from the salvaged file (for each note its text, the size of its photo and its owner),
  /// and the reports.
  private static func salvaged(_ format: Format, _ file: Data, _ home: StoreFolder) throws -> (
    notes: [String], reported: [String]
  ) {
    try file.write(to: home.url)
    var reported: [String] = []
    let salvage = Salvage(try schema()) { reported.append($0.text) }
    try salvage.read(home.url, of: format.backend, options: StoreOptions())
    #expect(try Data(contentsOf: home.url) == file)
    let url = home.url.appendingPathExtension("new")
    try format.backend.make(at: url, from: salvage, options: StoreOptions())
    defer { try? format.backend.destroy(at: url, options: StoreOptions()) }
    let store = try format.backend.open(at: url, schema: schema(), options: StoreOptions())
    defer { try? store.close() }
    let note = store.schema.entities[0]
    var notes: [String] = []
    let slots =
      note.attributes.map { ($0.name, $0.slot) } + note.relationships.compactMap { r in r.slot.map { (r.name, $0) } }
    let slot = Dictionary(uniqueKeysWithValues: slots)
    var failure: (any Error)?
    try store.snapshot().scan(0..<1) { row in
      guard let text = slot["text"], let photo = slot["photo"], let owner = slot["owner"] else { return }
      var size = 0
      if !row.isNull(photo) {
        do {
          let stored = row.data(photo)
          size = stored.first == 2 ? try store.externalData(stored).count : stored.count - 1
        } catch { failure = error }
      }
      notes.append("\(row.string(text)) \(size) \(row.isNull(owner) ? 0 : row.int(owner))")
    }
    if let failure { throw failure }
    return (notes, reported)
  }

  private static let all = ["note 1 0 0", "note 2 200000 1", "note 3 0 1"]

  @Test(arguments: Format.allCases, [true, false]) func ofASoundFileNothingIsReported(_ format: Format, _ isEmpty: Bool)
    throws
  {
    let home = try StoreFolder("sound")
    defer { home.remove() }
    var file = try Self.made(format, home, isEmpty: isEmpty)
    for isSealed in [true, false] {
      if !isSealed { try WholeFileChecksum.remove(from: &file) }
      let (notes, reported) = try Self.salvaged(format, file, home)
      #expect(notes == (isEmpty ? [] : Self.all))
      #expect(reported == [])
    }
  }

  /// Damage in a document without a checksum, and the notes that remain.
  @Test(arguments: [
    ("<object ", "<obkect ", ["note 2 200000 0", "note 3 0 0"], "it is no object"),
    (
      "<object type=\"NOTE\" id=\"z2\"", "<objekt type=\"NOTE\" id=\"z2\"", ["note 1 0 0", "note 3 0 1"],
      "it is no object"
    ),
    ("note 3", "note\u{1}3", ["note 1 0 0", "note 2 200000 1"], "cannot be read"),
    ("</database>", "", all, "its end is missing"),
    (" idrefs=", " idrdfs=", all, "an unknown attribute"),
  ])
  func whatADocumentLacksIsReported(_ old: String, _ new: String, _ expected: [String], _ text: String) throws {
    let home = try StoreFolder("document")
    defer { home.remove() }
    var file = try Self.made(.xml, home)
    try WholeFileChecksum.remove(from: &file)
    let range = try #require(file.range(of: Data(old.utf8)))
    file.replaceSubrange(range, with: Data(new.utf8))
    let (notes, reported) = try Self.salvaged(.xml, file, home)
    #expect(notes == expected)
    #expect(reported.contains { $0.contains(text) }, "\(reported)")
  }

  /// Large data is found by its file name if the list of these names is damaged.
  @Test(arguments: Format.allCases) func largeDataIsFoundWithoutTheListOfIt(_ format: Format) throws {
    let home = try StoreFolder("names")
    defer { home.remove() }
    var file = try Self.made(format, home)
    let range = try #require(file.range(of: Data("OpenCoreDataExternalData".utf8)))
    file[range.lowerBound] = UInt8(ascii: "x")
    let (notes, reported) = try Self.salvaged(format, file, home)
    #expect(notes == Self.all)
    #expect(reported.contains { $0.contains("checksum") }, "\(reported)")
  }

  /// The folder for a new store's large data may already contain the files of another store.
  @Test(arguments: Format.allCases) func aReplacedURLWithoutAStoreKeepsItsLargeData(_ format: Format) throws {
    let home = try StoreFolder("kept")
    defer { home.remove() }
    _ = try Self.made(format, home)
    let url = home.url.appendingPathExtension("new")
    let folder = ExternalDataFolder(beside: url.path)
    _ = try folder.write(Data(repeating: 1, count: 150_000), ofStore: UUID().uuidString)
    let old = folder.names
    #expect(old.count == 1)
    try format.backend.replace(at: url, with: home.url, options: StoreOptions())
    #expect(folder.names.count == 2 && folder.names.contains(old[0]))
    try format.backend.replace(at: url, with: home.url, options: StoreOptions())
    #expect(folder.names.count == 1 && !folder.names.contains(old[0]))
  }

  /// The log of a database that was moved away may contain its last saves.
  @Test(arguments: ["-wal", "-journal"]) func aLogThatIsLeftIsNobodysToRemove(_ ending: String) throws {
    let home = try StoreFolder("log")
    defer { home.remove() }
    let log = URL(filePath: home.url.path + ending)
    let salvage = Salvage(try Self.schema()) { _ in }
    try Data([1]).write(to: log)
    let error = #expect(throws: StoreError.self) {
      try Format.xml.backend.make(at: home.url, from: salvage, options: StoreOptions())
    }
    #expect(error?.code == .exists && error?.context["path"] == log.path)
    #expect(try Data(contentsOf: log) == Data([1]))
    try Data().write(to: log)
    try Format.xml.backend.make(at: home.url, from: salvage, options: StoreOptions())
  }
}
