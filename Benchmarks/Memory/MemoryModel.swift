import CoreData
import Foundation
import LMDBStore

/// One owner with all the rows, and an entity with one large value.
enum MemoryModel {
  static func make() -> NSManagedObjectModel {
    let (owner, row, large) = (entity("Owner", Owner.self), entity("Row", Row.self), entity("Large", Large.self))
    let rows = relationship("rows", to: row, most: 0, rule: .cascadeDeleteRule)
    let back = relationship("owner", to: owner, most: 1, rule: .nullifyDeleteRule)
    (rows.inverseRelationship, back.inverseRelationship) = (back, rows)
    owner.properties = [rows]
    row.properties = [
      attribute("name", .string), attribute("number", .integer64), attribute("amount", .double),
      attribute("date", .date), back,
    ]
    large.properties = [attribute("bytes", .binaryData)]
    let model = NSManagedObjectModel()
    model.entities = [owner, row, large]
    return model
  }

  /// A context over the store at `path`, which is made where there is none.
  static func context(_ type: String, _ path: String) throws -> NSManagedObjectContext {
    #if LMDB
      LMDBStore.register()
    #endif
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: make())
    _ = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func entity(_ name: String, _ type: NSManagedObject.Type) -> NSEntityDescription {
    let entity = NSEntityDescription()
    (entity.name, entity.managedObjectClassName) = (name, NSStringFromClass(type))
    return entity
  }

  private static func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription
  {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.type, attribute.isOptional) = (name, type, false)
    return attribute
  }

  private static func relationship(
    _ name: String, to entity: NSEntityDescription, most: Int, rule: NSDeleteRule
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    (relationship.name, relationship.destinationEntity) = (name, entity)
    (relationship.maxCount, relationship.deleteRule) = (most, rule)
    return relationship
  }
}

final class Owner: NSManagedObject {}

final class Row: NSManagedObject {
  static let name = ManagedProperty<String>("name")
  static let number = ManagedProperty<Int64>("number")
  static let amount = ManagedProperty<Double>("amount")
  static let date = ManagedProperty<Date>("date")
  static let owner = ManagedProperty<Owner?>("owner")

  func fill(_ index: Int, _ owner: Owner) {
    setValue("A row with the number \(index)", of: Self.name)
    setValue(Int64(index), of: Self.number)
    setValue(Double(index) / 8, of: Self.amount)
    setValue(Date(timeIntervalSinceReferenceDate: Double(index)), of: Self.date)
    setValue(owner, of: Self.owner)
  }

  /// Reads every value.
  var sum: Double {
    Double(value(of: Self.name).utf8.count) + Double(value(of: Self.number)) + value(of: Self.amount)
      + value(of: Self.date).timeIntervalSinceReferenceDate
  }
}

final class Large: NSManagedObject {
  static let bytes = ManagedProperty<Data>("bytes")
}
