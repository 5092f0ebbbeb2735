/// The type of an attribute, with the raw values that Core Data's model files and version hashes use.
public enum AttributeType: Int32, Sendable, Hashable, CaseIterable {
  /// No type. No store keeps such a value.
  case undefined = 0
  /// A whole number of 16 bits.
  case integer16 = 100
  /// A whole number of 32 bits.
  case integer32 = 200
  /// A whole number of 64 bits.
  case integer64 = 300
  /// A decimal number of up to 38 digits.
  case decimal = 400
  /// A floating-point number of 64 bits.
  case double = 500
  /// A floating-point number of 32 bits.
  case float = 600
  /// A string.
  case string = 700
  /// A truth value.
  case boolean = 800
  /// Seconds since 2001-01-01T00:00:00Z, a `Double`.
  case date = 900
  /// Bytes.
  case binaryData = 1000
  /// A UUID, of 16 bytes.
  case uuid = 1100
  /// A URI, as its absolute string.
  case uri = 1200
  /// A value in an encoded form, which stores treat as bytes.
  case transformable = 1800
  /// An object ID, as a type of results. No store keeps such a value.
  case objectID = 2000
  /// Named elements, each with its own slot.
  case composite = 2100
}
