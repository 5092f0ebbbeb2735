import StoreProtocol
import StoreSchema
import StoreSupport

/// Defects of a database that are not defects of one object: rows that belong to nothing, keys, and relationships whose
/// sides contradict each other.
public struct SQLFindings<Connection: SQLConnection> {
  private let statements: SQLStatements<Connection>

  private var layout: SQLLayout { statements.binding.layout }
  private var schema: Schema { layout.schema }

  /// Checks the database on the connection of `statements`.
  public init(_ statements: SQLStatements<Connection>) { self.statements = statements }

  /// Calls `body` with each finding.
  public func findings(_ body: (StoreFinding) -> Void) throws(StoreError) {
    try entityNumbers(body)
    for table in layout.tables {
      try strays(table, body)
      try keys(table, body)
      try orderKeys(table, body)
    }
    for join in layout.joins { try pairs(join, body) }
    for entity in schema.storedEntities {
      for relationship in layout.ownRelationships(entity) {
        try entityColumn(relationship, body)
        try inverse(relationship, body)
      }
    }
  }

  /// Calls `body` with each row of a query.
  private func each(_ sql: String, _ body: (Connection.Statement) throws(StoreError) -> Void) throws(StoreError) {
    let statement = try statements.connection.prepare(sql)
    while try statement.step() { try body(statement) }
  }

  // MARK: Tables

  private func entityNumbers(_ body: (StoreFinding) -> Void) throws(StoreError) {
    for entity in schema.storedEntities {
      let expected = entity.superentity.map { layout.entityNumbers[$0] } ?? 0
      let number = layout.entityNumbers[entity.index]
      try each("SELECT Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT = \(number)") { row in
        if row.stored(0) != .integer(expected) {
          body(
            StoreFinding(
              .key, "Z_PRIMARYKEY lists \(row.stored(0).description) as the parent's number, not \(expected)",
              entity: entity.name))
        }
      }
    }
  }

  private func strays(_ table: SQLLayout.Table, _ body: (StoreFinding) -> Void) throws(StoreError) {
    let root = schema.entities[table.root]
    let numbers = root.subtree.filter { schema.stores($0) && !schema.entities[$0].isAbstract }.map {
      layout.entityNumbers[$0]
    }
    let list = numbers.map(String.init).joined(separator: ", ")
    try each("SELECT Z_ENT, count(*) FROM \(table.name) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(list)) GROUP BY Z_ENT") {
      body(
        StoreFinding(
          .stray,
          "\($0.int(1)) rows of \(table.name) have the Z_ENT \($0.stored(0).description), which is no entity of it",
          entity: root.name))
    }
  }

  private func keys(_ table: SQLLayout.Table, _ body: (StoreFinding) -> Void) throws(StoreError) {
    let root = schema.entities[table.root]
    try each("SELECT Z_PK FROM \(table.name) WHERE Z_PK <= 0") { row in
      body(StoreFinding(.key, "a key must be positive", entity: root.name, key: row.int(0)))
    }
    let number = layout.entityNumbers[table.root]
    try each(
      "SELECT Z_MAX, (SELECT max(Z_PK) FROM \(table.name)) FROM Z_PRIMARYKEY WHERE Z_ENT = \(number)"
    ) { row in
      guard case .integer(let listed) = row.stored(0) else {
        return body(
          StoreFinding(.key, "the highest key listed, Z_MAX, is \(row.stored(0).description)", entity: root.name))
      }
      if listed < row.int(1) {
        body(
          StoreFinding(
            .key, "the highest key listed, Z_MAX, is \(listed), the highest in use \(row.int(1))", entity: root.name))
      }
    }
  }

  /// An order key means something only beside the key of an owner.
  private func orderKeys(_ table: SQLLayout.Table, _ body: (StoreFinding) -> Void) throws(StoreError) {
    for (key, link) in layout.linkColumns where layout.tables[link.table].name == table.name {
      guard let order = link.order.map({ table.columns[$0].name }) else { continue }
      let owner = table.columns[link.owner].name
      let relationship = schema.entities[key.entity].relationships[key.relationship]
      try each("SELECT Z_PK FROM \(table.name) WHERE \(order) IS NOT NULL AND \(owner) IS NULL") { row in
        body(
          StoreFinding(
            .order, "the object has an order key among the \(relationship.name) of nothing",
            entity: schema.entities[table.root].name, key: row.int(0), property: order))
      }
    }
  }

  // MARK: Relationships

  private func pairs(_ join: SQLLayout.JoinTable, _ body: (StoreFinding) -> Void) throws(StoreError) {
    let naming = schema.entities[join.naming.entity].relationships[join.naming.relationship]
    let (here, there) = (layout.table(join.naming.entity).name, layout.table(naming.destination).name)
    let (a, b) = (join.first, join.second)
    try each(
      """
      SELECT \(a), \(b) FROM \(join.name) WHERE NOT EXISTS (SELECT 1 FROM \(here) WHERE Z_PK = \(a))
      OR NOT EXISTS (SELECT 1 FROM \(there) WHERE Z_PK = \(b))
      """
    ) { row in
      body(
        StoreFinding(
          .stray,
          "\(join.name) has the pair \(row.stored(0).description), \(row.stored(1).description), of which one is no object",
          entity: schema.entities[join.naming.entity].name, property: naming.name))
    }
  }

  /// The column beside a key with the number of the entity that the key leads to.
  private func entityColumn(_ relationship: Relationship, _ body: (StoreFinding) -> Void) throws(StoreError) {
    guard let slot = relationship.slot, let entitySlot = relationship.entitySlot else { return }
    let entity = schema.entities[relationship.declaringEntity]
    let (key, number) = (layout.column(entity, slot).name, layout.column(entity, entitySlot).name)
    try each(
      """
      SELECT t0.Z_PK, t0.\(number), t1.Z_ENT FROM \(layout.table(entity.index).name) t0
      JOIN \(layout.table(relationship.destination).name) t1 ON t1.Z_PK = t0.\(key)
      WHERE t0.\(number) IS NOT t1.Z_ENT AND \(SQLBinding.filter(entity.subtree, of: layout))
      """
    ) { row in
      body(
        StoreFinding(
          .reference, "\(number) is \(row.stored(1).description), the object's Z_ENT \(row.int(2))",
          entity: entity.name, key: row.int(0), property: relationship.name))
    }
  }

  /// Both sides of a one-to-one relationship have a column.
  private func inverse(_ relationship: Relationship, _ body: (StoreFinding) -> Void) throws(StoreError) {
    guard let slot = relationship.slot, let inverse = schema.inverse(of: relationship), let back = inverse.slot else {
      return
    }
    let (entity, other) = (schema.entities[relationship.declaringEntity], schema.entities[relationship.destination])
    let (there, here) = (layout.column(entity, slot).name, layout.column(other, back).name)
    try each(
      """
      SELECT t0.Z_PK, t1.Z_PK, t1.\(here) FROM \(layout.table(entity.index).name) t0
      JOIN \(layout.table(other.index).name) t1 ON t1.Z_PK = t0.\(there)
      WHERE t1.\(here) IS NOT t0.Z_PK AND \(SQLBinding.filter(entity.subtree, of: layout))
      """
    ) { row in
      body(
        StoreFinding(
          .inverse, "it leads to \(other.name) \(row.int(1)), whose \(inverse.name) is \(row.stored(2).description)",
          entity: entity.name, key: row.int(0), property: relationship.name))
    }
  }
}
