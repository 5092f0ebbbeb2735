import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// Fetch plans over an object's own values. Indexes and links find candidates, and the evaluator checks each
/// candidate's row. Paths over relationships are left to the caller.
extension KeyValueSnapshot {
  func canPush(_ predicate: ResolvedPredicate, of entities: Range<Int>) -> Bool { predicate.isOwn }

  func canPush(_ sort: ResolvedSort, of entities: Range<Int>) -> Bool { sort.path.hops.isEmpty }

  func fetch(_ plan: FetchPlan, _ body: (consuming Row) -> Void) throws(StoreError) {
    if case .constant(false) = plan.predicate { return }
    if plan.limit == 0 { return }
    try reader.transaction.check()
    if plan.predicate.isTrue && plan.sort.isEmpty {
      guard plan.offset > 0 || plan.limit != nil else { return try reader.scan(plan.entities, body) }
      for key in try keys(plan) { if let row = try reader.row(of: key.entity, key.key) { body(row) } }
      return
    }
    let access = KeyValueAccess(
      plan.predicate, plan.entities, reader.shape, usesIndexes: try usesIndexes())
    if let sort = plan.sort.first, plan.sort.count == 1, let range = try orderedRange(sort, plan, access) {
      return try fetch(plan, sort, range, body)
    }
    if plan.sort.isEmpty {
      var (skipped, given) = (0, 0)
      return try visit(plan, access) { row in
        if skipped < plan.offset {
          skipped += 1
          return true
        }
        body(row)
        given += 1
        return given != plan.limit
      }
    }
    var first = FirstRows(plan)
    try visit(plan, access) { row in
      first.add(row)
      return true
    }
    for row in first.finish() { body(row) }
  }

  func fetchReferences(_ plan: FetchPlan, _ body: (ObjectReference) -> Void) throws(StoreError) {
    if plan.predicate.isTrue && plan.sort.isEmpty {
      try reader.transaction.check()
      for key in try keys(plan) { body(key) }
    } else {
      try fetch(plan) { body($0.reference) }
    }
  }

  func count(_ plan: FetchPlan) throws(StoreError) -> Int {
    var unsorted = plan
    unsorted.sort = []
    var count = 0
    try fetchReferences(unsorted) { _ in count += 1 }
    return count
  }

  /// Keys are handed out one after another, so the highest key limits the number of objects.
  func estimatedCount(_ plan: FetchPlan) -> Int? {
    guard let first = plan.entities.first, plan.limit == nil, plan.predicate.isTrue else { return nil }
    return (try? reader.highestKey(first)).map { Int(clamping: $0) }
  }

  /// The objects of a plan whose predicate selects all objects, without their rows.
  private func keys(_ plan: FetchPlan) throws(StoreError) -> [ObjectReference] {
    var (keys, skipped) = ([ObjectReference](), 0)
    if plan.limit == 0 { return [] }
    try reader.scanKeys(plan.entities) { key in
      if skipped < plan.offset { skipped += 1 } else { keys.append(key) }
      return keys.count != plan.limit
    }
    return keys
  }

  // MARK: In the order of the keys

  /// Calls `body` with the rows that the predicate selects, in key order, until it returns false.
  private func visit(
    _ plan: FetchPlan, _ access: KeyValueAccess?, _ body: (consuming Row) -> Bool
  ) throws(StoreError) {
    guard let entity = plan.entities.first else { return }
    let selects = CompiledPredicate<OwnRows>(plan.predicate)
    let keys = try access.map { (access) throws(StoreError) in try candidates(access) } ?? []
    if access != nil && keys.isEmpty { return }
    // Many candidates are found faster by reading all rows between them.
    let (first, last) = access == nil ? (0, .max) : (keys.first ?? 0, keys.last ?? .max)
    if access == nil || keys.count > 64 && last &- first < Int64(keys.count) * 3 {
      return try reader.scan(plan.entities, from: first) { row in
        if row.key > last { return false }
        return selects(row, in: OwnRows()) ? body(row) : true
      }
    }
    for key in keys {
      guard let row = try reader.row(of: entity, key), plan.entities.contains(row.entity), selects(row, in: OwnRows())
      else {
        continue
      }
      if !body(row) { return }
    }
  }

  /// The keys of all objects that an access finds, ascending.
  private func candidates(_ access: KeyValueAccess) throws(StoreError) -> [Int64] {
    var keys: [Int64] = []
    switch access {
    case .keys(let known): return known
    case .links(let table, let owners):
      for owner in owners { try reader.links(table, owner) { destination, _ in keys.append(destination) } }
      if owners.count == 1 { return keys }
    case .indexes(let ranges):
      for range in ranges {
        try reader.entries(range) { _, object in
          keys.append(object)
          return true
        }
      }
    }
    keys.sort()
    var count = 0
    for key in keys where count == 0 || keys[count - 1] != key {
      keys[count] = key
      count += 1
    }
    keys.removeSubrange(count...)
    return keys
  }

  // MARK: In the order of an index

  /// The key range of an index that holds the objects of a plan in its order. Nil where there is none, or another way
  /// is better.
  private func orderedRange(
    _ sort: ResolvedSort, _ plan: FetchPlan, _ access: KeyValueAccess?
  ) throws(StoreError) -> IndexRange? {
    guard case .attribute(let slot, let kind, _) = sort.path.leaf, sort.comparison == .literal, kind.hasOrderedBytes,
      try usesIndexes()
    else { return nil }
    let indexes = reader.shape.indexes
    let number = indexes.covering(slot, plan.entities, reader.shape.schema).first { number in
      // A constraint has no entry for an object without a value.
      indexes.all[number].slots.count == 1 && !indexes.all[number].isUnique
    }
    guard let number else { return nil }
    if case .indexes(let ranges)? = access, ranges.count == 1, ranges[0].index == number { return ranges[0] }
    guard access == nil, plan.predicate.isTrue else { return nil }
    let all = [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    return IndexRange(index: number, low: all, high: all)
  }

  private func fetch(
    _ plan: FetchPlan, _ sort: ResolvedSort, _ range: IndexRange, _ body: (consuming Row) -> Void
  ) throws(StoreError) {
    guard let entity = plan.entities.first else { return }
    let certain = reader.shape.indexes.certainBytes
    let selects = CompiledPredicate<OwnRows>(plan.predicate)
    var (skipped, given) = (0, 0)
    var (group, objects) = ([UInt8](), [Int64]())
    /// Gives the objects that the index cannot tell apart. False after the last row that is needed.
    func end() throws(StoreError) -> Bool {
      var rows: [Row] = []
      for object in objects {
        guard let row = try reader.row(of: entity, object), plan.entities.contains(row.entity),
          selects(row, in: OwnRows())
        else {
          continue
        }
        rows.append(row)
      }
      objects.removeAll(keepingCapacity: true)
      if rows.count > 1 { rows.sort { plan.precedes($0, $1) } }
      for row in rows {
        if skipped < plan.offset {
          skipped += 1
          continue
        }
        body(row)
        given += 1
        if given == plan.limit { return false }
      }
      return true
    }
    var failure: StoreError?
    try reader.entries(range, backwards: !sort.isAscending) { values, object in
      let values = UnsafeRawBufferPointer(rebasing: values.prefix(certain))
      if !objects.isEmpty && !values.elementsEqual(group) {
        do throws(StoreError) { if try !end() { return false } } catch {
          failure = error
          return false
        }
      }
      if objects.isEmpty { group = Array(values) }
      objects.append(object)
      return true
    }
    if let failure { throw failure }
    if given != plan.limit || plan.limit == nil { _ = try end() }
  }
}

extension SlotKind {
  /// Whether the order of an index is that of the values; decimals are ordered differently.
  fileprivate var hasOrderedBytes: Bool {
    switch self {
    case .int16, .int32, .int64, .bool, .double, .float, .date, .string, .uri, .uuid, .data: true
    case .decimal, .transformable, .externalData, .reference, .referenceEntity: false
    }
  }
}
