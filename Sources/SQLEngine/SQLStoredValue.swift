import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// A value of a result column in the storage class that the database has it in.
public enum SQLStoredValue: Sendable, Equatable {
  /// SQL's NULL.
  case null
  /// An integer.
  case integer(Int64)
  /// A floating-point number.
  case real(Double)
  /// The bytes of a text, which may be no UTF-8.
  case text(Data)
  /// Bytes.
  case blob(Data)

  public var description: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let bytes): "a text of \(bytes.count) bytes"
    case .blob(let bytes): "a blob of \(bytes.count) bytes"
    }
  }
}

extension SQLStoredValue {
  /// The value of an attribute whose slot is of `kind`.
  func inspected(as kind: SlotKind) -> InspectedValue {
    if self == .null { return .sound(.null) }
    switch kind {
    case .int16: return integer(Int64(Int16.min)...Int64(Int16.max), "an Integer 16")
    case .int32: return integer(Int64(Int32.min)...Int64(Int32.max), "an Integer 32")
    case .int64: return integer(Int64.min...Int64.max, "an Integer 64")
    case .bool:
      guard case .integer(let number) = self, number == 0 || number == 1 else { return mismatch("a Boolean") }
      return .sound(.bool(number == 1))
    case .double: return number.map { .sound(.double($0)) } ?? mismatch("a Double")
    case .float:
      guard let number, !number.isFinite || Float(number).isFinite else { return mismatch("a Float") }
      return .sound(.double(number))
    case .date: return number.map { .sound(.date($0)) } ?? mismatch("a date")
    case .decimal: return decimal.map { .sound(.decimal($0)) } ?? mismatch("a decimal number")
    case .string: return string.map { .sound(.string($0)) } ?? mismatch("a string in UTF-8")
    case .uri: return string.map { .sound(.uri($0)) } ?? mismatch("a URI in UTF-8")
    case .uuid:
      guard case .blob(let bytes) = self, bytes.count == 16 else { return mismatch("a UUID of 16 bytes") }
      return .sound(.uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }))
    case .data, .transformable, .externalData:
      guard case .blob(let bytes) = self else { return mismatch("binary data") }
      return .sound(.data(bytes))
    case .reference, .referenceEntity: return .sound(.null)
    }
  }

  private func mismatch(_ type: String) -> InspectedValue { .invalid("\(description) is not \(type)") }

  private func integer(_ range: ClosedRange<Int64>, _ type: String) -> InspectedValue {
    switch self {
    case .integer(let number) where range.contains(number): return .sound(.int(number))
    case .real(let number):
      guard let exact = Int64(exactly: number), range.contains(exact) else { return mismatch(type) }
      return .sound(.int(exact))
    default: return mismatch(type)
    }
  }

  private var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }

  private var string: String? {
    guard case .text(let bytes) = self else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// A text may have a `d` behind its digits, which keeps a column's affinity from converting it to a number.
  private var decimal: Decimal? {
    switch self {
    case .integer(let number): DecimalText.parse(String(number))
    case .real(let number): number.isFinite ? DecimalText.parse(number.description) : nil
    default: string.flatMap { DecimalText.parse($0.last == "d" ? String($0.dropLast()) : $0) }
    }
  }
}
