import StoreProtocol
import StoreSchema

/// A schema bound to the tables and columns that a store really has.
///
/// Everything that a statement needs is computed once, here. Statements name their columns, and do not count them.
public final class SQLBinding: Sendable {
  /// The tables and columns of the schema.
  public let layout: SQLLayout
  /// The numbers that the store has for entities.
  public let numbers: EntityNumbers
  /// For each entity, how rows of its subtree are selected.
  public let selections: [Selection]
  /// For each entity, the columns of its subtree's rows.
  public let shapes: [RowShape]
  /// For each entity, how each slot is bound to a parameter.
  public let parameters: [[BoundColumn]]
  /// The same for slots that have a column, in slot order: the values of an insertion.
  let insertions: [[BoundColumn]]
  /// For each entity, its join tables with the side its objects are on, for removing the pairs of a deleted object.
  public let pairs: [[(join: SQLLayout.JoinTable, column: String)]]
  /// For each entity, the R-trees that its objects are in.
  let rTrees: [[SQLRTree]]
  let hasRTrees: Bool
  /// For each entity, the columns of its one-way relationships in the tables of their destinations.
  let oneWays: [[SQLLayout.LinkColumns]]
  /// For each entity, its to-one relationships whose inverses are ordered.
  let orderedOwners: [[OrderedOwner]]

  /// A to-one relationship whose inverse is ordered: its objects have a position among those of their owner.
  struct OrderedOwner: Sendable {
    let slot: Int
    /// The inverse, which is ordered.
    let inverse: SQLLayout.RelationshipKey
    /// The columns with the owner's key and the order key.
    let owner: String
    let order: String
  }

  /// How rows of one entity's subtree are selected.
  public struct Selection: Sendable {
    /// `t0.Z_ENT, t0.Z_PK, t0.Z_OPT, t0.ZNAME, …`
    public let columns: String
    /// The name of the table, which the columns call `t0`.
    public let table: String
    /// Restricts `t0` to the subtree, empty for a root.
    public let filter: String
  }

  /// `rTrees` has the R-trees of the store.
  public init(_ layout: SQLLayout, rTrees: [SQLRTree] = []) {
    self.layout = layout
    self.rTrees = layout.schema.entities.map { entity in
      rTrees.filter { layout.schema.entities[$0.entity].subtree.contains(entity.index) }
    }
    hasRTrees = !rTrees.isEmpty
    let schema = layout.schema
    let numbers = EntityNumbers(layout.entityNumbers, isKnown: schema.entities.map { schema.stores($0.index) })
    self.numbers = numbers
    let selections = schema.entities.map { Self.selection($0, layout, numbers) }
    self.selections = selections.map(\.selection)
    shapes = selections.map(\.shape)
    let parameters = schema.entities.map { entity in
      entity.slots.enumerated().map { BoundColumn(slot: $0, kind: $1, column: 0) }
    }
    self.parameters = parameters
    insertions = zip(parameters, layout.columnOfSlot).map { all, columns in all.filter { columns[$0.slot] != nil } }
    oneWays = schema.entities.map { entity in
      entity.relationships.filter { $0.storage == .destination }.compactMap {
        layout.linkColumns[SQLLayout.RelationshipKey($0)]
      }
    }
    orderedOwners = schema.entities.map { entity in
      entity.relationships.compactMap { relationship in
        guard let slot = relationship.slot, entity.slots[slot] == .reference,
          let inverse = schema.inverse(of: relationship), inverse.isOrdered,
          let link = layout.linkColumns[SQLLayout.RelationshipKey(inverse)], let order = link.order
        else { return nil }
        let columns = layout.tables[link.table].columns
        let owner = layout.column(entity, slot).name
        return OrderedOwner(
          slot: slot, inverse: SQLLayout.RelationshipKey(inverse), owner: owner, order: columns[order].name)
      }
    }
    pairs = schema.entities.map { entity in
      entity.relationships.flatMap { relationship -> [(join: SQLLayout.JoinTable, column: String)] in
        guard let side = layout.joinOfRelationship[SQLLayout.RelationshipKey(relationship)] else { return [] }
        let join = layout.joins[side.join]
        if join.isReflexive { return [(join, join.first), (join, join.second)] }
        return [(join, side.ownerIsFirst ? join.first : join.second)]
      }
    }
  }

  private static func selection(
    _ entity: Entity, _ layout: SQLLayout, _ numbers: EntityNumbers
  ) -> (selection: Selection, shape: RowShape) {
    let schema = layout.schema
    let table = layout.table(entity.index)
    var positions: [Int?: Int32] = [:]
    var columns: [String] = ["t0.Z_ENT", "t0.Z_PK", "t0.Z_OPT"]
    var shapes: [BoundColumn] = []
    var starts: ContiguousArray<Int> = [0]
    for index in entity.subtree {
      for (slot, kind) in schema.entities[index].slots.enumerated() where schema.stores(index) {
        let column = layout.columnOfSlot[index][slot]
        if positions[column] == nil {
          positions[column] = Int32(columns.count)
          // A slot without a column is null in every row.
          columns.append(column.map { "t0." + table.columns[$0].name } ?? "NULL")
        }
        shapes.append(BoundColumn(slot: slot, kind: kind, column: positions[column] ?? 0))
      }
      starts.append(shapes.count)
    }
    let shape = RowShape(firstEntity: entity.index, columns: shapes, starts: starts, numbers: numbers)
    // Reading a row drops foreign rows. Only within a larger hierarchy must the statement tell entities apart.
    let isWholeHierarchy = entity.superentity == nil
    let selection = Selection(
      columns: columns.joined(separator: ", "), table: table.name,
      filter: isWholeHierarchy ? "" : filter(entity.subtree, of: layout))
    return (selection, shape)
  }

  /// A condition on `t0.Z_ENT` for `entities`. Needed for whole hierarchies too: a table may hold rows of foreign
  /// entities, which must not be counted.
  static func filter(_ entities: Range<Int>, of layout: SQLLayout) -> String {
    let numbers = entities.filter { layout.schema.stores($0) }.map { String(layout.entityNumbers[$0]) }
    return numbers.count == 1
      ? "t0.Z_ENT = \(numbers[0])" : "t0.Z_ENT IN (\(numbers.joined(separator: ", ")))"
  }
}

/// The tables of an existing store, as its catalogue lists them.
public struct SQLCatalogue: Sendable {
  /// Column names by table name, both as written.
  public var columns: [String: Set<String>]
  /// Rows of `Z_PRIMARYKEY`: number by entity name.
  public var entityNumbers: [String: Int64]
  /// The names of R-trees.
  public var rTrees: Set<String>

  /// The columns of each table, the numbers of entities, and the R-trees of a store.
  public init(columns: [String: Set<String>], entityNumbers: [String: Int64], rTrees: Set<String> = []) {
    self.columns = columns
    self.entityNumbers = entityNumbers
    self.rTrees = rTrees
  }
}

extension SQLBinding {
  /// Binds a schema to an existing store.
  ///
  /// Throws `corrupt` when the store lacks an entity, table or column although its version hashes fit the schema. With
  /// `lost`, which is for damaged stores, this is reported to it instead. A missing table or column then has its name
  /// in a new store, and a missing entity a number that no row has.
  public static func bind(
    _ schema: Schema, to catalogue: SQLCatalogue, lost: ((StoreError) -> Void)? = nil
  ) throws(StoreError) -> SQLBinding {
    func allow(_ body: () throws(StoreError) -> Void) throws(StoreError) {
      do { try body() } catch {
        guard let lost else { throw error }
        lost(error)
      }
    }
    var numbers: [Int64?] = []
    for entity in schema.entities {
      numbers.append(schema.stores(entity.index) ? nil : 0)
      if !schema.stores(entity.index) { continue }
      try allow { () throws(StoreError) in
        numbers[entity.index] = try number(of: entity, catalogue, numbers, isStored: schema.stores)
      }
    }
    // Unused numbers.
    var free = max(0, catalogue.entityNumbers.values.max() ?? 0)
    let all = numbers.map { number in
      if number == nil { free &+= 1 }
      return number ?? free
    }
    var layout = SQLLayout(schema: schema, entityNumbers: all)
    for index in layout.joins.indices {
      try allow { () throws(StoreError) in try layout.bindJoin(index, to: catalogue) }
    }
    for index in layout.tables.indices {
      try allow { () throws(StoreError) in try layout.bindTable(index, to: catalogue) }
    }
    return SQLBinding(layout, rTrees: SQLSchemaText(layout).rTrees.filter { catalogue.rTrees.contains($0.name) })
  }

  private static func number(
    of entity: Entity, _ catalogue: SQLCatalogue, _ others: [Int64?], isStored: (Int) -> Bool
  ) throws(StoreError) -> Int64 {
    // A store that was migrated in place may still list an entity under its former name.
    guard
      let number = catalogue.entityNumbers[entity.name]
        ?? catalogue.entityNumbers[entity.definition.renamingIdentifier]
    else {
      throw StoreError(
        .corrupt, "The store's table Z_PRIMARYKEY has no row for the entity \(entity.name).",
        context: ["entity": entity.name])
    }
    if others.indices.contains(where: { others[$0] == number && isStored($0) }) {
      throw StoreError(
        .corrupt,
        "The store's table Z_PRIMARYKEY has one number for two entities of the model, \(entity.name) and another.",
        context: ["entity": entity.name])
    }
    return number
  }

  static func missing(_ table: String, _ column: String?) -> StoreError {
    StoreError(
      .corrupt,
      "The store has no \(column.map { "column \($0) in the table " } ?? "table ")\(table), which its model needs.",
      context: ["table": table])
  }
}
