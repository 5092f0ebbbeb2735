import StoreSchema

/// The tables and columns that a schema has in Core Data's SQL format, by the rules of `Documentation/SQLiteFormat.md`.
///
/// In a fresh store the entity numbers count the stored entities from 1. In an existing store they are those of its
/// `Z_PRIMARYKEY`, because numbers are part of column and table names. Parts of the model that the schema does not
/// store have no tables or columns.
public struct SQLLayout: Sendable {
  /// The schema that is laid out.
  public let schema: Schema
  /// `Z_ENT` of each entity, zero for an entity that is not stored.
  public let entityNumbers: [Int64]
  /// One table for each stored root entity, in entity order.
  public internal(set) var tables: [Table] = []
  /// The join tables, one for each many-to-many relationship and its inverse.
  public internal(set) var joins: [JoinTable] = []
  /// The table index of each entity, nil for an entity that is not stored.
  public internal(set) var tableOfEntity: [Int?] = []
  /// For each entity, the column index (into its table's columns) of each slot; nil for a slot that is not stored.
  public internal(set) var columnOfSlot: [[Int?]] = []
  /// Order keys of ordered relationships whose inverse is to-one, and links of one-way relationships.
  public internal(set) var linkColumns: [RelationshipKey: LinkColumns] = [:]
  /// The join table of each many-to-many relationship.
  public internal(set) var joinOfRelationship: [RelationshipKey: JoinSide] = [:]

  /// A relationship by the entity that declares it.
  public struct RelationshipKey: Hashable, Sendable {
    /// The index of the entity that declares it.
    public let entity: Int
    /// The index of the relationship in the relationships of the entity.
    public let relationship: Int

    /// The key of the relationship with the index.
    public init(entity: Int, relationship: Int) {
      self.entity = entity
      self.relationship = relationship
    }

    /// The key of a relationship.
    public init(_ relationship: Relationship) {
      self.init(entity: relationship.declaringEntity, relationship: relationship.index)
    }
  }

  /// The table of a root entity and all its descendants.
  public struct Table: Sendable {
    /// The name of the table, made of the name of the root entity.
    public internal(set) var name: String
    /// The index of the root entity.
    public let root: Int
    /// The columns behind `Z_PK`, `Z_ENT` and `Z_OPT`.
    public var columns: [Column] = []
  }

  /// A column of a table.
  public struct Column: Hashable, Sendable {
    /// The name of the column, unique in its table.
    public internal(set) var name: String
    /// The type in the statement that makes the table.
    public let declaredType: String
    /// The entity that owns the values; rows outside its subtree have none here.
    public let entity: Int
    /// The kind of the content of the column.
    public let role: Role

    /// The kind of the content of a column.
    public enum Role: Hashable, Sendable {
      /// The value of an attribute of that kind.
      case attribute(SlotKind)
      /// The key of a to-one destination.
      case toOne
      /// The number of the destination's entity.
      case toOneEntity
      /// Order of this row among the destinations of an ordered to-many relationship.
      case order
      /// Owner of this row in a one-way to-many relationship.
      case oneWay
    }
  }

  /// Columns in the destination's table that belong to a to-many relationship.
  public struct LinkColumns: Hashable, Sendable {
    /// The index of the table in ``SQLLayout/tables``.
    public let table: Int
    /// The column with the owner's key.
    public let owner: Int
    /// The column with the order key, nil where the relationship is not ordered.
    public let order: Int?
  }

  /// The table of the pairs of a many-to-many relationship.
  public struct JoinTable: Hashable, Sendable {
    /// The name of the table.
    public var name: String
    /// The key column of the side that names the table.
    public var first: String
    /// The key column of the other side.
    public var second: String
    /// The column with the order of the first side's objects among those of one second-side object.
    public var firstOrder: String?
    /// The same for the second side's objects; nil where that side is not ordered.
    public var secondOrder: String?
    /// The table after whose root table this one is created.
    public let table: Int
    /// The relationship that names the table, and its inverse.
    public let naming: RelationshipKey
    /// The inverse of the relationship that names the table.
    public let other: RelationshipKey
    /// One relationship that is its own inverse: a pair is stored once and read both ways.
    public var isReflexive: Bool { naming == other }
  }

  /// A relationship's view of its join table.
  public struct JoinSide: Hashable, Sendable {
    /// The index of the table in ``SQLLayout/joins``.
    public let join: Int
    /// Whether the relationship's owner is in the first column.
    public let ownerIsFirst: Bool
  }

  /// The layout of a schema. `entityNumbers` has the number of each entity in an existing store; nil stands for a fresh
  /// one.
  public init(schema: Schema, entityNumbers: [Int64]? = nil) {
    self.schema = schema
    self.entityNumbers = entityNumbers ?? Self.freshNumbers(schema)
    buildTables()
    buildJoins()
  }

  private static func freshNumbers(_ schema: Schema) -> [Int64] {
    var last: Int64 = 0
    return schema.entities.map { entity in
      guard schema.stores(entity.index) else { return 0 }
      last += 1
      return last
    }
  }

  /// The column of a stored slot. Any other slot has a column without a name, which no statement compiles with.
  public func column(_ entity: Entity, _ slot: Int) -> Column {
    guard let column = columnOfSlot[entity.index][slot] else {
      return Column(name: "", declaredType: "", entity: entity.index, role: .toOne)
    }
    return table(entity.index).columns[column]
  }

  /// The table of a stored entity. Any other entity has a table without a name, which no statement compiles with.
  public func table(_ entity: Int) -> Table {
    tableOfEntity[entity].map { tables[$0] } ?? Table(name: "", root: schema.entities[entity].root)
  }

  /// An entity's own uniqueness constraints, without those over relationships that are not stored.
  public func constraints(of entity: Entity) -> [(names: [String], slots: [Int])] {
    let all = zip(entity.definition.uniquenessConstraints, entity.uniquenessConstraints).map { (names: $0, slots: $1) }
    return all.filter { $0.slots.allSatisfy { columnOfSlot[entity.index][$0] != nil } }
  }

  /// The stored relationships that an entity declares.
  func ownRelationships(_ entity: Entity) -> [Relationship] {
    entity.relationships.filter { $0.declaringEntity == entity.index && schema.stores($0) }
  }
}
