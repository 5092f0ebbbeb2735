import Foundation
import StoreSchema

/// Attribute values as text.
enum XMLValue {
  /// The name of a slot's type in a document.
  static func typeName(_ kind: SlotKind) -> String {
    switch kind {
    case .int16: "int16"
    case .int32: "int32"
    case .int64, .reference, .referenceEntity: "int64"
    case .bool: "bool"
    case .double: "double"
    case .float: "float"
    case .date: "date"
    case .decimal: "decimal"
    case .string: "string"
    case .uri: "uri"
    case .uuid: "uuid"
    case .data, .transformable, .externalData: "binary"
    }
  }

  /// Nil for what cannot be a value of its kind.
  static func parse(_ content: [UInt8], _ kind: SlotKind) -> Value? {
    switch kind {
    case .string: return .string(XMLText.unescaped(content))
    case .uri: return .uri(XMLText.unescaped(content))
    case .data, .transformable: return data(content).map(Value.data)
    case .externalData: return data(content).map { .data(Data([1]) + $0) }
    default: break
    }
    let text = String(decoding: content, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    switch kind {
    case .int16: return Int16(text).map { .int(Int64($0)) }
    case .int32: return Int32(text).map { .int(Int64($0)) }
    case .int64: return Int64(text).map(Value.int)
    case .bool: return text == "1" || text == "true" ? .bool(true) : text == "0" || text == "false" ? .bool(false) : nil
    case .double: return Double(text).flatMap { $0.isNaN ? nil : .double($0) }
    case .float: return Float(text).flatMap { $0.isNaN ? nil : .double(Double($0)) }
    case .date: return Double(text).flatMap { $0.isNaN ? nil : .date($0) }
    case .decimal: return Array(text.utf8).withUnsafeBytes { DecimalText.parse($0) }.map(Value.decimal)
    case .uuid: return UUID(uuidString: text).map(Value.uuid)
    default: return nil
    }
  }

  private static func data(_ content: [UInt8]) -> Data? {
    if content.allSatisfy({ $0 == 10 || $0 == 13 || $0 == 32 || $0 == 9 }) { return Data() }
    return Data(base64Encoded: Data(content), options: .ignoreUnknownCharacters)
  }

  /// Appends the text of a slot that is not null.
  static func append(_ row: Row, _ slot: Int, _ kind: SlotKind, to output: inout [UInt8]) {
    switch kind {
    case .int16, .int32, .int64, .reference, .referenceEntity: output += "\(row.int(slot))".utf8
    case .bool: output.append(row.int(slot) == 0 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
    case .double: output += "\(row.double(slot))".utf8
    case .float: output += "\(Float(row.double(slot)))".utf8
    case .date: output += date(row.double(slot)).utf8
    case .decimal: row.withBytes(slot) { output += $0 }
    case .string, .uri: row.withBytes(slot) { XMLText.append(escaping: $0, to: &output) }
    case .uuid: output += row.uuid(slot).uuidString.utf8
    case .data, .transformable: append(base64: row.data(slot), to: &output)
    case .externalData: append(base64: row.data(slot).dropFirst(), to: &output)
    }
  }

  /// Twenty digits behind the point, as the format has it; more where those are not enough to read the same value back.
  private static func date(_ seconds: Double) -> String {
    let text = String(format: "%.20f", seconds)
    return Double(text) == seconds ? text : "\(seconds)"
  }

  /// The first 76 characters, a line's end, the rest on one line, a line's end, as the format has it.
  private static func append(base64 data: Data, to output: inout [UInt8]) {
    let text = data.base64EncodedString().utf8
    output += text.prefix(76)
    output.append(10)
    if text.count > 76 {
      output += text.dropFirst(76)
      output.append(10)
    }
  }
}
