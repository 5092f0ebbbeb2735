import Foundation
import StoreSchema

/// Values that source models write as text.
enum SourceValue {
  /// The value of `text` for an attribute of the given type.
  ///
  /// Null if the type has no textual form, or if the text is not a value of the type: Xcode accepts any text in the
  /// field, and compiles projects with invalid ones. Numbers out of the type's range are no values of it.
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
    case .integer16: integer(text).flatMap { Int16(exactly: $0) == nil ? nil : .int($0) }
    case .integer32: integer(text).flatMap { Int32(exactly: $0) == nil ? nil : .int($0) }
    case .integer64: integer(text).map(Value.int)
    case .double: Double(text).flatMap { $0.isFinite ? .double($0) : nil }
    case .float: Double(text).flatMap { Float($0).isFinite ? .double($0) : nil }
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

  /// A whole number, also one that is written as `1.0` or `1e18`.
  private static func integer(_ text: String) -> Int64? {
    if let number = Int64(text) { return number }
    guard let number = decimal(text) else { return nil }
    let text = "\(number)"
    return Int64(text)
  }

  /// Checks the text first, because `Decimal(string:)` reads as much as it knows: `.` as zero, and `1x` as one. It
  /// also reads numbers that a decimal cannot hold: one of 39 digits is rounded, and a very small one is zero.
  private static func decimal(_ text: String) -> Decimal? {
    guard text.utf8.count <= 200,
      let match = text.wholeMatch(of: /[+-]?([0-9]*)\.?([0-9]*)([eE][+-]?[0-9]{1,5})?/)
    else { return nil }
    let digits = (match.1 + match.2).drop { $0 == "0" }
    let zeros = digits.reversed().prefix { $0 == "0" }
    guard !(match.1.isEmpty && match.2.isEmpty), digits.count - zeros.count <= 38,
      let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), number.isFinite,
      number.isZero == digits.isEmpty
    else { return nil }
    return number
  }
}
