import Foundation
import StoreProtocol
import StoreSchema

/// A value as a case writes it, for example a Swift literal.
public struct Cell: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  /// The value that the cell stands for.
  public let value: Value

  /// The cell of a value.
  public init(_ value: Value) { self.value = value }
  /// A string.
  public init(stringLiteral value: String) { self.init(.string(value)) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self.init(.int(value)) }
  /// A floating-point number.
  public init(floatLiteral value: Double) { self.init(.double(value)) }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self.init(.bool(value)) }
  /// No value.
  public init(nilLiteral: ()) { self.init(.null) }

  /// A string.
  public static func text(_ text: String) -> Cell { Cell(.string(text)) }
  /// A whole number.
  public static func int(_ number: Int64) -> Cell { Cell(.int(number)) }
  /// A floating-point number.
  public static func double(_ number: Double) -> Cell { Cell(.double(number)) }
  /// A date by its seconds since 2001-01-01T00:00:00Z.
  public static func date(_ seconds: Double) -> Cell { Cell(.date(seconds)) }
  /// A URI by its text.
  public static func uri(_ text: String) -> Cell { Cell(.uri(text)) }
  /// A UUID.
  public static func uuid(_ value: UUID) -> Cell { Cell(.uuid(value)) }
  /// Bytes.
  public static func data(_ bytes: Data) -> Cell { Cell(.data(bytes)) }
  /// A decimal by its digits; null for a text that is no decimal.
  public static func decimal(_ digits: String) -> Cell { Cell(Decimal(string: digits).map(Value.decimal) ?? .null) }
  /// The destination of a to-one relationship.
  public static func to(_ object: ObjectReference) -> Cell { Cell(.reference(object)) }
}

extension Value {
  /// Whether both values are identical to the last bit: doubles of equal bits, texts of equal bytes.
  func isIdentical(to other: Value) -> Bool {
    switch (self, other) {
    case (.double(let a), .double(let b)), (.date(let a), .date(let b)): a.bitPattern == b.bitPattern
    default: self == other
    }
  }

  /// The value in reports: short, and different for different values.
  var brief: String {
    switch self {
    case .null: "nil"
    case .string(let text) where text.utf8.count > 60: "a string of \(text.utf8.count) bytes"
    case .string(let text): text.debugDescription
    case .data(let data) where data.count > 20: "\(data.count) bytes"
    case .data(let data): "<" + data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + ">"
    case .reference(let reference): "\(reference.entity)#\(reference.key)"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .double(let value): "\(value)"
    case .date(let value): "date \(value)"
    case .decimal(let value): "decimal \(value)"
    case .uri(let value): "uri \(value)"
    case .uuid(let value): "\(value)"
    }
  }
}
