import Foundation
import StoreSchema

/// A value as a number: the form in which the kernels use booleans, integers, doubles, decimals and dates.
enum Number {
  case int(Int64)
  case double(Double)
  case decimal(Decimal)

  /// The number of a value. A truth value is 0 or 1, a date its seconds since 2001-01-01T00:00:00Z.
  init?(_ value: Value) {
    switch value {
    case .bool(let value): self = .int(value ? 1 : 0)
    case .int(let value): self = .int(value)
    case .double(let value), .date(let value): self = .double(value)
    case .decimal(let value): self = .decimal(value)
    default: return nil
    }
  }

  /// Whether it is not a number; such a value has no order and equals nothing.
  var isNaN: Bool {
    switch self {
    case .int: false
    case .double(let value): value.isNaN
    case .decimal(let value): value.isNaN
    }
  }
}

/// The exact order of numbers of any two kinds, without rounding and transitive over all three. Only a double from
/// 1e120 on or below 1e-90 is compared with a decimal as doubles are.
enum NumericComparison {
  /// The order, or nil if either is not a number.
  static func compare(_ a: Number, _ b: Number) -> Ordering? {
    guard !a.isNaN, !b.isNaN else { return nil }
    return switch (a, b) {
    case (.int(let x), .int(let y)): Ordering.of(x, y)
    case (.double(let x), .double(let y)): Ordering.of(x, y)
    case (.decimal(let x), .decimal(let y)): Ordering.of(x, y)
    case (.int(let x), .double(let y)): compare(x, y)
    case (.double(let x), .int(let y)): compare(y, x).reversed
    case (.int(let x), .decimal(let y)): Ordering.of(Decimal(x), y)
    case (.decimal(let x), .int(let y)): Ordering.of(x, Decimal(y))
    case (.double(let x), .decimal(let y)): compare(x, y)
    case (.decimal(let x), .double(let y)): compare(y, x).reversed
    }
  }

  private static func compare(_ a: Int64, _ b: Double) -> Ordering {
    if b >= 0x1p63 { return .ascending }
    if b < -0x1p63 { return .descending }
    let whole = b.rounded(.towardZero)
    let order = Ordering.of(a, Int64(whole))
    return order == .same ? Ordering.of(whole, b) : order
  }

  /// A double counts as the decimal of its shortest text, such as 0.1. A whole double counts as the exact integer.
  private static func compare(_ a: Double, _ b: Decimal) -> Ordering {
    if let exact = decimal(a) { return Ordering.of(exact, b) }
    return Ordering.of(a, Double("\(b)") ?? 0)
  }

  /// The decimal as which a double counts; nil from 1e120 on and, except for zero, below 1e-90.
  static func decimal(_ value: Double) -> Decimal? {
    let magnitude = abs(value)
    if magnitude >= 0x1p53, magnitude < 1e38 {
      let text = (value < 0 ? "-" : "") + String(UInt128(magnitude))
      return Decimal(string: text)
    }
    guard magnitude < 1e120, magnitude >= 1e-90 || magnitude == 0 else { return nil }
    return Decimal(string: "\(value)")
  }
}
