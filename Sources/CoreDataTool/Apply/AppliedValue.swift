import CoreData
import Foundation
import StoreSchema

/// Converts values of an operations file to values of attributes.
enum AppliedValue {
  /// Nil for null. Throws where the value does not have the attribute's type.
  static func value(_ value: JSONValue, for attribute: NSAttributeDescription) throws -> Any? {
    if case .null = value { return nil }
    if let composite = attribute as? NSCompositeAttributeDescription { return try self.composite(value, composite) }
    guard let result = plain(value, attribute.attributeType) else {
      throw ToolError(
        message: "The value of \(attribute.name) is not of its type; values are written as in `store dump`.")
    }
    return result
  }

  private static func composite(_ value: JSONValue, _ composite: NSCompositeAttributeDescription) throws -> Any? {
    guard let fields = value.object else { throw ToolError(message: "\(composite.name) must be a JSON object.") }
    var result: [String: Any] = [:]
    for (name, field) in fields {
      guard let element = composite.elements.first(where: { $0.name == name }) else {
        throw ToolError(message: "The composite attribute \(composite.name) has no element \(name).")
      }
      result[name] = try self.value(field, for: element)
    }
    return result
  }

  private static func plain(_ value: JSONValue, _ type: NSAttributeType) -> Any? {
    switch type {
    case .integer16AttributeType: integer(value).flatMap { Int16(exactly: $0) }
    case .integer32AttributeType: integer(value).flatMap { Int32(exactly: $0) }
    case .integer64AttributeType: integer(value)
    case .booleanAttributeType: if case .bool(let x) = value { x } else { nil as Bool? }
    case .doubleAttributeType: double(value)
    case .floatAttributeType: double(value).map { Float($0) }
    case .dateAttributeType: tag("$date", value).flatMap(double).map { Date(timeIntervalSinceReferenceDate: $0) }
    case .decimalAttributeType: decimal(value)
    case .stringAttributeType: value.string
    case .URIAttributeType: tag("$url", value)?.string.flatMap { URL(string: $0) }
    case .UUIDAttributeType: tag("$uuid", value)?.string.flatMap { UUID(uuidString: $0) }
    case .binaryDataAttributeType: tag("$data", value)?.string.flatMap { Data(base64Encoded: $0) }
    case .transformableAttributeType: tag("$transformable", value)?.string.flatMap { Data(base64Encoded: $0) }
    default: nil
    }
  }

  private static func tag(_ name: String, _ value: JSONValue) -> JSONValue? {
    guard let fields = value.object, fields.count == 1 else { return nil }
    return fields[name]
  }

  private static func integer(_ value: JSONValue) -> Int64? {
    if case .integer(let x) = value { return x }
    return nil
  }

  private static func double(_ value: JSONValue) -> Double? {
    switch value {
    case .integer(let x): Double(x)
    case .double(let x): x
    default:
      switch tag("$double", value)?.string {
      case "inf": Double.infinity
      case "-inf": -Double.infinity
      default: nil
      }
    }
  }

  private static func decimal(_ value: JSONValue) -> NSDecimalNumber? {
    let number = tag("$decimal", value)?.string.flatMap { DecimalText.parse($0) } ?? integer(value).map { Decimal($0) }
    return number.map { NSDecimalNumber(decimal: $0) }
  }
}
