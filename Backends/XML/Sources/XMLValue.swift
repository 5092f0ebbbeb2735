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

  /// A value that is no number. Nil for what cannot be one of its kind.
  private static func parse(_ content: UnsafeRawBufferPointer, _ kind: SlotKind) -> Value? {
    switch kind {
    case .string: .string(XMLText.unescaped(content))
    case .uri: .uri(XMLText.unescaped(content))
    case .data, .transformable: XMLBinary.data(content).map(Value.data)
    case .externalData: XMLBinary.data(content).map { .data(Data([1]) + $0) }
    case .bool: bool(String(decoding: XMLNumber.trimmed(content), as: UTF8.self))
    case .float: float(String(decoding: XMLNumber.trimmed(content), as: UTF8.self))
    case .decimal: DecimalText.parse(XMLNumber.trimmed(content)).map(Value.decimal)
    case .uuid: XMLBinary.uuid(content).map(Value.uuid)
    case .int16, .int32, .int64, .double, .date, .reference, .referenceEntity: nil
    }
  }

  /// Puts the value that a text stands for in its slot. False for what cannot be a value of its kind.
  static func set(_ slot: Int, _ kind: SlotKind, _ content: UnsafeRawBufferPointer, _ builder: RowBuilder) -> Bool {
    switch kind {
    case .string where !content.contains(UInt8(ascii: "\\")): builder.setBytes(slot, content)
    case .int16, .int32, .int64:
      guard let number = XMLNumber.integer(content), kind != .int16 || Int16(exactly: number) != nil,
        kind != .int32 || Int32(exactly: number) != nil
      else { return false }
      builder.setInt(slot, number)
    case .double, .date:
      guard let number = XMLNumber.double(content), !number.isNaN else { return false }
      builder.setDouble(slot, number)
    default:
      guard let value = parse(content, kind) else { return false }
      builder.set(slot, value)
    }
    return true
  }

  private static func bool(_ text: String) -> Value? {
    text == "1" || text == "true" ? .bool(true) : text == "0" || text == "false" ? .bool(false) : nil
  }

  private static func float(_ text: String) -> Value? {
    Float(text).flatMap { $0.isNaN ? nil : .double(Double($0)) }
  }

  /// Appends the text of a slot that is not null.
  static func append(_ row: Row, _ slot: Int, _ kind: SlotKind, to output: inout [UInt8]) {
    switch kind {
    case .int16, .int32, .int64, .reference, .referenceEntity: XMLNumber.append(row.int(slot), to: &output)
    case .bool: output.append(row.int(slot) == 0 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
    case .double: XMLNumber.append(row.double(slot), to: &output)
    case .float: output += "\(Float(row.double(slot)))".utf8
    case .date: XMLNumber.append(date: row.double(slot), to: &output)
    case .decimal: row.withBytes(slot) { output.append(contentsOf: $0) }
    case .string, .uri: row.withBytes(slot) { XMLText.append(escaping: $0, to: &output) }
    case .uuid: row.withBytes(slot) { XMLBinary.append(uuid: $0, to: &output) }
    case .data, .transformable: row.withBytes(slot) { XMLBinary.append(base64: $0, to: &output) }
    case .externalData:
      row.withBytes(slot) {
        XMLBinary.append(base64: UnsafeRawBufferPointer(rebasing: $0.dropFirst()), to: &output)
      }
    }
  }
}
