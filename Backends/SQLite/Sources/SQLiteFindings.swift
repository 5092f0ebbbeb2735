import CSQLite
import Foundation
import PropertyLists
import SQLEngine
import StoreProtocol
import StoreSchema
import StoreSupport

/// The defects of a store's file, and content that Apple's framework would not have written.
struct SQLiteFindings {
  private let reader: SQLiteReader
  private var connection: SQLiteConnection { reader.connection }
  private var layout: SQLLayout { reader.statements.binding.layout }

  init(_ reader: SQLiteReader) { self.reader = reader }

  func findings(_ body: (StoreFinding) -> Void) throws(StoreError) {
    try Self.integrity(connection, body)
    try SQLFindings(reader.statements).findings(body)
    try metadata(body)
    try history(body)
    try SQLiteForeignTraits(connection, layout).findings(body)
  }

  /// The largest value that a foreign expression in an index may make while it is checked: a hundred bytes can describe
  /// a value of a gigabyte.
  private static let largestComputed: Int32 = 100_000_000

  /// The defects that SQLite itself finds, as far as it can read.
  static func integrity(
    _ connection: SQLiteConnection, _ body: (StoreFinding) -> Void
  ) throws(StoreError) {
    let usual = sqlite3_limit(connection.database, SQLITE_LIMIT_LENGTH, largestComputed)
    defer { sqlite3_limit(connection.database, SQLITE_LIMIT_LENGTH, usual) }
    let rows = try connection.prepare("PRAGMA integrity_check(100)")
    while try rows.step() {
      if let text = rows.string(0), text != "ok" { body(StoreFinding(.integrity, text)) }
    }
  }

  private func metadata(_ body: (StoreFinding) -> Void) throws(StoreError) {
    if try connection.integer("SELECT count(*) FROM Z_METADATA") != 1 {
      body(StoreFinding(.metadata, "Z_METADATA must have one row"))
    }
    let metadata = try SQLiteFormat.metadata(on: connection)
    if UUID(uuidString: metadata.identifier)?.uuidString != metadata.identifier {
      body(StoreFinding(.metadata, "the store's UUID is \"\(metadata.identifier)\", which is none in upper case"))
    }
    for (name, hash) in metadata.versionHashes.sorted(by: { $0.key < $1.key }) where hash.count != 32 {
      body(StoreFinding(.metadata, "the version hash has \(hash.count) bytes, not 32", entity: name))
    }
    if let digest = metadata.additional[StoreMetadata.digestKey]?.stringValue,
      digest != VersionHash.digest(of: metadata.versionHashes)
    {
      body(StoreFinding(.metadata, "the digest of the version hashes is not theirs"))
    }
    if let checksum = metadata.additional[StoreMetadata.checksumKey]?.stringValue,
      checksum != VersionHash.checksum(of: metadata.versionHashes)
    {
      body(StoreFinding(.metadata, "the checksum of the version hashes is not theirs"))
    }
  }

  private func history(_ body: (StoreFinding) -> Void) throws(StoreError) {
    let tables = ["ACHANGE": 16001, "ATRANSACTION": 16002, "ATRANSACTIONSTRING": 16003]
    for (table, number) in tables.sorted(by: { $0.value < $1.value }) {
      guard try connection.integer("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '\(table)'") == 1
      else { continue }
      let highest = try connection.integer("SELECT ifnull(max(Z_PK), 0) FROM \(table)") ?? 0
      let listed = try connection.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(number)") ?? 0
      if listed < highest {
        body(
          StoreFinding(.key, "the highest key listed of \(table), Z_MAX, is \(listed), the highest in use \(highest)"))
      }
      guard table == "ACHANGE" else { continue }
      let lost =
        try connection.integer(
          "SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)") ?? 0
      if lost > 0 { body(StoreFinding(.stray, "\(lost) changes of the history belong to no transaction")) }
    }
  }
}

/// Content that is sound, but not as Apple's framework writes it.
struct SQLiteForeignTraits {
  private let connection: SQLiteConnection
  private let layout: SQLLayout

  init(_ connection: SQLiteConnection, _ layout: SQLLayout) {
    self.connection = connection
    self.layout = layout
  }

  func findings(_ body: (StoreFinding) -> Void) throws(StoreError) {
    if let reason = try SQLiteForeignObjects.reason(connection, layout) { add(reason, body) }
    try header(body)
    try tables(body)
    joins(body)
    try uniqueness(body)
    try decimals(body)
  }

  /// Names in join tables that Apple's framework chooses by unknown rules: which of two relationships of one entity
  /// names their table, and how columns of one name are numbered. A file made here may have other names than Apple's
  /// framework expects. Nothing tells who made a file, so they are listed for Apple's own files too.
  private func joins(_ body: (StoreFinding) -> Void) {
    var sharing: [String: Int] = [:]
    let pairs = layout.joins.filter { !$0.isReflexive }.map { join in
      (join, relationship(join.naming), relationship(join.other))
    }
    for (_, naming, other) in pairs {
      let unnumbered = layout.join(naming, other)
      for name in [unnumbered.first, unnumbered.second] { sharing[name, default: 0] += 1 }
    }
    for (join, naming, other) in pairs {
      let entity = layout.schema.entities[naming.declaringEntity].name
      if naming.declaringEntity == other.declaringEntity {
        add(
          "Apple's framework may look for the join table \(join.name)"
            + " under the name \(layout.join(other, naming).name)",
          body, entity: entity, property: naming.name)
      }
      let unnumbered = layout.join(naming, other)
      if [unnumbered.first, unnumbered.second].contains(where: { sharing[$0, default: 0] > 1 }) {
        add(
          "Apple's framework may number the columns \(join.first) and \(join.second) of \(join.name) otherwise",
          body, entity: entity, property: naming.name)
      }
    }
  }

  private func relationship(_ key: SQLLayout.RelationshipKey) -> Relationship {
    layout.schema.entities[key.entity].relationships[key.relationship]
  }

  private func add(_ text: String, _ body: (StoreFinding) -> Void, entity: String? = nil, property: String? = nil) {
    body(StoreFinding(.foreign, text, entity: entity, property: property))
  }

  private func header(_ body: (StoreFinding) -> Void) throws(StoreError) {
    for pragma in ["user_version", "application_id"] {
      let value = try connection.integer("PRAGMA \(pragma)") ?? 0
      if value != 0 { add("\(pragma) is \(value); Core Data uses none", body) }
    }
    if let encoding = try connection.text("PRAGMA encoding"), encoding != "UTF-8" {
      add("the text encoding is \(encoding), not UTF-8", body)
    }
  }

  private func tables(_ body: (StoreFinding) -> Void) throws(StoreError) {
    let history = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
    let system = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    let known = Set(layout.tables.map(\.name) + layout.joins.map(\.name) + history + system)
    let virtual = SQLSchemaText(layout).indexes.filter { $0.table == nil }.map(\.name)
    for (table, columns) in try SQLiteFormat.catalogue(on: connection).columns.sorted(by: { $0.key < $1.key }) {
      // An R-tree has tables of its own.
      if virtual.contains(where: { table.hasPrefix($0 + "_") }) { continue }
      if !known.contains(table) {
        add("the table \(table) is none of the model's", body)
      } else if let own = layout.tables.first(where: { $0.name == table }) {
        let expected = Set(["Z_PK", "Z_ENT", "Z_OPT"] + own.columns.map(\.name))
        for column in columns.subtracting(expected).sorted() {
          add("the column \(column) of \(table) is none of the model's", body)
        }
      }
    }
  }

  /// Uniqueness is an index, or a constraint of the table in older files.
  private func uniqueness(_ body: (StoreFinding) -> Void) throws(StoreError) {
    for entity in layout.schema.storedEntities {
      for (names, slots) in layout.constraints(of: entity) {
        let columns = slots.map { layout.column(entity, $0).name }
        let found = try connection.integer(
          """
          SELECT count(*) FROM pragma_index_list('\(layout.table(entity.index).name)') l WHERE l."unique" = 1 AND
          (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(l.name) ORDER BY seqno)) = '\(columns.joined(separator: ","))'
          """)
        if found == 0 {
          add("nothing in the file keeps \(names.joined(separator: ", ")) unique", body, entity: entity.name)
        }
      }
    }
  }

  /// Decimals with more digits than a double can hold are kept as text here.
  private func decimals(_ body: (StoreFinding) -> Void) throws(StoreError) {
    for table in layout.tables {
      for column in table.columns where column.role == .attribute(.decimal) {
        let count =
          try connection.integer("SELECT count(*) FROM \(table.name) WHERE typeof(\(column.name)) = 'text'") ?? 0
        if count > 0 {
          add(
            "\(count) decimals of \(column.name) are kept as text, exactly; Apple's framework keeps 15 digits", body,
            entity: layout.schema.entities[column.entity].name)
        }
      }
    }
  }
}
