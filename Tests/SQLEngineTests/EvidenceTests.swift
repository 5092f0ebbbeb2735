import Foundation
import SQLEngine
import StoreProtocol
import StoreSchema
import Testing

@testable import SQLiteBackend

/// The verdict of a store on a commit of unknown outcome, after other writers may have changed the file.
@Suite struct EvidenceTests {
  /// A company and one change set: it inserts Ada, updates Grace and deletes Alan. `commits` says whether the store has
  /// committed it.
  private final class Case {
    let folder: Scratch
    let store: any Store
    let connection: SQLiteConnection
    let statements: SQLStatements<SQLiteConnection>
    let evidence: SQLEvidence<SQLiteConnection>

    init(commits: Bool, tracksHistory: Bool = false, touchesGrace: Bool = false) throws {
      folder = try Scratch()
      let url = folder.url.appending(path: "company.sqlite")
      let schema = try Company.schema()
      var options = StoreOptions()
      options.tracksHistory = tracksHistory
      store = try SQLiteBackend().open(at: url, schema: schema, options: options)
      try Self.fill(store)
      connection = try SQLiteConnection(url.path, .readWrite, timeout: 1)
      let catalogue = try SQLiteFormat.catalogue(on: connection)
      statements = SQLStatements(connection, try SQLBinding.bind(schema, to: catalogue))
      let snapshot = try store.snapshot()
      let person = try #require(schema.entities.first { $0.name == "Person" })
      var changes = ChangeSet(time: 1000)
      let grace = try #require(try snapshot.row(of: person.index, key: 1)).draft(version: 2)
      let slot = try #require(person.attributes.first { $0.name == "age" }?.slot)
      #expect(grace.patch(slot, .int(42)))
      var changed = SlotSet()
      changed.insert(slot)
      changes.updates = [.init(row: grace, changed: changed)]
      let builder = RowBuilder()
      builder.begin(slots: person.slots.count)
      builder.set(try #require(person.attributes.first { $0.name == "name" }?.slot), .string("Ada\0é"))
      builder.set(try #require(person.attributes.first { $0.name == "salary" }?.slot), .double(0.1))
      changes.insertions = [builder.finishDraft(key: 0, entity: person.index, version: 0)]
      changes.deletions = [.init(ObjectReference(entity: person.index, key: 2), versionRead: 1)]
      try connection.execute("BEGIN IMMEDIATE")
      var commit = try SQLCommit(statements, changes, keyFloors: [:])
      guard case .written = try commit.run() else { throw CocoaError(.coderInvalidValue) }
      let transaction = try SQLHistory(catalogue)?.append(commit.changes, statements)
      try connection.execute(commits ? "COMMIT" : "ROLLBACK")
      evidence = SQLEvidence(
        commit.changes, highestKeys: commit.highestKeys, transaction: transaction,
        touched: touchesGrace ? [grace.reference] : [])
    }

    /// Inserts Grace and Alan, each in a separate commit.
    private static func fill(_ store: any Store) throws {
      let person = try #require(store.schema.entity(named: "Person"))
      let builder = RowBuilder()
      for (name, age) in [("Grace", Int64(40)), ("Alan", 41)] {
        builder.begin(slots: person.slots.count)
        for (attribute, value) in [("name", Value.string(name)), ("age", .int(age)), ("salary", .double(0.1))] {
          builder.set(try #require(person.attributes.first { $0.name == attribute }?.slot), value)
        }
        var changes = ChangeSet(time: 0)
        changes.insertions = [builder.finishDraft(key: -1, entity: person.index, version: 1)]
        guard case .committed = try store.commit(changes) else { throw CocoaError(.coderInvalidValue) }
      }
    }

    /// The verdict after another writer has executed `others`.
    func verdict(after others: String...) throws -> SQLEvidence<SQLiteConnection>.Verdict {
      for text in others { try connection.execute(text) }
      return try evidence.verdict(statements)
    }
  }

  // Statements of other writers.
  private let takeKey = "UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Person'"
  private let insert = "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 3, Z_ENT, 1, 'Bob' FROM ZPERSON LIMIT 1"
  private let changeGrace = "UPDATE ZPERSON SET Z_OPT = 2, ZAGE = 43 WHERE Z_PK = 1"
  private let changeGraceOften = "UPDATE ZPERSON SET Z_OPT = 9, ZAGE = 43 WHERE Z_PK = 1"
  private let deleteAlan = "DELETE FROM ZPERSON WHERE Z_PK = 2"

  @Test func aCommitIsKnownByItsRows() throws {
    #expect(try Case(commits: true).verdict() == .happened)
    #expect(try Case(commits: false).verdict() == .didNotHappen)
  }

  /// In each of these cases a look at only one row would give the wrong verdict.
  @Test func whatOthersDidIsNotTakenForTheCommit() throws {
    #expect(try Case(commits: false).verdict(after: takeKey, insert) == .didNotHappen)
    #expect(try Case(commits: false).verdict(after: changeGrace, deleteAlan) == .didNotHappen)
    #expect(try Case(commits: false).verdict(after: takeKey, insert, deleteAlan) == .didNotHappen)
    #expect(try Case(commits: false).verdict(after: takeKey, changeGrace, deleteAlan) == .didNotHappen)
    #expect(try Case(commits: false).verdict(after: takeKey, changeGraceOften) == .didNotHappen)
  }

  @Test func noGuessIsMadeWhereOthersCoveredTheTraces() throws {
    let removeAda = "DELETE FROM ZPERSON WHERE Z_PK = 3"
    #expect(try Case(commits: true).verdict(after: changeGraceOften) == .unclear)
    #expect(try Case(commits: true).verdict(after: removeAda) == .unclear)
    #expect(try Case(commits: false).verdict(after: takeKey, changeGraceOften, deleteAlan) == .unclear)
    #expect(try Case(commits: true, touchesGrace: true).verdict() == .unclear)
  }

  @Test func historyDecidesWhateverCameLater() throws {
    #expect(try Case(commits: true, tracksHistory: true).verdict(after: changeGraceOften) == .happened)
    let record = "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (3, 16002, 999)"
    let history = Case.init(commits:tracksHistory:touchesGrace:)
    #expect(
      try history(false, true, false).verdict(after: takeKey, changeGraceOften, deleteAlan, record) == .didNotHappen)
    #expect(try history(false, true, false).verdict(after: takeKey, changeGraceOften, deleteAlan) == .unclear)
  }
}
