import Foundation
import StoreSchema

/// What is made of the values of a group. Nil does not count.
public enum Aggregate: String, Hashable, Sendable, CaseIterable {
  /// The number of values that are not nil. Of no values it is 0.
  case count = "count:"
  /// Of no values it is 0, as `@sum` is.
  case sum = "sum:"
  /// Of no values it is nil, as `@avg` is.
  case average = "average:"
  /// The least value. Of no values it is nil.
  case minimum = "min:"
  /// The greatest value. Of no values it is nil.
  case maximum = "max:"

  /// Collects the values of one group for one aggregate.
  ///
  /// The sum of integers and reals is the exact one, rounded once, so that their order makes no difference; it is nil
  /// where it is infinite. Decimals are added by ``ArithmeticKernel``, from the least to the greatest. What is no
  /// number has no sum and no average; the least and the greatest value are those of ``SortComparison``.
  public struct Collector: Sendable {
    private let aggregate: Aggregate
    private var count: Int64 = 0
    /// The least or greatest value; null where there is something that has no sum.
    private var result: Value = .int(0)
    private var decimals: [Decimal] = []
    /// The sum of the integers, which no number of them makes too great for it.
    private var whole: Int128 = 0
    private var reals: ExactSum?

    /// Collects values for an aggregate; there are none so far.
    public init(_ aggregate: Aggregate) { self.aggregate = aggregate }

    /// Adds a value. Null does not count.
    public mutating func add(_ value: Value) {
      if value.isNull { return }
      count += 1
      switch aggregate {
      case .count: return
      case .sum, .average:
        switch value {
        case .int(let integer): whole &+= Int128(integer)
        case .bool(let truth): whole &+= truth ? 1 : 0
        case .double(let real), .date(let real): add(real)
        case .decimal(let decimal): decimals.append(decimal)
        default: result = .null
        }
      case .minimum: if count == 1 || SortComparison.compare(value, result) == .ascending { result = value }
      case .maximum: if count == 1 || SortComparison.compare(value, result) == .descending { result = value }
      }
    }

    /// The same as ``add(_:)`` of the value, without making one.
    public mutating func add(real: Double) {
      guard aggregate == .sum || aggregate == .average else { return add(.double(real)) }
      count += 1
      add(real)
    }

    private mutating func add(_ real: Double) {
      if reals == nil { reals = ExactSum() }
      reals?.add(real)
    }

    /// What the aggregate makes of the values that were added.
    public var value: Value {
      switch aggregate {
      case .count: .int(count)
      case .sum: sum
      case .average: count == 0 ? .null : Self.quotient(sum, count)
      case .minimum, .maximum: count == 0 ? .null : result
      }
    }

    private var sum: Value {
      var numbers = Int64(exactly: whole).map(Value.int) ?? .double(Double(whole))
      if var reals {
        reals.add(whole)
        let sum = reals.rounded
        numbers = reals.isBroken || !sum.isFinite ? .null : .double(sum)
      }
      if result.isNull { return .null }
      if decimals.isEmpty { return numbers }
      let sum = decimals.sorted().reduce(Value.int(0)) { ArithmeticKernel.evaluate(.add, $0, .decimal($1)) }
      return ArithmeticKernel.evaluate(.add, sum, numbers)
    }

    /// A double, or a decimal of decimals: the division of integers would drop the fraction.
    private static func quotient(_ sum: Value, _ count: Int64) -> Value {
      if case .int(let whole) = sum { return .double(Double(whole) / Double(count)) }
      if case .double(let real) = sum { return .double(real / Double(count)) }
      return ArithmeticKernel.evaluate(.divide, sum, .int(count))
    }
  }
}
