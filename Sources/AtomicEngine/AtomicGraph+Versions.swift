import StoreProtocol
import StoreSchema
import StoreSupport

extension AtomicGraph {
  /// This graph, read again, with versions: file formats store none, so they continue those of `former`.
  ///
  /// An object keeps its former row if its values, and its links that no row stores, are the same. Otherwise it gets
  /// the next version.
  func versioned(after former: AtomicGraph) -> AtomicGraph {
    var result = self
    for hierarchy in hierarchies.indices {
      for (position, row) in hierarchies[hierarchy].rows.enumerated() {
        guard let old = former.hierarchies[hierarchy].row(row.key), old.entity == row.entity else { continue }
        result.hierarchies[hierarchy].replace(
          at: position, with: isSame(row, old, former) ? old : row.copy(version: old.version + 1))
      }
    }
    result.highestKey = max(highestKey, former.highestKey)
    return result
  }

  private func isSame(_ row: Row, _ old: Row, _ former: AtomicGraph) -> Bool {
    let kinds = schema.entities[row.entity].slots
    return kinds.indices.allSatisfy { row.hasEqualSlot($0, kinds[$0], old) }
      && shape.ownTables[row.entity].allSatisfy { links[$0][row.key] == former.links[$0][row.key] }
  }
}
