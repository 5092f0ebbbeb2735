import StoreProtocol
import StoreQuery
import StoreSchema
import StoreSupport

/// Fetches that use the indexes of the model. Conditions that no index serves are left over, and so are sorts.
extension AtomicSnapshot: FetchingSnapshot {
  func prepare(_ plan: FetchPlan) -> any PreparedFetch { AtomicPreparedFetch(self, plan) }

  fileprivate func fetch(_ fetch: AtomicPreparedFetch, _ body: (consuming Row) -> Void) throws(StoreError) {
    let plan = fetch.plan
    guard let hierarchy = hierarchy(plan.entities) else { return }
    let test = CompiledPredicate<OwnRows>(plan.predicate)
    var (skipped, left) = (0, plan.limit ?? .max)
    /// Returns false where the limit is reached.
    func give(_ row: Row) -> Bool {
      guard left > 0 else { return false }
      guard plan.entities.contains(row.entity), test(row, in: OwnRows()) else { return true }
      if skipped < plan.offset {
        skipped += 1
      } else {
        body(row)
        left -= 1
      }
      return true
    }
    if let positions = candidates(fetch.access, hierarchy) {
      for position in positions where !give(hierarchy.rows[Int(position)]) { return }
    } else {
      for row in hierarchy.rows where !give(row) { return }
    }
  }

  fileprivate func explanation(of access: AtomicAccess?) -> [String] {
    guard let index = access?.index else { return ["all objects are looked at"] }
    let entity = graph.schema.entities[index.entities.lowerBound]
    let name = entity.attributes.first { $0.slot == index.slot }?.name ?? ""
    return ["by the index of \(entity.name).\(name), once it is made"]
  }

  private func hierarchy(_ entities: Range<Int>) -> AtomicHierarchy? {
    entities.first.map { graph.hierarchies[graph.shape.hierarchies[$0]] }
  }

  // MARK: Access by index

  /// The indexes of the candidate rows, ascending; nil for all rows.
  private func candidates(_ access: AtomicAccess?, _ hierarchy: AtomicHierarchy) -> [Int32]? {
    guard let access, let order = hierarchy.orders.order(access.number, access.index, hierarchy.rows) else {
      return nil
    }
    let found = access.keyRanges.map { order.positions(in: $0, hierarchy.rows) }
    // With many candidates a scan of all rows is faster than sorting the indexes.
    if found.reduce(0, { $0 + $1.count }) > hierarchy.rows.count / 4 { return nil }
    return found.count == 1 ? found[0].sorted() : Set(found.joined()).sorted()
  }

  fileprivate func access(_ predicate: ResolvedPredicate, _ entities: Range<Int>) -> AtomicAccess? {
    switch predicate {
    case .comparison(.path(let path), let op, .constant(let value), []): return access(path, [(op, value)], entities)
    case .comparison(.constant(let value), let op, .path(let path), []):
      return op.mirrored.flatMap { access(path, [($0, value)], entities) }
    case .member(.path(let path), of: .constants(let values), []):
      return access(path, values.map { (.equalTo, $0) }, entities)
    case .between(.path(let path), .constant(let low), .constant(let high), []):
      guard let from = access(path, [(.greaterThanOrEqualTo, low)], entities),
        let to = access(path, [(.lessThanOrEqualTo, high)], entities),
        case .between(let first, _)? = from.keyRanges.first, case .between(_, let last)? = to.keyRanges.first
      else { return nil }
      return AtomicAccess(number: from.number, index: from.index, keyRanges: [.between(first, last)])
    default: return nil
    }
  }

  /// The index access to rows that meet any of the comparisons, nil where no index serves them.
  private func access(
    _ path: SlotPath, _ comparisons: [(op: StoreQuery.Predicate.Operator, value: Value)], _ entities: Range<Int>
  ) -> AtomicAccess? {
    guard path.isOwn, case .attribute(let slot, _, _) = path.leaf, let last = entities.last else { return nil }
    for (number, index) in graph.indexes.enumerated()
    where index.slot == slot && index.entities.contains(entities.lowerBound) && index.entities.contains(last) {
      let keyRanges = comparisons.compactMap { index.keyRange($0.op, $0.value) }
      if keyRanges.count < comparisons.count { continue }
      return AtomicAccess(number: number, index: index, keyRanges: keyRanges)
    }
    return nil
  }
}

/// An index with the key ranges that contain all candidates.
private struct AtomicAccess {
  let number: Int
  let index: AtomicIndex
  let keyRanges: [AtomicKeyRange]

  /// Ranges with two ends are better than open ones.
  var rank: Int {
    keyRanges.allSatisfy {
      if case .between(nil, _) = $0 { return false }
      if case .between(_, nil) = $0 { return false }
      return true
    } ? 0 : 1
  }
}

/// A plan, and the index that serves it best.
private struct AtomicPreparedFetch: PreparedFetch {
  private let snapshot: AtomicSnapshot
  let plan: FetchPlan
  let residual: FetchResidual
  /// Nil for a scan.
  let access: AtomicAccess?

  init(_ snapshot: AtomicSnapshot, _ plan: FetchPlan) {
    self.snapshot = snapshot
    var accesses: [AtomicAccess] = []
    (self.plan, residual) = plan.split(takes: { condition in
      guard let access = snapshot.access(condition, plan.entities) else { return condition.isTrue }
      accesses.append(access)
      return true
    }) { _ in false }
    access = accesses.min { $0.rank < $1.rank }
  }

  func fetch(_ body: (consuming Row) -> Void) throws(StoreError) { try snapshot.fetch(self, body) }

  func explanation() throws(StoreError) -> [String] { snapshot.explanation(of: access) }
}
