import Foundation
import StoreQuery
import StoreSchema

/// The values of a list of constants. They need no conversion.
struct ConstantList {
  let values: [Value]
}

/// A comparison with its right side. It is made once for all elements of an `ANY` or `ALL`.
struct ObjectComparison {
  private let op: StoreQuery.Predicate.Operator
  private let options: StoreQuery.Predicate.Options
  private let compared = ComparedValues()
  private let right: Side

  /// One value, or the elements of a collection.
  private enum Side {
    case one(Value)
    case many([Value], isUnordered: Bool)
  }

  init(_ op: StoreQuery.Predicate.Operator, _ options: StoreQuery.Predicate.Options, with right: Any?) {
    (self.op, self.options) = (op, options)
    // `IN` searches the values of a dictionary.
    let dictionary = op == .in ? (right as? NSDictionary)?.allValues : nil
    self.right = Self.side(dictionary ?? right, compared)
  }

  private static func side(_ operand: Any?, _ compared: ComparedValues) -> Side {
    // A list of constants may be long, and its elements need no conversion.
    if let list = operand as? ConstantList { return .many(list.values, isUnordered: false) }
    guard let elements = ObjectCollection.elements(operand) else { return .one(compared.value(operand)) }
    return .many(elements.map(compared.value), isUnordered: ObjectCollection.isUnordered(operand))
  }

  func callAsFunction(_ left: Any?) -> Bool {
    switch (Self.side(left, compared), right) {
    case (.one(let a), .one(let b)): return ComparisonKernel.evaluate(op, options, left: a, right: b)
    case (.one(let single), .many(let list, _)):
      return compare(single, list) ?? ComparisonKernel.evaluate(op, options, left: single, right: list)
    case (.many(let list, _), .one(let single)):
      return compare(single, list) ?? ComparisonKernel.evaluate(op, options, left: list, right: single)
    case (.many(let a, let isSetA), .many(let b, let isSetB)):
      guard isEquality else { return false }
      let areEqual =
        isSetA || isSetB
        ? SetKernel.areEqual(a, b)
        : a.count == b.count && zip(a, b).allSatisfy { ValueComparison.areEqual($0, $1, options: options) }
      return areEqual == (op == .equalTo)
    }
  }

  private var isEquality: Bool { op == .equalTo || op == .notEqualTo }

  /// Whether one value is equal to a collection. Nil for other comparisons. A nil value equals an empty relationship,
  /// as in fetches.
  private func compare(_ single: Value, _ list: [Value]) -> Bool? {
    guard isEquality else { return nil }
    return (single.isNull && list.isEmpty) == (op == .equalTo)
  }
}
