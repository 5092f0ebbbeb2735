import CoreData
import Foundation
import StoreProtocol
import StoreSchema

/// Carries out operations in a context, without saving.
struct AppliedChanges {
  private let context: NSManagedObjectContext
  private let store: OpenedStore
  private var named: [String: NSManagedObject] = [:]
  private(set) var inserted: [(name: String?, object: NSManagedObject)] = []

  init(_ context: NSManagedObjectContext, _ store: OpenedStore) {
    self.context = context
    self.store = store
  }

  mutating func apply(_ operation: Operation) throws {
    switch operation {
    case .insert(let entity, let name, let values): try insert(entity, name, values)
    case .set(let object, let values): try set(values, on: find(object))
    case .relate(let object, let name, let change): try relate(find(object), name, change)
    case .delete(let object): context.delete(try find(object))
    }
  }

  private mutating func insert(_ name: String, _ label: String?, _ values: [String: JSONValue]) throws {
    guard let entity = store.model.entitiesByName[name] else {
      throw ToolError(message: "The model has no entity \(name).")
    }
    if entity.isAbstract { throw ToolError(message: "The entity \(name) is abstract.") }
    if let label, named[label] != nil { throw ToolError(message: "Two objects are called \"\(label)\".") }
    let object = NSManagedObject(entity: entity, insertInto: context)
    if let label { named[label] = object }
    inserted.append((label, object))
    try set(values, on: object)
  }

  private func set(_ values: [String: JSONValue], on object: NSManagedObject) throws {
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      guard let attribute = object.entity.attributesByName[name] else {
        throw ToolError(message: "The entity \(object.entity.name ?? "") has no attribute \(name).")
      }
      object.setValue(try AppliedValue.value(value, for: attribute), forKey: name)
    }
  }

  // MARK: Relationships

  private func relate(_ object: NSManagedObject, _ name: String, _ change: Operation.RelationshipChange) throws {
    guard let relationship = object.entity.relationshipsByName[name] else {
      throw ToolError(message: "The entity \(object.entity.name ?? "") has no relationship \(name).")
    }
    switch change {
    case .to(let value):
      if relationship.isToMany {
        guard let list = value.array, list.allSatisfy({ $0.string != nil }) else {
          throw ToolError(message: "\(name) is to-many: \"to\" must be an array of objects.")
        }
        set(try list.compactMap(\.string).map { try find($0, for: relationship) }, relationship, on: object)
      } else if case .null = value {
        object.setValue(nil, forKey: name)
      } else {
        guard let text = value.string else {
          throw ToolError(message: "\(name) is to-one: \"to\" must be an object or null.")
        }
        object.setValue(try find(text, for: relationship), forKey: name)
      }
    case .members(let add, let remove):
      if !relationship.isToMany { throw ToolError(message: "\(name) is to-one: use \"to\".") }
      var members = members(relationship, of: object)
      let removed = try remove.map { try find($0, for: relationship) }
      members.removeAll { member in removed.contains { $0 === member } }
      for member in try add.map({ try find($0, for: relationship) }) where !members.contains(where: { $0 === member }) {
        members.append(member)
      }
      set(members, relationship, on: object)
    }
  }

  private func members(_ relationship: NSRelationshipDescription, of object: NSManagedObject) -> [NSManagedObject] {
    switch object.value(forKey: relationship.name) {
    case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
    case let set as Set<NSManagedObject>: Array(set)
    case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
    default: []
    }
  }

  private func set(_ members: [NSManagedObject], _ relationship: NSRelationshipDescription, on object: NSManagedObject)
  {
    object.setValue(
      relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: relationship.name)
  }

  private func find(_ text: String, for relationship: NSRelationshipDescription) throws -> NSManagedObject {
    let object = try find(text)
    guard let destination = relationship.destinationEntity, object.entity.isKindOf(entity: destination) else {
      throw ToolError(
        message: "\(text) is not a \(relationship.destinationEntity?.name ?? ""), the type of \(relationship.name).")
    }
    return object
  }

  /// An object by the label of its insert, by `Entity/pN` or by its URI.
  private func find(_ text: String) throws -> NSManagedObject {
    if let object = named[text] { return object }
    let uri = text.hasPrefix("x-coredata:") ? text : uri(short: text)
    guard let id = uri.flatMap(store.coordinator.managedObjectID(for:)) else {
      throw ToolError(
        message: "\"\(text)\" is not an object: give Entity/pN, a URI of this store, or the label of an insert.")
    }
    do {
      let object = try context.existingObject(with: id)
      // An ID may name the object's own entity or a superentity.
      return object
    } catch { throw ToolError(message: "There is no object \(text).") }
  }

  /// The URI of `Entity/pN`.
  private func uri(short text: String) -> String? {
    guard let slash = text.range(of: "/p", options: .backwards) else { return nil }
    let (entity, name) = (text[..<slash.lowerBound], text[slash.upperBound...])
    return ObjectURI.text(store: store.engine.identifier, entity: String(entity), name: String(name))
  }
}
