import Foundation
import StoreSchema

/// The results of `CAST(value, 'ClassName')` over values.
///
/// A date and its seconds since 2001-01-01T00:00:00Z are converted to each other. Numbers, UUIDs and URLs are converted
/// to text and back. A value without a form of the class, and null, give null.
public enum CastKernel {
  /// The classes that can be cast to.
  public enum Target: String, Hashable, Sendable, CaseIterable {
    /// A date. A number or text gives the date of that many seconds.
    case date = "NSDate"
    /// A number. A date gives its seconds; a text gives the number that it contains.
    case number = "NSNumber"
    /// A decimal number.
    case decimal = "NSDecimalNumber"
    /// A string: the digits of a number, or the text of a UUID or URL.
    case text = "NSString"
    /// A UUID; a text with a UUID is converted.
    case uuid = "NSUUID"
    /// A URL; a text is converted.
    case url = "NSURL"
    /// Bytes, only from bytes.
    case data = "NSData"
  }

  /// The value in the form of the class; null where there is none.
  public static func evaluate(_ value: Value, as target: Target) -> Value {
    switch target {
    case .date: number(value).map { .date($0.double) } ?? .null
    case .number: Self.number(of: value)
    case .decimal: number(value).flatMap(\.exactDecimal).map(Value.decimal) ?? .null
    case .text: text(value).map(Value.string) ?? .null
    case .uuid: uuid(value)
    case .url: value.text.map(Value.uri) ?? .null
    case .data: if case .data = value { value } else { .null }
    }
  }

  private static func number(of value: Value) -> Value {
    switch value {
    case .date(let seconds): .double(seconds)
    case .string(let text): read(text)
    case .bool, .int, .double, .decimal: value
    default: .null
    }
  }

  private static func number(_ value: Value) -> Number? { Number(number(of: value)).flatMap { $0.isNaN ? nil : $0 } }

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

  private static func uuid(_ value: Value) -> Value {
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
