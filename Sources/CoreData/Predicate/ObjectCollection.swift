import Foundation
import StoreQuery
import StoreSchema

/// Collections and key paths of predicates in memory, with the meaning that relationships have in fetches.
///
/// This differs from key-value coding in two ways: a path over a collection keeps nil, and it gives one flat list,
/// however many collections it crosses.
enum ObjectCollection {
  /// The elements of a collection; nil for any other operand.
  static func elements(_ operand: Any?) -> [Any?]? {
    switch operand {
    case let set as NSSet:
      // Objects of a set have the order that fetches give them.
      (set.allObjects as? [NSManagedObject])?.sorted { $0.isBefore($1) } ?? set.allObjects
    case let set as NSOrderedSet: set.array
    case let array as [Any?]: array
    case let list as ConstantList: list.values
    case let set as Set<AnyHashable>: set.map(\.base)
    default: nil
    }
  }

  static func isUnordered(_ operand: Any?) -> Bool { operand is NSSet || operand is Set<AnyHashable> }

  /// The value at a dotted path, collection operators included.
  static func value(of start: Any?, _ path: String) -> Any? {
    let keys = path.split(separator: ".").map(String.init)
    // The keys behind a collection are read recursively.
    if keys.count > TreeHeight.limit { misuse("A key path has more than \(TreeHeight.limit) keys.") }
    return value(of: start, keys[...])
  }

  private static func value(of start: Any?, _ keys: ArraySlice<String>) -> Any? {
    guard let position = keys.firstIndex(where: { $0.hasPrefix("@") }) else { return plainValue(of: start, keys) }
    let collection = plainValue(of: start, keys[..<position])
    guard let elements = elements(collection) else {
      if AttributeCoding.flattened(collection) == nil { return nil }
      misuse("\(keys[position]) in the key path \(keys.joined(separator: ".")) is behind what is no collection.")
    }
    return collected(elements, by: keys[position], keys[(position + 1)...])
  }

  private static func plainValue(of start: Any?, _ keys: ArraySlice<String>) -> Any? {
    var current = start
    for (position, key) in zip(keys.indices, keys) {
      if let elements = elements(current) { return values(of: elements, keys[position...]) }
      let next = single(current, key)
      if next == nil, leadsToMany(current, keys[position...]) { return [Any?]() }
      current = next
    }
    return current
  }

  /// The values at a path from each element, as one flat list.
  private static func values(of elements: [Any?], _ keys: ArraySlice<String>) -> [Any?] {
    elements.flatMap { element -> [Any?] in
      let value = self.value(of: element, keys)
      return self.elements(value) ?? [value]
    }
  }

  /// Whether the path crosses a to-many relationship behind the nil of a to-one relationship. The collection is then
  /// empty, as in a fetch.
  private static func leadsToMany(_ value: Any?, _ keys: ArraySlice<String>) -> Bool {
    var entity = (value as? NSManagedObject)?.info.description
    for key in keys {
      guard let relationship = entity?.relationshipsByName[key] else { return false }
      if relationship.isToMany { return true }
      entity = relationship.destinationEntity
    }
    return false
  }

  /// The value of one key. As in fetches, objects also have keys that are no properties of their entity. The key `self`
  /// gives the value itself.
  private static func single(_ value: Any?, _ key: String) -> Any? {
    guard let value = AttributeCoding.flattened(value) else { return nil }
    if let value = value as? Value { return single(AttributeCoding.decode(value, .undefined), key) }
    if let entity = value as? NSEntityDescription, key == "name" { return entity.name }
    if let object = value as? NSManagedObject, object.info.description.propertiesByName[key] == nil {
      switch key {
      case "entity": return object.info.description
      case "objectID": return object.ownID
      case "self", "SELF": return object
      default: break
      }
    }
    return KeyPathValue.value(of: value, [key]) ?? (key == "self" ? value : nil)
  }

  /// The result of a collection operator for the values at the path behind it
  /// (https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueCoding/CollectionOperators.html).
  /// A path gives one flat list. So the operators for arrays and sets do the same as the operators for objects.
  private static func collected(_ elements: [Any?], by key: String, _ rest: ArraySlice<String>) -> Any? {
    if key == "@count" { return Value.int(Int64(elements.count { !isNil($0) })) }
    if let isDistinct = PredicateResolver.unionOperators[key] {
      // A further operator applies to the result of this one.
      let end = rest.firstIndex { $0.hasPrefix("@") } ?? rest.endIndex
      let united = end == rest.startIndex ? elements : values(of: elements, rest[..<end])
      return value(of: isDistinct ? distinct(united) : united, rest[end...])
    }
    let values = rest.isEmpty ? elements : values(of: elements, rest)
    switch key {
    case "@sum": return aggregate(.sum, values)
    case "@avg": return aggregate(.average, values)
    case "@min": return aggregate(.minimum, values)
    case "@max": return aggregate(.maximum, values)
    default: misuse("The collection operator \(key) is not known.")
    }
  }

  static func knows(collectionOperator key: String) -> Bool {
    PredicateResolver.unionOperators[key] != nil || ["@count", "@sum", "@avg", "@min", "@max"].contains(key)
  }

  static func isNil(_ operand: Any?) -> Bool {
    (operand as? Value)?.isNull ?? (AttributeCoding.flattened(operand) == nil)
  }

  static func aggregate(_ aggregate: Aggregate, _ values: [Any?]) -> Value {
    var collector = Aggregate.Collector(aggregate)
    for value in values { collector.add(ObjectSource.value(value)) }
    return collector.value
  }

  /// Each element once. Elements are equal if predicates call them equal.
  static func distinct(_ elements: [Any?]) -> [Any?] {
    let compared = ComparedValues()
    var known: Set<EqualValue> = []
    return elements.filter { known.insert(EqualValue(value: compared.value($0))).inserted }
  }

  /// The result of `left UNION right` and the like. A single value counts as a collection of one element, nil as an
  /// empty one.
  static func combine(_ operation: StoreQuery.Expression.SetOperation, _ left: Any?, _ right: Any?) -> [Any?] {
    func list(_ operand: Any?) -> [Any?] {
      elements(operand) ?? (isNil(operand) ? [] : [operand])
    }
    let (a, b, compared) = (list(left), list(right), ComparedValues())
    func key(_ element: Any?) -> EqualValue { EqualValue(value: compared.value(element)) }
    let other = Set(b.map(key))
    switch operation {
    case .union: return distinct(a + b)
    case .intersect: return distinct(a).filter { other.contains(key($0)) }
    case .minus: return distinct(a).filter { !other.contains(key($0)) }
    }
  }
}
