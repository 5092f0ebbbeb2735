import StoreSchema

/// Functions of many values.
extension ReferenceValues {
  /// `@sum`, `@avg`, `@min` and `@max`; null does not count.
  static func aggregate(_ name: String, _ values: [Value]) -> Value {
    let there = values.filter { !$0.isNull }
    switch name {
    case "@min": return there.min { (compare($0, $1) ?? 0) < 0 } ?? .null
    case "@max": return there.max { (compare($0, $1) ?? 0) < 0 } ?? .null
    case "@sum": return sum(there)
    case "@count": return .int(Int64(there.count))
    default:
      if there.isEmpty { return .null }
      switch sum(there) {
      case .int(let x): return .double(Double(x) / Double(there.count))
      case let total: return arithmetic(total, "/", .double(Double(there.count)))
      }
    }
  }

  private static func sum(_ values: [Value]) -> Value {
    var whole: Int128 = 0
    var reals: [Double] = []
    var decimals: Value = .int(0)
    // In ascending order, so that the digits lost beyond 38 are always the same.
    for value in values.sorted(by: { (compare($0, $1) ?? 0) < 0 }) {
      switch Number(value) {
      case .int(let x): whole += Int128(x)
      case .double(let x): reals.append(x)
      default: decimals = arithmetic(decimals, "+", value)
      }
    }
    var numbers = Int64(exactly: whole).map(Value.int) ?? .double(Double(whole))
    if reals.contains(where: { !$0.isFinite }) { return .null }
    if !reals.isEmpty {
      // Halves of the integers that doubles hold.
      let low = whole & 0xFFFF_FFFF
      numbers = finite(total(balanced(reals + [Double(whole - low), Double(low)])))
    }
    if case .int(0) = decimals { return numbers }
    return arithmetic(decimals, "+", numbers)
  }

  /// The numbers in an order in which no partial sum exceeds the range of doubles, unless the whole sum does.
  private static func balanced(_ numbers: [Double]) -> [Double] {
    var (above, below) = (numbers.filter { $0 >= 0 }, numbers.filter { $0 < 0 })
    var (result, sum) = ([Double](), 0.0)
    while let next = (sum >= 0 ? below.popLast() : nil) ?? above.popLast() ?? below.popLast() {
      result.append(next)
      sum += next
    }
    return result
  }

  /// The exact sum, rounded once: partial sums that do not overlap (J. R. Shewchuk, Adaptive Precision Floating-Point
  /// Arithmetic, 1997).
  private static func total(_ numbers: [Double]) -> Double {
    var partials: [Double] = []
    for number in numbers {
      var (rest, kept) = (number, [Double]())
      for partial in partials {
        let (a, b) = abs(rest) >= abs(partial) ? (rest, partial) : (partial, rest)
        let sum = a + b
        let lost = b - (sum - a)
        if lost != 0 { kept.append(lost) }
        rest = sum
      }
      partials = kept + [rest]
    }
    guard var sum = partials.popLast() else { return 0 }
    while let next = partials.popLast() {
      let before = sum
      sum = before + next
      let lost = next - (sum - before)
      if lost == 0 { continue }
      // Halfway between two doubles the remaining partial sums decide.
      if let last = partials.last, (lost < 0) == (last < 0) {
        let doubled = lost * 2
        if doubled == (sum + doubled) - sum { sum += doubled }
      }
      break
    }
    return sum
  }

  static func distinct(_ values: [Value]) -> [Value] {
    var result: [Value] = []
    for value in values where !result.contains(where: { areEqual($0, value) }) { result.append(value) }
    return result
  }

  // MARK: Functions of sets

  static func measure(_ name: String, _ values: [Value]) -> Value {
    switch name {
    // These count nil too.
    case "count", "[SIZE]": return .int(Int64(values.count))
    case "@count": return aggregate("@count", values)
    case "sum": return aggregate("@sum", values)
    case "average": return aggregate("@avg", values)
    case "min": return aggregate("@min", values)
    case "max": return aggregate("@max", values)
    default:
      let numbers = values.filter { Number($0) != nil }.sorted { (compare($0, $1) ?? 0) < 0 }
      return numbers.isEmpty ? .null : statistic(name, numbers)
    }
  }

  /// Of numbers in ascending order.
  private static func statistic(_ name: String, _ numbers: [Value]) -> Value {
    switch name {
    case "median":
      let middle = numbers[numbers.count / 2]
      if numbers.count % 2 == 1 { return middle }
      let sum = arithmetic(numbers[numbers.count / 2 - 1], "+", middle)
      if case .int(let whole) = sum { return .double(Double(whole) / 2) }
      return arithmetic(sum, "/", .int(2))
    case "mode":
      func count(_ value: Value) -> Int { numbers.count { areEqual($0, value) } }
      let most = numbers.map(count).max() ?? 0
      return numbers.first { count($0) == most } ?? .null
    default:
      let doubles = numbers.compactMap { Number($0)?.double }
      let mean = doubles.reduce(0, +) / Double(doubles.count)
      return finite((doubles.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(doubles.count)).squareRoot())
    }
  }
}
