import Foundation
import StoreSchema

/// Functions of collections.
extension Function {
  /// The functions that grouped fetches have, too.
  static let collections =
    Aggregate.allCases.map { Function($0.rawValue, [.collection], gives: .always(.other), .aggregate($0)) } + [
      Function("distinct:", [.collection], gives: .always(.other), .distinct),
      Function("objectFrom:withIndex:", [.collection, .index], gives: .always(.other), .element),
    ]

  /// Statistics. Null without numbers: null and other values that are not numbers do not count. The order of the values
  /// does not affect the result.
  static let statistics = [
    // The middle number, or the mean of the two in the middle.
    statistic("median:", gives: ResultType(sameNumber), median),
    // The least of the most frequent numbers. (Apple's function gives an array of all of them.)
    statistic("mode:", gives: ResultType(sameNumber), mode),
    // The standard deviation of the numbers as a whole population, not as a sample of one [K].
    statistic("stddev:", gives: ResultType { sameNumber($0) == nil ? nil : .real }) {
      deviation($0.compactMap { Number($0)?.double })
    },
  ]

  private static func statistic(
    _ selector: String, gives type: ResultType, _ kernel: @escaping @Sendable ([Value]) -> Value
  ) -> Function {
    Function(
      selector, [.collection], gives: type,
      .collection { values in
        let numbers = values.filter { Number($0).map { !$0.isNaN } ?? false }
        return numbers.isEmpty ? .null : kernel(numbers)
      })
  }

  /// A number of the collection. For dates it may be a date, or a mean of their seconds.
  @Sendable private static func sameNumber(_ types: [ValueType]) -> ValueType? {
    guard let type = types.first, type.isNumeric, type != .date else { return nil }
    return type.hasDecimals ? .decimalOrDouble : type
  }

  @Sendable private static func median(_ numbers: [Value]) -> Value {
    let sorted = numbers.sorted { SortComparison.compare($0, $1) == .ascending }
    let middle = sorted[sorted.count / 2]
    if sorted.count % 2 == 1 { return middle }
    let sum = ArithmeticKernel.evaluate(.add, sorted[sorted.count / 2 - 1], middle)
    if case .int(let whole) = sum { return .double(Double(whole) / 2) }
    return ArithmeticKernel.evaluate(.divide, sum, .int(2))
  }

  @Sendable private static func mode(_ numbers: [Value]) -> Value {
    var counts: [EqualValue: Int] = [:]
    for number in numbers { counts[EqualValue(value: number), default: 0] += 1 }
    let most = counts.values.max()
    let candidates = counts.filter { $0.value == most }.map(\.key.value)
    return candidates.min { SortComparison.compare($0, $1) == .ascending } ?? .null
  }

  private static func deviation(_ unsorted: [Double]) -> Value {
    let numbers = unsorted.sorted()
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let variance = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count)
    let result = variance.squareRoot()
    return result.isFinite ? .double(result) : .null
  }
}
