import Foundation
import StoreSchema

/// A property of a managed object class, by name. The typed accessors of a class read and write through these:
///
/// ```swift
/// final class Student: NSManagedObject {
///   static let name = ManagedProperty<String?>("name")
///   var name: String? { get { value(of: Self.name) } set { setValue(newValue, of: Self.name) } }
/// }
/// ```
///
/// `Value` may be any type that `@NSManaged` takes on Apple's platforms:
///
/// | The property | Its types |
/// | --- | --- |
/// | number | integers of every width, `Bool`, `Float`, `Double`, `Decimal`, `NSNumber`, `NSDecimalNumber` |
/// | text, data, date, UUID, URI | `String`, `Data`, `Date`, `UUID`, `URL`; the Foundation classes `NSString`, `NSData` … |
/// | number or text of an enumeration | the enumeration, by its raw value |
/// | transformable, composite | arrays, dictionaries, sets, any class |
/// | to-one relationship | a class of managed objects |
/// | to-many relationship | `Set<Student>`, `NSSet`; ordered ones `[Student]`, `NSOrderedSet` |
/// | fetched property | `[Student]`, `NSArray` |
///
/// Each type can also be optional. For a type that is not optional, nil reads as an empty value: zero, an empty string,
/// no members. Where the type has no empty value (an object, an enumeration without the value), the program stops, so
/// declare a property optional if it may be nil.
///
/// The slot of the property in the object's row is looked up once and cached. So an access to a number, a string, a
/// date, data, a UUID or a relationship of Swift's own types takes a few nanoseconds. The others go through key-value
/// coding.
///
/// A property cannot be copied. So a static one of a `ManagedValue` is a constant in the program's memory, and using it
/// costs nothing. One that can be copied would be an object, made when it is first used, and each use would ask whether
/// that has happened.
public struct ManagedProperty<Value>: ~Copyable, Sendable {
  /// The property's name, with where it was last found.
  public let key: PropertyKey

  /// The property with a name. A name that the entity does not have stops the program when it is first used.
  public init(_ name: String) { key = PropertyKey(name, Self.representation) }

  /// The name of the property in the model.
  public var name: String { key.name }

  private static var representation: PropertyRepresentation {
    (Value.self as? any ManagedValue.Type)?._representation ?? RawValues.representation(of: Value.self) ?? .any
  }
}

extension ManagedProperty where Value: ManagedValue {
  /// The compiler selects it for these types. The other initializer would search all conformances of the program, and
  /// the property would be made when it is first used.
  @inlinable @inline(__always)
  public init(_ name: String) { key = PropertyKey(name, Value._representation) }
}

/// A type that a modelled property can have in Swift.
public protocol ManagedValue {
  static var _representation: PropertyRepresentation { get }
  static func _get(_ object: NSManagedObject, _ key: borrowing PropertyKey) -> Self
  static func _set(_ object: NSManagedObject, _ key: borrowing PropertyKey, _ value: Self)
}

extension ManagedValue {
  @inlinable public static var _representation: PropertyRepresentation { .any }
}

extension NSManagedObject {
  /// The value of a property by its typed key.
  @inlinable @inline(__always)
  public final func value<Value: ManagedValue>(of property: borrowing ManagedProperty<Value>) -> Value {
    Value._get(self, property.key)
  }

  /// Sets the value of a property by its typed key.
  @inlinable @inline(__always)
  public final func setValue<Value: ManagedValue>(_ value: Value, of property: borrowing ManagedProperty<Value>) {
    Value._set(self, property.key, value)
  }

  /// Adds an object to a to-many relationship, and this object to the inverse.
  public final func add<Members>(_ object: NSManagedObject, to property: borrowing ManagedProperty<Members>) {
    withRelationship(property.key) { add(object, to: $0) }
    tellObservers()
  }

  /// Removes an object from a to-many relationship, and this object from the inverse.
  public final func remove<Members>(_ object: NSManagedObject, from property: borrowing ManagedProperty<Members>) {
    withRelationship(property.key) { remove(object, from: $0) }
    tellObservers()
  }
}

/// Reading and writing by key, one function for each representation. Getters of numbers, dates and strings are compiled
/// into the client's code as far as `DirectReads.swift` goes. The others are calls.
extension NSManagedObject {
  @inline(__always)
  private func slot(_ key: borrowing PropertyKey) -> Int {
    if flags.contains(.fault) { fireOrRecord(key) }
    return entityInfo._withUnsafeGuaranteedRef { key.slot($0) }
  }

  /// The slot for a read.
  @inline(__always)
  private func readSlot(_ key: borrowing PropertyKey) -> Int {
    if !flags.isDisjoint(with: [.fault, .tracked]) { beginRead(key) }
    return entityInfo._withUnsafeGuaranteedRef { key.slot($0) }
  }

  @inline(__always)
  private func withRelationship<R>(_ key: borrowing PropertyKey, _ body: (Relationship) -> R) -> R {
    entityInfo._withUnsafeGuaranteedRef { info in
      info.relationshipReferences[key.relationship(info)]._withUnsafeGuaranteedRef(body)
    }
  }

  /// Reads a fault, and tracks the read where the context does that.
  private func beginRead(_ key: borrowing PropertyKey) {
    if flags.contains(.fault) { fireOrRecord(key) }
    if flags.contains(.tracked) { trackRead(key.name) }
  }

  /// Reads a fault; a probe records the key instead (see `KeyPathName`).
  @inline(__always)
  private func fireOrRecord(_ key: borrowing PropertyKey) {
    if core == nil { KeyPathName.record(key.name, self) } else { prepareToRead() }
  }

  @inlinable @inline(__always)
  public final func _int(_ key: borrowing PropertyKey) -> Int64 {
    if let word = directWord(key) { Int64(bitPattern: word) } else { _readInt(key) }
  }

  public final func _readInt(_ key: borrowing PropertyKey) -> Int64 {
    let slot = readSlot(key)
    if slot < 0 { return transientInt(key) }
    if let value = changed(slot) {
      switch value {
      case .int(let x): return x
      case .bool(let x): return x ? 1 : 0
      default: return 0
      }
    }
    allowDirectReads(key, slot)
    return row.view?.int(slot) ?? 0
  }

  @inlinable @inline(__always)
  public final func _double(_ key: borrowing PropertyKey) -> Double {
    if let word = directWord(key) { Double(bitPattern: word) } else { _readDouble(key) }
  }

  public final func _readDouble(_ key: borrowing PropertyKey) -> Double {
    let slot = readSlot(key)
    if slot < 0 { return transientDouble(key) }
    if let value = changed(slot) {
      switch value {
      case .double(let x), .date(let x): return x
      default: return 0
      }
    }
    allowDirectReads(key, slot)
    return row.view?.double(slot) ?? 0
  }

  /// ``_isNil(_:)`` of a number or a date. The word of null is zero, so only zero must be looked at.
  @inlinable @inline(__always)
  public final func _isNilNumber(_ key: borrowing PropertyKey) -> Bool {
    if let word = directWord(key), word != 0 { false } else { _isNil(key) }
  }

  public final func _isNil(_ key: borrowing PropertyKey) -> Bool {
    let slot = readSlot(key)
    if slot < 0 { return transient(key) == nil }
    if let value = changed(slot) { return value.isNull }
    return row.view?.isNull(slot) ?? true
  }

  @inlinable @inline(__always)
  public final func _string(_ key: borrowing PropertyKey) -> String? {
    if let text = directText(key) { text.pointee } else { _readString(key) }
  }

  public final func _readString(_ key: borrowing PropertyKey) -> String? {
    let slot = readSlot(key)
    if slot < 0 { return transient(key).flatMap { $0 as? String ?? ($0 as? URL)?.absoluteString } }
    if let value = changed(slot) {
      switch value {
      case .string(let x), .uri(let x): return x
      default: return nil
      }
    }
    return readText(key, slot)
  }

  public final func _uuid(_ key: borrowing PropertyKey) -> UUID? {
    let slot = readSlot(key)
    if slot < 0 { return transient(key) as? UUID }
    if let value = changed(slot) {
      if case .uuid(let x) = value { return x }
      return nil
    }
    return row.view?.uuidOrNil(slot)
  }

  public final func _data(_ key: borrowing PropertyKey) -> Data? {
    let slot = readSlot(key)
    if slot < 0 { return transient(key) as? Data }
    if isExternal(slot) { return externalData(slot) }
    if isTransformable(slot) { return transient(key) as? Data }
    if let value = changed(slot) {
      if case .data(let x) = value { return x }
      return nil
    }
    return row.view?.dataOrNil(slot)
  }

  @inline(__always)
  private func isExternal(_ slot: Int) -> Bool {
    entityInfo._withUnsafeGuaranteedRef { !$0.externalSlots.isEmpty && $0.externalSlots.contains(slot) }
  }

  @inline(__always)
  private func isTransformable(_ slot: Int) -> Bool {
    entityInfo._withUnsafeGuaranteedRef { $0.hasTransformables && $0.entity.slots[slot] == .transformable }
  }

  /// Any attribute, by the rules of key-value coding, for representations without their own function.
  public final func _any(_ key: borrowing PropertyKey) -> Any? {
    if !flags.isDisjoint(with: [.fault, .tracked]) { beginRead(key) }
    return core == nil && flags.contains(.fault) ? nil : modelledValue(forKey: key.name)
  }

  public final func _setAny(_ key: borrowing PropertyKey, _ value: Any?) { setModelledValue(value, forKey: key.name) }

  public final func _setInt(_ key: borrowing PropertyKey, _ value: Int64) { store(.int(value), key) { value } }
  public final func _setBool(_ key: borrowing PropertyKey, _ value: Bool) { store(.bool(value), key) { value } }
  /// A number for a date is one of seconds.
  public final func _setDouble(_ key: borrowing PropertyKey, _ value: Double) {
    let slot = slot(key)
    let isDate = slot >= 0 && entityInfo._withUnsafeGuaranteedRef { $0.entity.slots[slot] == .date }
    store(isDate ? .date(value) : .double(value), key) { value }
  }
  public final func _setDate(_ key: borrowing PropertyKey, _ value: Date) {
    store(.date(value.timeIntervalSinceReferenceDate), key) { value }
  }
  public final func _setString(_ key: borrowing PropertyKey, _ value: String) { store(.string(value), key) { value } }
  public final func _setUUID(_ key: borrowing PropertyKey, _ value: UUID) { store(.uuid(value), key) { value } }
  public final func _setData(_ key: borrowing PropertyKey, _ value: Data) {
    let slot = slot(key)
    if slot < 0 || isTransformable(slot) { return setModelledValue(value, forKey: key.name) }
    store(.data(isExternal(slot) ? [1] + value : value), in: slot)
  }
  public final func _setNil(_ key: borrowing PropertyKey) { store(.null, key) { nil } }

  /// Stores a value in the slot of an attribute; for an attribute that is only in memory, stores `transient` by name.
  @inline(__always)
  private func store(_ value: consuming Value, _ key: borrowing PropertyKey, transient: () -> Any?) {
    let slot = slot(key)
    if slot < 0 { setModelledValue(transient(), forKey: key.name) } else { store(value, in: slot) }
  }

  /// The value of an attribute without a slot of its own type. A probe of `KeyPathName` has recorded the key already.
  private func transient(_ key: borrowing PropertyKey) -> Any? {
    core == nil && flags.contains(.fault) ? nil : modelledValue(forKey: key.name)
  }

  private func transientInt(_ key: borrowing PropertyKey) -> Int64 {
    switch transient(key) {
    case let x as Bool: x ? 1 : 0
    case let x as any BinaryInteger: Int64(truncatingIfNeeded: x)
    case let x as NSNumber: x.int64Value
    default: 0
    }
  }

  private func transientDouble(_ key: borrowing PropertyKey) -> Double {
    switch transient(key) {
    case let x as Date: x.timeIntervalSinceReferenceDate
    case let x as any BinaryFloatingPoint: Double(x)
    case let x as NSNumber: x.doubleValue
    default: 0
    }
  }

  /// The destination of a to-one relationship to objects of a class.
  public final func _toOne(_ key: borrowing PropertyKey, _ type: NSManagedObject.Type = NSManagedObject.self)
    -> NSManagedObject?
  {
    if !flags.isDisjoint(with: [.fault, .tracked]) {
      if core == nil { return KeyPathName.recordToOne(key.name, self, type) }
      beginRead(key)
    }
    return toOne(entityInfo._withUnsafeGuaranteedRef { $0.toOnes[key.relationship($0)] })
  }

  public final func _setToOne(_ key: borrowing PropertyKey, _ value: NSManagedObject?) {
    withRelationship(key) { setToOne($0, value) }
    tellObservers()
  }

  /// The members of a to-many relationship, ordered ones in their order; or the results of a fetched property.
  public final func _toMany(_ key: borrowing PropertyKey) -> ContiguousArray<NSManagedObject> {
    if !flags.isDisjoint(with: [.fault, .tracked]) {
      beginRead(key)
      if core == nil { return [] }
    }
    if key.isFetched(info) {
      return ContiguousArray(modelledValue(forKey: key.name) as? [NSManagedObject] ?? [])
    }
    return withRelationship(key) { loadedToMany($0).members }
  }

  public final func _setToMany(_ key: borrowing PropertyKey, _ members: [NSManagedObject]) {
    withRelationship(key) { setToMany($0, members) }
    tellObservers()
  }
}
