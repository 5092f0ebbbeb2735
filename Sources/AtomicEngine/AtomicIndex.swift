import StoreQuery
import StoreSchema

/// A slot with an index: the first one of a fetch index or of a uniqueness constraint of the model.
struct AtomicIndex: Sendable {
  /// The entities whose objects the index covers.
  let entities: Range<Int>
  let slot: Int
  let kind: SlotKind

  /// The indexes of a schema.
  static func all(of schema: Schema) -> [AtomicIndex] {
    var result: [AtomicIndex] = []
    for entity in schema.entities {
      let indexed = entity.definition.fetchIndexes.compactMap { index -> Int? in
        guard let first = index.elements.first, !first.isRTree else { return nil }
        return entity.attribute(named: first.property).flatMap { $0.elements.isEmpty ? $0.slot : nil }
      }
      for slot in Set(indexed + entity.uniquenessConstraints.compactMap(\.first)).sorted() {
        let index = AtomicIndex(entities: entity.subtree, slot: slot, kind: entity.slots[slot])
        if index.hasOrder { result.append(index) }
      }
    }
    return result
  }

  private var hasOrder: Bool {
    switch kind {
    case .int16, .int32, .int64, .bool, .double, .float, .date, .string, .uri: true
    case .decimal, .uuid, .data, .transformable, .externalData, .reference, .referenceEntity: false
    }
  }

  // MARK: Values in order

  /// A value in the form that rows are compared with.
  enum Key {
    /// A number, as bits that sort like the numbers.
    case word(UInt64)
    case bytes([UInt8])
  }

  /// The number of a row, as bits that sort like the numbers.
  func word(_ row: Row) -> UInt64 {
    switch kind {
    case .double, .float, .date: Self.bits(row.double(slot))
    default: Self.bits(row.int(slot))
    }
  }

  static func bits(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) ^ 1 << 63 }

  /// Inverts all bits of negative numbers and the sign bit of the others.
  static func bits(_ number: Double) -> UInt64 {
    let bits = number.bitPattern
    return bits >> 63 == 1 ? ~bits : bits ^ 1 << 63
  }

  /// The key range that contains all rows with `row <op> value`. Nil where the index cannot answer the comparison.
  func keyRange(_ op: StoreQuery.Predicate.Operator, _ value: Value) -> AtomicKeyRange? {
    if value.isNull { return op == .equalTo ? .nulls : nil }
    if op == .beginsWith {
      guard case .bytes(let bytes)? = keys(value)?.low, !bytes.isEmpty else { return nil }
      return .prefix(bytes)
    }
    guard let (low, high) = keys(value) else { return nil }
    return switch op {
    case .equalTo: .between(low, high)
    case .lessThan, .lessThanOrEqualTo: .between(nil, high)
    case .greaterThan, .greaterThanOrEqualTo: .between(low, nil)
    default: nil
    }
  }

  /// The lowest and the highest key that equal a value of the slot's type. They differ only for zero, which has two
  /// representations.
  private func keys(_ value: Value) -> (low: Key, high: Key)? {
    switch (kind, value) {
    case (.int16, .int(let x)), (.int32, .int(let x)), (.int64, .int(let x)), (.bool, .int(let x)): same(Self.bits(x))
    case (.bool, .bool(let x)): same(Self.bits(Int64(x ? 1 : 0)))
    case (.double, .double(let x)), (.float, .double(let x)), (.date, .date(let x)):
      x.isNaN ? nil : x == 0 ? (.word(Self.bits(-0.0)), .word(Self.bits(0.0))) : same(Self.bits(x))
    case (.string, .string(let x)), (.uri, .uri(let x)): (.bytes(Array(x.utf8)), .bytes(Array(x.utf8)))
    default: nil
    }
  }

  private func same(_ word: UInt64) -> (low: Key, high: Key) { (.word(word), .word(word)) }
}

/// A key range of an index, with both ends included.
enum AtomicKeyRange {
  case nulls
  case between(AtomicIndex.Key?, AtomicIndex.Key?)
  case prefix([UInt8])
}
