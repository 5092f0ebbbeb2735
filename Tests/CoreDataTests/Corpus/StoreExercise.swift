import Foundation
import StoreSchema

@testable import CoreData
@testable import CoreDataTool

/// Inserts, changes, relates and deletes objects of every entity of a store, in one save.
struct StoreExercise {
  private let context: NSManagedObjectContext
  private let model: NSManagedObjectModel
  private let coordinator: NSPersistentStoreCoordinator

  /// Opens the store for writing. Values of transformable attributes are the stored bytes.
  init(_ url: URL, _ model: NSManagedObjectModel) throws {
    ToolModel.keepStoredBytes(model)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    self.model = model
  }

  /// Returns a line for each written object, `{"entity":"E","key":12,"change":"insert"}`.
  func run() throws -> [String] {
    try context.performAndWait {
      let entities = model.entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
      var deleted: Set<NSManagedObject> = []
      for entity in entities { deleted.formUnion(try delete(entity)) }
      for entity in entities { try update(entity) }
      // One of each entity that requires other objects, and several of the rest, so that there are enough destinations.
      let needy = entities.map { entity in
        entity.relationshipsByName.values.contains {
          !$0.isOptional && ($0.isToMany || $0.inverseRelationship?.isToMany == false)
        }
      }
      let made = (0..<4).flatMap { round in
        entities.enumerated().filter { round == 0 || !needy[$0.offset] }.map { insert($1, number: round * 1000 + $0) }
      }
      for object in made { relate(object, to: made) }
      context.processPendingChanges()
      let inserted = context.insertedObjects
      // An object whose relationships are stored only on the other side is not written.
      let updated = context.updatedObjects.filter { !$0.changedSlots().isEmpty || $0.flags.contains(.linksChanged) }
      deleted = context.deletedObjects
      try context.save()
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      return inserted.map { line($0, "insert") } + updated.map { line($0, "update") }
        + deleted.map { line($0, "delete") }
    }
  }

  private func line(_ object: NSManagedObject, _ change: String) -> String {
    #"{"entity":"\#(object.entity.name ?? "")","key":\#(object.key),"change":"\#(change)"}"#
  }

  private func objects(_ entity: NSEntityDescription) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    request.includesSubentities = false
    request.includesPendingChanges = false
    return try context.fetch(request).filter { !$0.isDeleted }
  }

  /// The last object of an entity that has several, unless a rule or another object forbids it.
  private func delete(_ entity: NSEntityDescription) throws -> [NSManagedObject] {
    let objects = try objects(entity)
    guard objects.count > 2, let last = objects.last, (try? last.validateForDelete()) != nil else { return [] }
    // A one-way to-one relationship still refers to a deleted object, as in Core Data.
    let isLedTo = model.entities.flatMap { $0.relationshipsByName.values }.contains { relationship in
      relationship.inverseRelationship == nil && !relationship.isToMany
        && relationship.destinationEntity.map { entity.isKindOf(entity: $0) } ?? false
    }
    // Objects with a mandatory relationship to it could not be saved without it.
    let isNeeded = entity.relationshipsByName.values.contains { relationship in
      guard let inverse = relationship.inverseRelationship, !inverse.isOptional else { return false }
      return relationship.deleteRule == .nullifyDeleteRule
    }
    if isNeeded || isLedTo { return [] }
    context.delete(last)
    return [last]
  }

  private func update(_ entity: NSEntityDescription) throws {
    guard let first = try objects(entity).first else { return }
    for (name, attribute) in entity.attributesByName where !isUnique(name, entity) {
      guard let value = StoreExercise.value(attribute, number: 7) else { continue }
      let former = first.value(forKey: name)
      first.setValue(value, forKey: name)
      // The model may have validation predicates that no other value meets.
      if (try? first.validateForUpdate()) == nil { first.setValue(former, forKey: name) }
    }
  }

  private func isUnique(_ name: String, _ entity: NSEntityDescription) -> Bool {
    var next: NSEntityDescription? = entity
    while let entity = next {
      if entity.uniquenessConstraints.joined().contains(where: { $0 as? String == name }) { return true }
      next = entity.superentity
    }
    return false
  }

  private func insert(_ entity: NSEntityDescription, number: Int) -> NSManagedObject {
    let object = NSManagedObject(entity: entity, insertInto: context)
    for (name, attribute) in entity.attributesByName {
      if let value = StoreExercise.value(attribute, number: 1000 + number) { object.setValue(value, forKey: name) }
    }
    return object
  }

  /// Relates the object to the new objects of the right entity, and to the first old one.
  private func relate(_ object: NSManagedObject, to made: [NSManagedObject]) {
    for (name, relationship) in object.entity.relationshipsByName {
      guard let destination = relationship.destinationEntity else { continue }
      // One model of the corpus has relationships whose inverse belongs to another relationship: their two sides cannot
      // agree.
      if let inverse = relationship.inverseRelationship, inverse.inverseRelationship?.name != name { continue }
      var targets = made.filter { $0.entity.isKindOf(entity: destination) && $0 !== object }
      // No object loses a destination that it requires.
      if let inverse = relationship.inverseRelationship, !relationship.isOptional, !inverse.isToMany {
        targets = Array(targets.filter { $0.value(forKey: inverse.name) == nil }.prefix(1))
      } else if let old = try? objects(destination).first {
        targets.append(old)
      }
      if relationship.isToMany {
        let count = relationship.maxCount > 0 ? relationship.maxCount : targets.count
        let members = Array(targets.prefix(count))
        object.setValue(relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: name)
      } else if object.value(forKey: name) == nil {
        object.setValue(targets.first, forKey: name)
      }
    }
  }

  /// A value that depends on `number`; nil for attributes that the store fills.
  private static func value(_ attribute: NSAttributeDescription, number: Int) -> Any? {
    if attribute is NSDerivedAttributeDescription || attribute.isTransient { return nil }
    if let composite = attribute as? NSCompositeAttributeDescription {
      return Dictionary(
        composite.elements.compactMap { element in value(element, number: number).map { (element.name, $0) } },
        uniquingKeysWith: { $1 })
    }
    switch attribute.attributeType {
    case .integer16AttributeType: return Int16(number % 30000)
    case .integer32AttributeType: return Int32(number)
    case .integer64AttributeType: return Int64(number) << 33
    case .doubleAttributeType: return Double(number) + 0.1
    case .floatAttributeType: return Float(number) + 0.25
    case .decimalAttributeType: return NSDecimalNumber(string: "\(number).125")
    case .booleanAttributeType: return number % 2 == 0
    case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: Double(number) * 1000 + 0.5)
    case .stringAttributeType: return "title \(number) é\u{1F600}"
    case .URIAttributeType: return URL(string: "https://example.com/\(number)")
    case .UUIDAttributeType:
      return UUID(uuidString: "00000000-0000-4000-8000-00000000" + String(format: "%04d", number))
    case .binaryDataAttributeType:
      return Data(repeating: UInt8(number % 251), count: attribute.allowsExternalBinaryDataStorage ? 200_000 : 50)
    case .transformableAttributeType: return Data("bytes \(number)".utf8)
    default: return nil
    }
  }
}
