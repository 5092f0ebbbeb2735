import StoreProtocol
import StoreQuery
import StoreSchema
import StoreSupport

/// A way to find the objects that a predicate may select. It finds at least these; the predicate is then evaluated on
/// their rows.
enum KeyValueAccess {
  /// Only the objects with these keys.
  case keys([Int64])
  /// The objects that links lead to.
  case links(table: Int, owners: [Int64])
  /// The objects in key ranges of an index.
  case indexes([IndexRange])

  private var rank: Int {
    switch self {
    case .keys: 0
    case .links: 1
    case .indexes(let ranges): ranges.allSatisfy(\.isNarrow) ? 2 : 3
    }
  }

  /// The best way, nil where all objects must be read. `usesIndexes` says whether the view has the indexes of the
  /// model.
  init?(_ predicate: ResolvedPredicate, _ entities: Range<Int>, _ shape: KeyValueShape, usesIndexes: Bool) {
    var best: KeyValueAccess?
    var pending = [predicate]
    while let next = pending.popLast() {
      if case .and(let parts) = next {
        pending += parts
        continue
      }
      guard let access = Self.access(next, entities, shape, usesIndexes) else { continue }
      guard let known = best else {
        best = access
        continue
      }
      if case .indexes(let a) = known, case .indexes(let b) = access, a.count == 1, b.count == 1,
        a[0].index == b[0].index
      {
        best = .indexes([a[0].intersection(b[0])])
      } else if access.rank < known.rank {
        best = access
      }
    }
    guard let best else { return nil }
    self = best
  }

  private static func access(
    _ predicate: ResolvedPredicate, _ entities: Range<Int>, _ shape: KeyValueShape, _ usesIndexes: Bool
  ) -> KeyValueAccess? {
    switch predicate {
    case .comparison(.path(let path), let op, .constant(let value), []):
      return access(path, op, [value], entities, shape, usesIndexes)
    case .comparison(.constant(let value), let op, .path(let path), []):
      guard let mirrored = op.mirrored else { return nil }
      return access(path, mirrored, [value], entities, shape, usesIndexes)
    case .member(.path(let path), of: .constants(let values), []):
      return access(path, .equalTo, values, entities, shape, usesIndexes)
    case .between(.path(let path), .constant(let low), .constant(let high), []):
      guard case .indexes(let from)? = access(path, .greaterThanOrEqualTo, [low], entities, shape, usesIndexes),
        case .indexes(let to)? = access(path, .lessThanOrEqualTo, [high], entities, shape, usesIndexes),
        from.count == 1, to.count == 1, from[0].index == to[0].index
      else { return nil }
      return .indexes([from[0].intersection(to[0])])
    default: return nil
    }
  }

  /// The objects that meet a comparison with any of `values`.
  private static func access(
    _ path: SlotPath, _ op: Predicate.Operator, _ values: [Value], _ entities: Range<Int>, _ shape: KeyValueShape,
    _ usesIndexes: Bool
  ) -> KeyValueAccess? {
    guard path.isOwn else { return nil }
    switch path.leaf {
    case .object:
      guard op == .equalTo, let keys = references(values) else { return nil }
      return .keys(keys)
    case .toOne(let relationship):
      guard op == .equalTo, let keys = references(values), let inverse = relationship.linkedInverse, inverse.isToMany,
        let table = shape.store.table(of: inverse)
      else { return nil }
      return .links(table: table, owners: keys)
    case .attribute(let slot, let kind, _):
      guard usesIndexes, values.count <= 1000 else { return nil }
      for number in shape.indexes.covering(slot, entities, shape.schema) {
        let index = shape.indexes.all[number]
        let maker = IndexRangeMaker(
          number: number, kind: kind, certain: shape.indexes.certainBytes, hasNulls: !index.isUnique)
        let ranges = values.compactMap { maker.range(op, $0) }
        if ranges.count == values.count { return .indexes(ranges) }
      }
      return nil
    case .entity, .column: return nil
    }
  }

  /// The keys of references; nil where something else is among them.
  private static func references(_ values: [Value]) -> [Int64]? {
    var keys: [Int64] = []
    for value in values {
      guard case .reference(let reference) = value else { return nil }
      if reference.key > 0 { keys.append(reference.key) }
    }
    let each = Set(keys)
    return each.count <= 1000 ? each.sorted() : nil
  }
}

extension KeyValueIndexes {
  /// The indexes that begin with a slot and hold every object of `entities` that has a value there.
  func covering(_ slot: Int, _ entities: Range<Int>, _ schema: Schema) -> [Int] {
    guard let first = entities.first, let last = entities.last else { return [] }
    return ofEntity[first].filter { number in
      let (index, subtree) = (all[number], schema.entities[all[number].entity].subtree)
      // A constraint over several attributes has no entry for an object that lacks one of the values.
      return index.slots.first == slot && subtree.contains(last) && (!index.isUnique || index.slots.count == 1)
    }
  }
}
