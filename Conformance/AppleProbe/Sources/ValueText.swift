import CoreData
import Foundation

/// The value of an attribute as a text that gives type and value exactly: `integer -5`, `date 86400.0`, `nil`.
enum ValueText {
  static let none = "nil"

  /// Data above this size is described by its count and its first byte, where the rest follows from them.
  private static let longestPrintedData = 64
  private static let longestData = 100_000_000

  static func text(of value: Any?, _ attribute: NSAttributeDescription) -> String {
    guard let value, !(value is NSNull) else { return none }
    return described(value, attribute) ?? "unexpected \(type(of: value)) \(value)"
  }

  private static func described(_ value: Any, _ attribute: NSAttributeDescription) -> String? {
    switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      return (value as? NSNumber).map { "integer \($0.int64Value)" }
    case .doubleAttributeType: return (value as? NSNumber).map { "double \($0.doubleValue)" }
    case .floatAttributeType: return (value as? NSNumber).map { "float \($0.floatValue)" }
    case .booleanAttributeType: return (value as? NSNumber).map { "boolean \($0.boolValue)" }
    case .decimalAttributeType: return (value as? NSDecimalNumber).map { "decimal \($0.decimalValue)" }
    case .stringAttributeType: return (value as? String).map { "string " + $0 }
    case .dateAttributeType: return (value as? Date).map { "date \($0.timeIntervalSinceReferenceDate)" }
    case .UUIDAttributeType: return (value as? UUID).map { "uuid " + $0.uuidString }
    case .URIAttributeType: return (value as? URL).map { "uri " + $0.absoluteString }
    case .binaryDataAttributeType: return (value as? Data).map(text)
    case .transformableAttributeType: return json(value).map { "transformable " + $0 }
    case .compositeAttributeType: return composite(value, attribute)
    default: return nil
    }
  }

  /// The value that a text stands for.
  static func value(of text: String, _ attribute: NSAttributeDescription) -> Any? {
    guard let space = text.firstIndex(of: " ") else { return nil }
    let rest = String(text[text.index(after: space)...])
    switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      return Int64(rest).map { NSNumber(value: $0) }
    case .doubleAttributeType: return Double(rest).map { NSNumber(value: $0) }
    case .floatAttributeType: return Float(rest).map { NSNumber(value: $0) }
    case .booleanAttributeType: return NSNumber(value: rest == "true")
    case .decimalAttributeType:
      return Decimal(string: rest, locale: Locale(identifier: "en_US_POSIX")).map { NSDecimalNumber(decimal: $0) }
    case .stringAttributeType: return rest
    case .dateAttributeType: return Double(rest).map { Date(timeIntervalSinceReferenceDate: $0) }
    case .UUIDAttributeType: return UUID(uuidString: rest)
    case .URIAttributeType: return URL(string: rest)
    case .binaryDataAttributeType: return data(text)
    case .transformableAttributeType: return try? JSONSerialization.jsonObject(with: Data(rest.utf8))
    case .compositeAttributeType: return elements(rest, attribute)
    default: return nil
    }
  }

  // MARK: Data

  /// Bytes that follow from their count and the first of them.
  static func pattern(_ count: Int, from first: UInt8) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 256 &+ Int(first)) })
  }

  private static func text(of data: Data) -> String {
    if data.count > longestPrintedData, let first = data.first, data == pattern(data.count, from: first) {
      return "bytes \(data.count) from \(first)"
    }
    return "data " + data.base64EncodedString()
  }

  private static func data(_ text: String) -> Data? {
    let words = text.split(separator: " ").map(String.init)
    if words.count == 4, words[0] == "bytes", let count = Int(words[1]), let first = UInt8(words[3]),
      (0...longestData).contains(count)
    {
      return pattern(count, from: first)
    }
    return Data(base64Encoded: words.count == 2 ? words[1] : "")
  }

  // MARK: Values of several parts

  private static func json(_ value: Any) -> String? {
    guard JSONSerialization.isValidJSONObject(value),
      let data = try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
    else { return nil }
    return String(data: data, encoding: .utf8)
  }

  private static func elementsByName(_ attribute: NSAttributeDescription) -> [String: NSAttributeDescription] {
    let elements = (attribute as? NSCompositeAttributeDescription)?.elements ?? []
    return Dictionary(elements.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  private static func composite(_ value: Any, _ attribute: NSAttributeDescription) -> String? {
    guard let parts = value as? [String: Any] else { return nil }
    var texts: [String: String] = [:]
    for (name, element) in elementsByName(attribute) {
      let part = text(of: parts[name], element)
      if part != none { texts[name] = part }
    }
    return json(texts).map { "composite " + $0 }
  }

  private static func elements(_ text: String, _ attribute: NSAttributeDescription) -> [String: Any]? {
    guard let texts = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)) else { return nil }
    let known = elementsByName(attribute)
    var values: [String: Any] = [:]
    for (name, text) in texts { values[name] = known[name].flatMap { value(of: text, $0) } }
    return values
  }
}
