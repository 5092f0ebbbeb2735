import CoreData

/// An object of a run as a value without a schema. Predicates read the object itself as a dictionary, and the objects
/// behind its relationships by reflection. Those are read when a predicate follows the relationship, so that cycles do
/// no harm.
struct PlainObject: Hashable, CustomReflectable {
  private let object: NSManagedObject

  init(_ object: NSManagedObject) { self.object = object }

  /// The values by the names of the properties. Properties that are nil are left out.
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
