import CoreData
import Foundation

/// Short ways to describe models.
enum Describe {
  static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    return attribute
  }

  /// An entity with a name and further properties.
  static func entity(_ name: String, _ properties: [NSPropertyDescription] = []) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = [attribute("name", .stringAttributeType)] + properties
    return entity
  }

  static func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  /// Adds a relationship and its inverse. `many` and `backMany` say which of them are to-many.
  static func link(
    _ owner: NSEntityDescription, _ name: String, many: Bool = false, ordered: Bool = false,
    rule: NSDeleteRule = .nullifyDeleteRule, _ target: NSEntityDescription, _ back: String, backMany: Bool = false,
    backOrdered: Bool = false, backRule: NSDeleteRule = .nullifyDeleteRule
  ) {
    let forth = relationship(name, to: target, many: many, ordered: ordered, rule)
    let inverse = relationship(back, to: owner, many: backMany, ordered: backOrdered, backRule)
    forth.inverseRelationship = inverse
    inverse.inverseRelationship = forth
    owner.properties.append(forth)
    target.properties.append(inverse)
  }

  static func relationship(
    _ name: String, to target: NSEntityDescription, many: Bool, ordered: Bool = false,
    _ rule: NSDeleteRule = .nullifyDeleteRule
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = target
    relationship.minCount = 0
    relationship.maxCount = many ? 0 : 1
    relationship.isOrdered = ordered
    relationship.isOptional = true
    relationship.deleteRule = rule
    return relationship
  }

  static func derived(_ name: String, _ type: NSAttributeType, _ expression: String) -> NSDerivedAttributeDescription {
    let attribute = NSDerivedAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    attribute.derivationExpression = NSExpression(format: expression)
    return attribute
  }
}

/// The models of the stores, by name.
enum ProbeModels {
  static let names = ["Types", "Links", "Large", "Derived", "Composite", "Indexed", "Configured"]

  static func model(_ name: String) -> NSManagedObjectModel {
    switch name {
    case "Types": return types()
    case "Links": return links()
    case "Large": return large()
    case "Derived": return derived()
    case "Composite": return composite()
    case "Indexed": return indexed()
    default: return configured()
    }
  }

  /// An attribute of each type.
  private static func types() -> NSManagedObjectModel {
    let transformable = Describe.attribute("transformable", .transformableAttributeType)
    transformable.valueTransformerName = "NSSecureUnarchiveFromData"
    return Describe.model([
      Describe.entity(
        "Types",
        [
          Describe.attribute("int16", .integer16AttributeType), Describe.attribute("int32", .integer32AttributeType),
          Describe.attribute("int64", .integer64AttributeType), Describe.attribute("decimal", .decimalAttributeType),
          Describe.attribute("double", .doubleAttributeType), Describe.attribute("float", .floatAttributeType),
          Describe.attribute("string", .stringAttributeType), Describe.attribute("bool", .booleanAttributeType),
          Describe.attribute("date", .dateAttributeType), Describe.attribute("uuid", .UUIDAttributeType),
          Describe.attribute("uri", .URIAttributeType), Describe.attribute("data", .binaryDataAttributeType),
          transformable,
        ])
    ])
  }

  /// Inheritance of three levels and every kind of relationship.
  private static func links() -> NSManagedObjectModel {
    let node = Describe.entity("Node")
    node.isAbstract = true
    let person = Describe.entity("Person", [Describe.attribute("age", .integer16AttributeType)])
    let worker = Describe.entity("Worker", [Describe.attribute("salary", .doubleAttributeType)])
    let manager = Describe.entity("Manager", [Describe.attribute("title", .stringAttributeType)])
    let (tag, list, badge) = (Describe.entity("Tag"), Describe.entity("List"), Describe.entity("Badge"))
    node.subentities = [person, list]
    person.subentities = [worker]
    worker.subentities = [manager]
    Describe.link(person, "boss", person, "reports", backMany: true)
    Describe.link(person, "friends", many: true, person, "friendOf", backMany: true)
    Describe.link(person, "tags", many: true, tag, "people", backMany: true)
    Describe.link(person, "badge", badge, "owner")
    Describe.link(list, "items", many: true, ordered: true, person, "list")
    Describe.link(list, "picks", many: true, ordered: true, tag, "pickers", backMany: true)
    Describe.link(node, "parent", node, "children", backMany: true)
    return Describe.model([node, person, worker, manager, tag, list, badge])
  }

  /// Data that may lie in files of its own.
  private static func large() -> NSManagedObjectModel {
    let photo = Describe.attribute("photo", .binaryDataAttributeType)
    photo.allowsExternalBinaryDataStorage = true
    return Describe.model([Describe.entity("Photo", [photo])])
  }

  /// Values that the store derives from others.
  private static func derived() -> NSManagedObjectModel {
    let folder = Describe.entity(
      "Folder",
      [
        Describe.derived("folded", .stringAttributeType, "canonical:(name)"),
        Describe.derived("number", .integer64AttributeType, "files.@count"),
        Describe.derived("total", .integer64AttributeType, "files.size.@sum"),
      ])
    let file = Describe.entity("File", [Describe.attribute("size", .integer64AttributeType)])
    Describe.link(folder, "files", many: true, file, "folder")
    return Describe.model([folder, file])
  }

  private static func composite() -> NSManagedObjectModel {
    let address = NSCompositeAttributeDescription()
    address.name = "address"
    address.isOptional = true
    address.elements = [
      Describe.attribute("city", .stringAttributeType), Describe.attribute("floor", .integer16AttributeType),
    ]
    return Describe.model([Describe.entity("House", [address])])
  }

  /// Fetch indexes and a unique attribute.
  private static func indexed() -> NSManagedObjectModel {
    let (code, age) = (
      Describe.attribute("code", .stringAttributeType), Describe.attribute("age", .integer32AttributeType)
    )
    let entity = Describe.entity("Item", [code, age])
    entity.uniquenessConstraints = [["code"]]
    entity.indexes = [
      NSFetchIndexDescription(
        name: "byAge",
        elements: [
          NSFetchIndexElementDescription(property: age, collationType: .binary),
          NSFetchIndexElementDescription(property: code, collationType: .binary),
        ])
    ]
    return Describe.model([entity])
  }

  /// Two entities, of which the configuration Part has one.
  private static func configured() -> NSManagedObjectModel {
    let (inside, outside) = (Describe.entity("Inside"), Describe.entity("Outside"))
    let model = Describe.model([inside, outside])
    model.setEntities([inside], forConfigurationName: "Part")
    return model
  }
}
