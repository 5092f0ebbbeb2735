import StoreSchema

/// What an engine often looks up in a schema: the hierarchy that an entity's rows are in, and the links of its
/// relationships.
public final class StoreShape: Sendable {
  /// The schema that was looked at.
  public let schema: Schema
  /// The number of each entity's hierarchy.
  public let hierarchies: [Int]
  /// How many entity hierarchies there are.
  public let hierarchyCount: Int
  /// The to-many relationships, each once, in the order of their link tables.
  public let toManys: [Relationship]
  private let numbers: [Relationship: Int]
  /// For each entity its to-one relationships with a to-many inverse: the slot, and the link table of the inverse.
  public let backLinks: [[(slot: Int, table: Int)]]
  /// For each entity the tables of its own links that no row holds: pairs and one-way links.
  public let ownTables: [[Int]]
  /// For each entity the tables of one-way links that can lead to it.
  public let oneWaysInto: [[Int]]
  /// For each table of pairs the table of the inverse.
  public let inverseTables: [Int?]
  /// The derived attributes whose sources are in other objects.
  public let derivations: [LinkedDerivation]

  /// Looks at the entities and relationships of a schema, once for an opened store.
  public init(_ schema: Schema) {
    self.schema = schema
    let roots = schema.entities.filter { $0.root == $0.index }
    let hierarchyOfRoot = Dictionary(uniqueKeysWithValues: roots.enumerated().map { ($1.index, $0) })
    hierarchies = schema.entities.map { hierarchyOfRoot[$0.root] ?? 0 }
    hierarchyCount = roots.count
    var toManys: [Relationship] = []
    var numbers: [Relationship: Int] = [:]
    for entity in schema.entities {
      for relationship in entity.relationships where relationship.isToMany && numbers[relationship] == nil {
        numbers[relationship] = toManys.count
        toManys.append(relationship)
      }
    }
    let tables = schema.entities.map { entity in
      entity.relationships.compactMap { relationship in numbers[relationship].map { (relationship, $0) } }
    }
    backLinks = schema.entities.map { entity in
      entity.relationships.compactMap { relationship in
        guard let slot = relationship.slot, let inverse = relationship.linkedInverse, let table = numbers[inverse]
        else { return nil }
        return (slot, table)
      }
    }
    ownTables = tables.map { $0.filter { $0.0.storage != .inverseToOne }.map(\.1) }
    oneWaysInto = schema.entities.map { entity in
      toManys.indices.filter {
        toManys[$0].storage == .destination && toManys[$0].destinations.contains(entity.index)
      }
    }
    inverseTables = toManys.map { relationship in
      if case .pairs = relationship.storage { return relationship.linkedInverse.flatMap { numbers[$0] } }
      return nil
    }
    derivations = LinkedDerivation.all(schema, numbers)
    (self.toManys, self.numbers) = (toManys, numbers)
  }

  /// The table of a to-many relationship's links.
  public func table(of relationship: Relationship) -> Int? { numbers[relationship] }
}
