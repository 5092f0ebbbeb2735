import StoreSchema

/// The functions of a collection that grouped fetches do not have. Null and values that are not numbers are ignored,
/// and the order of the values does not count.
public enum StatisticsKernel {
  /// The functions, by their selectors in the format language.
  public enum Function: String, Hashable, Sendable, CaseIterable {
    /// The middle number, or the mean of the two in the middle.
    case median = "median:"
    /// The least of the most frequent numbers. (Apple's function returns an array of all of them.)
    case mode = "mode:"
    /// The standard deviation of the numbers as a whole population, not as a sample of one [K].
    case deviation = "stddev:"
  }

  /// The result of a function; null where there are no numbers.
  public static func evaluate(_ function: Function, _ values: [Value]) -> Value {
    let numbers = values.filter { Number($0).map { !$0.isNaN } ?? false }
    if numbers.isEmpty { return .null }
    switch function {
    case .median: return median(numbers.sorted { SortComparison.compare($0, $1) == .ascending })
    case .mode: return mode(numbers)
    case .deviation: return deviation(numbers.compactMap { Number($0)?.double })
    }
  }

  private static func median(_ sorted: [Value]) -> Value {
    let middle = sorted[sorted.count / 2]
    if sorted.count % 2 == 1 { return middle }
    let sum = ArithmeticKernel.evaluate(.add, sorted[sorted.count / 2 - 1], middle)
    if case .int(let whole) = sum { return .double(Double(whole) / 2) }
    return ArithmeticKernel.evaluate(.divide, sum, .int(2))
  }

  private static func mode(_ numbers: [Value]) -> Value {
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
