import Foundation
import StoreSchema

/// Arithmetic and functions of one number.
///
/// The result is null for null, for an operand of another type than the function takes, and where it would be infinite
/// or not a number. Truth values count as 0 and 1 and dates as their seconds, as in ``ArithmeticKernel``.
extension Function {
  /// The sum, the difference and the other operations on two numbers.
  static let arithmetic = [
    arithmetic("add:to:", "add", .add), arithmetic("from:subtract:", nil, .subtract),
    arithmetic("multiply:by:", "multiply", .multiply), arithmetic("divide:by:", "divide", .divide),
    arithmetic("modulus:by:", "modulus", .modulus), arithmetic("raise:toPower:", nil, .power),
    arithmetic("bitwiseAnd:with:", "bitwiseAnd", .bitwiseAnd),
    arithmetic("bitwiseOr:with:", "bitwiseOr", .bitwiseOr),
    arithmetic("bitwiseXor:with:", "bitwiseXor", .bitwiseXor),
    arithmetic("leftshift:by:", "leftshift", .shiftLeft), arithmetic("rightshift:by:", "rightshift", .shiftRight),
  ]

  private static func arithmetic(
    _ selector: String, _ shortName: String?, _ operation: ArithmeticKernel.Operation
  ) -> Function {
    Function(
      selector, shortName: shortName, [.number, .number],
      gives: ResultType { ArithmeticKernel.type(operation, $0[0], $0[1]) },
      .values { ArithmeticKernel.evaluate(operation, $0[0], $0[1]) })
  }

  /// Functions of one number. Integers and decimals keep their type where the result is whole; roots, logarithms and
  /// exponentials are doubles.
  static let numbers = [
    // The number with its sign reversed.
    number("negate:", ArithmeticKernel.negate),
    // The integer with all bits inverted.
    number("onesComplement:", ArithmeticKernel.complement),
    number("abs:", absolute),
    number("ceiling:") { rounded($0, .up) },
    number("floor:") { rounded($0, .down) },
    number("trunc:") { rounded($0, .towardZero) },
    real("sqrt:") { $0.squareRoot() },
    // To the base 10.
    real("log:") { log10($0) },
    // To the base e.
    real("ln:") { log($0) },
    real("exp:") { exp($0) },
  ]

  private static func number(_ selector: String, _ kernel: @escaping @Sendable (Value) -> Value) -> Function {
    Function(selector, [.number], gives: .number, .values { kernel($0[0]) })
  }

  private static func real(_ selector: String, _ kernel: @escaping @Sendable (Double) -> Double) -> Function {
    Function(
      selector, [.number], gives: .always(.real),
      .values { operands in Number(operands[0]).map { finite(kernel($0.double)) } ?? .null })
  }

  private static func absolute(_ operand: Value) -> Value {
    guard let number = Number(operand), !number.isNaN else { return .null }
    switch number {
    case .int(let value): return value < 0 ? ArithmeticKernel.negate(.int(value)) : .int(value)
    case .double(let value): return finite(abs(value))
    case .decimal(let value): return .decimal(value.magnitude)
    }
  }

  private static func rounded(_ operand: Value, _ rule: FloatingPointRoundingRule) -> Value {
    guard let number = Number(operand), !number.isNaN else { return .null }
    switch number {
    case .int(let value): return .int(value)
    case .double(let value): return finite(value.rounded(rule))
    case .decimal(var value):
      var result = Decimal()
      let mode: NSDecimalNumber.RoundingMode =
        switch rule {
        case .up: .up
        case .down: .down
        default: value < 0 ? .up : .down
        }
      NSDecimalRound(&result, &value, 0, mode)
      return .decimal(result)
    }
  }

  private static func finite(_ value: Double) -> Value { value.isFinite ? .double(value) : .null }
}
