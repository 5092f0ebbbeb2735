import StoreProtocol
import StoreSchema
import StoreSupport

/// The statements of one connection, compiled at their first use and kept. Each set of updated attributes, and each
/// shape of a condition, is another statement, so the number kept is limited.
public final class SQLStatements<Connection: SQLConnection> {
  // The order matters: a connection can only close after its statements are freed.
  private var kept = RecentStatements<Key, Connection.Statement>(limit: 1024)
  private var last: (key: Key, statement: Connection.Statement)?
  private var texts = RecentStatements<String, Connection.Statement>(limit: 256)
  /// The connection of the statements.
  public let connection: Connection
  /// The tables and columns that the statements are made from.
  public let binding: SQLBinding
  /// Whether columns begin an index, by table and column.
  private var indexed: [String: Bool] = [:]

  private enum Key: Hashable {
    case insert(Int)
    case update(Int, SlotSet)
    case delete(Int)
    case removePairs(Int, Int)
    case leaveDestinations(Int, Int)
    case version(Int), versions(Int), exists(Int)
    case select(Int)
    case selectKeyRange(Int)
    case destinations(Int, Int)
    case addPair(Int), removePair(Int), pairOrder(Int, Bool)
    case link(Int, Int), order(Int, Int), unlink(Int, Int), append(Int, Int)
  }

  /// Statements on a connection for the tables that a store has.
  public init(_ connection: Connection, _ binding: SQLBinding) {
    self.connection = connection
    self.binding = binding
  }

  private var layout: SQLLayout { binding.layout }

  private func statement(_ key: Key, _ text: () -> String) throws(StoreError) -> Connection.Statement {
    // Rows of one kind are adjacent, so the last statement is the likeliest.
    if let last, last.key == key { return last.statement }
    let found: Connection.Statement
    if let known = kept.find(key) {
      found = known
    } else {
      found = try connection.prepare(text())
      kept.keep(found, as: key)
    }
    last = (key, found)
    return found
  }

  /// A statement kept by its text.
  public func statement(text: String) throws(StoreError) -> Connection.Statement {
    if let found = texts.find(text) { return found }
    let made = try connection.prepare(text)
    texts.keep(made, as: text)
    return made
  }

  /// How many statements are kept.
  var count: Int { kept.count + texts.count }

  // Statements that write say OR ABORT. It overrides a conflict clause of the table, by which SQLite would skip or
  // replace rows.

  /// Parameters: key, entity number, version, then the binding's insertions of the entity.
  func insert(_ entity: Int) throws(StoreError) -> Connection.Statement {
    try statement(.insert(entity)) {
      let columns = binding.insertions[entity].map { name(entity, $0.slot) }
      let names = (["Z_PK", "Z_ENT", "Z_OPT"] + columns).joined(separator: ", ")
      let marks = Array(repeating: "?", count: columns.count + 3).joined(separator: ", ")
      return "INSERT OR ABORT INTO \(layout.table(entity).name) (\(names)) VALUES (\(marks))"
    }
  }

  /// Parameters: new version, the changed slots in order, key, version read.
  func update(_ entity: Int, _ changed: SlotSet) throws(StoreError) -> Connection.Statement {
    try statement(.update(entity, changed)) {
      let columns = changed.slots.enumerated().map { site, slot in
        // An object that leaves its owner loses its position among the owner's objects.
        let order = binding.orderedOwners[entity].first { $0.slot == slot }.map {
          ", \($0.order) = CASE WHEN \($0.owner) = ?\(site + 2) THEN \($0.order) END"
        }
        return ", \(name(entity, slot)) = ?\(site + 2)" + (order ?? "")
      }.joined()
      return
        "UPDATE OR ABORT \(layout.table(entity).name) SET Z_OPT = ?1\(columns) WHERE Z_PK = ? AND ifnull(Z_OPT, 0) = ?"
    }
  }

  /// Parameters: key, version read.
  func delete(_ entity: Int) throws(StoreError) -> Connection.Statement {
    try statement(.delete(entity)) {
      "DELETE FROM \(layout.table(entity).name) WHERE Z_PK = ? AND ifnull(Z_OPT, 0) = ?"
    }
  }

  /// Parameter: the deleted key. `pair` is an index into the binding's pairs of the entity.
  func removePairs(_ entity: Int, pair: Int) throws(StoreError) -> Connection.Statement {
    try statement(.removePairs(entity, pair)) {
      let pair = binding.pairs[entity][pair]
      return "DELETE FROM \(pair.join.name) WHERE \(pair.column) = ?"
    }
  }

  /// Parameter: the deleted key. `oneWay` is an index into the binding's one-way relationships of the entity.
  func leaveDestinations(_ entity: Int, oneWay: Int) throws(StoreError) -> Connection.Statement {
    try statement(.leaveDestinations(entity, oneWay)) {
      let link = binding.oneWays[entity][oneWay]
      let columns = layout.tables[link.table].columns
      let names = [columns[link.owner].name] + (link.order.map { [columns[$0].name] } ?? [])
      let values = names.map { "\($0) = NULL" }.joined(separator: ", ")
      return "UPDATE OR ABORT \(layout.tables[link.table].name) SET \(values) WHERE \(names[0]) = ?"
    }
  }

  /// Parameters: key, version read. One row where the object still has that version.
  func version(_ entity: Int) throws(StoreError) -> Connection.Statement {
    try statement(.version(entity)) {
      "SELECT 1 FROM \(layout.table(entity).name) WHERE Z_PK = ? AND ifnull(Z_OPT, 0) = ?"
    }
  }

  /// Parameters: the lowest and the highest key, version. One row: the number of objects of these keys with that
  /// version.
  func versions(_ entity: Int) throws(StoreError) -> Connection.Statement {
    try statement(.versions(entity)) {
      "SELECT count(*) FROM \(layout.table(entity).name) WHERE Z_PK BETWEEN ? AND ? AND ifnull(Z_OPT, 0) = ?"
    }
  }

  /// Parameter: key. One row where the object is there.
  func exists(_ entity: Int) throws(StoreError) -> Connection.Statement {
    let root = layout.schema.entities[entity].root
    return try statement(.exists(root)) { "SELECT 1 FROM \(layout.table(root).name) WHERE Z_PK = ?" }
  }

  /// Parameter: key.
  func select(_ entity: Int) throws(StoreError) -> Connection.Statement {
    try statement(.select(entity)) {
      let selection = binding.selections[entity]
      let filter = selection.filter.isEmpty ? "" : " AND \(selection.filter)"
      return "SELECT \(selection.columns) FROM \(selection.table) t0 WHERE t0.Z_PK = ?\(filter)"
    }
  }

  /// Parameters: the lowest and the highest key.
  func selectKeyRange(_ entity: Int) throws(StoreError) -> Connection.Statement {
    try statement(.selectKeyRange(entity)) {
      let selection = binding.selections[entity]
      let filter = selection.filter.isEmpty ? "" : " AND \(selection.filter)"
      return "SELECT \(selection.columns) FROM \(selection.table) t0 WHERE t0.Z_PK BETWEEN ? AND ?\(filter)"
    }
  }

  /// Parameter: the owner's key. Rows of the destinations in their order.
  func destinations(_ relationship: Relationship) throws(StoreError) -> Connection.Statement {
    try statement(.destinations(relationship.declaringEntity, relationship.index)) {
      DestinationsText(binding, relationship).single
    }
  }

  private func name(_ entity: Int, _ slot: Int) -> String {
    layout.column(layout.schema.entities[entity], slot).name
  }
}

// MARK: - Lists

extension SQLStatements {
  /// Fills a temporary table with one column `v`, which belongs to the connection alone and is no part of any file.
  func fillList(_ table: String, _ list: some Sequence<Value>) throws(StoreError) {
    try connection.execute("CREATE TABLE IF NOT EXISTS \(table) (v PRIMARY KEY) WITHOUT ROWID")
    try emptyList(table)
    let insert = try statement(text: "INSERT OR IGNORE INTO \(table) (v) VALUES (?)")
    for value in list {
      insert.bind(value, at: 1)
      try insert.run()
    }
  }

  func emptyList(_ table: String) throws(StoreError) { try connection.execute("DELETE FROM \(table)") }

  /// Whether rows are found by a column without reading the whole table. Looked up once.
  func isIndexed(_ table: String, _ column: String) throws(StoreError) -> Bool {
    let site = "\(table).\(column)"
    if let known = indexed[site] { return known }
    let statement = try statement(
      text: """
        SELECT 1 FROM pragma_index_list(?) l JOIN pragma_index_info(l.name) c
        WHERE l.partial = 0 AND c.seqno = 0 AND c.name = ? COLLATE NOCASE
        """)
    statement.bind(.string(table), at: 1)
    statement.bind(.string(column), at: 2)
    defer { statement.reset() }
    let found = try statement.step()
    indexed[site] = found
    return found
  }
}

// MARK: - Links

extension SQLStatements {
  /// Parameters: first key, second key.
  func addPair(_ join: Int) throws(StoreError) -> Connection.Statement {
    try statement(.addPair(join)) {
      let join = layout.joins[join]
      return "INSERT OR IGNORE INTO \(join.name) (\(join.first), \(join.second)) VALUES (?, ?)"
    }
  }

  /// Parameters: first key, second key.
  func removePair(_ join: Int) throws(StoreError) -> Connection.Statement {
    try statement(.removePair(join)) {
      let join = layout.joins[join]
      return "DELETE FROM \(join.name) WHERE \(join.first) = ? AND \(join.second) = ?"
    }
  }

  /// Parameters: order key, first key, second key. Nil where that direction is not ordered.
  func pairOrder(_ join: Int, ownerIsFirst: Bool) throws(StoreError) -> Connection.Statement? {
    let table = layout.joins[join]
    guard let column = ownerIsFirst ? table.secondOrder : table.firstOrder else { return nil }
    return try statement(.pairOrder(join, ownerIsFirst)) {
      "UPDATE OR ABORT \(table.name) SET \(column) = ? WHERE \(table.first) = ? AND \(table.second) = ?"
    }
  }

  /// Parameters: owner's key, destination's key.
  func link(_ key: SQLLayout.RelationshipKey, _ columns: SQLLayout.LinkColumns) throws(StoreError)
    -> Connection.Statement
  {
    try statement(.link(key.entity, key.relationship)) {
      let table = layout.tables[columns.table]
      let owner = table.columns[columns.owner].name
      let order = columns.order.map { table.columns[$0].name }.map {
        ", \($0) = CASE WHEN \(owner) = ?1 THEN \($0) END"
      }
      return "UPDATE OR ABORT \(table.name) SET \(owner) = ?1\(order ?? "") WHERE Z_PK = ?2"
    }
  }

  /// Parameters: destination's key, owner's key. A destination that has another owner by now stays as it is.
  func unlink(
    _ key: SQLLayout.RelationshipKey, _ columns: SQLLayout.LinkColumns
  ) throws(StoreError) -> Connection.Statement? {
    try statement(.unlink(key.entity, key.relationship)) {
      let table = layout.tables[columns.table]
      let owner = table.columns[columns.owner].name
      let order = columns.order.map { ", \(table.columns[$0].name) = NULL" } ?? ""
      return "UPDATE OR ABORT \(table.name) SET \(owner) = NULL\(order) WHERE Z_PK = ? AND \(owner) IS ?"
    }
  }

  /// Parameters: order key, destination's key, owner's key. Nil where the relationship is not ordered.
  func order(
    _ key: SQLLayout.RelationshipKey, _ columns: SQLLayout.LinkColumns
  ) throws(StoreError) -> Connection.Statement? {
    guard let order = columns.order else { return nil }
    return try statement(.order(key.entity, key.relationship)) {
      let table = layout.tables[columns.table]
      return
        "UPDATE OR ABORT \(table.name) SET \(table.columns[order].name) = ? WHERE Z_PK = ? AND \(table.columns[columns.owner].name) = ?"
    }
  }

  /// Parameter: the key of an object. Puts it last among the objects of its owner, if it has an owner and no order key.
  func appendToOwner(_ entity: Int, _ slot: Int, _ site: SQLBinding.OrderedOwner) throws(StoreError)
    -> Connection.Statement
  {
    try statement(.append(entity, slot)) {
      let table = layout.table(entity).name
      let (first, step) = (OrderKeys.first - OrderKeys.step, OrderKeys.step)
      return """
        UPDATE OR ABORT \(table) SET \(site.order) = (SELECT min(ifnull(max(m.\(site.order)), \(first)), \(OrderKeys.limit)) + \(step) \
        FROM \(table) m WHERE m.\(site.owner) = \(table).\(site.owner)) \
        WHERE Z_PK = ? AND \(site.owner) IS NOT NULL AND \(site.order) IS NULL
        """
    }
  }
}

/// The text that selects the destinations of a to-many relationship.
struct DestinationsText {
  private let binding: SQLBinding
  private let relationship: Relationship

  init(_ binding: SQLBinding, _ relationship: Relationship) {
    self.binding = binding
    self.relationship = relationship
  }

  /// For one owner, its key as the parameter.
  var single: String { text { "\($0) = ?" } }

  /// For `count` owners, with their keys as parameters.
  func several(_ count: Int) -> String {
    let marks = repeatElement("?", count: count).joined(separator: ", ")
    return text { "\($0) IN (\(marks))" }
  }

  /// Result columns: those of the destination's selection, then the owner's key.
  private func text(_ condition: (String) -> String) -> String {
    let layout = binding.layout
    let selection = binding.selections[relationship.destination]
    let key = SQLLayout.RelationshipKey(relationship)
    let filter = selection.filter.isEmpty ? "" : " AND \(selection.filter)"
    func select(_ owner: String, from: String, order: String?) -> String {
      let sort = ["owner", order, "t0.Z_PK"].compactMap { $0 }.joined(separator: ", ")
      return
        "SELECT \(selection.columns), \(owner) AS owner FROM \(from) WHERE \(condition(owner))\(filter) ORDER BY \(sort)"
    }
    if let side = layout.joinOfRelationship[key] {
      let join = layout.joins[side.join]
      let (owner, other) = side.ownerIsFirst ? (join.first, join.second) : (join.second, join.first)
      let order = (side.ownerIsFirst ? join.secondOrder : join.firstOrder).map { "j." + $0 }
      // A reflexive pair is stored once and counts in both directions.
      let source =
        join.isReflexive
        ? "(SELECT \(owner), \(other) FROM \(join.name) UNION SELECT \(other), \(owner) FROM \(join.name))" : join.name
      return select(
        "j.\(owner)", from: "\(source) j JOIN \(selection.table) t0 ON t0.Z_PK = j.\(other)", order: order)
    }
    let table = layout.table(relationship.destination)
    if let link = layout.linkColumns[key] {
      let order = link.order.map { "t0." + table.columns[$0].name }
      return select("t0." + table.columns[link.owner].name, from: "\(selection.table) t0", order: order)
    }
    // A plain to-many: the inverse's own column.
    let inverse = layout.schema.inverse(of: relationship)?.slot
    let column = inverse.map { layout.column(layout.schema.entities[relationship.destination], $0).name } ?? "NULL"
    return select("t0." + column, from: "\(selection.table) t0", order: nil)
  }
}
