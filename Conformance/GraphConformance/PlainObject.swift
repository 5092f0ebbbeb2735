import CoreData

/// An object of a run as a value without a schema. Its properties are read when a predicate asks for them, so that
/// cycles of relationships do no harm. Behind relationships are values of this class, which predicates read by
/// reflection.
struct PlainObject: Hashable, CustomReflectable {
  private let object: NSManagedObject

  init(_ object: NSManagedObject) { self.object = object }

  /// The values by their names; nothing for nil.
  var dictionary: [String: Any] {
    var values: [String: Any] = [:]
    for (name, property) in object.entity.propertiesByName {
      guard let value = object.value(forKey: name) else { continue }
      guard property is NSRelationshipDescription else {
        values[name] = value
        continue
      }
      switch value {
      case let members as NSOrderedSet: values[name] = members.compactMap(PlainObject.init(any:))
      case let members as NSSet: values[name] = Set(members.compactMap(PlainObject.init(any:)))
      default: values[name] = PlainObject(any: value)
      }
    }
    return values
  }

  private init?(any value: Any) {
    guard let object = value as? NSManagedObject else { return nil }
    self.object = object
  }

  var customMirror: Mirror { Mirror(self, children: dictionary.map { ($0.key, $0.value) }) }
}
