import StoreProtocol
import StoreQuery
import StoreSchema

/// Fetches that use the indexes of the model. `canPush` rejects predicates that no index serves, and the caller then
/// tests row by row.
extension AtomicSnapshot: FetchingSnapshot {
  func canPush(_ predicate: ResolvedPredicate, of entities: Range<Int>) -> Bool {
    if case .and(let parts) = predicate { return parts.allSatisfy { access($0, entities) != nil } }
    return predicate.isTrue || access(predicate, entities) != nil
  }

  func canPush(_ sort: ResolvedSort, of entities: Range<Int>) -> Bool { false }

  func fetch(_ plan: FetchPlan, _ body: (consuming Row) -> Void) throws(StoreError) {
    guard let tree = tree(plan.entities) else { return }
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
    if let places = candidates(plan, tree) {
      for place in places where !give(tree.rows[Int(place)]) { return }
    } else {
      for row in tree.rows where !give(row) { return }
    }
  }

  func fetchReferences(_ plan: FetchPlan, _ body: (ObjectReference) -> Void) throws(StoreError) {
    try fetch(plan) { body($0.reference) }
  }

  func count(_ plan: FetchPlan) throws(StoreError) -> Int {
    var count = 0
    try fetch(plan) { _ in count += 1 }
    return count
  }

  func explanation(of plan: FetchPlan) throws(StoreError) -> [String] {
    guard let index = best(plan)?.index else { return ["all objects are looked at"] }
    let entity = graph.schema.entities[index.entities.lowerBound]
    let name = entity.attributes.first { $0.slot == index.slot }?.name ?? ""
    return ["by the index of \(entity.name).\(name), once it is made"]
  }

  private func tree(_ entities: Range<Int>) -> AtomicTree? {
    entities.first.map { graph.trees[graph.shape.tree[$0]] }
  }

  // MARK: Access by index

  /// An index with the key ranges that contain all candidates.
  private struct Access {
    let number: Int
    let index: AtomicIndex
    let stretches: [AtomicStretch]

    var rank: Int {
      stretches.allSatisfy {
        if case .between(nil, _) = $0 { return false }
        if case .between(_, nil) = $0 { return false }
        return true
      } ? 0 : 1
    }
  }

  private func best(_ plan: FetchPlan) -> Access? {
    let parts = if case .and(let parts) = plan.predicate { parts } else { [plan.predicate] }
    return parts.compactMap { access($0, plan.entities) }.min { $0.rank < $1.rank }
  }

  /// The indexes of the candidate rows, ascending; nil for all rows.
  private func candidates(_ plan: FetchPlan, _ tree: AtomicTree) -> [Int32]? {
    guard let access = best(plan), let order = tree.orders.order(access.number, access.index, tree.rows) else {
      return nil
    }
    let found = access.stretches.map { order.places(in: $0, tree.rows) }
    // With many candidates a scan of all rows is faster than sorting the indexes.
    if found.reduce(0, { $0 + $1.count }) > tree.rows.count / 4 { return nil }
    return found.count == 1 ? found[0].sorted() : Set(found.joined()).sorted()
  }

  private func access(_ predicate: ResolvedPredicate, _ entities: Range<Int>) -> Access? {
    switch predicate {
    case .comparison(.path(let path), let op, .constant(let value), []): return access(path, [(op, value)], entities)
    case .comparison(.constant(let value), let op, .path(let path), []):
      return op.mirrored.flatMap { access(path, [($0, value)], entities) }
    case .member(.path(let path), of: .constants(let values), []):
      return access(path, values.map { (.equalTo, $0) }, entities)
    case .between(.path(let path), .constant(let low), .constant(let high), []):
      guard let from = access(path, [(.greaterThanOrEqualTo, low)], entities),
        let to = access(path, [(.lessThanOrEqualTo, high)], entities),
        case .between(let first, _)? = from.stretches.first, case .between(_, let last)? = to.stretches.first
      else { return nil }
      return Access(number: from.number, index: from.index, stretches: [.between(first, last)])
    default: return nil
    }
  }

  /// The index access to rows that meet any of the comparisons, nil where no index serves them.
  private func access(
    _ path: SlotPath, _ comparisons: [(op: StoreQuery.Predicate.Operator, value: Value)], _ entities: Range<Int>
  ) -> Access? {
    guard path.isOwn, case .attribute(let slot, _, _) = path.leaf, let last = entities.last else { return nil }
    for (number, index) in graph.indexes.enumerated()
    where index.slot == slot && index.entities.contains(entities.lowerBound) && index.entities.contains(last) {
      let stretches = comparisons.compactMap { index.stretch($0.op, $0.value) }
      if stretches.count == comparisons.count { return Access(number: number, index: index, stretches: stretches) }
    }
    return nil
  }
}
