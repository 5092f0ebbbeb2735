import Foundation
import StoreQuery
import StoreSchema

/// Evaluates key paths over objects, collections and the collection operators.
enum KeyPathValue {
  static func value(of start: Any?, _ keys: ArraySlice<String>) -> Any? {
    guard let start = AttributeCoding.flattened(start), let key = keys.first else { return start }
    let rest = keys.dropFirst()
    if key == "self" { return value(of: start, rest) }
    switch start {
    case let object as NSManagedObject: return value(of: object.value(forKey: key), rest)
    case let set as NSSet:
      return collection(set.allObjects, key, rest) { NSSet(array: $0.compactMap { $0 }.map(SetDecimal.hashable)) }
    case let set as NSOrderedSet:
      return collection(set.array, key, rest) {
        NSOrderedSet(array: distinct($0.compactMap { $0 }).map(SetDecimal.hashable))
      }
    // "The returned array contains NSNull elements for each object that returns nil"; a set has none.
    case let array as [Any]: return collection(array, key, rest) { $0.map { $0 ?? NSNull() } }
    case let dictionary as [String: Any]: return value(of: dictionary[key], rest)
    case let dictionary as [AnyHashable: Any]: return value(of: dictionary[key], rest)
    // The key of rules about the length of a string. NSString has it on Apple's platforms.
    case let text as String where key == "length": return value(of: NSNumber(value: text.utf16.count), rest)
    default: return value(of: StoredProperty.value(key, of: start), rest)
    }
  }

  /// The values of a key of each member, combined to a collection by the closure, and then the value of the rest of the
  /// key path. For an operator, its result over the values of the rest for each member.
  ///
  /// https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueCoding/CollectionOperators.html
  private static func collection(
    _ members: [Any], _ key: String, _ rest: ArraySlice<String>, collect: ([Any?]) -> Any
  ) -> Any? {
    if key == "@count" { return NSNumber(value: members.count) }
    // The rest is applied to the new collection, as `value(forKeyPath:)` does with each key: it may be an operator.
    guard key.hasPrefix("@") else { return value(of: collect(members.map { value(of: $0, [key]) }), rest) }
    let values = rest.isEmpty ? members : members.compactMap { value(of: $0, rest) }
    let numbers = values.compactMap(AttributeCoding.double)
    switch key {
    case "@sum": return NSNumber(value: numbers.reduce(0, +))
    // "substituting 0 for nil values"
    case "@avg": return members.isEmpty ? nil : NSNumber(value: numbers.reduce(0, +) / Double(members.count))
    case "@min": return extreme(values, .ascending)
    case "@max": return extreme(values, .descending)
    case "@unionOfObjects": return values
    case "@distinctUnionOfObjects": return distinct(values)
    case "@unionOfArrays": return flat(values)
    case "@distinctUnionOfArrays": return distinct(flat(values))
    case "@distinctUnionOfSets": return NSSet(array: flat(values).map(SetDecimal.hashable))
    default: misuse("the collection operator \(key) is unknown.")
    }
  }

  private static func distinct(_ values: [Any]) -> [Any] { ObjectCollection.distinct(values).compactMap { $0 } }

  private static func flat(_ values: [Any]) -> [Any] {
    values.flatMap { ObjectCollection.elements($0) ?? [] }.map { $0 ?? NSNull() }
  }

  /// The first of the extreme values: no other value has the given order relative to it. Numbers are compared
  /// exactly. `NSNull` is no value.
  private static func extreme(_ values: [Any], _ requiredOnes: Ordering) -> Any? {
    var best: (value: Value, original: Any)?
    for original in values {
      let value = ObjectSource.value(original)
      if value.isNull { continue }
      if let known = best, ValueComparison.compare(value, known.value) != requiredOnes { continue }
      best = (value, original)
    }
    return best?.original
  }
}

/// A decimal that sets can hold: the hash function of Foundation's class recurses without end.
private final class SetDecimal: NSDecimalNumber, @unchecked Sendable {
  static func hashable(_ value: Any) -> Any {
    guard let decimal = value as? NSDecimalNumber else { return value }
    return SetDecimal(decimal.decimalValue)
  }

  override var hash: Int { decimalValue.hashValue }
  override var classForCoder: AnyClass { NSDecimalNumber.self }

  init(_ value: Decimal) { super.init(decimal: value) }
  required init(floatLiteral value: Double) { super.init(decimal: Decimal(value)) }
  required init(integerLiteral value: Int) { super.init(decimal: Decimal(value)) }
  required init(booleanLiteral value: Bool) { super.init(decimal: value ? 1 : 0) }
  required init(bytes buffer: UnsafeRawPointer, objCType type: UnsafePointer<Int8>) {
    misuse("A decimal in a set is made of a decimal.")
  }
  required init?(coder: NSCoder) { super.init(coder: coder) }
}

/// Properties of objects without key-value coding, which needs the Objective-C runtime. Reflection reads the stored
/// ones.
private enum StoredProperty {
  static func value(_ name: String, of object: Any) -> Any? {
    var mirror: Mirror? = Mirror(reflecting: object)
    while let level = mirror {
      if let found = level.children.first(where: { $0.label == name }) { return found.value }
      mirror = level.superclassMirror
    }
    return nil
  }
}
