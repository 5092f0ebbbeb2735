import CoreData
import Foundation
import StoreProtocol
import StoreSupport
import TestSupport
import Testing

@testable import SQLiteBackend

/// Each kind of damage is found, and shown in the dump where it belongs to an object; nothing else is reported.
@Suite struct VerifyTests {
  /// A copy of a fixture with some statements run on it.
  private struct Damaged {
    let url: URL
    let model: [String]

    init(_ fixture: String, _ statements: String) throws {
      let fixture = try Fixture(fixture)
      url = try fixture.copy()
      model = fixture.modelArgument
      let connection = try SQLiteConnection(url.path, .readWrite, timeout: 1)
      try connection.execute(statements)
    }

    func remove() { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }

    func findings(_ options: [String] = []) throws -> [[String: Any]] {
      let run = try ToolRun(["store", "verify", url.path, "--json"] + model + options)
      let found = try run.lines.compactMap {
        try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
      }
      #expect(run.status == (found.isEmpty ? 0 : 1), "\(run.errors)")
      return found
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let fixture: String
    let sql: String
    let kind: StoreFinding.Kind
    let property: String?
    /// Whether the dump shows it too.
    let isShown: Bool
    let text: String

    init(
      _ fixture: String, _ sql: String, _ kind: StoreFinding.Kind, on property: String? = nil, shown: Bool = false,
      says text: String
    ) {
      (self.fixture, self.sql, self.kind, self.property, isShown, self.text) = (
        fixture, sql, kind, property, shown, text
      )
    }

    var testDescription: String { sql }
  }

  /// Statements use the names of tables and columns in the fixtures' models.
  private static let cases: [Case] = [
    Case(
      "types", "UPDATE ZNUMBERS SET ZORDER = 40000 WHERE Z_PK = (SELECT min(Z_PK) FROM ZNUMBERS)", .value, on: "order",
      shown: true, says: "40000 is not an Integer 16"),
    Case(
      "types", "UPDATE ZNUMBERS SET ZENABLED = 2 WHERE Z_PK = (SELECT min(Z_PK) FROM ZNUMBERS)", .value, on: "enabled",
      shown: true, says: "2 is not a Boolean"),
    Case(
      "types", "UPDATE ZNUMBERS SET ZCOUNT = 'x' WHERE Z_PK = (SELECT min(Z_PK) FROM ZNUMBERS)", .value, on: "count",
      shown: true, says: "a text of 1 bytes is not an Integer 64"),
    Case(
      "types", "UPDATE ZNUMBERS SET ZPRICE = 'much' WHERE Z_PK = (SELECT min(Z_PK) FROM ZNUMBERS)", .value, on: "price",
      shown: true, says: "a text of 4 bytes is not a decimal number"),
    Case(
      "links", "UPDATE ZPERSON SET Z_OPT = NULL WHERE Z_PK = (SELECT min(Z_PK) FROM ZPERSON)", .version,
      says: "the version is missing"),
    Case(
      "links", "UPDATE ZPERSON SET ZCITY = 99999999 WHERE Z_PK = (SELECT min(Z_PK) FROM ZPERSON)", .reference,
      on: "city", shown: true, says: "there is no City 99999999"),
    Case(
      "links", "UPDATE ZPERSON SET Z_ENT = 77 WHERE Z_PK = (SELECT max(Z_PK) FROM ZPERSON)", .stray,
      shown: true, says: "Z_ENT"),
    Case(
      "links", "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Person'", .key,
      says: "the highest key listed, Z_MAX, is 1"),
    Case(
      "links", "UPDATE Z_PRIMARYKEY SET Z_SUPER = 5 WHERE Z_NAME = 'Person'", .key,
      says: "lists 5 as the parent's number"),
    Case(
      "links", "INSERT INTO Z_9FRIENDS VALUES (99999990, 99999991)", .stray, on: "friends",
      says: "of which one is no object"),
    Case("links", "UPDATE Z_METADATA SET Z_UUID = 'x'", .metadata, says: "which is none in upper case"),
    Case(
      "links",
      "UPDATE ZSHELF SET Z_FOK_LIBRARY = 5 WHERE ZLIBRARY = (SELECT ZLIBRARY FROM ZSHELF WHERE ZLIBRARY IS NOT NULL GROUP BY 1 HAVING count(*) > 1 LIMIT 1)",
      .order, on: "shelves", shown: true, says: "has the same order key as another, 5"),
    Case(
      "links", "UPDATE Z_1PHOTOS SET Z_FOK_10PHOTOS = NULL WHERE rowid = (SELECT min(rowid) FROM Z_1PHOTOS)", .order,
      on: "photos", shown: true, says: "has no order key"),
    Case(
      "links",
      "UPDATE ZSHELF SET Z_FOK_LIBRARY = 7, ZLIBRARY = NULL WHERE Z_PK = (SELECT max(Z_PK) FROM ZSHELF WHERE ZLIBRARY IS NOT NULL)",
      .order, says: "an order key among the shelves of nothing"),
    Case(
      "links", "UPDATE ZPASSPORT SET ZHOLDER = NULL WHERE Z_PK = (SELECT max(ZPASSPORT) FROM ZPERSON)", .inverse,
      on: "passport", says: "whose holder is NULL"),
    Case(
      "family", "UPDATE ZITEM SET Z7_PARENT = 99 WHERE Z_PK = (SELECT max(Z_PK) FROM ZITEM WHERE ZPARENT IS NOT NULL)",
      .reference, on: "parent", says: "Z7_PARENT is 99"),
    Case(
      "family",
      "UPDATE ZCOMMENT SET ZLEAF = (SELECT min(Z_PK) FROM ZABACUS WHERE Z_ENT = 1) WHERE Z_PK = 1",
      .reference, on: "leaf", shown: true, says: "is no MiniCounter, its Z_ENT is 1"),
    Case(
      "history", "DELETE FROM ATRANSACTION WHERE Z_PK = (SELECT max(Z_PK) FROM ATRANSACTION)", .stray,
      says: "belong to no transaction"),
    Case(
      "history", "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT = 16001", .key,
      says: "the highest key listed of ACHANGE"),
  ]

  @Test(arguments: cases) func damageIsFound(_ damage: Case) throws {
    let store = try Damaged(damage.fixture, damage.sql)
    defer { store.remove() }
    let found = try store.findings()
    let match = found.first {
      $0["kind"] as? String == damage.kind.rawValue && ($0["text"] as? String)?.contains(damage.text) == true
    }
    #expect(match != nil, "\(found.prefix(3))")
    if let property = damage.property { #expect(match?["property"] as? String == property) }
    let dump = try ToolRun(["store", "dump", store.url.path] + store.model)
    #expect(dump.output.contains(#"{"$invalid":""#) == damage.isShown)
    if damage.isShown { #expect(dump.status == 1 && dump.output.contains(damage.text)) }
  }

  @Test func aSoundStoreHasNoFindings() throws {
    for name in ["family", "history", "blobs", "legacy", "legacy-history", "wal"] {
      let fixture = try Fixture(name)
      let run = try ToolRun(["store", "verify", fixture.store.path, "--apple"] + fixture.modelArgument)
      #expect(run.status == 0, "\(name): \(run.output)")
    }
  }

  @Test func whatAppleWouldNotHaveWrittenIsAQuestionOfItsOwn() throws {
    let store = try Damaged(
      "links",
      """
      PRAGMA user_version = 7; CREATE TABLE OTHERS (A); ALTER TABLE ZPERSON ADD COLUMN ZMORE INTEGER;
      CREATE VIEW LOOK AS SELECT 1
      """)
    defer { store.remove() }
    #expect(try store.findings().isEmpty)
    let texts = try store.findings(["--apple"]).compactMap { $0["text"] as? String }
    for part in ["user_version is 7", "the table OTHERS", "the column ZMORE of ZPERSON", "the view LOOK"] {
      #expect(texts.contains { $0.contains(part) }, "\(part): \(texts)")
    }
  }

  /// SQLITE-FORMAT 7: in two cases it is not known which names Apple's framework chooses.
  @Test func namesThatAppleMayChooseOtherwiseAreListed() throws {
    let (person, club) = (Describing.entity("Person", []), Describing.entity("Club", []))
    Describing.relate(person, "follows", toMany: true, person, "followers", toManyBack: true)
    let knows = NSRelationshipDescription()
    (knows.name, knows.destinationEntity, knows.inverseRelationship) = ("knows", person, knows)
    person.properties += [knows]
    Describing.relate(club, "people", toMany: true, person, "clubs", toManyBack: true)
    let plain = Describing.entity("Other", [])
    Describing.relate(plain, "people", toMany: true, person, "others", toManyBack: true)
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "Names.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Describing.model([person, club, plain]))
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    try coordinator.remove(store)
    #expect(try ToolRun(["store", "verify", url.path]).status == 0)
    let run = try ToolRun(["store", "verify", url.path, "--apple"])
    let lines = run.output.split(separator: "\n").filter { $0.contains("Apple's framework may") }
    #expect(lines.count { $0.contains("may look for") && $0.contains("FOLLOW") } == 1, "\(run.output)")
    #expect(lines.count { $0.contains("may number") && $0.contains("PEOPLE") } == 2, "\(run.output)")
    #expect(lines.count == 3, "\(run.output)")
  }

  @Test func missingAndStrangeExternalFilesAreFound() throws {
    let fixture = try Fixture("blobs")
    let url = try fixture.copy()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let folder = url.deletingLastPathComponent().appending(path: ".blobs_SUPPORT/_EXTERNAL_DATA")
    let file = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().first)
    try FileManager.default.removeItem(at: folder.appending(path: file))
    let verify = try ToolRun(["store", "verify", url.path] + fixture.modelArgument)
    #expect(verify.status == 1 && verify.output.contains("The file of an external value is missing"))
    let dump = try ToolRun(["store", "dump", url.path] + fixture.modelArgument)
    #expect(dump.status == 1 && dump.output.contains(#"{"$invalid":"The file of an external value is missing"#))
    // All other objects are in the dump.
    #expect(dump.lines.count == (try fixture.expected()).split(separator: "\n").count)
  }
}
