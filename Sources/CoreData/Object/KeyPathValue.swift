import Foundation
import StoreSchema

/// Key paths over objects, collections and the collection operators.
enum KeyPathValue {
  static func value(of start: Any?, _ keys: ArraySlice<String>) -> Any? {
    guard let start = AttributeCoding.flattened(start), let key = keys.first else { return start }
    let rest = keys.dropFirst()
    switch start {
    case let object as NSManagedObject: return value(of: object.value(forKey: key), rest)
    case let set as NSSet: return collection(set.allObjects, key, rest, unordered: true)
    case let set as NSOrderedSet: return collection(set.array, key, rest, unordered: false)
    case let array as [Any]: return collection(array, key, rest, unordered: false)
    case let dictionary as [String: Any]: return value(of: dictionary[key], rest)
    case let dictionary as [AnyHashable: Any]: return value(of: dictionary[key], rest)
    // The key of rules about the length of a text; NSString answers it on Apple's platforms.
    case let text as String where key == "length": return value(of: NSNumber(value: text.utf16.count), rest)
    default: return value(of: StoredProperty.value(key, of: start), rest)
    }
  }

  private static func collection(
    _ members: [Any], _ key: String, _ rest: ArraySlice<String>, unordered: Bool
  ) -> Any? {
    if key == "@count" { return NSNumber(value: members.count) }
    guard key.hasPrefix("@") else {
      let values = members.compactMap { value(of: $0, [key] + rest) }
      return unordered ? NSSet(array: values) : values as Any
    }
    let values = rest.isEmpty ? members : members.compactMap { value(of: $0, rest) }
    let numbers = values.compactMap(AttributeCoding.double)
    switch key {
    case "@sum": return NSNumber(value: numbers.reduce(0, +))
    case "@avg": return numbers.isEmpty ? nil : NSNumber(value: numbers.reduce(0, +) / Double(numbers.count))
    case "@min": return extreme(values, -1)
    case "@max": return extreme(values, 1)
    case "@unionOfObjects": return values
    case "@distinctUnionOfObjects": return Array(NSOrderedSet(array: values))
    case "@unionOfArrays": return flat(values)
    case "@distinctUnionOfArrays": return Array(NSOrderedSet(array: flat(values)))
    case "@distinctUnionOfSets": return NSSet(array: flat(values))
    default: misuse("the collection operator \(key) is not known.")
    }
  }

  private static func flat(_ values: [Any]) -> [Any] {
    values.flatMap { ObjectCollection.elements($0) ?? [] }.map { $0 ?? NSNull() }
  }

  private static func extreme(_ values: [Any], _ sign: Int) -> Any? {
    values.reduce(nil as Any?) { best, next in
      guard let best else { return next }
      return compare(next, best) == sign ? next : best
    }
  }

  private static func compare(_ a: Any, _ b: Any) -> Int {
    if let x = a as? Date, let y = b as? Date { return x < y ? -1 : (x > y ? 1 : 0) }
    if let x = a as? String, let y = b as? String {
      return UTF8Order.isLess(x, y) ? -1 : (UTF8Order.isLess(y, x) ? 1 : 0)
    }
    guard let x = AttributeCoding.double(a), let y = AttributeCoding.double(b) else { return 0 }
    return x < y ? -1 : (x > y ? 1 : 0)
  }
}

/// Properties of objects that have no key-value coding: it needs the Objective-C runtime. The stored ones can be looked
/// at.
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
