import StoreSchema

/// What is made of the values of a group. Nil does not count.
public enum Aggregate: String, Hashable, Sendable, CaseIterable {
  case count = "count:"
  /// Of no values it is 0, as `@sum` is.
  case sum = "sum:"
  /// Of no values it is nil, as `@avg` is.
  case average = "average:"
  case minimum = "min:"
  case maximum = "max:"

  /// Collects the values of one group for one aggregate.
  ///
  /// Sums are ``ArithmeticKernel``'s: exact for integers and decimals as long as the whole fits, and nil where they are infinite. What is
  /// no number has no sum and no average; the least and the greatest value are those of ``SortComparison``.
  public struct Collector: Sendable {
    private let aggregate: Aggregate
    private var count: Int64 = 0
    private var result: Value = .int(0)
    /// The sum of the integers, which no number of them makes too great for it.
    private var whole: Int128 = 0

    public init(_ aggregate: Aggregate) { self.aggregate = aggregate }

    public mutating func add(_ value: Value) {
      if value.isNull { return }
      count += 1
      switch aggregate {
      case .count: return
      case .sum, .average:
        let number = value.asNumber
        if case .int(let integer) = number {
          whole &+= Int128(integer)
        } else {
          result = ArithmeticKernel.evaluate(.add, result, number)
        }
      case .minimum: if count == 1 || SortComparison.compare(value, result) == .ascending { result = value }
      case .maximum: if count == 1 || SortComparison.compare(value, result) == .descending { result = value }
      }
    }

    public var value: Value {
      switch aggregate {
      case .count: .int(count)
      case .sum: sum
      case .average: count == 0 ? .null : Self.quotient(sum, count)
      case .minimum, .maximum: count == 0 ? .null : result
      }
    }

    private var sum: Value {
      let integers = Int64(exactly: whole).map(Value.int) ?? .double(Double(whole))
      if case .int(0) = result { return integers }
      return ArithmeticKernel.evaluate(.add, result, integers)
    }

    /// A double, or a decimal of decimals: the division of integers would drop the fraction.
    private static func quotient(_ sum: Value, _ count: Int64) -> Value {
      if case .int(let whole) = sum { return .double(Double(whole) / Double(count)) }
      return ArithmeticKernel.evaluate(.divide, sum, .int(count))
    }
  }
}

extension Value {
  /// Truth values count as 0 and 1, dates as their seconds; null for what is no number.
  fileprivate var asNumber: Value {
    switch self {
    case .bool(let value): .int(value ? 1 : 0)
    case .date(let seconds): .double(seconds)
    case .int, .double, .decimal: self
    default: .null
    }
  }
}
