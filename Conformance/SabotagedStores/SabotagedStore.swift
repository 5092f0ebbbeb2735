import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// An open store with one thing made wrong.
final class SabotagedStore: Store {
  let schema: Schema
  private let base: any Store
  private let sabotage: Sabotage
  private let url: URL

  init(_ base: any Store, _ schema: Schema, _ sabotage: Sabotage, _ url: URL) {
    (self.base, self.schema, self.sabotage, self.url) = (base, schema, sabotage, url)
  }

  var identifier: String { base.identifier }
  var capabilities: Capabilities {
    sabotage.changesFetches ? base.capabilities.union(.pushDown) : base.capabilities
  }
  var isReadOnly: Bool { base.isReadOnly }
  var metadata: StoreMetadata {
    var metadata = base.metadata
    if sabotage.definition != nil { metadata.versionHashes = schema.versionHashes }
    return metadata
  }

  func snapshot() throws(StoreError) -> any StoreSnapshot {
    let snapshot = SabotagedSnapshot(try base.snapshot(), schema, sabotage, sabotage.showsTheNewest ? base : nil)
    return sabotage.changesFetches ? SabotagedFetches(snapshot) : snapshot
  }

  func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
    var altered = changes
    try sabotage.changes(&altered, base)
    return try sabotage.result(try base.commit(altered), altered, base, url)
  }

  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> {
    sabotage.keys(try base.allocateKeys(root: root, count: count))
  }

  func externalData(_ name: Data) throws(StoreError) -> Data { try base.externalData(name) }
  func capability<Capability>(_ type: Capability.Type) throws(StoreError) -> Capability? { try base.capability(type) }

  func close() throws(StoreError) {
    try base.close()
    sabotage.afterClosing(url)
  }
}

/// A view with one thing made wrong.
class SabotagedSnapshot: StoreSnapshot, @unchecked Sendable {
  private let then: any StoreSnapshot
  let schema: Schema
  let sabotage: Sabotage
  private let newest: (any Store)?

  init(_ base: any StoreSnapshot, _ schema: Schema, _ sabotage: Sabotage, _ newest: (any Store)?) {
    (then, self.schema, self.sabotage, self.newest) = (base, schema, sabotage, newest)
  }

  /// The same view, unaltered in what it fetches.
  init(_ other: SabotagedSnapshot) {
    (then, schema, sabotage, newest) = (other.then, other.schema, other.sabotage, other.newest)
  }

  private func base() throws(StoreError) -> any StoreSnapshot { try newest?.snapshot() ?? then }
  private func altered(_ row: Row) -> Row { sabotage.row.map { $0(row, schema) } ?? row }

  var fetching: (any FetchingSnapshot)? { nil }
  var commitNumber: UInt64 { then.commitNumber }

  func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError) {
    try base().rows(of: entity, keys: keys) { body(altered($0)) }
  }

  func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {
    var rows: [Row] = []
    try base().scan(entities) { rows.append(altered($0)) }
    for row in sabotage.scan(rows) { body(row) }
  }

  func destinations(
    of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError) {
    var links: [(Int64, Row)] = []
    try base().destinations(of: relationship, owners: owners) { links.append(($0, altered($1))) }
    for (owner, row) in sabotage.links(links, relationship) { body(owner, row) }
  }
}

/// A view that evaluates fetches, with one thing made wrong.
final class SabotagedFetches: SabotagedSnapshot, FetchingSnapshot, @unchecked Sendable {
  override var fetching: (any FetchingSnapshot)? { self }

  func prepare(_ plan: FetchPlan) -> any PreparedFetch { SabotagedFetch(snapshot: self, plan: plan) }

  fileprivate func selected(_ plan: FetchPlan) throws(StoreError) -> [Row] {
    var whole = plan
    (whole.offset, whole.limit) = (0, nil)
    var rows: [Row] = []
    try FetchExecution(self, pushesDown: false).fetch(whole) { rows.append($0) }
    return sabotage.fetch.map { $0(rows, parts(plan)) } ?? rows
  }

  private func parts(_ plan: FetchPlan) -> Sabotage.FetchParts {
    var result = Sabotage.FetchParts(offset: plan.offset, limit: plan.limit, negatedSlots: [])
    if let sort = plan.sort.first, sort.path.hops.isEmpty, case .attribute(let slot, _, _) = sort.path.leaf {
      (result.sortSlot, result.isAscending) = (slot, sort.isAscending)
    }
    if case .not(.comparison(.path(let path), _, _, _)) = plan.predicate, path.hops.isEmpty,
      case .attribute(let slot, _, _) = path.leaf
    {
      result.negatedSlots = [slot]
    }
    return result
  }

}

/// Takes every plan.
private struct SabotagedFetch: PreparedFetch {
  let snapshot: SabotagedFetches
  let plan: FetchPlan
  var residual: FetchResidual { .none }

  func fetch(_ body: (consuming Row) -> Void) throws(StoreError) {
    for row in try snapshot.selected(plan) { body(row) }
  }
}
