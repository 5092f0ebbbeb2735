import Foundation
import StoreQuery
import StoreSchema

/// Collections and key paths as predicates see them: what a fetch makes of relationships, over objects of any kind.
///
/// Unlike key-value coding, a path over a collection keeps nil, and gives one list however many collections are on the way.
enum ObjectCollection {
  /// Nil for what is no collection.
  static func elements(_ operand: Any?) -> [Any?]? {
    switch operand {
    case let set as NSSet:
      // Without an order of their own, objects have that of fetches.
      (set.allObjects as? [NSManagedObject])?.sorted { $0.isBefore($1) } ?? set.allObjects
    case let set as NSOrderedSet: set.array
    case let array as [Any?]: array
    case let set as Set<AnyHashable>: set.map(\.base)
    default: nil
    }
  }

  static func isUnordered(_ operand: Any?) -> Bool { operand is NSSet || operand is Set<AnyHashable> }

  /// The value at a dotted path, collection operators included.
  static func value(of start: Any?, _ path: String) -> Any? {
    let keys = path.split(separator: ".").map(String.init)
    guard let place = keys.firstIndex(where: { $0.hasPrefix("@") }) else { return value(of: start, keys[...]) }
    let collection = value(of: start, keys[..<place])
    guard let elements = elements(collection) else {
      if collection == nil { return nil }
      misuse("\(keys[place]) in the key path \(path) is behind what is no collection.")
    }
    return collected(elements, by: keys[place], keys[(place + 1)...], path)
  }

  private static func value(of start: Any?, _ keys: ArraySlice<String>) -> Any? {
    var current = start
    for (place, key) in zip(keys.indices, keys) {
      guard let elements = elements(current) else {
        let next = single(current, key)
        if next == nil, leadsToMany(current, keys[place...]) { return [Any?]() }
        current = next
        continue
      }
      let rest = keys[place...]
      return elements.flatMap { element -> [Any?] in
        let value = self.value(of: element, rest)
        return self.elements(value) ?? [value]
      }
    }
    return current
  }

  /// Whether a to-one relationship that leads nowhere is on the way to a collection, which is empty then as it is in a fetch.
  private static func leadsToMany(_ value: Any?, _ keys: ArraySlice<String>) -> Bool {
    var entity = (value as? NSManagedObject)?.entity
    for key in keys {
      guard let relationship = entity?.relationshipsByName[key] else { return false }
      if relationship.isToMany { return true }
      entity = relationship.destinationEntity
    }
    return false
  }

  /// The value of one key. Objects have some that are no properties of their entity, as in fetches.
  private static func single(_ value: Any?, _ key: String) -> Any? {
    let value = AttributeCoding.flattened(value)
    if let entity = value as? NSEntityDescription, key == "name" { return entity.name }
    guard let object = value as? NSManagedObject, ["self", "SELF", "objectID", "entity"].contains(key),
      object.entity.propertiesByName[key] == nil
    else { return KeyPathValue.value(of: value, [key]) }
    switch key {
    case "entity": return object.entity
    case "objectID": return object.objectID
    default: return object
    }
  }

  private static func collected(_ elements: [Any?], by key: String, _ rest: ArraySlice<String>, _ path: String) -> Any?
  {
    if key == "@count" { return Value.int(Int64(elements.count { AttributeCoding.flattened($0) != nil })) }
    let values = rest.isEmpty ? elements : (self.elements(value(of: elements as Any?, rest)) ?? [])
    switch key {
    case "@sum": return aggregate(.sum, values)
    case "@avg": return aggregate(.average, values)
    case "@min": return aggregate(.minimum, values)
    case "@max": return aggregate(.maximum, values)
    case "@unionOfObjects": return values
    case "@distinctUnionOfObjects": return distinct(values)
    default: misuse("The collection operator \(key) of the key path \(path) is not known.")
    }
  }

  static func aggregate(_ aggregate: Aggregate, _ values: [Any?]) -> Value {
    var collector = Aggregate.Collector(aggregate)
    for value in values { collector.add(ObjectEvaluator.value(value)) }
    return collector.value
  }

  /// Each element once, by what predicates take for equal.
  static func distinct(_ elements: [Any?]) -> [Any?] {
    var known: Set<EqualElement> = []
    return elements.filter { known.insert(EqualElement($0)).inserted }
  }

  /// `left UNION right` and the like, where a single value is a collection of one.
  static func combine(_ operation: StoreQuery.Expression.SetOperation, _ left: Any?, _ right: Any?) -> [Any?] {
    let (a, b) = (elements(left) ?? [left], elements(right) ?? [right])
    let other = Set(b.map(EqualElement.init))
    switch operation {
    case .union: return distinct(a + b)
    case .intersect: return distinct(a).filter { other.contains(EqualElement($0)) }
    case .minus: return distinct(a).filter { !other.contains(EqualElement($0)) }
    }
  }

  /// An element by its value; what has none that predicates know by itself.
  private struct EqualElement: Hashable {
    private let value: EqualValue
    private let object: NSObject?

    init(_ element: Any?) {
      value = EqualValue(value: ObjectEvaluator.value(element))
      object = value.value.isNull ? AttributeCoding.flattened(element) as? NSObject : nil
    }
  }
}
