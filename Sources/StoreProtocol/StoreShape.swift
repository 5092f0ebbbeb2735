import StoreSchema

/// What an engine often looks up in a schema: the hierarchy that an entity's rows are in, and the links of its
/// relationships.
package final class StoreShape: Sendable {
  package let schema: Schema
  /// The number of each entity's hierarchy.
  package let tree: [Int]
  package let treeCount: Int
  /// The to-many relationships, each once, in the order of their link tables.
  package let toManys: [Relationship]
  private let numbers: [Relationship: Int]
  /// For each entity its to-one relationships with a to-many inverse: the slot, and the link table of the inverse.
  package let backLinks: [[(slot: Int, table: Int)]]
  /// For each entity the tables of its own links that no row holds: pairs and one-way links.
  package let ownTables: [[Int]]
  /// For each entity the tables of one-way links that can lead to it.
  package let oneWaysInto: [[Int]]
  /// For each table of pairs the table of the inverse.
  package let inverseTables: [Int?]
  package let derivations: [LinkedDerivation]

  package init(_ schema: Schema) {
    self.schema = schema
    let roots = schema.entities.filter { $0.root == $0.index }
    let treeOfRoot = Dictionary(uniqueKeysWithValues: roots.enumerated().map { ($1.index, $0) })
    tree = schema.entities.map { treeOfRoot[$0.root] ?? 0 }
    treeCount = roots.count
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
  package func table(of relationship: Relationship) -> Int? { numbers[relationship] }
}
