import Foundation
import PropertyLists
import StoreSchema

/// Constants of an archive as typed values.
enum CompiledValue {
  /// The default value of an attribute, in the representation of its type.
  static func defaultValue(_ object: ArchivedObject?, type: Int) throws(ModelFileError) -> Value {
    guard let object, !object.isNullObject else { return .null }
    let value: Value? =
      switch AttributeTypeName(rawValue: type) {
      case .integer16, .integer32, .integer64: object.integer.map(Value.int)
      case .double, .float: object.double.map(Value.double)
      case .decimal: object.decimal.map(Value.decimal)
      case .boolean: object.bool.map(Value.bool)
      // An object of a transformable attribute is kept as an archive of its own.
      case .transformable: .data(KeyedArchiveWriter.archive(copyOf: object))
      default: constant(object)
      }
    guard let value else {
      let found = object.className ?? "none"
      throw ModelFileError(.unsupported, "a default value is of the class \(found) in an attribute of type \(type)")
    }
    return value
  }

  /// A constant in the representation of its class; nil for objects that are not values.
  static func constant(_ object: ArchivedObject) -> Value? {
    switch object.value {
    case .bool(let flag): return .bool(flag)
    case .integer(let number): return .int(number)
    case .real(let number): return .double(number)
    default: break
    }
    if object.isNullObject { return .null }
    if let text = object.string { return .string(text) }
    if let bytes = object.data { return .data(bytes) }
    if let seconds = object.date { return .date(seconds) }
    if let uuid = object.uuid { return .uuid(uuid) }
    if let text = object.urlString { return .uri(text) }
    return object.decimal.map(Value.decimal)
  }

  /// Apple's compiler keeps the exponent of a zero, and Xcode writes zeros as `0.0`. Of all other numbers only the
  /// value counts.
  private static let zero = Decimal(string: "0.0") ?? 0

  /// The reverse of ``constant(_:)`` and ``defaultValue(_:type:)``. Nil for object references, which models never
  /// contain.
  static func reference(
    to value: Value, type: AttributeTypeName? = nil, in writer: inout KeyedArchiveWriter
  ) -> KeyedArchiveWriter.Reference? {
    switch value {
    case .null: .null
    case .bool(let flag): writer.add(.bool(flag))
    case .int(let number): writer.add(.integer(number))
    case .double(let number): writer.add(.real(number))
    case .decimal(let number): writer.add(number.isZero ? zero : number)
    case .date(let seconds): writer.add(date: seconds)
    case .string(let text): writer.add(.string(text))
    case .uri(let text): writer.add(url: text)
    case .uuid(let uuid): writer.add(uuid)
    case .data(let bytes):
      if type == .transformable, let root = (try? KeyedArchiveReader(bytes))?.root() {
        writer.add(copyOf: root)
      } else {
        writer.add(.data(bytes))
      }
    case .reference: nil
    }
  }
}
