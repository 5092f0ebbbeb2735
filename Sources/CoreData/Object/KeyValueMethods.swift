import Foundation
import StoreSchema

/// The methods of a class that Objective-C finds by their names: accessors of a key, and validation methods of a
/// property. Here a class lists them in ``NSManagedObject/keyValueMethods``:
///
/// ```swift
/// final class Member: NSManagedObject {
///   override class var keyValueMethods: KeyValueMethods {
///     super.keyValueMethods
///       .accessor("fullName", \Member.fullName)
///       .validation("age", Member.validateAge)
///   }
///
///   var fullName: String { "Ada Lovelace" }
///
///   func validateAge(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
///     if (value.pointee as? Int ?? 0) < 18 { throw CocoaError(.validationNumberTooSmall) }
///   }
/// }
/// ```
///
/// Apple's search by name: https://developer.apple.com/documentation/coredata/nsmanagedobject/validatevalue(_:forkey:)
/// and https://developer.apple.com/documentation/coredata/nsmanagedobject/value(forkey:)
public struct KeyValueMethods {
  private(set) var getters: [String: (NSManagedObject) -> Any?] = [:]
  private(set) var setters: [String: (NSManagedObject, Any?) -> Void] = [:]
  private(set) var validations:
    [String: (NSManagedObject, AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Void] =
      [:]

  /// No methods.
  public init() {}

  /// Adds a property as the accessor of a key that is only read.
  public func accessor<Object: NSManagedObject, Value>(_ key: String, _ property: KeyPath<Object, Value>) -> Self {
    accessor(key) { (object: Object) in AttributeCoding.flattened(object[keyPath: property]) }
  }

  /// Adds a property as the accessor of a key. A value of another type stops the program.
  public func accessor<Object: NSManagedObject, Value>(
    _ key: String, _ property: ReferenceWritableKeyPath<Object, Value>
  ) -> Self {
    accessor(key, get: { (object: Object) in AttributeCoding.flattened(object[keyPath: property]) }) { object, value in
      guard let converted = KeyValueConversion.value(value, as: Value.self) else {
        misuse(
          "Unacceptable type of value: property = \"\(key)\"; desired type = \(Value.self); given \(value ?? "nil").")
      }
      object[keyPath: property] = converted
    }
  }

  /// Adds functions as the accessors of a key, which may be one that the entity does not have. Where `set` is nil and
  /// the entity has the key, setting it sets the property itself.
  public func accessor<Object: NSManagedObject>(
    _ key: String, get: @escaping (Object) -> Any?, set: ((Object, Any?) -> Void)? = nil
  ) -> Self {
    var methods = self
    methods.getters[key] = { object in (object as? Object).flatMap(get) }
    methods.setters[key] = set.map { set in
      { object, value in if let object = object as? Object { set(object, value) } }
    }
    return methods
  }

  /// Adds a method as the validation of a property. It is called by ``NSManagedObject/validateValue(_:forKey:)``, and
  /// with the present value before a save, when the value follows the rules of the model. It may replace the value, or
  /// throw.
  public func validation<Object: NSManagedObject>(
    _ key: String, _ method: @escaping (Object) -> (AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Void
  ) -> Self {
    var methods = self
    methods.validations[key] = { object, value in if let object = object as? Object { try method(object)(value) } }
    return methods
  }

  var isEmpty: Bool { getters.isEmpty && setters.isEmpty && validations.isEmpty }
}

extension NSManagedObject {
  /// The methods of the object's own class; nil where it has none.
  final var ownKeyValueMethods: KeyValueMethods? {
    let own = type(of: self)
    if own == info.objectClass { return info.hasKeyValueMethods ? info.keyValueMethods : nil }
    return own.keyValueMethods
  }

  /// The custom getter of a key; nil for none. An object that records a key path has none.
  final func getter(_ key: String) -> ((NSManagedObject) -> Any?)? {
    if flags.contains(.fault) && core == nil { return nil }
    return ownKeyValueMethods?.getters[key]
  }

  final func setter(_ key: String) -> ((NSManagedObject, Any?) -> Void)? {
    ownKeyValueMethods?.setters[key]
  }
}

/// Values of key-value coding as values of a Swift type.
enum KeyValueConversion {
  /// The value as one of the type; nil where it is of another one. Nothing is a value of an optional type.
  static func value<Value>(_ value: Any?, as type: Value.Type) -> Value? {
    guard let value = AttributeCoding.flattened(value) else { return (Any?.none as Any) as? Value }
    // A cast to an optional type succeeds with nil for every value.
    let wrapped = (Value.self as? any OptionalType.Type)?.wrapped ?? Value.self
    if let same = cast(value, wrapped) { return same as? Value }
    if wrapped == NSDecimalNumber.self, let number = value as? NSNumber {
      return NSDecimalNumber(decimal: number.decimalValue) as? Value
    }
    if wrapped == Decimal.self { return AttributeCoding.decimal(value).flatMap { $0 as? Value } }
    if wrapped == Bool.self, case .bool(let truth)? = AttributeCoding.boolean(value) { return truth as? Value }
    if let integer = wrapped as? any BinaryInteger.Type { return exact(value, integer).flatMap { $0 as? Value } }
    guard let floating = wrapped as? any BinaryFloatingPoint.Type, let number = AttributeCoding.double(value) else {
      return nil
    }
    return rounded(number, floating) as? Value
  }

  private static func cast<Wrapped>(_ value: Any, _: Wrapped.Type) -> Any? { (value as? Wrapped).map { $0 } }

  private static func exact<Number: BinaryInteger>(_ value: Any, _: Number.Type) -> Any? {
    if let integer = value as? any BinaryInteger { return Number(exactly: integer) }
    return AttributeCoding.double(value).flatMap { Number(exactly: $0) }
  }

  private static func rounded<Number: BinaryFloatingPoint>(_ value: Double, _: Number.Type) -> Any { Number(value) }
}
