import Foundation
import StoreSchema

/// Values that source models write as text.
enum SourceValue {
  /// The value of `text` for an attribute of the given type.
  ///
  /// Null if the type has no textual form, or if the text is not valid: Xcode accepts any text in the field, and
  /// compiles projects with invalid ones.
  static func value(_ text: String, type: AttributeTypeName) -> Value {
    switch type {
    case .string: .string(text)
    case .undefined, .date, .binary, .transformable, .objectID, .composite: .null
    // A cleared field is a value for strings only.
    default: text.isEmpty ? .null : parsed(text, type) ?? .null
    }
  }

  /// The text of a value of the given type; nil for null, and for values that have no text. A date is the number of its
  /// seconds.
  static func text(_ value: Value, type: AttributeTypeName) -> String? {
    switch value {
    case .bool(let value): value ? "YES" : "NO"
    case .int(let value): fraction("\(value)", type)
    case .double(let value): fraction(Int64(exactly: value).map { "\($0)" } ?? "\(value)", type)
    case .decimal(let value): fraction("\(value)", type)
    case .date(let seconds): Int64(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
    case .string(let text), .uri(let text): text
    case .uuid(let id): id.uuidString
    case .null, .data, .reference: nil
    }
  }

  /// Xcode writes `0.0` for a whole number where the type has fractions.
  private static func fraction(_ text: String, _ type: AttributeTypeName) -> String {
    let isWhole = text.utf8.allSatisfy { "0123456789-".utf8.contains($0) }
    return isWhole && [.double, .float, .decimal].contains(type) ? text + ".0" : text
  }

  private static func parsed(_ text: String, _ type: AttributeTypeName) -> Value? {
    switch type {
    case .integer16, .integer32, .integer64:
      Int64(text).map(Value.int) ?? Double(text).flatMap { Int64(exactly: $0) }.map(Value.int)
    case .double, .float: Double(text).map(Value.double)
    case .decimal: decimal(text).map(Value.decimal)
    case .boolean: boolean(text).map(Value.bool)
    case .uuid: UUID(uuidString: text).map(Value.uuid)
    case .uri: .uri(text)
    default: nil
    }
  }

  private static func boolean(_ text: String) -> Bool? {
    switch text.uppercased() {
    case "YES", "TRUE", "1": true
    case "NO", "FALSE", "0": false
    default: nil
    }
  }

  /// Checks all characters first, because `Decimal(string:)` stops at the first character that it does not know.
  private static func decimal(_ text: String) -> Decimal? {
    guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
    return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
  }
}
