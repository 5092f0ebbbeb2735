import CoreData
import Foundation

/// Frequent operations of the cases.
extension NSManagedObjectContext {
  /// Inserts an object with some values.
  @discardableResult
  func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  /// The objects of an entity, sorted by an attribute.
  func objects(
    _ entity: String, _ predicate: NSPredicate? = nil, by key: String? = nil, ascending: Bool = true
  ) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate
    request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: ascending)] }
    return try fetch(request)
  }

  /// The only object of an entity with a value. If there is none or more than one, the error states their number.
  func one(_ entity: String, _ key: String, _ value: String) throws -> NSManagedObject {
    let found = try objects(entity, NSPredicate(format: "%K == %@", key, value))
    if found.count == 1 { return found[0] }
    throw CocoaError(
      .coderValueNotFound,
      userInfo: [NSLocalizedDescriptionKey: "\(found.count) \(entity) with \(key) \(value), not one"])
  }

  func number(of entity: String) throws -> Int { try count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) }
}

extension NSManagedObject {
  func text(_ key: String) -> String? { value(forKey: key) as? String }
  func number(_ key: String) -> Int? { (value(forKey: key) as? NSNumber)?.intValue }
  func one(_ key: String) -> NSManagedObject? { value(forKey: key) as? NSManagedObject }
  /// The members of a to-many relationship. Those of an ordered relationship are in order.
  func many(_ key: String) -> [NSManagedObject] {
    switch value(forKey: key) {
    case let ordered as NSOrderedSet: return ordered.array.compactMap { $0 as? NSManagedObject }
    case let set as NSSet: return set.allObjects.compactMap { $0 as? NSManagedObject }
    case let set as Set<NSManagedObject>: return Array(set)
    default: return []
    }
  }

  /// One attribute of all members: in the order of an ordered relationship, otherwise sorted.
  func texts(_ key: String, _ attribute: String) -> [String] {
    let found = many(key).compactMap { $0.text(attribute) }
    return value(forKey: key) is NSOrderedSet ? found : found.sorted()
  }

  func add(_ object: NSManagedObject, to key: String) { mutableSetValue(forKey: key).add(object) }
  func remove(_ object: NSManagedObject, from key: String) { mutableSetValue(forKey: key).remove(object) }
}
