import Foundation

/// A property list value, as binary and XML property lists and keyed archives hold it.
///
/// Equality is exact: strings by their UTF-8 bytes, numbers also by their kind, so that `integer(1)`, `real(1)` and
/// `bool(true)` are three values.
public enum PropertyList: Sendable, Equatable {
  /// The binary format's null object; Apple's own writers never emit it.
  case null
  /// True or false, which is never equal to a number.
  case bool(Bool)
  /// A signed integer.
  case integer(Int64)
  /// An integer above `Int64.max`, which the binary format keeps in 16 bytes. Smaller ones are `integer`.
  case unsigned(UInt64)
  /// A floating-point number.
  case real(Double)
  /// Seconds since 2001-01-01T00:00:00Z.
  case date(Double)
  /// Bytes.
  case data(Data)
  /// Text; unpaired surrogates of a file are replaced.
  case string(String)
  /// A keyed archive's reference: an index into its `$objects`.
  case uid(UInt64)
  /// Values in order.
  case array([PropertyList])
  /// Keys are compared as Swift strings, so of two canonically equivalent keys the last one read is kept.
  case dictionary([String: PropertyList])
}

extension PropertyList: Hashable {
  public static func == (a: PropertyList, b: PropertyList) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let x), .bool(let y)): x == y
    case (.integer(let x), .integer(let y)): x == y
    case (.unsigned(let x), .unsigned(let y)): x == y
    case (.real(let x), .real(let y)), (.date(let x), .date(let y)): x == y
    case (.data(let x), .data(let y)): x == y
    // Swift's String == is canonical equivalence, which would merge distinct strings when a writer uniques them.
    case (.string(let x), .string(let y)): x.utf8.elementsEqual(y.utf8)
    case (.uid(let x), .uid(let y)): x == y
    case (.array(let x), .array(let y)): x == y
    case (.dictionary(let x), .dictionary(let y)): x == y
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let x): hasher.combine(x)
    case .integer(let x): hasher.combine(x)
    case .unsigned(let x), .uid(let x): hasher.combine(x)
    case .real(let x), .date(let x): hasher.combine(x)
    case .data(let x): hasher.combine(x)
    case .string(let x): hasher.combine(x)
    case .array(let x): hasher.combine(x)
    case .dictionary(let x): hasher.combine(x)
    }
  }
}

extension PropertyList {
  /// Reads a property list in either format. The first bytes say which one it is.
  ///
  /// The cost is linear in the size of `data`, whatever it contains.
  public init(contents data: Data) throws(PropertyListError) {
    if data.starts(with: BinaryObjectTable.magic) {
      self = try BinaryPropertyListReader.read(data)
    } else {
      self = try XMLPropertyListReader.read(data)
    }
  }

  /// The value under `key`, or nil when this is no dictionary or has no such key.
  public subscript(key: String) -> PropertyList? {
    if case .dictionary(let entries) = self { entries[key] } else { nil }
  }

  /// The text of a string.
  public var stringValue: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The integer, or nil for every other kind of value and for integers above `Int64.max`.
  public var integerValue: Int64? {
    if case .integer(let number) = self { number } else { nil }
  }

  /// The entries of a dictionary.
  public var dictionaryValue: [String: PropertyList]? {
    if case .dictionary(let entries) = self { entries } else { nil }
  }

  /// The elements of an array.
  public var arrayValue: [PropertyList]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The bytes of a data value.
  public var dataValue: Data? {
    if case .data(let bytes) = self { bytes } else { nil }
  }
}
