import Foundation
import StoreQuery
import StoreSchema

/// The values of a list of constants, which need no look at what they are.
struct ConstantList {
  let values: [Value]
}

/// A comparison with its right side: made once for all elements of an `ANY` or `ALL`.
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
    // What is in a dictionary are its values.
    let dictionary = op == .in ? (right as? NSDictionary)?.allValues : nil
    self.right = Self.side(dictionary ?? right, compared)
  }

  private static func side(_ operand: Any?, _ compared: ComparedValues) -> Side {
    // Which may be long, and needs no look at its elements.
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

  /// Whether one value is equal to a collection; nil for other comparisons. Nil is equal to an empty relationship, as
  /// in fetches.
  private func compare(_ single: Value, _ list: [Value]) -> Bool? {
    guard isEquality else { return nil }
    return (single.isNull && list.isEmpty) == (op == .equalTo)
  }
}
