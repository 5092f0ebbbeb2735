import Foundation
import SQLEngine
import StoreProtocol
import StoreSchema
import TestSupport
import Testing

@testable import CoreData
@testable import SQLiteBackend

/// A new store made from a corpus store's model has the same schema as the real file.
@Suite(Corpus.condition) struct CorpusSchemaTests {
  @Test func freshStoresHaveTheSchemaOfRealOnes() throws {
    var used: Set<SchemaRule> = []
    for store in Corpus.stores {
      let url = try store.copy()
      let fresh = url.deletingLastPathComponent().appending(path: "fresh.sqlite")
      defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
      let model = try store.model(at: url)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let real = try SchemaFacts(store.reference([url.path, "--schema"]))
      var options: [AnyHashable: Any] = [:]
      if real.tables["ATRANSACTION"] != nil { options[NSPersistentHistoryTrackingKey] = true }
      if store.facts.journalMode == "rollback" { options[NSSQLitePragmasOption] = ["journal_mode": "DELETE"] }
      let made = try coordinator.addPersistentStore(type: .sqlite, at: fresh, options: options)
      if real.primaryKeys.contains(where: { $0.first?.text == "16002" }) { try recordOneTransaction(made) }
      try coordinator.remove(made)
      let ours = try SchemaFacts(store.reference([fresh.path, "--schema"]))
      for difference in SchemaFacts.differences(real: real, ours: ours) {
        if let rule = SchemaRule.allCases.first(where: { $0.explains(difference, in: real) }) {
          used.insert(rule)
        } else {
          Issue.record("\(store.id): \(difference)")
        }
      }
    }
    // An exception that no store needs any more must be removed.
    #expect(used == Set(SchemaRule.allCases))
  }

  /// A real store has the fetch indexes of its model, under these names or older ones: a save changes none of them.
  @Test func noSaveChangesTheIndexesOfRealStores() throws {
    for store in Corpus.stores {
      let url = try store.copy()
      defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
      let schema = try store.model(at: url).freeze().schema
      let connection = try SQLiteConnection(url.path, .readWrite, timeout: 1)
      let binding = try SQLBinding.bind(schema, to: SQLiteFormat.catalogue(on: connection))
      #expect(try SQLiteIndexes(connection, binding.layout).changes == [], "\(store.id)")
    }
  }

  /// History is listed in Z_PRIMARYKEY from its first transaction on.
  private func recordOneTransaction(_ store: NSPersistentStore) throws {
    let engine = try store.requireEngine()
    let entity = try #require(engine.schema.entities.first { !$0.isAbstract })
    let builder = RowBuilder()
    builder.begin(slots: entity.slots.count)
    var changes = ChangeSet(time: 0)
    changes.author = "author"
    changes.insertions = [builder.finishDraft(key: 0, entity: entity.index, version: 1)]
    guard case .committed = try engine.commit(changes) else {
      Issue.record("The transaction was not recorded.")
      return
    }
  }
}

/// The catalogue of a store, as `read_store.py --schema` prints it.
struct SchemaFacts: Decodable {
  let frameworkVersion: Int
  let tables: [String: Table]
  let indexes: [String: String]
  let triggers: [String: String]
  let primaryKeys: [[JSONScalar]]
  let metadata: [String: String]
  let pragmas: [String: JSONScalar]

  struct Table: Decodable {
    let columns: [[String]]
    let sql: String
  }

  init(_ json: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(json.utf8)) }

  enum Difference: Hashable, CustomStringConvertible {
    case value(String, real: String?, ours: String?)

    var description: String {
      switch self {
      case .value(let name, let real, let ours): "\(name)\n   real \(real ?? "-")\n   ours \(ours ?? "-")"
      }
    }
  }

  static func differences(real: SchemaFacts, ours: SchemaFacts) -> [Difference] {
    var result: [Difference] = []
    func compare(_ kind: String, _ a: [String: String], _ b: [String: String]) {
      for name in Set(a.keys).union(b.keys).sorted() where a[name] != b[name] {
        result.append(.value("\(kind) \(name)", real: a[name], ours: b[name]))
      }
    }
    func columns(_ facts: SchemaFacts) -> [String: String] {
      facts.tables.mapValues { $0.columns.map { $0.joined(separator: " ") }.joined(separator: ", ") }
    }
    compare("table", columns(real), columns(ours))
    compare("index", real.indexes, ours.indexes)
    compare("trigger", real.triggers, ours.triggers)
    compare("metadata", real.metadata, ours.metadata)
    compare("pragma", real.pragmas.mapValues(\.text), ours.pragmas.mapValues(\.text))
    compare(
      "primary keys", ["rows": "\(real.primaryKeys.map { $0.map(\.text) })"],
      ["rows": "\(ours.primaryKeys.map { $0.map(\.text) })"])
    return result
  }
}

/// A number or a string.
struct JSONScalar: Decodable {
  let text: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      text = String(number)
    } else {
      text = try container.decode(String.self)
    }
  }
}

/// Why the schema of a real store may differ from that of a new store with the same model. No rule names a store.
enum SchemaRule: CaseIterable {
  /// Digests are written since framework 977, checksums since 1327 (SQLITE-FORMAT 11).
  case digestSince977
  case checksumSince1327
  /// Since 1513 a maximum version is written beside the version; new stores have the shape of 1344.
  case maximumVersionSince1513
  /// The model is embedded since 637 (SQLITE-FORMAT 10.2).
  case modelCacheSince637
  /// Before 847 the indexes of flagged properties and of compounds were named after table and columns (SQLITE-FORMAT
  /// 8.4).
  case indexNamesBefore847
  /// Join tables of framework 419 have no index for the reverse direction.
  case joinIndexAfter419
  /// A migration in place leaves the former name of a renamed entity in Z_PRIMARYKEY (SQLITE-FORMAT 2).
  case formerEntityName

  /// Only the numbers and parents in `Z_PRIMARYKEY`.
  private static func withoutNames(_ rows: String?) -> String? {
    rows?.replacing(/"[A-Za-z]+"/, with: "")
  }

  func explains(_ difference: SchemaFacts.Difference, in real: SchemaFacts) -> Bool {
    guard case .value(let name, let theirs, let ours) = difference else { return false }
    switch self {
    case .digestSince977:
      return name == "metadata NSStoreModelVersionHashesDigest" && theirs == nil && real.frameworkVersion < 977
    case .checksumSince1327:
      return name == "metadata NSStoreModelVersionChecksumKey" && theirs == nil && real.frameworkVersion < 1327
    case .maximumVersionSince1513:
      return name == "metadata NSPersistenceMaximumFrameworkVersion" && ours == nil && real.frameworkVersion >= 1513
    case .modelCacheSince637: return name == "table Z_MODELCACHE" && theirs == nil && real.frameworkVersion < 637
    case .indexNamesBefore847:
      return name.hasPrefix("index ") && real.frameworkVersion < 847 && !name.hasSuffix("_Z_ENT_INDEX")
        && (ours?.contains("COLLATE BINARY") ?? true) && !(ours?.contains("ON Z_") ?? false)
    case .joinIndexAfter419:
      return name.hasPrefix("index Z_") && theirs == nil && real.frameworkVersion <= 419
    case .formerEntityName:
      return name == "primary keys rows" && Self.withoutNames(theirs) == Self.withoutNames(ours)
    }
  }
}
