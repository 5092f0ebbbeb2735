import CoreData

/// The model of all constructs, and contexts over stores in memory.
enum World {
  nonisolated(unsafe) private static var entities: [NSEntityDescription] = []

  /// Made once, because Core Data looks for the entity of a class in all models.
  private static let model: NSManagedObjectModel = {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }()

  /// The contexts of the check that runs. Objects do not keep their contexts.
  nonisolated(unsafe) private static var contexts: [NSManagedObjectContext] = []

  /// Adds entities to the model. This is for the time before the first context.
  static func add(_ new: [NSEntityDescription]) { entities += new }

  /// A new context with a store of its own.
  static func context() -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    do {
      try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    } catch {
      fatalError("There is no store in memory: \(error)")
    }
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    contexts.append(context)
    return context
  }

  static func removeContexts() { contexts = [] }

  /// A new object in a context of its own.
  static func make<Object: NSManagedObject>(_ type: Object.Type) -> Object { Object(context: context()) }
}

/// An entity with the name of its class.
func entity(_ type: NSManagedObject.Type, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
  let entity = NSEntityDescription()
  entity.name = String(describing: type)
  #if canImport(ObjectiveC)
    entity.managedObjectClassName = NSStringFromClass(type)
  #else
    entity.managedObjectClassName = String(describing: type)
  #endif
  entity.properties = properties
  return entity
}

func attribute(_ name: String, _ type: NSAttributeType, _ value: Any? = nil) -> NSAttributeDescription {
  let attribute = NSAttributeDescription()
  attribute.name = name
  attribute.attributeType = type
  attribute.isOptional = true
  if let value { attribute.defaultValue = value }
  return attribute
}

func transient(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
  let attribute = attribute(name, type)
  attribute.isTransient = true
  return attribute
}

func texts(_ names: String...) -> [NSAttributeDescription] { names.map { attribute($0, .stringAttributeType) } }

/// What a side of a relationship is.
enum Side {
  case one, many, ordered
}

/// Adds a relationship and its inverse.
func relate(
  _ one: NSEntityDescription, _ name: String, _ side: Side, _ other: NSEntityDescription, _ inverse: String,
  _ otherSide: Side
) {
  func relationship(_ name: String, _ side: Side, to destination: NSEntityDescription) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.isOptional = true
    relationship.deleteRule = .nullifyDeleteRule
    relationship.minCount = 0
    relationship.maxCount = side == .one ? 1 : 0
    relationship.isOrdered = side == .ordered
    return relationship
  }
  let forward = relationship(name, side, to: other)
  let backward = relationship(inverse, otherSide, to: one)
  forward.inverseRelationship = backward
  backward.inverseRelationship = forward
  one.properties.append(forward)
  other.properties.append(backward)
}

/// Checks that a property takes values, has them by its key too, and still has them when the object was saved and read
/// again.
func works<Object: NSManagedObject, Value: Equatable>(
  _ path: ReferenceWritableKeyPath<Object, Value>, _ key: String, _ values: Value..., isSaved: Bool = true,
  file: String = #fileID, line: Int = #line
) throws {
  let object = World.make(Object.self)
  for value in values {
    object[keyPath: path] = value
    expect(object[keyPath: path], is: value, file: file, line: line)
    let isNothing = "\(value)" == "nil"
    expect((object.value(forKey: key) == nil) == isNothing, "by key", file: file, line: line)
    guard isSaved else { continue }
    try object.managedObjectContext?.save()
    object.managedObjectContext?.refresh(object, mergeChanges: false)
    expect(object[keyPath: path], is: value, file: file, line: line)
  }
}
