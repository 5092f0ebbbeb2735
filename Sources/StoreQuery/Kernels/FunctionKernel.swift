import Foundation
import StoreSchema

/// The built-in functions of one operand over values, with Apple's names in `NSExpression(forFunction:arguments:)`.
///
/// The result is null for null, for an operand of another type than the function takes, and where it would be infinite
/// or not a number. Truth values count as 0 and 1 and dates as their seconds, as in ``ArithmeticKernel``.
public enum FunctionKernel {
  /// The functions, by their selectors in the format language.
  public enum Function: String, Hashable, Sendable, CaseIterable {
    /// The number with its sign reversed.
    case negate = "negate:"
    /// The integer with all bits inverted.
    case complement = "onesComplement:"
    /// The absolute value.
    case absolute = "abs:"
    /// The least whole number that is not less than the operand.
    case ceiling = "ceiling:"
    /// The greatest whole number that is not greater than the operand.
    case floor = "floor:"
    /// The number without its fraction.
    case truncate = "trunc:"
    /// The square root.
    case squareRoot = "sqrt:"
    /// The logarithm to the base 10.
    case logarithm = "log:"
    /// The logarithm to the base e.
    case naturalLogarithm = "ln:"
    /// e to the power of the operand.
    case exponential = "exp:"
    /// The text in upper case, independent of the locale.
    case uppercase = "uppercase:"
    /// The text in lower case, independent of the locale.
    case lowercase = "lowercase:"
    /// The text without case and marks, as `[cd]` compares it.
    case canonical = "canonical:"
    /// The number of UTF-16 code units, as `NSString.length`.
    case length = "length:"
  }

  /// The value of a function. Integers and decimals keep their type where the result is whole; roots, logarithms and
  /// exponentials are doubles.
  public static func evaluate(_ function: Function, _ operand: Value) -> Value {
    switch function {
    case .negate: ArithmeticKernel.negate(operand)
    case .complement: ArithmeticKernel.complement(operand)
    case .absolute: absolute(operand)
    case .ceiling: rounded(operand, .up)
    case .floor: rounded(operand, .down)
    case .truncate: rounded(operand, .towardZero)
    case .squareRoot: double(operand) { $0.squareRoot() }
    case .logarithm: double(operand) { log10($0) }
    case .naturalLogarithm: double(operand) { log($0) }
    case .exponential: double(operand) { exp($0) }
    case .uppercase: text(operand) { .string($0.uppercased()) }
    case .lowercase: text(operand) { .string($0.lowercased()) }
    case .canonical: text(operand) { .string(Folding([.caseInsensitive, .diacriticInsensitive]).folded($0)) }
    case .length: text(operand) { .int(Int64($0.utf16.count)) }
    }
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

  private static func double(_ operand: Value, _ body: (Double) -> Double) -> Value {
    Number(operand).map { finite(body($0.double)) } ?? .null
  }

  private static func finite(_ value: Double) -> Value { value.isFinite ? .double(value) : .null }

  private static func text(_ operand: Value, _ body: (String) -> Value) -> Value {
    if case .string(let text) = operand { body(text) } else { .null }
  }
}
