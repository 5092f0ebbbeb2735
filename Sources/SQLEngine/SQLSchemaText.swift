import StoreSchema

/// The statements that make a fresh store, in Core Data's words and order.
public struct SQLSchemaText: Sendable {
  let layout: SQLLayout
  private var schema: Schema { layout.schema }

  /// The statements for a layout.
  public init(_ layout: SQLLayout) { self.layout = layout }

  /// Tables with their join tables, then indexes, then triggers, then the system tables.
  public var statements: [String] {
    var result: [String] = []
    for index in layout.tables.indices {
      result.append(createTable(layout.tables[index]))
      result += layout.joins.filter { $0.table == index }.map(createJoin)
    }
    result += indexes.map(\.sql) + DerivedAttributeTriggers(layout).statements
    result += [
      "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
      "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
      "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
    ]
    return result
  }

  /// The rows of `Z_PRIMARYKEY`: number, name, parent's number or 0.
  public var primaryKeyRows: [(number: Int64, name: String, superentity: Int64)] {
    schema.storedEntities.map { entity in
      (layout.entityNumbers[entity.index], entity.name, entity.superentity.map { layout.entityNumbers[$0] } ?? 0)
    }
  }

  private func createTable(_ table: SQLLayout.Table) -> String {
    let columns = table.columns.map { ", \($0.name) \($0.declaredType)" }.joined()
    return "CREATE TABLE \(table.name) ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER\(columns) )"
  }

  private func createJoin(_ join: SQLLayout.JoinTable) -> String {
    let columns = [join.first, join.second, join.firstOrder, join.secondOrder].compactMap { $0 }
    let list = columns.map { "\($0) INTEGER" }.joined(separator: ", ")
    return "CREATE TABLE \(join.name) ( \(list), PRIMARY KEY (\(join.first), \(join.second)) )"
  }

  /// An index with its name.
  public struct Index: Sendable {
    /// The name of the index.
    public let name: String
    /// The statement that makes it.
    public let sql: String
    /// The table that it is on; nil for an R-tree, which is a table of its own.
    public let table: String?
    /// Each column with its direction, as `ZNAME ASC`; filled for fetch indexes.
    public let terms: [String]
    /// The condition of a partial index, empty for any other.
    public let filter: String

    init(_ name: String, on table: String, _ columns: String, unique: Bool = false) {
      self.name = name
      self.table = table
      (terms, filter) = ([], "")
      sql = "CREATE \(unique ? "UNIQUE " : "")INDEX \(name) ON \(table) (\(columns))"
    }

    init(fetchIndex name: String, on table: String, _ columns: [(name: String, isAscending: Bool)], filter: String) {
      self.name = name
      self.table = table
      self.filter = filter
      terms = columns.map { "\($0.name) \($0.isAscending ? "ASC" : "DESC")" }
      let list = columns.map { "\($0.name) COLLATE BINARY \($0.isAscending ? "ASC" : "DESC")" }
      sql =
        "CREATE INDEX \(SQLSchemaText.quoted(name)) ON \(table) (\(list.joined(separator: ", ")))"
        + (filter.isEmpty ? "" : " WHERE " + filter)
    }

    init(virtualTable name: String, _ columns: String) {
      self.name = name
      table = nil
      (terms, filter) = ([], "")
      sql = "CREATE VIRTUAL TABLE \(SQLSchemaText.quoted(name)) USING RTREE (Z_PK INTEGER PRIMARY KEY, \(columns))"
    }
  }

  /// The name of a fetch index may hold anything.
  static func quoted(_ name: String) -> String {
    SchemaName.isWord(name) ? name : SQLLiteral.name(name)
  }

  /// The indexes of a fresh store, in Core Data's order.
  public var indexes: [Index] {
    var result: [Index] = []
    for (position, table) in layout.tables.enumerated() {
      for column in table.columns where column.role == .toOne || column.role == .oneWay {
        result.append(Index("\(table.name)_\(column.name)_INDEX", on: table.name, column.name))
      }
      if schema.entities[table.root].subtree.contains(where: { $0 != table.root && schema.stores($0) }) {
        result.append(Index("\(table.name)_Z_ENT_INDEX", on: table.name, "Z_ENT"))
      }
      for join in layout.joins where join.table == position {
        result.append(Index("\(join.name)_\(join.second)_INDEX", on: join.name, "\(join.second), \(join.first)"))
      }
      for index in schema.entities[table.root].subtree where schema.stores(index) {
        let entity = schema.entities[index]
        result += entity.definition.fetchIndexes.compactMap { fetchIndex($0, of: entity) }
        result += layout.constraints(of: entity).map { unique($0.names, $0.slots, of: entity) }
      }
    }
    return result
  }

  /// The fetch indexes of all entities. They are no part of the version hash, so a store may have others.
  public var fetchIndexes: [Index] {
    schema.storedEntities.flatMap { entity in
      entity.definition.fetchIndexes.compactMap { fetchIndex($0, of: entity) }
    }
  }

  /// The names of all fetch indexes of the model, including those that are not made here.
  public var fetchIndexNames: Set<String> {
    Set(
      schema.storedEntities.flatMap { entity in entity.definition.fetchIndexes.map { "Z_\(entity.name)_\($0.name)" } })
  }

  /// A fetch index, with its entity, whose partial predicate SQL cannot express by the entity's own columns.
  public var impossibleIndex: (entity: String, index: String)? {
    for entity in schema.storedEntities {
      for index in entity.definition.fetchIndexes where condition(index, of: entity) == nil {
        return (entity.name, index.name)
      }
    }
    return nil
  }

  /// The condition of a partial index, empty for any other; nil where SQL cannot express it.
  private func condition(_ index: FetchIndexDefinition, of entity: Entity) -> String? {
    guard let predicate = index.partialPredicate else { return "" }
    return SQLPredicate.indexCondition(predicate, layout, entity: entity)
  }

  private func unique(_ names: [String], _ slots: [Int], of entity: Entity) -> Index {
    let columns = slots.map { layout.column(entity, $0).name + " COLLATE BINARY ASC" }.joined(separator: ", ")
    let name = "Z_\(entity.name)_UNIQUE_\(names.joined(separator: "_"))"
    return Index(name, on: layout.table(entity.index).name, columns, unique: true)
  }

  /// Nil where Core Data makes no index: over a to-many relationship, and over a single to-one, which has its own
  /// index.
  private func fetchIndex(_ definition: FetchIndexDefinition, of entity: Entity) -> Index? {
    var columns: [(name: String, element: FetchIndexDefinition.Element)] = []
    for element in definition.elements {
      switch element.property {
      case "self": columns.append(("Z_PK", element))
      case "entity": columns.append(("Z_ENT", element))
      default:
        guard let slot = slot(element.property, of: entity) else { return nil }
        columns.append((layout.column(entity, slot).name, element))
      }
    }
    if columns.isEmpty { return nil }
    if columns.allSatisfy(\.element.isRTree) {
      let bounds = columns.map { "\($0.name)_MIN FLOAT, \($0.name)_MAX FLOAT" }.joined(separator: ", ")
      return Index(virtualTable: rTreeName(definition, of: entity), bounds)
    }
    if columns.count == 1, let only = definition.elements.first, entity.relationship(named: only.property) != nil {
      return nil
    }
    guard let filter = condition(definition, of: entity) else { return nil }
    return Index(
      fetchIndex: "Z_\(entity.name)_\(definition.name)", on: layout.table(entity.index).name,
      columns.map { ($0.name, $0.element.isAscending) }, filter: filter)
  }

  private func slot(_ property: String, of entity: Entity) -> Int? {
    let slot = entity.attribute(named: property)?.slot ?? entity.relationship(named: property)?.slot
    return slot.flatMap { layout.columnOfSlot[entity.index][$0] == nil ? nil : $0 }
  }
}
