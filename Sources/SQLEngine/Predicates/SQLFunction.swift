import Foundation
import StoreQuery
import StoreSchema

/// The functions of a connection that conditions call: the kernels of `StoreQuery` over values of the database.
///
/// Each value is two arguments: the code of its type (``SQLValueType``), then the value.
public enum SQLFunction: Hashable, Sendable {
  /// (operator, options, left, right): 0 or 1.
  case compare
  /// (number of the function, operand…): the result of a function of values.
  case function
  /// Aggregate: SQL's own aggregates give no exact sum, and no least or greatest decimal.
  case aggregate(Aggregate)
  /// Aggregate: the result of a function of a collection.
  case collection(Function)

  /// The functions of a connection.
  public static var all: [SQLFunction] {
    [.compare, .function] + Function.all.compactMap(SQLFunction.init(aggregate:))
  }

  private init?(aggregate function: Function) {
    switch function.kernel {
    case .aggregate(.count): return nil
    case .aggregate(let aggregate): self = .aggregate(aggregate)
    case .collection: self = .collection(function)
    case .values, .random, .now, .operand, .distinct, .element: return nil
    }
  }

  /// The name in statements.
  public var name: String {
    switch self {
    case .compare: "OCDCompare"
    case .function: "OCDFunction"
    case .aggregate(let aggregate): Self.name(aggregate.rawValue)
    case .collection(let function): Self.name(function.selector)
    }
  }

  private static func name(_ selector: String) -> String { "OCD" + selector.dropLast().capitalized }

  /// The number of the function in a connection, from 1.
  public var code: Int {
    switch self {
    case .compare: 1
    case .function: 2
    case .aggregate(let aggregate): 3 + (Function.named(aggregate.rawValue)?.number ?? 0)
    case .collection(let function): 3 + (function.number ?? 0)
    }
  }

  /// The function with a ``code``.
  public init?(code: Int) {
    switch code {
    case 1: self = .compare
    case 2: self = .function
    default:
      guard let known = Function.numbered(code - 3).flatMap(SQLFunction.init(aggregate:)) else { return nil }
      self = known
    }
  }

  /// Whether the function takes the values of many rows.
  public var isAggregate: Bool { aggregate != nil }

  /// The result of an aggregate over the values of its rows, each preceded by the code of its type.
  var aggregate: ResolvedAggregate? {
    switch self {
    case .compare, .function: nil
    case .aggregate(let aggregate): .aggregate(aggregate)
    case .collection(let function): .function(function)
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
    guard case .integer(let number)? = arguments.first, let function = Function.numbered(Int(clamping: number)),
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
