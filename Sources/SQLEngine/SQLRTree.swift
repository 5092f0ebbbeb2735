import StoreProtocol
import StoreSchema

/// An R-tree of a fetch index: a virtual table with the bounds of each object of an entity, beside the entity's table.
/// No trigger keeps it up to date, so each commit does.
public struct SQLRTree: Sendable {
  let name: String
  let entity: Int
  let slots: [Int]
}

extension SQLSchemaText {
  /// The R-trees of the model's fetch indexes.
  var rTrees: [SQLRTree] {
    layout.schema.storedEntities.flatMap { entity in
      entity.definition.fetchIndexes.compactMap { index -> SQLRTree? in
        guard !index.elements.isEmpty, index.elements.allSatisfy(\.isRTree) else { return nil }
        let slots = index.elements.compactMap { entity.attribute(named: $0.property)?.slot }
        guard slots.count == index.elements.count else { return nil }
        return SQLRTree(name: rTreeName(index, of: entity), entity: entity.index, slots: slots)
      }
    }
  }

  func rTreeName(_ index: FetchIndexDefinition, of entity: Entity) -> String { "Z_RT_\(entity.name)_\(index.name)" }
}

extension SQLStatements {
  /// Removes an object from an R-tree. Parameter: key.
  func leave(_ tree: SQLRTree) throws(StoreError) -> Connection.Statement {
    try statement(text: "DELETE FROM \(SQLSchemaText.quoted(tree.name)) WHERE Z_PK = ?")
  }

  /// Adds an object to an R-tree, unless one of its values is nil. Parameter: key.
  func enter(_ tree: SQLRTree) throws(StoreError) -> Connection.Statement {
    let entity = binding.layout.schema.entities[tree.entity]
    let columns = tree.slots.map { binding.layout.column(entity, $0).name }
    let bounds = columns.map { ", \($0), \($0)" }.joined()
    let conditions = columns.map { " AND \($0) IS NOT NULL" }.joined()
    return try statement(
      text: """
        INSERT INTO \(SQLSchemaText.quoted(tree.name)) SELECT Z_PK\(bounds) \
        FROM \(binding.layout.table(tree.entity).name) WHERE Z_PK = ?\(conditions)
        """)
  }
}

extension SQLCommit {
  /// Brings the R-trees in line with the rows that were written.
  func writeRTrees() throws(StoreError) {
    for deletion in changes.deletions {
      try move(deletion.reference.key, in: binding.rTrees[deletion.reference.entity])
    }
    for update in changes.updates {
      let trees = binding.rTrees[update.row.entity].filter { $0.slots.contains(where: update.changed.contains) }
      try move(update.row.key, in: trees)
    }
    for row in changes.insertions { try move(row.key, in: binding.rTrees[row.entity]) }
  }

  private func move(_ key: Int64, in trees: [SQLRTree]) throws(StoreError) {
    for tree in trees {
      for statement in [try statements.leave(tree), try statements.enter(tree)] {
        statement.bind(key, at: 1)
        try statement.run()
      }
    }
  }
}
