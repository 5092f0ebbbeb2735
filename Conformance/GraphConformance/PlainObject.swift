import CoreData
import StoreConformance

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

  /// Whether a predicate means the same for values without a schema: it compares no objects with arguments, asks for no
  /// entities and for no position in a set, and crosses no to-many relationship behind a to-one relationship. There, nil
  /// stands for an empty collection, which only a schema can tell.
  static func haveMeaning(_ request: StackRequest) -> Bool {
    let hasObjects = request.arguments.contains { if case .object = $0 { true } else { false } }
    if hasObjects || request.format.contains("entity") { return false }
    if request.format.contains(/\[(FIRST|LAST|\d+)\]/) { return false }
    return !behindToOne.contains { request.format.contains($0) }
  }

  /// The paths over a to-one relationship to a to-many one.
  private static let behindToOne: [String] = Models.staff.entities.flatMap { entity in
    entity.relationshipsByName.values.filter { !$0.isToMany }.flatMap { first in
      (first.destinationEntity?.relationshipsByName.values.filter(\.isToMany) ?? []).map { "\(first.name).\($0.name)" }
    }
  }
}
