import Foundation
import StoreSchema

/// The results of `CAST(value, 'ClassName')` over values.
///
/// A date and its seconds since 2001-01-01T00:00:00Z are converted to each other. Numbers, UUIDs and URLs are converted
/// to text and back. A value without a form of the class, and null, give null.
public enum CastKernel {
  /// The date with a number of seconds, or with the number that a text contains.
  public static func date(_ value: Value) -> Value { finiteNumber(value).map { .date($0.double) } ?? .null }

  /// The decimal number of a number or a date, or the one that a text contains.
  public static func decimal(_ value: Value) -> Value {
    finiteNumber(value).flatMap(\.exactDecimal).map(Value.decimal) ?? .null
  }

  /// The digits of a number, or the text of a UUID or URL.
  public static func string(_ value: Value) -> Value { text(value).map(Value.string) ?? .null }

  /// The URL of a text.
  public static func url(_ value: Value) -> Value { value.text.map(Value.uri) ?? .null }

  /// Bytes; null for every other value.
  public static func data(_ value: Value) -> Value { if case .data = value { value } else { .null } }

  /// A number unchanged, the seconds of a date, or the number that a text contains.
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
    // Only decimal notation, not "nan", "inf" or hexadecimal.
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

  /// The UUID that a text contains.
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
