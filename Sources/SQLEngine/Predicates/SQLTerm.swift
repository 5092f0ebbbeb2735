import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// A value in SQL, and its known properties.
struct SQLTerm {
  var text: SQLText
  var type: SQLValueType
  /// The value of a constant.
  var constant: Value?
  /// Whether it is a column of a table.
  var isColumn = false
  /// Whether it may be an integer although its type is a decimal's: the sum of no values is the integer 0. Both compare
  /// alike, but functions tell them apart.
  var isMaybeInteger = false

  init(_ text: SQLText, _ type: SQLValueType, constant: Value? = nil) {
    self.text = text
    self.type = type
    self.constant = constant
  }

  init(column name: String, _ type: SQLValueType) {
    self.init(SQLText(stringLiteral: name), type)
    isColumn = true
  }

  static let null = SQLTerm("NULL", .null, constant: .null)

  /// Nil for a constant without an exact form here: SQLite would read NaN as NULL.
  init?(_ value: Value) {
    guard let type = SQLValueType(value) else { return nil }
    self.init(type == .null ? "NULL" : "\(value: value)", type, constant: value)
  }

  var isConstant: Bool { constant != nil }

  /// Whether it may be repeated in a statement. Other terms may contain conditions that repeat their terms too.
  var isPlain: Bool { isConstant || isColumn }
}

/// The type of a term's values, as far as it decides how they compare and how they are read.
enum SQLValueType: Equatable {
  case null
  /// An INTEGER, or a REAL.
  case number
  /// A REAL, even where the column has an INTEGER.
  case real
  case date, decimal, text, uri, uuid, data
  /// The result of a function with decimals among its operands: a decimal as TEXT, or a double as REAL. In a column of
  /// decimals a REAL is a decimal. The sum of no values is an INTEGER.
  case decimalOrDouble
  /// Values that can only be compared with null.
  case opaque
  /// The key of an object in the hierarchy of that root entity.
  case reference(root: Int)
  /// The number of an entity.
  case entity

  /// The type as a ``ValueType`` of functions.
  var valueType: ValueType {
    switch self {
    case .null: .null
    case .number: .number
    case .real: .real
    case .date: .date
    case .decimal: .decimal
    case .decimalOrDouble: .decimalOrDouble
    case .text: .text
    case .uri: .uri
    case .uuid: .uuid
    case .data: .data
    case .opaque, .reference, .entity: .other
    }
  }

  /// The type of a function's result; nil where it is unknown.
  init?(_ type: ValueType) {
    switch type {
    case .null: self = .null
    case .number: self = .number
    case .real: self = .real
    case .date: self = .date
    case .decimal: self = .decimal
    case .decimalOrDouble: self = .decimalOrDouble
    case .text: self = .text
    case .uri: self = .uri
    case .uuid: self = .uuid
    case .data: self = .data
    case .other: return nil
    }
  }

  /// Nil for a slot that is no attribute.
  init?(_ kind: SlotKind) {
    switch kind {
    case .int16, .int32, .int64, .bool: self = .number
    case .double, .float: self = .real
    case .date: self = .date
    case .decimal: self = .decimal
    case .string: self = .text
    case .uri: self = .uri
    case .uuid: self = .uuid
    case .data: self = .data
    case .transformable, .externalData: self = .opaque
    case .reference, .referenceEntity: return nil
    }
  }

  fileprivate init?(_ value: Value) {
    switch value {
    case .null: self = .null
    case .bool, .int: self = .number
    case .double(let x): if x.isNaN { return nil } else { self = .real }
    case .date(let x): if x.isNaN { return nil } else { self = .date }
    case .decimal(let x): if x.isNaN { return nil } else { self = .decimal }
    case .string: self = .text
    case .uri: self = .uri
    case .uuid: self = .uuid
    case .data: self = .data
    case .reference: return nil
    }
  }

  /// Whether it is a number that SQL compares as the kernel does.
  var isNative: Bool { self == .number || self == .real || self == .date }
  var isNumeric: Bool { valueType.isNumeric }
  var hasDecimals: Bool { self == .decimal || self == .decimalOrDouble }
  var isText: Bool { self == .text || self == .uri }

  /// Whether SQL compares values of both types as the kernel does, by value and by order.
  func isComparable(with other: SQLValueType) -> Bool {
    if isNative && other.isNative || isText && other.isText { return true }
    return self == other && (self == .uuid || self == .data || isReference)
  }

  var isReference: Bool { if case .reference = self { true } else { false } }

  /// The code of the type for functions of the connection; nil for types that they do not read.
  var code: Int? {
    switch self {
    case .number: 0
    case .real: 1
    case .date: 2
    case .decimal: 3
    case .text: 4
    case .uri: 5
    case .uuid: 6
    case .data: 7
    case .decimalOrDouble: 8
    case .null, .opaque, .reference, .entity: nil
    }
  }

  /// The value with a code.
  static func value(_ stored: SQLStoredValue, code: Int64) -> Value {
    switch (code, stored) {
    case (_, .null): .null
    case (0, .integer(let x)): .int(x)
    case (0, .real(let x)), (1, .real(let x)): .double(x)
    case (1, .integer(let x)): .double(Double(x))
    case (2, .real(let x)): .date(x)
    case (2, .integer(let x)): .date(Double(x))
    case (8, .real(let x)): .double(x)
    case (3, _), (8, _): stored.inspectedDecimal
    case (4, .text(let bytes)): .string(String(decoding: bytes, as: UTF8.self))
    case (5, .text(let bytes)): .uri(String(decoding: bytes, as: UTF8.self))
    case (6, .blob(let bytes)): bytes.count == 16 ? .uuid(UUID(bytes)) : .null
    case (7, .blob(let bytes)): .data(bytes)
    default: .null
    }
  }
}

extension UUID {
  fileprivate init(_ bytes: Data) { self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) } }
}

extension SQLStoredValue {
  /// A decimal; a number beyond the range of decimals stays a double.
  fileprivate var inspectedDecimal: Value {
    if case .sound(let value) = inspected(as: .decimal) { return value }
    if case .real(let x) = self { return .double(x) }
    return .null
  }
}
