import Foundation

/// A JSON value. Whole numbers that fit are integers.
enum JSONValue: Decodable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let x = try? value.decode(Bool.self) {
      self = .bool(x)
    } else if let x = try? value.decode(Int64.self) {
      self = .integer(x)
    } else if let x = try? value.decode(Double.self) {
      self = .double(x)
    } else if let x = try? value.decode(String.self) {
      self = .string(x)
    } else if let x = try? value.decode([JSONValue].self) {
      self = .array(x)
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

  var string: String? {
    if case .string(let x) = self { return x }
    return nil
  }

  var array: [JSONValue]? {
    if case .array(let x) = self { return x }
    return nil
  }

  var object: [String: JSONValue]? {
    if case .object(let x) = self { return x }
    return nil
  }
}
