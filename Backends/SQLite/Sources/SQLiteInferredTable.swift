import StoreProtocol
import StoreSchema

/// A column of a table as the catalogue has it.
struct SQLiteColumn {
  let name: String
  let declaredType: String
  /// Whether the column has an index of its own without a collation, as every to-one key has. The index's name does not
  /// matter.
  let isKey: Bool

  /// The columns of all tables, in their order.
  static func all(_ connection: SQLiteConnection) throws(StoreError) -> [String: [SQLiteColumn]] {
    var result: [String: [SQLiteColumn]] = [:]
    let rows = try connection.prepare(
      """
      SELECT m.name, c.name, upper(c.type), EXISTS (
        SELECT 1 FROM sqlite_master i WHERE i.type = 'index' AND i.tbl_name = m.name AND i.sql LIKE '% (' || c.name || ')')
      FROM sqlite_master m JOIN pragma_table_info(m.name) c
      WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY m.rowid, c.cid
      """)
    while try rows.step() {
      guard let table = rows.string(0), let name = rows.string(1) else { continue }
      result[table, default: []].append(
        SQLiteColumn(name: name, declaredType: rows.string(2) ?? "", isKey: rows.int(3) == 1))
    }
    return result
  }

  /// The number and the name behind it: 26 and `ALBUMS` of `Z_26ALBUMS`.
  static func numbered(_ text: String, prefix: String) -> (number: Int64, name: String)? {
    guard text.hasPrefix(prefix) else { return nil }
    let rest = text.dropFirst(prefix.count)
    let digits = rest.prefix { "0"..."9" ~= $0 }
    guard let number = Int64(digits), digits.count < rest.count else { return nil }
    return (number, String(rest.dropFirst(digits.count)))
  }

  /// Whether a column's name is `name`, perhaps with a numeric suffix.
  static func isSame(_ column: String, _ name: String) -> Bool {
    column.hasPrefix(name) && column.dropFirst(name.count).allSatisfy { "0"..."9" ~= $0 }
  }
}

/// Tells what the columns of an entity table stand for.
struct SQLiteInferredTable {
  let name: String
  let columns: [SQLiteColumn]
  /// By number.
  let entityNames: [Int64: String]
  /// The numbers of entities with subentities: a key that leads to such an entity has a column with the entity beside
  /// it.
  let parents: Set<Int64>

  enum Role {
    case none
    case attribute(String)
    case toOne(String, destination: Int64)
    case oneWay(String, owner: Int64, isOrdered: Bool)
  }

  func role(of column: SQLiteColumn) -> Role {
    let bare = String(column.name.dropFirst())
    if isSystem(column.name) { return .none }
    if column.declaredType == "INTEGER" {
      if let (number, name) = SQLiteColumn.numbered(column.name, prefix: "Z") {
        // `Z1_BOOK` beside `ZBOOK` says which entity a key leads to.
        if name.hasPrefix("_"), has("Z" + name.dropFirst()) { return .none }
        if entityNames[number] != nil { return .oneWay(name, owner: number, isOrdered: has("Z_FOK_\(number)\(name)")) }
      }
      let suffix = "_" + bare
      for other in columns where other.name.hasSuffix(suffix) {
        // Only an entity with subentities has such a column; otherwise the column was left behind.
        if let (number, name) = SQLiteColumn.numbered(other.name, prefix: "Z"), name == suffix, parents.contains(number)
        {
          return .toOne(bare, destination: number)
        }
      }
      if column.isKey, let number = entityNames.first(where: { $0.value.uppercased() == bare })?.key,
        !parents.contains(number)
      {
        return .toOne(bare, destination: number)
      }
    }
    return .attribute(bare)
  }

  private func isSystem(_ name: String) -> Bool {
    ["Z_PK", "Z_ENT", "Z_OPT"].contains(name) || name.hasPrefix("Z_FOK_")
  }

  private func has(_ name: String) -> Bool { columns.contains { $0.name == name } }

  // MARK: Types

  /// Nil for a column of a type that no attribute has.
  func attribute(
    _ attribute: String, _ column: SQLiteColumn, _ connection: SQLiteConnection
  ) throws(StoreError) -> AttributeDefinition? {
    func make(_ type: AttributeType) -> AttributeDefinition { AttributeDefinition(name: attribute, type: type) }
    switch column.declaredType.prefix(while: { $0 != "(" }) {
    case "INTEGER": return make(try hasFraction(column, connection) ? .double : .integer64)
    case "FLOAT", "REAL", "DOUBLE": return make(.double)
    case "TIMESTAMP": return make(.date)
    case "DECIMAL", "NUMERIC": return make(.decimal)
    case "VARCHAR", "TEXT": return make(.string)
    case "BLOB": return try blob(make(.binaryData), column, connection)
    default: return nil
    }
  }

  private func hasFraction(_ column: SQLiteColumn, _ connection: SQLiteConnection) throws(StoreError) -> Bool {
    try connection.integer("SELECT 1 FROM \(name) WHERE typeof(\(column.name)) = 'real' LIMIT 1") != nil
  }

  /// The type of binary values. If all are 16 bytes long, they count as UUIDs. Keyed archives count as transformable
  /// values. Values that all begin with external storage's 1, or 2 and a name, count as external data where there is at
  /// least one name.
  private func blob(
    _ plain: AttributeDefinition, _ column: SQLiteColumn, _ connection: SQLiteConnection
  ) throws(StoreError) -> AttributeDefinition {
    let value = column.name
    let counts = try connection.prepare(
      """
      SELECT count(\(value)), sum(length(\(value)) = 16),
        sum(substr(\(value), 1, 8) = x'62706c6973743030' AND instr(\(value), x'246172636869766572') > 0),
        sum(substr(\(value), 1, 1) = x'01' OR (substr(\(value), 1, 1) = x'02' AND length(\(value)) = 38)),
        sum(substr(\(value), 1, 1) = x'02' AND substr(\(value), -1) = x'00' AND length(\(value)) = 38)
      FROM \(name)
      """)
    guard try counts.step(), counts.int(0) > 0 else { return plain }
    var result = plain
    if counts.int(1) == counts.int(0) {
      result.type = .uuid
    } else if counts.int(2) == counts.int(0) {
      result.type = .transformable
    } else if counts.int(3) == counts.int(0) && counts.int(4) > 0 {
      result.allowsExternalBinaryDataStorage = true
    }
    return result
  }
}
