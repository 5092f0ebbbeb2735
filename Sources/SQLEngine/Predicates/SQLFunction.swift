import StoreQuery
import StoreSchema

/// The functions of a connection that conditions call: the kernels of `StoreQuery` over values of the database.
///
/// Each value is two arguments: the code of its type (``SQLValueType``), then the value.
public enum SQLFunction: String, Sendable, CaseIterable {
  /// (operator, options, left, right): 0 or 1.
  case compare = "OCDCompare"
  /// (function, operand…): the function's value.
  case function = "OCDFunction"
  /// Aggregate: the sum. SQL's own aggregates give the least and the greatest of all types but decimals.
  case sum = "OCDSum"
  /// Aggregate: the average of the numbers.
  case average = "OCDAverage"
  /// Aggregate: the least value.
  case minimum = "OCDMinimum"
  /// Aggregate: the greatest value.
  case maximum = "OCDMaximum"
  /// Aggregate: the middle number.
  case median = "OCDMedian"
  /// Aggregate: the least of the most frequent numbers.
  case mode = "OCDMode"
  /// Aggregate: the standard deviation of the numbers.
  case deviation = "OCDDeviation"

  /// Whether the function takes the values of many rows.
  public var isAggregate: Bool { aggregate != nil }

  /// The aggregate of a function over the values of its rows, each behind the code of its type.
  var aggregate: ResolvedAggregate? {
    switch self {
    case .sum: .aggregate(.sum)
    case .average: .aggregate(.average)
    case .minimum: .aggregate(.minimum)
    case .maximum: .aggregate(.maximum)
    case .median: .statistic(.median)
    case .mode: .statistic(.mode)
    case .deviation: .statistic(.deviation)
    case .compare, .function: nil
    }
  }

  /// The value of a function that is no aggregate. Null for arguments that no condition has.
  public func evaluate(_ arguments: [SQLStoredValue]) -> Value {
    switch self {
    case .compare: Self.compare(arguments).map { .int($0 ? 1 : 0) } ?? .null
    case .function: Self.apply(arguments)
    default: .null
    }
  }

  private static func compare(_ arguments: [SQLStoredValue]) -> Bool? {
    guard arguments.count == 6, case .integer(let op) = arguments[0], case .integer(let options) = arguments[1],
      let op = Predicate.Operator(rawValue: UInt(clamping: op)), let values = values(arguments[2...])
    else { return nil }
    return ComparisonKernel.evaluate(
      op, Predicate.Options(rawValue: UInt(clamping: options)), left: values[0], right: values[1])
  }

  private static func apply(_ arguments: [SQLStoredValue]) -> Value {
    guard case .integer(let code)? = arguments.first, let function = ResolvedFunction(code: Int(clamping: code)),
      let values = values(arguments.dropFirst())
    else { return .null }
    return function.evaluate(values)
  }

  /// Whether values with a code are texts. (A decimal may be stored as a text too.)
  public static func isText(code: Int64) -> Bool {
    code == Int64(SQLValueType.text.code ?? -1) || code == Int64(SQLValueType.uri.code ?? -1)
  }

  /// Whether reals with a code are doubles, which is true for numbers, reals and dates (``SQLValueType/code``).
  @inlinable
  public static func isReal(code: Int64) -> Bool { code >= 0 && code <= 2 }

  /// The values of arguments that are a code and a value each.
  public static func values(_ arguments: ArraySlice<SQLStoredValue>) -> [Value]? {
    var (values, rest) = ([Value](), arguments)
    while let code = rest.popFirst() {
      guard case .integer(let code) = code, let value = rest.popFirst() else { return nil }
      values.append(SQLValueType.value(value, code: code))
    }
    return values
  }
}

extension ResolvedFunction {
  private static let all: [ResolvedFunction] =
    ArithmeticKernel.Operation.allCases.map(ResolvedFunction.arithmetic)
    + FunctionKernel.Function.allCases.map(ResolvedFunction.unary)
    + CastKernel.Target.allCases.map(ResolvedFunction.cast) + [.distance]

  /// The function's number in a statement. Codes are never stored.
  var code: Int? { Self.all.firstIndex(of: self) }

  init?(code: Int) {
    guard Self.all.indices.contains(code) else { return nil }
    self = Self.all[code]
  }

  /// The result type over operands of these types. Null where the result is always null, nil where it depends on the
  /// values.
  func type(of operands: [SQLValueType]) -> SQLValueType? {
    switch self {
    case .arithmetic(let operation):
      guard operands.count == 2, operands.allSatisfy(\.isNumeric) else { return .null }
      // A decimal where there is an exact one, a double elsewhere.
      let hasDecimals = operands.contains(where: \.hasDecimals)
      if hasDecimals && (operation == .power || operation == .modulus) { return nil }
      let (a, b) = (operands[0] == .date, operands[1] == .date)
      if operation == .add && a != b || operation == .subtract && a && !b { return .date }
      return !a && !b && hasDecimals ? .decimalOrDouble : .number
    case .unary(.uppercase), .unary(.lowercase), .unary(.canonical): return operands == [.text] ? .text : .null
    case .unary(.length): return operands == [.text] ? .number : .null
    case .unary(.squareRoot), .unary(.logarithm), .unary(.naturalLogarithm), .unary(.exponential):
      return operands.allSatisfy(\.isNumeric) ? .real : .null
    case .unary:
      guard operands.count == 1, operands[0].isNumeric else { return .null }
      return operands[0].hasDecimals ? .decimalOrDouble : .number
    case .distance: return operands.count == 4 && operands.allSatisfy(\.isNumeric) ? .real : .null
    case .cast(.date): return .date
    case .cast(.number): return operands.contains(where: \.hasDecimals) ? .decimalOrDouble : .number
    case .cast(.decimal): return .decimalOrDouble
    case .cast(.text): return .text
    case .cast(.uuid): return .uuid
    case .cast(.url): return .uri
    case .cast(.data): return .data
    }
  }
}
