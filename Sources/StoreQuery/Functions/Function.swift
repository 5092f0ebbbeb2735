import StoreSchema

/// A function of the predicate language, with its complete description.
///
/// The parser and the printer use its names, the resolver its parameters, the evaluator its kernel, and SQL stores its
/// result type and its SQL. A new function is one more entry of `builtIn`.
///
/// The names and meanings of Apple's functions are those of `NSExpression(forFunction:arguments:)`
/// (https://developer.apple.com/documentation/foundation/nsexpression).
public final class Function: Sendable {
  /// The name in archives and in `NSExpression(forFunction:arguments:)`, one colon for each parameter: `add:to:`.
  public let selector: String
  /// The name before the parentheses in a format, for a function of two operands: `add`. A function of one operand is
  /// called by its selector without the colon.
  public let shortName: String?
  /// The class in `CAST(value, 'class')` for casts; nil for functions that are called by name.
  public let castClass: String?
  /// The types of the operands.
  public let parameters: [Parameter]
  /// The computation of the result.
  public let kernel: Kernel
  /// The parameter of each operand: a location is two operands.
  private let operandParameters: [Parameter]
  private let result: ResultType
  /// The SQL expressions by the name of the dialect. `?1` stands for the first operand.
  private let sql: [String: String]

  /// Describes a function.
  ///
  /// `sql` has an expression for each dialect in which one exists that gives exactly the kernel's results, for all
  /// operands of the parameters' types. For other dialects a store calls the kernel through a function of its
  /// connection.
  public init(
    _ selector: String, shortName: String? = nil, castClass: String? = nil, _ parameters: [Parameter],
    gives result: ResultType, sql: [String: String] = [:], _ kernel: Kernel
  ) {
    self.selector = selector
    self.shortName = shortName
    self.castClass = castClass
    self.parameters = parameters
    operandParameters = parameters.flatMap { if case .location = $0 { [$0, $0] } else { [$0] } }
    self.kernel = kernel
    self.result = result
    self.sql = sql
  }

  /// The required type of an operand. For any other operand the function gives null.
  public enum Parameter: Sendable {
    /// A number, a truth value as 1 or 0, or a date as its seconds.
    case number
    /// A string.
    case text
    /// Any value.
    case any
    /// Two numbers of degrees: the latitude and the longitude of a location.
    case location
    /// Any number of values or objects.
    case collection
    /// The index of an element.
    case index
  }

  /// The computation of a function's result.
  public enum Kernel: Sendable {
    /// From the values of the operands. The same values always give the same result. A location is two operands.
    case values(@Sendable ([Value]) -> Value)
    /// From the values of the operands. The result may differ each time. Fetches refuse such functions.
    case random(@Sendable ([Value]) -> Value)
    /// From the values of a collection.
    case collection(@Sendable ([Value]) -> Value)
    /// From the values of a collection or of a group of objects, one after another.
    case aggregate(Aggregate)
    /// The time of the evaluation.
    case now
    /// The operand, unchanged.
    case operand
    /// Each element of a collection once.
    case distinct
    /// The element of a collection at an index.
    case element
  }

  /// The result of a function of values. Null for the wrong number of operands, for operands of other types than the
  /// parameters have, and for functions with another kind of kernel.
  public func evaluate(_ operands: [Value]) -> Value {
    guard operands.count == operandParameters.count, zip(operandParameters, operands).allSatisfy({ $0.accepts($1) })
    else { return .null }
    return switch kernel {
    case .values(let evaluate), .random(let evaluate): evaluate(operands)
    case .collection, .aggregate, .now, .operand, .distinct, .element: .null
    }
  }

  /// Whether a location is among the parameters.
  public var takesLocations: Bool {
    parameters.contains { if case .location = $0 { true } else { false } }
  }
}

extension Function: Hashable {
  public static func == (a: Function, b: Function) -> Bool { a.selector == b.selector }
  public func hash(into hasher: inout Hasher) { hasher.combine(selector) }
}

extension Function.Parameter {
  fileprivate func accepts(_ value: Value) -> Bool {
    switch self {
    case .number, .location: Number(value) != nil
    case .text: if case .string = value { true } else { false }
    case .any, .collection, .index: true
    }
  }

  fileprivate func accepts(_ type: ValueType) -> Bool {
    switch self {
    case .number, .location: type.isNumeric
    case .text: type == .text
    case .any, .collection, .index: true
    }
  }
}

// MARK: Translation by stores

extension Function {
  /// The type of the result, as far as the types of the operands determine it.
  public struct ResultType: Sendable {
    fileprivate let type: @Sendable ([ValueType]) -> ValueType?

    /// A type that depends on those of the operands; nil where it depends on their values.
    public init(_ type: @escaping @Sendable ([ValueType]) -> ValueType?) { self.type = type }

    /// The same type for all operands.
    public static func always(_ type: ValueType) -> ResultType { ResultType { _ in type } }

    /// A number. It may be a decimal if an operand may be one.
    public static let number = ResultType { $0.contains(where: \.hasDecimals) ? .decimalOrDouble : .number }
  }

  /// The type of the result over operands of these types: ``ValueType/null`` where it is always null, nil where it
  /// depends on the values.
  public func type(of operands: [ValueType]) -> ValueType? {
    guard operands.count == operandParameters.count, zip(operandParameters, operands).allSatisfy({ $0.accepts($1) })
    else { return .null }
    return result.type(operands)
  }

  /// The expression in a dialect of SQL, in which `?1` stands for the first operand; nil where the kernel must be
  /// called.
  public func sql(_ dialect: String) -> String? { sql[dialect] }
}
