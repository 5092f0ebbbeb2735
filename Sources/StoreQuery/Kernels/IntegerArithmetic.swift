import Foundation
import StoreSchema

/// Arithmetic over 64-bit integers; nil where the result must be computed over doubles.
enum IntegerArithmetic {
  static func evaluate(_ operation: ArithmeticKernel.Operation, _ x: Int64, _ y: Int64) -> Value? {
    switch operation {
    case .add: checked(x.addingReportingOverflow(y))
    case .subtract: checked(x.subtractingReportingOverflow(y))
    case .multiply: checked(x.multipliedReportingOverflow(by: y))
    case .divide: y == 0 ? .null : checked(x.dividedReportingOverflow(by: y))
    case .modulus: y == 0 ? .null : .int(y == -1 ? 0 : x % y)
    case .power: power(x, y)
    case .bitwiseAnd: .int(x & y)
    case .bitwiseOr: .int(x | y)
    case .bitwiseXor: .int(x ^ y)
    // Shifting by more than the width gives 0 or -1; a negative number shifts the other way.
    case .shiftLeft: .int(x << y)
    case .shiftRight: .int(x >> y)
    }
  }

  private static func checked(_ result: (partialValue: Int64, overflow: Bool)) -> Value? {
    result.overflow ? nil : .int(result.partialValue)
  }

  /// Computed by squaring. Negative exponents and overflow are left to doubles.
  private static func power(_ base: Int64, _ exponent: Int64) -> Value? {
    guard exponent >= 0 else { return nil }
    var (result, factor, rest) = (Int64(1), base, exponent)
    while rest > 0 {
      if rest & 1 == 1 {
        let product = result.multipliedReportingOverflow(by: factor)
        if product.overflow { return nil }
        result = product.partialValue
      }
      rest >>= 1
      guard rest > 0 else { break }
      let square = factor.multipliedReportingOverflow(by: factor)
      if square.overflow { return nil }
      factor = square.partialValue
    }
    return .int(result)
  }
}

/// Arithmetic over decimals with exponents within ±40; nil where the result must be computed over doubles.
enum DecimalArithmetic {
  static func evaluate(_ operation: ArithmeticKernel.Operation, _ x: Decimal, _ y: Decimal) -> Value? {
    switch operation {
    case .add: .decimal(x + y)
    case .subtract: .decimal(x - y)
    case .multiply: .decimal(x * y)
    case .divide: y.isZero ? .null : .decimal(x / y)
    case .modulus: y.isZero ? .null : remainder(x, y)
    case .power: power(x, y)
    default: .null
    }
  }

  private static func remainder(_ x: Decimal, _ y: Decimal) -> Value? {
    var quotient = x / y
    // A quotient of more than 38 digits has lost digits that the remainder depends on.
    guard quotient.exponent <= 0 else { return nil }
    var whole = Decimal()
    NSDecimalRound(&whole, &quotient, 0, quotient < 0 ? .up : .down)
    let rest = x - whole * y
    // The quotient may have been rounded up to the next whole number.
    guard !rest.isZero, (rest < 0) != (x < 0) else { return .decimal(rest) }
    return .decimal((y < 0) == (x < 0) ? rest + y : rest - y)
  }

  /// Whole exponents up to 64 while the result stays in range; all others are left to doubles.
  private static func power(_ base: Decimal, _ exponent: Decimal) -> Value? {
    guard let count = Int("\(exponent)"), (0...64).contains(count) else { return nil }
    var result = Decimal(1)
    for _ in 0..<count {
      result *= base
      guard (-40...40).contains(result.exponent) else { return nil }
    }
    return .decimal(result)
  }
}
