import Foundation

// The types of typed accessors. A scalar that is not optional reads nil as zero, as Core Data's scalar accessors do.

// Integers. Bits that do not fit into the type are cut off, as by Core Data's scalar accessors.

extension ManagedValue where Self: FixedWidthInteger {
  @inlinable public static var _representation: PropertyRepresentation { .integer }
  @inlinable public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Self {
    Self(truncatingIfNeeded: object._int(key))
  }
  @inlinable public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Self) {
    object._setInt(key, Int64(truncatingIfNeeded: value))
  }
}

extension Int8: ManagedValue {}
extension Int16: ManagedValue {}
extension Int32: ManagedValue {}
extension Int64: ManagedValue {}
extension Int: ManagedValue {}
extension UInt8: ManagedValue {}
extension UInt16: ManagedValue {}
extension UInt32: ManagedValue {}
extension UInt64: ManagedValue {}
extension UInt: ManagedValue {}

extension Bool: ManagedValue {
  @inlinable public static var _representation: PropertyRepresentation { .integer }
  @inlinable public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Bool {
    object._int(key) != 0
  }
  @inlinable public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Bool) {
    object._setBool(key, value)
  }
}

extension Double: ManagedValue {
  @inlinable public static var _representation: PropertyRepresentation { .double }
  @inlinable public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Double {
    object._double(key)
  }
  @inlinable public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Double) {
    object._setDouble(key, value)
  }
}

extension Float: ManagedValue {
  @inlinable public static var _representation: PropertyRepresentation { .double }
  @inlinable public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Float {
    Float(object._double(key))
  }
  @inlinable public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Float) {
    object._setDouble(key, Double(value))
  }
}

extension Date: ManagedValue {
  @inlinable public static var _representation: PropertyRepresentation { .date }
  @inlinable public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Date {
    Date(timeIntervalSinceReferenceDate: object._double(key))
  }
  @inlinable public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Date) {
    object._setDate(key, value)
  }
}

extension String: ManagedValue {
  @inlinable public static var _representation: PropertyRepresentation { .string }
  @inlinable public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> String {
    object._string(key) ?? ""
  }
  @inlinable public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: String) {
    object._setString(key, value)
  }
}

extension Data: ManagedValue {
  @inlinable public static var _representation: PropertyRepresentation { .data }
  @inlinable public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Data {
    object._data(key) ?? Data()
  }
  @inlinable public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Data) {
    object._setData(key, value)
  }
}

extension UUID: ManagedValue {
  @inlinable public static var _representation: PropertyRepresentation { .uuid }
  public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> UUID {
    object._uuid(key) ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  }
  @inlinable public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: UUID) {
    object._setUUID(key, value)
  }
}

extension URL: ManagedValue {
  @inlinable public static var _representation: PropertyRepresentation { .string }
  public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> URL {
    object._string(key).flatMap { URL(string: $0) } ?? URL(fileURLWithPath: "/")
  }
  public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: URL) {
    object._setAny(key, value)
  }
}

extension Decimal: ManagedValue {
  public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Decimal {
    (object._any(key) as? NSDecimalNumber)?.decimalValue ?? 0
  }
  public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Decimal) {
    object._setAny(key, value)
  }
}

/// An optional property reads as nil where the slot is empty.
extension Optional: ManagedValue where Wrapped: ManagedOptionalValue {
  @inlinable public static var _representation: PropertyRepresentation { Wrapped._optionalRepresentation }
  @inlinable public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Wrapped? {
    Wrapped._getOptional(object, key)
  }
  @inlinable public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Wrapped?) {
    Wrapped._setOptional(object, key, value)
  }
}

/// A type that an optional property can have.
public protocol ManagedOptionalValue {
  static var _optionalRepresentation: PropertyRepresentation { get }
  static func _getOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Self?
  static func _setOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Self?)
}

extension ManagedOptionalValue {
  @inlinable public static var _optionalRepresentation: PropertyRepresentation { .any }
}

extension ManagedOptionalValue where Self: ManagedValue {
  @inlinable public static var _optionalRepresentation: PropertyRepresentation { Self._representation }
  @inlinable public static func _getOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Self? {
    object._isNil(key) ? nil : Self._get(object, key)
  }
  @inlinable public static func _setOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Self?) {
    if let value { Self._set(object, key, value) } else { object._setNil(key) }
  }
}

/// A number, a date or a truth value: a row stores each in one word.
public protocol ManagedNumber: ManagedValue, ManagedOptionalValue {}

extension ManagedNumber {
  @inlinable public static func _getOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Self? {
    object._isNilNumber(key) ? nil : Self._get(object, key)
  }
}

extension Int8: ManagedNumber {}
extension Int16: ManagedNumber {}
extension Int32: ManagedNumber {}
extension Int64: ManagedNumber {}
extension Int: ManagedNumber {}
extension UInt8: ManagedNumber {}
extension UInt16: ManagedNumber {}
extension UInt32: ManagedNumber {}
extension UInt64: ManagedNumber {}
extension UInt: ManagedNumber {}
extension Bool: ManagedNumber {}
extension Double: ManagedNumber {}
extension Float: ManagedNumber {}
extension Date: ManagedNumber {}
extension Decimal: ManagedOptionalValue {}
extension URL: ManagedOptionalValue {}

extension String: ManagedOptionalValue {
  @inlinable public static func _getOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> String? {
    object._string(key)
  }
}

extension Data: ManagedOptionalValue {
  @inlinable public static func _getOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Data? {
    object._data(key)
  }
}

extension UUID: ManagedOptionalValue {
  @inlinable public static func _getOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> UUID? {
    object._uuid(key)
  }
}

// To-one relationships.

extension NSManagedObject: ManagedOptionalValue {}

extension ManagedOptionalValue where Self: NSManagedObject {
  @inlinable public static func _getOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Self? {
    object._toOne(key, Self.self) as? Self
  }
  @inlinable public static func _setOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Self?) {
    object._setToOne(key, value)
  }
}

// To-many relationships. As on Apple's platforms, a relationship without members is an empty set, never nil.

extension Set: ManagedValue where Element: NSManagedObject {
  @inlinable public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Set<Element> {
    let members = object._toMany(key)
    var result = Set<Element>(minimumCapacity: members.count)
    for member in members { if let member = member as? Element { result.insert(member) } }
    return result
  }
  public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Set<Element>) {
    object._setToMany(key, Array(value))
  }
}

extension Set: ManagedOptionalValue where Element: NSManagedObject {
  @inlinable public static func _getOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Self? {
    _get(object, key)
  }
  public static func _setOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Self?) {
    _set(object, key, value ?? [])
  }
}

/// An ordered to-many relationship as an array.
extension Array: ManagedValue where Element: NSManagedObject {
  @inlinable public static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> [Element] {
    object._toMany(key).compactMap { $0 as? Element }
  }
  public static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: [Element]) {
    object._setToMany(key, value)
  }
}

extension Array: ManagedOptionalValue where Element: NSManagedObject {
  @inlinable public static func _getOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Self? {
    _get(object, key)
  }
  public static func _setOptional(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Self?) {
    _set(object, key, value ?? [])
  }
}
