import Foundation
import StoreSchema

/// Arithmetic over values. Every result is a finite number, a date, or null.
///
/// - Truth values count as 0 and 1.
/// - Two integers give an integer, or a double where 64 bits do not suffice. Integer division drops the fraction [K];
///   the remainder has the sign of the dividend.
/// - A decimal with any number gives a decimal, exact to 38 digits, or a double outside of 1e±40. Other numbers give a
///   double.
/// - A date with a number of seconds added or subtracted is a date. Elsewhere a date counts as its seconds since
///   2001-01-01T00:00:00Z.
/// - The result is null for a null operand, an operand that is not a number, division by zero of any kind, and infinite
///   results.
public enum ArithmeticKernel {
  /// The operations of two operands.
  public enum Operation: Hashable, Sendable, CaseIterable {
    /// The sum.
    case add
    /// The first operand minus the second.
    case subtract
    /// The product.
    case multiply
    /// The first operand divided by the second.
    case divide
    /// The remainder of the first operand divided by the second.
    case modulus
    /// The first operand to the power of the second.
    case power
    /// The bits that are set in both integers.
    case bitwiseAnd
    /// The bits that are set in either integer.
    case bitwiseOr
    /// The bits that are set in exactly one of the integers.
    case bitwiseXor
    /// The first integer shifted left by the number of bits in the second.
    case shiftLeft
    /// The first integer shifted right by the number of bits in the second.
    case shiftRight
  }

  /// The result of an operation. Operations on bits accept only integers and return null for other operands.
  public static func evaluate(_ operation: Operation, _ left: Value, _ right: Value) -> Value {
    guard let a = Number(left), let b = Number(right) else { return .null }
    guard left.isDate || right.isDate else { return evaluate(operation, a, b) }
    let result = evaluate(operation, a.double, b.double)
    guard givesDate(operation, left, right), case .double(let seconds) = result else { return result }
    return .date(seconds)
  }

  /// The value with its sign reversed: unary minus.
  public static func negate(_ value: Value) -> Value {
    if case .decimal(let number) = value, !number.isNaN { return .decimal(-number) }
    return evaluate(.subtract, .int(0), value)
  }

  /// The integer with all bits inverted; null for a value that is not an integer.
  public static func complement(_ value: Value) -> Value {
    if case .int(let value)? = Number(value) { .int(~value) } else { .null }
  }

  private static func evaluate(_ operation: Operation, _ a: Number, _ b: Number) -> Value {
    if case .int(let x) = a, case .int(let y) = b, let result = IntegerArithmetic.evaluate(operation, x, y) {
      return result
    }
    if let x = a.decimal, let y = b.decimal, a.isDecimal || b.isDecimal,
      let result = DecimalArithmetic.evaluate(operation, x, y)
    {
      return result
    }
    return evaluate(operation, a.double, b.double)
  }

  private static func evaluate(_ operation: Operation, _ x: Double, _ y: Double) -> Value {
    let result: Double? =
      switch operation {
      case .add: x + y
      case .subtract: x - y
      case .multiply: x * y
      case .divide: x / y
      case .modulus: fmod(x, y)
      case .power: pow(x, y)
      default: nil
      }
    guard let result, result.isFinite else { return .null }
    return .double(result)
  }

  /// The type of the result over numeric operands: a decimal where there is an exact one, a double elsewhere. Nil where
  /// it depends on the values.
  static func type(_ operation: Operation, _ left: ValueType, _ right: ValueType) -> ValueType? {
    let hasDecimals = left.hasDecimals || right.hasDecimals
    if hasDecimals && (operation == .power || operation == .modulus) { return nil }
    let (a, b) = (left == .date, right == .date)
    if operation == .add && a != b || operation == .subtract && a && !b { return .date }
    return !a && !b && hasDecimals ? .decimalOrDouble : .number
  }

  private static func givesDate(_ operation: Operation, _ left: Value, _ right: Value) -> Bool {
    switch operation {
    case .add: left.isDate != right.isDate
    case .subtract: left.isDate && !right.isDate
    default: false
    }
  }
}

extension Value {
  fileprivate var isDate: Bool { if case .date = self { true } else { false } }
}

extension Number {
  var isDecimal: Bool { if case .decimal = self { true } else { false } }

  var double: Double {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    case .decimal(let value): Double("\(value)") ?? .nan
    }
  }

  /// The number as a decimal; nil outside of 1e±40. Foundation's operators stop the process when the exponent of a
  /// result overflows, which operands within that range cannot cause.
  var decimal: Decimal? {
    let decimal: Decimal? =
      switch self {
      case .int(let value): Decimal(value)
      case .double(let value): NumericComparison.decimal(value)
      case .decimal(let value): value
      }
    guard let decimal, !decimal.isNaN, (-40...40).contains(decimal.exponent) else { return nil }
    return decimal
  }
}
