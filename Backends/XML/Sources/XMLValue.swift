import Foundation
import StoreSchema

/// Attribute values as text of a document.
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
