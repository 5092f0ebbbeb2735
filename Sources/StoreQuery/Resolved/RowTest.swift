import StoreSchema

/// Comparisons of a row's own value with a constant, over its packed words and bytes. They mean what ``ComparisonKernel`` means over
/// the values.
package enum RowTest {
  /// Nil where the kernel is to be asked.
  package static func make(
    _ path: SlotPath, _ op: Predicate.Operator, _ constant: Value, _ options: Predicate.Options
  ) -> ((Row) -> Bool)? {
    guard path.hops.isEmpty, case .attribute(let slot, let kind, _) = path.leaf else { return nil }
    switch (kind, constant) {
    case (_, .null):
      switch op {
      case .equalTo: return { $0.isNull(slot) }
      case .notEqualTo: return { !$0.isNull(slot) }
      default: return { _ in false }
      }
    case (.int16, .int(let value)), (.int32, .int(let value)), (.int64, .int(let value)), (.bool, .int(let value)):
      return integers(slot, op, value)
    case (.bool, .bool(let value)), (.int16, .bool(let value)), (.int32, .bool(let value)), (.int64, .bool(let value)):
      return integers(slot, op, value ? 1 : 0)
    case (.double, .double(let value)), (.float, .double(let value)), (.date, .date(let value)):
      return value.isNaN ? nil : doubles(slot, op, value)
    case (.double, .int(let value)), (.float, .int(let value)):
      return abs(value) < 1 << 53 ? doubles(slot, op, Double(value)) : nil
    case (.string, .string(let text)): return texts(slot, op, text, options)
    default: return nil
    }
  }

  private static func integers(_ slot: Int, _ op: Predicate.Operator, _ value: Int64) -> ((Row) -> Bool)? {
    switch op {
    case .equalTo: { !$0.isNull(slot) && $0.int(slot) == value }
    case .notEqualTo: { $0.isNull(slot) || $0.int(slot) != value }
    case .lessThan: { !$0.isNull(slot) && $0.int(slot) < value }
    case .lessThanOrEqualTo: { !$0.isNull(slot) && $0.int(slot) <= value }
    case .greaterThan: { !$0.isNull(slot) && $0.int(slot) > value }
    case .greaterThanOrEqualTo: { !$0.isNull(slot) && $0.int(slot) >= value }
    default: nil
    }
  }

  private static func doubles(_ slot: Int, _ op: Predicate.Operator, _ value: Double) -> ((Row) -> Bool)? {
    switch op {
    case .equalTo: { !$0.isNull(slot) && $0.double(slot) == value }
    case .notEqualTo: { $0.isNull(slot) || $0.double(slot) != value }
    case .lessThan: { !$0.isNull(slot) && $0.double(slot) < value }
    case .lessThanOrEqualTo: { !$0.isNull(slot) && $0.double(slot) <= value }
    case .greaterThan: { !$0.isNull(slot) && $0.double(slot) > value }
    case .greaterThanOrEqualTo: { !$0.isNull(slot) && $0.double(slot) >= value }
    default: nil
    }
  }

  private static func texts(
    _ slot: Int, _ op: Predicate.Operator, _ text: String, _ options: Predicate.Options
  ) -> ((Row) -> Bool)? {
    let isNegated = op == .notEqualTo
    guard let matcher = try? TextMatcher(isNegated ? .equalTo : op, options, pattern: text) else { return nil }
    return { row in
      let matches =
        !row.isNull(slot) && row.withBytes(slot) { matcher.matches(utf8: $0.bindMemory(to: UInt8.self)) }
      return matches != isNegated
    }
  }
}
