/// The content of a slot of a row, which decides how its 8-byte word is read.
public enum SlotKind: UInt8, Sendable, Hashable {
  /// The word is a whole number; for a truth value 0 or 1.
  case int16, int32, int64, bool
  /// The word is the bits of a `Double`; of a date, of its seconds since 2001-01-01T00:00:00Z.
  case double, float, date
  /// Canonical decimal text.
  case decimal
  /// UTF-8 bytes.
  case string, uri
  /// 16 bytes.
  case uuid
  /// The bytes of the value, or of its encoded form.
  case data, transformable
  /// Binary data that may be stored outside of the row: a byte 1 and the data, or a byte 2 and a name that only the
  /// store can read (`Store.externalData(_:)`).
  case externalData
  /// The key of a to-one destination.
  case reference
  /// The entity index of a to-one destination.
  case referenceEntity

  /// Whether the word is offset and length of bytes in the row, not the value itself.
  @inlinable public var isBytes: Bool {
    switch self {
    case .decimal, .string, .uri, .uuid, .data, .transformable, .externalData: true
    default: false
    }
  }

  init?(_ attribute: AttributeDefinition) {
    switch attribute.type {
    case .integer16: self = .int16
    case .integer32: self = .int32
    case .integer64: self = .int64
    case .boolean: self = .bool
    case .double: self = .double
    case .float: self = .float
    case .date: self = .date
    case .decimal: self = .decimal
    case .string: self = .string
    case .uri: self = .uri
    case .uuid: self = .uuid
    case .binaryData: self = attribute.allowsExternalBinaryDataStorage ? .externalData : .data
    case .transformable: self = .transformable
    case .undefined, .objectID, .composite: return nil
    }
  }
}
