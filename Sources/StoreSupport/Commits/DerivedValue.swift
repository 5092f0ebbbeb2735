import Foundation
import StoreSchema

/// Converts a value to a derived attribute's type.
/// - Numbers and dates are converted to each other.
/// - A fraction is dropped where the type has none.
/// - A value that does not fit the type becomes nil.
public enum DerivedValue {
  /// Whether values of a kind can become values of another at all.
  public static func converts(_ source: SlotKind, to target: SlotKind) -> Bool {
    source == target || (source == .bool || source.isNumeric) && target.isNumeric
  }

  /// The value as one of the target's kind; null where it does not fit.
  public static func convert(_ value: Value, to target: SlotKind) -> Value {
    switch target {
    case .int16: integer(value, Int64(Int16.min)...Int64(Int16.max))
    case .int32: integer(value, Int64(Int32.min)...Int64(Int32.max))
    case .int64: integer(value, Int64.min...Int64.max)
    case .double: number(value).map(Value.double) ?? .null
    case .float: number(value).flatMap { Float($0).isFinite ? .double($0) : nil } ?? .null
    case .date: number(value).map(Value.date) ?? .null
    case .decimal: decimal(value)
    default: value
    }
  }

  private static func integer(_ value: Value, _ range: ClosedRange<Int64>) -> Value {
    switch value {
    case .int(let number): return range.contains(number) ? value : .null
    case .bool(let isTrue): return .int(isTrue ? 1 : 0)
    default:
      guard let number = number(value), number >= Double(range.lowerBound), number <= Double(range.upperBound),
        let whole = Int64(exactly: number.rounded(.towardZero))
      else { return .null }
      return .int(whole)
    }
  }

  private static func number(_ value: Value) -> Double? {
    let number: Double? =
      switch value {
      case .bool(let isTrue): isTrue ? 1 : 0
      case .int(let whole): Double(whole)
      case .double(let number), .date(let number): number
      case .decimal(let decimal): Double(DecimalText.format(decimal))
      default: nil
      }
    return number.flatMap { $0.isFinite ? $0 : nil }
  }

  /// A double is exact to 15 digits, so a decimal made of it gets 15 digits.
  private static func decimal(_ value: Value) -> Value {
    switch value {
    case .decimal: return value
    case .int(let whole): return .decimal(Decimal(whole))
    default:
      guard let number = number(value) else { return .null }
      return DecimalText.parse(String(format: "%.15g", number)).map(Value.decimal) ?? .null
    }
  }
}

extension SlotKind {
  /// Whether values of the kind are numbers or dates.
  public var isNumeric: Bool {
    switch self {
    case .int16, .int32, .int64, .double, .float, .date, .decimal: true
    default: false
    }
  }
}
