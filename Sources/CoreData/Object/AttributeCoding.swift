import Foundation
import RuntimeAccess
import StoreSchema

/// Converts between the values of key-value coding and stored values, by attribute type.
enum AttributeCoding {
  /// The stored form of `value`; nil where the attribute cannot have the value. `nil` and `NSNull` become `.null`.
  static func encode(_ value: Any?, _ attribute: Attribute) -> Value? {
    guard let value = flattened(value) else { return .null }
    switch attribute.type {
    case .integer16: return integer(value, Int64(Int16.min)...Int64(Int16.max))
    case .integer32: return integer(value, Int64(Int32.min)...Int64(Int32.max))
    case .integer64: return integer(value, Int64.min...Int64.max)
    case .boolean: return boolean(value)
    case .double: return double(value).map(Value.double)
    case .float: return double(value).map { .double(Double(Float($0))) }
    case .decimal: return decimal(value).map(Value.decimal)
    case .string: return (value as? String).map(Value.string)
    case .date: return (value as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
    case .binaryData:
      return (value as? Data).map { .data(attribute.definition.allowsExternalBinaryDataStorage ? [1] + $0 : $0) }
    case .uuid: return (value as? UUID).map(Value.uuid)
    case .uri: return (value as? URL).map { .uri($0.absoluteString) }
    case .transformable: return (value as? Data).map(Value.data)
    case .undefined, .objectID, .composite: return nil
    }
  }

  /// What ``encode(_:_:)`` returns, and a decimal number for a number that no integer can have. The object keeps it
  /// until validation refuses it, as it does other integers out of range. NaN stays NaN.
  static func assigned(_ value: Any?, _ attribute: Attribute) -> Value? {
    if let encoded = encode(value, attribute) { return encoded }
    guard [.integer16, .integer32, .integer64].contains(attribute.type), let value, let number = object(value) else {
      return nil
    }
    let double = number.doubleValue
    if double.magnitude < 1e100 { return .decimal(decimal(number) ?? .nan) }
    return .decimal(double.isNaN ? .nan : double < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude)
  }

  /// A text of a number, a truth value, a UUID or a URL as a value for an attribute of that type; any other value
  /// unchanged. Numbers are written with a point, in every locale.
  static func coerced(_ value: Any, _ type: StoreSchema.AttributeType) -> Any {
    guard let text = value as? String else { return value }
    switch type {
    case .integer16, .integer32, .integer64: return Int64(text) ?? value
    case .decimal: return DecimalText.parse(text) ?? value
    case .double, .float: return Double(text).flatMap { $0.isFinite ? $0 : nil } ?? value
    case .boolean:
      let text = text.lowercased()
      return ["1", "true", "yes"].contains(text) ? true : ["0", "false", "no"].contains(text) ? false : value
    case .uuid: return UUID(uuidString: text) ?? value
    case .uri: return URL(string: text) ?? value
    default: return value
    }
  }

  /// The value of key-value coding for a stored value. Numbers are objects: `as? Int`, `as? Double` and other casts of
  /// an `NSNumber` succeed where the value fits, but a Swift number in an `Any` can be cast only to its own type.
  static func decode(_ value: Value, _ type: StoreSchema.AttributeType) -> Any? {
    switch value {
    case .null: return nil
    case .bool(let x): return NSNumber(value: x)
    case .int(let x):
      switch type {
      case .integer16: return NSNumber(value: Int16(truncatingIfNeeded: x))
      case .integer32: return NSNumber(value: Int32(truncatingIfNeeded: x))
      case .boolean: return NSNumber(value: x != 0)
      default: return NSNumber(value: x)
      }
    case .double(let x): return type == .float ? NSNumber(value: Float(x)) : NSNumber(value: x)
    case .decimal(let x): return NSDecimalNumber(decimal: x)
    case .date(let x): return Date(timeIntervalSinceReferenceDate: x)
    case .string(let x): return x
    case .uri(let x): return URL(string: x)
    case .uuid(let x): return x
    case .data(let x): return x
    case .reference: return nil
    }
  }

  /// Nil for `NSNull`, and for an optional without a value in an `Any`.
  static func flattened(_ value: Any?) -> Any? {
    guard let value else { return nil }
    // Much faster than a cast, which tries to bridge values that are not objects.
    if type(of: value) == NSNull.self { return nil }
    if case .some(.none) = cast(value, Any?.self) { return nil }
    return value
  }

  /// The number object in a value; nil for Swift's own number types, which a cast would convert to objects.
  static func number(_ value: Any) -> NSNumber? {
    ObjectInAny.address(in: value) == nil ? nil : value as? NSNumber
  }

  /// The value as an object where it is a number, else itself.
  static func boxed(_ value: Any?) -> Any? { value.flatMap { $0 as? NSNumber } ?? value }

  /// A cast that the compiler does not treat as mere wrapping.
  private static func cast<T>(_ value: Any, _: T.Type) -> T? { value as? T }

  private static func integer(_ value: Any, _ range: ClosedRange<Int64>) -> Value? {
    let number: Int64?
    if let object = Self.number(value) { return whole(object).map(Value.int) }
    switch value {
    case let x as Decimal: number = whole(x)
    case let x as Int: number = Int64(x)
    case let x as Int64: number = x
    case let x as Int32: number = Int64(x)
    case let x as Int16: number = Int64(x)
    case let x as Int8: number = Int64(x)
    case let x as UInt: number = Int64(exactly: x)
    case let x as UInt64: number = Int64(exactly: x)
    case let x as UInt32: number = Int64(x)
    case let x as UInt16: number = Int64(x)
    case let x as UInt8: number = Int64(x)
    case let x as Bool: number = x ? 1 : 0
    case let x as Double: number = Int64(exactly: x.rounded(.towardZero))
    case let x as Float: number = Int64(exactly: x.rounded(.towardZero))
    default: number = object(value).flatMap(whole)
    }
    // A number out of range is kept unchanged, and validation rejects it at save. So no value is ever wrapped silently.
    return number.map(Value.int)
  }

  /// Any number as an object. On Linux a cast does not convert a `CGFloat`.
  private static func object(_ value: Any) -> NSNumber? {
    (value as? CGFloat).map { NSNumber(value: Double($0)) } ?? value as? NSNumber
  }

  /// The number without its fraction; nil where it is too large.
  private static func whole(_ number: NSNumber) -> Int64? {
    if let decimal = number as? NSDecimalNumber { return whole(decimal.decimalValue) }
    return switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"): Int64(exactly: number.doubleValue.rounded(.towardZero))
    case UInt8(ascii: "Q"): Int64(exactly: number.uint64Value)
    default: number.int64Value
    }
  }

  private static func whole(_ number: Decimal) -> Int64? {
    var (number, rounded) = (number, Decimal())
    NSDecimalRound(&rounded, &number, 0, number < 0 ? .up : .down)
    return Int64(DecimalText.format(rounded))
  }

  static func boolean(_ value: Any) -> Value? {
    if let number = number(value) { return .bool(number.boolValue) }
    if let x = value as? Bool { return .bool(x) }
    if case .int(let x)? = integer(value, Int64.min...Int64.max) { return .bool(x != 0) }
    return object(value).map { .bool($0.doubleValue != 0) }
  }

  static func double(_ value: Any) -> Double? {
    if let number = number(value) { return number.doubleValue }
    return switch value {
    case let x as Double: x
    case let x as Float: Double(x)
    case let x as Decimal: NSDecimalNumber(decimal: x).doubleValue
    default: object(value)?.doubleValue
    }
  }

  static func decimal(_ value: Any) -> Decimal? {
    if let x = value as? Decimal { return x }
    guard let number = value as? NSNumber else { return nil }
    return (number as? NSDecimalNumber)?.decimalValue ?? DecimalText.parse(number.stringValue)
  }
}
