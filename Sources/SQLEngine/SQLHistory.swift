import Foundation
import StoreProtocol
import StoreSchema

/// The tables of persistent history: one transaction for each save, one row for each changed object.
///
/// A store with these tables gets a record of every commit, whoever opened it. Otherwise readers of the history would
/// miss our changes.
public struct SQLHistory: Sendable {
  /// Whether texts are in `ATRANSACTIONSTRING`, as in the current generation. The generation before has text columns
  /// only.
  private let hasStrings: Bool
  private let tombstoneColumns: Int

  private static let change: Int64 = 16001
  private static let transaction: Int64 = 16002
  private static let string: Int64 = 16003

  /// The statements that make the tables.
  public static let statements = [
    "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB%TOMBSTONES% )",
    "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )",
    "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
    "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
    "CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)",
    "CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)",
    "CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)",
    "CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)",
    "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
    "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
    "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
  ]

  /// The same for a schema, with a tombstone column for each attribute that an entity keeps after deletion.
  public static func statements(for schema: Schema) -> [String] {
    let count = schema.storedEntities.map { preserved($0).count }.max() ?? 0
    let columns = (0..<count).map { ", ZTOMBSTONE\($0) BLOB" }.joined()
    return statements.map { $0.replacingOccurrences(of: "%TOMBSTONES%", with: columns) }
  }

  /// Nil where the store has no history.
  public init?(_ catalogue: SQLCatalogue) {
    guard let transactions = catalogue.columns["ATRANSACTION"], let changes = catalogue.columns["ACHANGE"] else {
      return nil
    }
    hasStrings = transactions.contains("ZAUTHORTS") && catalogue.columns["ATRANSACTIONSTRING"] != nil
    tombstoneColumns = changes.count { $0.hasPrefix("ZTOMBSTONE") }
  }

  /// Records a change set that has been written, in the same transaction. Returns the key of its record, nil if it has
  /// none.
  public func append<Connection: SQLConnection>(
    _ changes: SealedChanges, _ statements: SQLStatements<Connection>
  ) throws(StoreError) -> Int64? {
    if changes.hasNoRows { return nil }
    let writer = Writer(statements: statements, history: self)
    let transaction = try writer.addTransaction(changes)
    try writer.addChanges(changes, transaction: transaction)
    return transaction
  }

  static func preserved(_ entity: Entity) -> [Attribute] {
    entity.attributes.filter(\.definition.preservesValueInHistoryOnDeletion)
      .sorted { UTF8Order.isLess($0.name, $1.name) }
  }

  private struct Writer<Connection: SQLConnection> {
    let statements: SQLStatements<Connection>
    let history: SQLHistory

    var schema: Schema { statements.binding.layout.schema }

    func addTransaction(_ changes: SealedChanges) throws(StoreError) -> Int64 {
      let key = try nextKeys(SQLHistory.transaction, "TRANSACTION", 1)
      let texts: [(column: String, value: String?)] = [
        ("ZAUTHOR", changes.author), ("ZBUNDLEID", Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName),
        ("ZCONTEXTNAME", changes.contextName), ("ZPROCESSID", ProcessInfo.processInfo.processName),
      ]
      let columns = texts.map { history.hasStrings ? $0.column + "TS" : $0.column }.joined(separator: ", ")
      let insert = try statements.statement(
        text: "INSERT OR ABORT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, \(columns)) VALUES (?, ?, ?, ?, ?, ?, ?)")
      insert.bind(key, at: 1)
      insert.bind(SQLHistory.transaction, at: 2)
      insert.bind(.double(changes.time), at: 3)
      for (index, text) in texts.enumerated() {
        let value: Value
        if let text = text.value {
          value = history.hasStrings ? .int(try string(text)) : .string(text)
        } else {
          value = .null
        }
        insert.bind(value, at: Int32(index) + 4)
      }
      try statements.connection.changeOneRow(insert, of: "ATRANSACTION")
      return key
    }

    /// The key of a text in `ATRANSACTIONSTRING`.
    private func string(_ text: String) throws(StoreError) -> Int64 {
      let find = try statements.statement(text: "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?")
      find.bind(.string(text), at: 1)
      defer { find.reset() }
      let known = try find.step() ? find.int(0) : nil
      if let known { return known }
      let key = try nextKeys(SQLHistory.string, "TRANSACTIONSTRING", 1)
      let insert = try statements.statement(
        text: "INSERT OR ABORT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, ?, ?)")
      insert.bind(key, at: 1)
      insert.bind(SQLHistory.string, at: 2)
      insert.bind(.string(text), at: 3)
      try statements.connection.changeOneRow(insert, of: "ATRANSACTIONSTRING")
      return key
    }

    /// The first of `count` new keys of a history table. The table is listed in `Z_PRIMARYKEY` from its first row on.
    /// The key after the last is below `Int64.max`.
    private func nextKeys(_ number: Int64, _ name: String, _ count: Int) throws(StoreError) -> Int64 {
      let read = try statements.statement(text: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?")
      read.bind(number, at: 1)
      defer { read.reset() }
      let highest = try read.step() ? read.int(0) : nil
      let last = try SQLKeys.last(highest ?? 0, count, of: name)
      let text =
        highest == nil
        ? "INSERT OR ABORT INTO Z_PRIMARYKEY (Z_MAX, Z_ENT, Z_NAME, Z_SUPER) VALUES (?, ?, '\(name)', 0)"
        : "UPDATE OR ABORT Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?"
      let write = try statements.statement(text: text)
      write.bind(last, at: 1)
      write.bind(number, at: 2)
      try statements.connection.changeOneRow(write, of: "Z_PRIMARYKEY")
      return (highest ?? 0) + 1
    }

    func addChanges(_ changes: SealedChanges, transaction: Int64) throws(StoreError) {
      let count = changes.insertions.count + changes.updates.count + changes.deletions.count
      var key = try nextKeys(SQLHistory.change, "CHANGE", count)
      let insert = try statements.statement(
        text: """
          INSERT OR ABORT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS)
          VALUES (?, ?, ?, ?, ?, ?, ?)
          """)
      func add(_ type: Int64, _ entity: Int, _ object: Int64, _ columns: Value) throws(StoreError) {
        insert.bind(key, at: 1)
        insert.bind(SQLHistory.change, at: 2)
        insert.bind(type, at: 3)
        insert.bind(statements.binding.numbers.numbers[entity], at: 4)
        insert.bind(object, at: 5)
        insert.bind(transaction, at: 6)
        insert.bind(columns, at: 7)
        try statements.connection.changeOneRow(insert, of: "ACHANGE")
        key += 1
      }
      for row in changes.insertions { try add(0, row.entity, row.key, .null) }
      let linked = Dictionary(grouping: changes.links) { ObjectReference(entity: $0.entity, key: $0.owner) }
      for update in changes.updates {
        let relationships = linked[update.row.reference, default: []].map(\.relationship)
        let mask = columnMask(update.row.entity, update.changed, relationships)
        try add(1, update.row.entity, update.row.key, .data(mask))
      }
      for deletion in changes.deletions {
        try add(2, deletion.reference.entity, deletion.reference.key, .null)
        try addTombstone(deletion, change: key - 1)
      }
    }

    /// One bit for each property of the entity, sorted by name, the most significant bit first.
    private func columnMask(_ index: Int, _ changed: SlotSet, _ relationships: [Int]) -> Data {
      let entity = schema.entities[index]
      var properties: [(name: String, isChanged: Bool)] = entity.attributes.map { attribute in
        let slots = attribute.slots
        return (attribute.name, slots.contains(where: changed.contains))
      }
      properties += entity.relationships.map { relationship in
        (
          relationship.name,
          relationship.slot.map(changed.contains) ?? relationships.contains(relationship.index)
        )
      }
      properties.sort { UTF8Order.isLess($0.name, $1.name) }
      var mask = Data(count: properties.count / 8 + 1)
      for (bit, property) in properties.enumerated() where property.isChanged {
        mask[bit / 8] |= 0x80 >> UInt8(bit % 8)
      }
      return mask
    }

    private func addTombstone(_ deletion: ChangeSet.Deletion, change: Int64) throws(StoreError) {
      guard let row = deletion.row else { return }
      let entity = schema.entities[deletion.reference.entity]
      for (index, attribute) in SQLHistory.preserved(entity).prefix(history.tombstoneColumns).enumerated()
      where !row.isNull(attribute.slot) {
        let update = try statements.statement(text: "UPDATE OR ABORT ACHANGE SET ZTOMBSTONE\(index) = ? WHERE Z_PK = ?")
        update.bind(
          row, [statements.binding.parameters[entity.index][attribute.slot]], from: 1, statements.binding.numbers)
        update.bind(change, at: 2)
        try statements.connection.changeOneRow(update, of: "ACHANGE")
      }
    }
  }
}
