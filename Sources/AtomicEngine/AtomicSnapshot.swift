import StoreProtocol
import StoreSchema
import StoreSupport

/// A view of one graph. Later commits do not change it.
final class AtomicSnapshot: StoreSnapshot {
  let commitNumber: UInt64
  let graph: AtomicGraph

  private let externalData: ExternalDataView?

  init(_ graph: AtomicGraph, commitNumber: UInt64, _ externalData: ExternalDataView?) {
    self.externalData = externalData
    self.graph = graph
    self.commitNumber = commitNumber
  }

  func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError) {
    let hierarchy = graph.hierarchies[graph.shape.hierarchies[entity]]
    for key in keys { if let row = hierarchy.row(key) { body(row) } }
  }

  func row(of entity: Int, key: Int64) throws(StoreError) -> Row? { graph.row(of: entity, key) }

  func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {
    guard let first = entities.first else { return }
    for row in graph.hierarchies[graph.shape.hierarchies[first]].rows where entities.contains(row.entity) { body(row) }
  }

  func destinations(
    of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError) {
    guard let table = graph.shape.table(of: relationship) else { return }
    let hierarchy = graph.hierarchies[graph.shape.hierarchies[relationship.destination]]
    for owner in owners {
      for key in graph.links[table][owner] { if let row = hierarchy.row(key) { body(owner, row) } }
    }
  }
}
