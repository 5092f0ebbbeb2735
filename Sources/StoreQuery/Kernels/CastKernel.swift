import Foundation
import StoreSchema

/// What `CAST(value, 'ClassName')` means over values.
///
/// A date and its seconds since 2001-01-01T00:00:00Z become each other, and numbers, UUIDs and URLs become texts and
/// are read from them. What has no form of the class is null, as null itself is.
public enum CastKernel {
  /// The date of a number of seconds, or of a text that spells it.
  public static func date(_ value: Value) -> Value { finiteNumber(value).map { .date($0.double) } ?? .null }

  /// The decimal number of a number, a date or a text.
  public static func decimal(_ value: Value) -> Value {
    finiteNumber(value).flatMap(\.exactDecimal).map(Value.decimal) ?? .null
  }

  /// The text of a number, a UUID or a URL.
  public static func string(_ value: Value) -> Value { text(value).map(Value.string) ?? .null }

  /// The URL of a text.
  public static func url(_ value: Value) -> Value { value.text.map(Value.uri) ?? .null }

  /// Bytes, of bytes alone.
  public static func data(_ value: Value) -> Value { if case .data = value { value } else { .null } }

  /// The seconds of a date, the number that a text spells, and numbers as they are.
  public static func number(_ value: Value) -> Value {
    switch value {
    case .date(let seconds): .double(seconds)
    case .string(let text): read(text)
    case .bool, .int, .double, .decimal: value
    default: .null
    }
  }

  private static func finiteNumber(_ value: Value) -> Number? { Number(number(value)).flatMap { $0.isNaN ? nil : $0 } }

  private static func read(_ text: String) -> Value {
    if let whole = Int64(text) { return .int(whole) }
    // Only what is written in digits: not "nan", "inf" or hexadecimal.
    guard !text.isEmpty, text.utf8.allSatisfy("0123456789+-.eE".utf8.contains), let number = Double(text),
      number.isFinite
    else { return .null }
    return .double(number)
  }

  private static func text(_ value: Value) -> String? {
    switch value {
    case .string(let text), .uri(let text): text
    case .bool(let value): value ? "1" : "0"
    case .int(let value): "\(value)"
    case .double(let value): value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    case .decimal(let value): DecimalText.format(value)
    case .uuid(let value): value.uuidString
    case .null, .date, .data, .reference: nil
    }
  }

  /// The UUID that a text spells.
  public static func uuid(_ value: Value) -> Value {
    switch value {
    case .uuid: value
    case .string(let text): UUID(uuidString: text).map(Value.uuid) ?? .null
    default: .null
    }
  }
}

extension Number {
  fileprivate var exactDecimal: Decimal? {
    switch self {
    case .int(let value): Decimal(value)
    case .double(let value): NumericComparison.decimal(value)
    case .decimal(let value): value
    }
  }
}
