import Foundation
import StoreSchema

// Accessors of the types that are not a `ManagedValue` themselves. Swift selects the most specific subscript.

extension NSManagedObject {
  /// The destination of a to-one relationship that always has one.
  ///
  /// The program stops where it has none: in a new object, or where the stored row has none.
  public final subscript<Destination: NSManagedObject>(property: ManagedProperty<Destination>) -> Destination {
    get {
      if let destination = _toOne(property.key, Destination.self) as? Destination { return destination }
      return nothing(property, "has no destination")
    }
    set { _setToOne(property.key, newValue) }
  }

  /// An enumeration, or another type with a raw value. The attribute stores the raw value.
  ///
  /// A raw value that the type does not have reads as the attribute's default value. The program stops where the type
  /// does not have the default either.
  public final subscript<Value: RawRepresentable>(property: ManagedProperty<Value>) -> Value
  where Value.RawValue: ManagedValue {
    get {
      let raw = Value.RawValue._get(self, property.key)
      if let value = Value(rawValue: raw) { return value }
      if let known = defaultValue(property.key) as? Value.RawValue, let value = Value(rawValue: known) { return value }
      return nothing(property, "is \(raw), which the type does not have")
    }
    set { Value.RawValue._set(self, property.key, newValue.rawValue) }
  }

  /// The same for an optional: nil where the attribute is nil, and for a raw value that the type does not have.
  public final subscript<Value: RawRepresentable>(property: ManagedProperty<Value?>) -> Value?
  where Value.RawValue: ManagedValue & ManagedOptionalValue {
    get { Value.RawValue._getOptional(self, property.key).flatMap(Value.init(rawValue:)) }
    set { Value.RawValue._setOptional(self, property.key, newValue?.rawValue) }
  }

  /// Every other type: classes, arrays, dictionaries. The value of key-value coding, converted by a cast; a number of
  /// any kind is a value of `NSDecimalNumber`.
  ///
  /// For an optional type, a value of another type reads as nil and is reported. For other types it stops the program.
  public final subscript<Value>(property: ManagedProperty<Value>) -> Value {
    get {
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
    // In an `Any`, an optional has another type than the value that it contains.
    set { _setAny(property.key, content(newValue)) }
  }

  /// The members of a relationship as a set that can be changed, and changes them.
  private func liveSet(_ key: PropertyKey) -> NSMutableSet? {
    if case .relationship? = info.keys[key.name] { mutableSetValue(forKey: key.name) } else { nil }
  }

  private func content(_ value: Any) -> Any? {
    if let optional = value as? any OptionalType { optional.content } else { value }
  }

  private func mismatch<Value>(_ property: ManagedProperty<Value>, _ found: Any) -> Value {
    let text = "The value of '\(property.name)' of \(info.entity.name) is a \(type(of: found))"
    guard let none = Optional<Any>.none as? Value else { misuse("\(text); its accessor has the type \(Value.self).") }
    report("\(text), and reads as nil: its accessor has the type \(Value.self).")
    return none
  }

  private func nothing<Value>(_ property: ManagedProperty<Value>, _ what: String) -> Value {
    // While the name of a key path is being looked up, its value is discarded.
    if core == nil, KeyPathName.isLooking { return KeyPathName.unread() }
    misuse("'\(property.name)' of \(info.entity.name) \(what); declare it as an optional \(Value.self).")
  }

  private func defaultValue(_ key: PropertyKey) -> Any? {
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
