import Foundation
import StoreSchema

// Accessors of the types that are not a `ManagedValue` themselves. Swift selects the most specific function.

extension NSManagedObject {
  /// The destination of a to-one relationship that always has one.
  ///
  /// The program stops where it has none: in a new object, or where the stored row has none.
  public final func value<Destination: NSManagedObject>(
    of property: borrowing ManagedProperty<Destination>
  ) -> Destination {
    if let destination = _toOne(property.key, Destination.self) as? Destination { return destination }
    return nothing(property, "has no destination")
  }

  /// Sets the destination of a to-one relationship.
  public final func setValue<Destination: NSManagedObject>(
    _ value: Destination, of property: borrowing ManagedProperty<Destination>
  ) { _setToOne(property.key, value) }

  /// An enumeration, or another type with a raw value. The attribute stores the raw value.
  ///
  /// A raw value that the type does not have reads as the attribute's default value. The program stops where the type
  /// does not have the default either.
  public final func value<Value: RawRepresentable>(of property: borrowing ManagedProperty<Value>) -> Value
  where Value.RawValue: ManagedValue {
    let raw = Value.RawValue._get(self, property.key)
    if let value = Value(rawValue: raw) { return value }
    if let known = defaultValue(property.key) as? Value.RawValue, let value = Value(rawValue: known) { return value }
    return nothing(property, "is \(raw), which the type does not have")
  }

  /// Sets an attribute to a raw value.
  public final func setValue<Value: RawRepresentable>(_ value: Value, of property: borrowing ManagedProperty<Value>)
  where Value.RawValue: ManagedValue { Value.RawValue._set(self, property.key, value.rawValue) }

  /// The same for an optional: nil where the attribute is nil, and for a raw value that the type does not have.
  public final func value<Value: RawRepresentable>(of property: borrowing ManagedProperty<Value?>) -> Value?
  where Value.RawValue: ManagedValue & ManagedOptionalValue {
    Value.RawValue._getOptional(self, property.key).flatMap(Value.init(rawValue:))
  }

  /// Sets an attribute to a raw value or nil.
  public final func setValue<Value: RawRepresentable>(_ value: Value?, of property: borrowing ManagedProperty<Value?>)
  where Value.RawValue: ManagedValue & ManagedOptionalValue {
    Value.RawValue._setOptional(self, property.key, value?.rawValue)
  }

  /// Every other type: classes, arrays, dictionaries. The value of key-value coding, converted by a cast; a number of
  /// any kind is a value of `NSDecimalNumber`.
  ///
  /// For an optional type, a value of another type reads as nil and is reported. For other types it stops the program.
  public final func value<Value>(of property: borrowing ManagedProperty<Value>) -> Value {
    let value = _any(property.key)
    if let value = value as? Value { return value }
    if value is NSSet, NSMutableSet.self is Value.Type || NSMutableSet?.self is Value.Type,
      let set = liveSet(property.key) as? Value
    {
      return set
    }
    if let value { return KeyValueConversion.value(value, as: Value.self) ?? mismatch(property, value) }
    return EmptyValue.find() ?? nothing(property, "is nil")
  }

  /// Sets a value of every other type, by key-value coding.
  public final func setValue<Value>(_ value: Value, of property: borrowing ManagedProperty<Value>) {
    // In an `Any`, an optional has another type than the value that it contains.
    _setAny(property.key, content(value))
  }

  /// The members of a relationship as a set that can be changed, and changes them.
  private func liveSet(_ key: borrowing PropertyKey) -> NSMutableSet? {
    if case .relationship? = info.keys[key.name] { mutableSetValue(forKey: key.name) } else { nil }
  }

  private func content(_ value: Any) -> Any? {
    if let optional = value as? any OptionalType { optional.content } else { value }
  }

  private func mismatch<Value>(_ property: borrowing ManagedProperty<Value>, _ found: Any) -> Value {
    let text = "The value of '\(property.name)' of \(info.entity.name) is a \(type(of: found))"
    guard let none = Optional<Any>.none as? Value else { misuse("\(text); its accessor has the type \(Value.self).") }
    report("\(text), and reads as nil: its accessor has the type \(Value.self).")
    return none
  }

  private func nothing<Value>(_ property: borrowing ManagedProperty<Value>, _ what: String) -> Value {
    // While the name of a key path is being looked up, its value is discarded.
    if core == nil, KeyPathName.isLooking { return KeyPathName.unread() }
    misuse("'\(property.name)' of \(info.entity.name) \(what); declare it as an optional \(Value.self).")
  }

  private func defaultValue(_ key: borrowing PropertyKey) -> Any? {
    guard case .attribute(let index)? = info.keys[key.name] else { return nil }
    return AttributeCoding.boxed(info.attributes[index].description.defaultValue)
  }
}

/// Values that replace nil where the type of an accessor is not optional.
enum EmptyValue {
  static func find<Value>() -> Value? {
    if let number = Value.self as? any BinaryInteger.Type { return zero(number) as? Value }
    if let number = Value.self as? any BinaryFloatingPoint.Type { return zero(number) as? Value }
    let candidates: [Any] = [
      [Any](), [AnyHashable: Any](), Set<AnyHashable>(), NSOrderedSet(), "", NSDecimalNumber.zero, Data(),
      Date(timeIntervalSinceReferenceDate: 0),
    ]
    for candidate in candidates { if let value = candidate as? Value { return value } }
    return nil
  }

  private static func zero<Number: Numeric>(_: Number.Type) -> Any { Number.zero }
}

/// The stored form of the raw values of a type.
enum RawValues {
  static func representation(of type: Any.Type) -> PropertyRepresentation? {
    let wrapped = (type as? any OptionalType.Type)?.wrapped ?? type
    return (wrapped as? any RawRepresentable.Type).flatMap { rawValue(of: $0) }
  }

  private static func rawValue<T: RawRepresentable>(of _: T.Type) -> PropertyRepresentation? {
    (T.RawValue.self as? any ManagedValue.Type)?._representation
  }
}

/// Every `Optional`, without its generic argument.
protocol OptionalType {
  static var wrapped: Any.Type { get }
  /// Nil as a value of the type.
  static var nothing: Any { get }
  var content: Any? { get }
}

extension Optional: OptionalType {
  static var wrapped: Any.Type { Wrapped.self }
  static var nothing: Any { Self.none as Any }
  var content: Any? { map { $0 } }
}
