import StoreSchema

/// A function of the predicate language: everything that is known of it.
///
/// The parser and the printer take its names from here, the resolver its parameters, the evaluator its kernel, and SQL
/// stores its result type and its text. A new function is one more entry of ``builtIn``.
///
/// The names and meanings of Apple's functions are those of `NSExpression(forFunction:arguments:)`
/// (https://developer.apple.com/documentation/foundation/nsexpression).
public final class Function: Sendable {
  /// The name in archives and in `NSExpression(forFunction:arguments:)`, one colon for each parameter: `add:to:`.
  public let selector: String
  /// The name before the parentheses in a format, for a function of two operands: `add`. Functions of one operand are
  /// called by their selector without the colon.
  public let shortName: String?
  /// The class in `CAST(value, 'class')`, for the functions that casts are; nil for those that are called by name.
  public let castClass: String?
  /// What the function takes.
  public let parameters: [Parameter]
  /// How its value is made.
  public let kernel: Kernel
  private let result: ResultType
  /// Texts of SQL by the name of the dialect, in which `?1` stands for the first operand.
  private let sql: [String: String]

  /// Describes a function.
  ///
  /// `sql` gives an expression for each dialect that has one which means exactly the same for every operand of the
  /// parameters' types. Without it, a store calls the kernel through a function of its connection.
  public init(
    _ selector: String, shortName: String? = nil, castClass: String? = nil, _ parameters: [Parameter],
    gives result: ResultType, sql: [String: String] = [:], _ kernel: Kernel
  ) {
    self.selector = selector
    self.shortName = shortName
    self.castClass = castClass
    self.parameters = parameters
    self.kernel = kernel
    self.result = result
    self.sql = sql
  }

  /// What an operand has to be. For another one the function gives null.
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

  /// How a function makes its value.
  public enum Kernel: Sendable {
    /// Of the values of its operands, always the same for the same values. A location is two operands.
    case values(@Sendable ([Value]) -> Value)
    /// Of the values of its operands, maybe another one each time. Fetches refuse it.
    case random(@Sendable ([Value]) -> Value)
    /// Of the values of a collection.
    case collection(@Sendable ([Value]) -> Value)
    /// Of the values of a collection or of a group of objects, one after another.
    case aggregate(Aggregate)
    /// The time of the evaluation.
    case now
    /// The operand as it is.
    case operand
    /// Each element of a collection once.
    case distinct
    /// The element of a collection at an index.
    case element
  }

  /// The value of a function of values. Null for another number of operands than it takes, and for functions whose
  /// kernel is not one of values.
  public func evaluate(_ operands: [Value]) -> Value {
    guard operands.count == operandCount else { return .null }
    return switch kernel {
    case .values(let evaluate), .random(let evaluate): evaluate(operands)
    case .collection, .aggregate, .now, .operand, .distinct, .element: .null
    }
  }

  private var operandCount: Int { parameters.reduce(0) { $0 + $1.operandCount } }
}

extension Function: Hashable {
  public static func == (a: Function, b: Function) -> Bool { a.selector == b.selector }
  public func hash(into hasher: inout Hasher) { hasher.combine(selector) }
}

extension Function.Parameter {
  fileprivate var operandCount: Int { if case .location = self { 2 } else { 1 } }

  fileprivate func accepts(_ type: ValueType) -> Bool {
    switch self {
    case .number, .location: type.isNumeric
    case .text: type == .text
    case .any, .collection, .index: true
    }
  }
}

// MARK: For stores that translate functions

extension Function {
  /// The type of the result, as far as it follows from the types of the operands.
  public struct ResultType: Sendable {
    fileprivate let type: @Sendable ([ValueType]) -> ValueType?

    /// A type that follows from those of the operands; nil where it depends on their values.
    public init(_ type: @escaping @Sendable ([ValueType]) -> ValueType?) { self.type = type }

    /// The same type for all operands.
    public static func always(_ type: ValueType) -> ResultType { ResultType { _ in type } }

    /// A number, which may be a decimal where an operand may be.
    public static let number = ResultType { $0.contains(where: \.hasDecimals) ? .decimalOrDouble : .number }
  }

  /// The type of the result over operands of these types: ``ValueType/null`` where it is always null, nil where it
  /// depends on the values.
  public func type(of operands: [ValueType]) -> ValueType? {
    var rest = operands[...]
    for parameter in parameters {
      let own = rest.prefix(parameter.operandCount)
      guard own.count == parameter.operandCount, own.allSatisfy(parameter.accepts) else { return .null }
      rest = rest.dropFirst(parameter.operandCount)
    }
    return rest.isEmpty ? result.type(operands) : .null
  }

  /// The expression in a dialect of SQL, in which `?1` stands for the first operand; nil where the kernel has to be
  /// called.
  public func sql(_ dialect: String) -> String? { sql[dialect] }
}
