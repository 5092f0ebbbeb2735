import Foundation
import StoreSchema

/// The aggregate functions over the values of a group. Nil values are ignored.
public enum Aggregate: String, Hashable, Sendable, CaseIterable {
  /// The number of values that are not nil; 0 without values.
  case count = "count:"
  /// The sum; 0 without values, as `@sum` is.
  case sum = "sum:"
  /// The average; nil without values, as `@avg` is.
  case average = "average:"
  /// The least value; nil without values.
  case minimum = "min:"
  /// The greatest value; nil without values.
  case maximum = "max:"

  /// Collects the values of one group for one aggregate.
  ///
  /// The sum of integers and reals is the exact sum, rounded once, so it does not depend on their order; it is nil
  /// where it is infinite. Decimals are added by ``ArithmeticKernel``, in ascending order. With a value that is not a
  /// number, sum and average are nil. The least and the greatest value are those of ``SortComparison``.
  public struct Collector: Sendable {
    private let aggregate: Aggregate
    private var count: Int64 = 0
    /// The least or greatest value; for sums, null after a value that has no sum.
    private var result: Value = .int(0)
    private var decimals: [Decimal] = []
    /// The sum of the integers. No possible number of them overflows it.
    private var whole: Int128 = 0
    private var reals: ExactSum?

    /// A collector without values.
    public init(_ aggregate: Aggregate) { self.aggregate = aggregate }

    /// Adds a value. Null is ignored.
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

    /// Does the same as ``add(_:)`` of the value, without making a `Value`.
    public mutating func add(real: Double) {
      guard aggregate == .sum || aggregate == .average else { return add(.double(real)) }
      count += 1
      add(real)
    }

    private mutating func add(_ real: Double) {
      if reals == nil { reals = ExactSum() }
      reals?.add(real)
    }

    /// The result of the aggregate over the added values.
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

    /// The quotient as a double, or as a decimal for decimals. The division of integers would drop the fraction.
    private static func quotient(_ sum: Value, _ count: Int64) -> Value {
      if case .int(let whole) = sum { return .double(Double(whole) / Double(count)) }
      if case .double(let real) = sum { return .double(real / Double(count)) }
      return ArithmeticKernel.evaluate(.divide, sum, .int(count))
    }
  }
}
