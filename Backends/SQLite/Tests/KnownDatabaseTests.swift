import Foundation
import StoreProtocol
import StoreSchema
import Synchronization
import Testing

@testable import SQLiteBackend

/// What an opening takes from earlier openings of databases with the same declarations.
@Suite struct KnownDatabaseTests {
  /// A store of `Note` and `Page` in a new folder. It has been opened twice, so that its declarations are known.
  private final class Made {
    let url: URL
    let schema: Schema

    init(_ schema: Schema? = nil) throws {
      var note = EntityDefinition(name: "Note")
      note.attributes = [AttributeDefinition(name: "text", type: .string)]
      self.schema = try schema ?? Schema([note, EntityDefinition(name: "Page")])
      let folder = FileManager.default.temporaryDirectory.appending(path: "known-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      url = folder.appending(path: "store.sqlite")
      for _ in 0..<2 { try open().close() }
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }

    func open(_ options: StoreOptions = StoreOptions()) throws -> any Store {
      try SQLiteBackend().open(at: url, schema: schema, options: options)
    }

    func execute(_ sql: String) throws { try SQLiteConnection(url.path, .readWrite, timeout: 1).execute(sql) }
  }

  /// Whether opening a store reads the catalogue of its database.
  private func readsCatalogue(_ made: Made) throws -> Bool {
    let isRead = Mutex(false)
    var options = StoreOptions()
    options.trace = { sql, _ in if sql.contains("pragma_table_info") { isRead.withLock { $0 = true } } }
    try made.open(options).close()
    return isRead.withLock { $0 }
  }

  /// Other tests open stores at the same time, and few databases are kept, so one opening proves nothing.
  @Test func theCatalogueIsReadOnceForAllStoresOfAModel() throws {
    let first = try Made()
    let second = try Made(first.schema)
    var isKnown = false
    for _ in 0..<50 where !isKnown {
      try first.open().close()
      isKnown = try !readsCatalogue(second)
    }
    #expect(isKnown)
  }

  @Test func aTableThatHasChangedIsReadAgain() throws {
    let made = try Made()
    try made.execute("ALTER TABLE ZNOTE ADD COLUMN ZOTHER VARCHAR")
    #expect(try readsCatalogue(made))
  }

  @Test func aTriggerThatWasAddedSinceMakesTheStoreReadOnly() throws {
    let made = try Made()
    try made.execute("CREATE TRIGGER t AFTER INSERT ON ZNOTE BEGIN DELETE FROM ZPAGE; END")
    let store = try made.open()
    #expect(store.isReadOnly)
    try store.close()
    try made.execute("DROP TRIGGER t")
    let other = try made.open()
    #expect(!other.isReadOnly)
    try other.close()
  }

  @Test func aColumnThatWasRemovedSinceIsMissed() throws {
    let made = try Made()
    try made.execute("ALTER TABLE ZNOTE RENAME COLUMN ZTEXT TO OTHER")
    let error = #expect(throws: StoreError.self) { try made.open() }
    #expect(error?.code == .corrupt)
  }

  @Test func theNumbersOfEntitiesAreThoseOfTheFile() throws {
    let made = try Made()
    try made.execute("UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 10")
    try made.execute("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, 11, 1, 'x')")
    let store = try made.open()
    let note = try #require(made.schema.entity(named: "Note"))
    var texts: [String] = []
    try store.snapshot().scan(note.subtree) { row in texts.append(row.string(0)) }
    #expect(texts == ["x"])
    try store.close()
  }

  @Test func aDatabaseWithoutTablesIsMadeAStore() throws {
    let made = try Made()
    try FileManager.default.removeItem(at: made.url)
    // A database with a header and nothing else.
    try SQLiteConnection(made.url.path, .readWriteCreate, timeout: 1).execute("PRAGMA user_version = 1")
    let store = try made.open()
    #expect(!store.isReadOnly)
    try store.close()
  }

  @Test func declarationsOfAMegabyteAreNotKept() throws {
    let made = try Made()
    let connection = try SQLiteConnection(made.url.path, .readWrite, timeout: 1)
    let declarations = try SQLiteDeclarations(connection)
    #expect(try !declarations.isEmpty && declarations == SQLiteDeclarations(connection))
    try connection.execute("CREATE TABLE t (x /*\(String(repeating: "x", count: 1 << 20))*/)")
    let long = try SQLiteDeclarations(connection)
    #expect(try !long.isEmpty && long != SQLiteDeclarations(connection))
    try made.open().close()
  }
}
