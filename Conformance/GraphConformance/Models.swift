import CoreData
import Foundation

/// The models of the cases. Each is created once, because the library keeps models that a coordinator has used for the
/// life of the process.
enum Models {
  /// M1: people, teams and tags.
  static let people = model([
    entity(
      "Person",
      [
        attribute("name", .stringAttributeType), attribute("age", .integer16AttributeType),
        attribute("email", .stringAttributeType), attribute("photo", .binaryDataAttributeType),
        attribute("born", .dateAttributeType),
      ], unique: ["email"]),
    entity("Team", [attribute("title", .stringAttributeType)]),
    entity("Tag", [attribute("label", .stringAttributeType)]),
  ]) { all in
    link(all, one("Person", "boss"), many("Person", "reports"))
    link(all, one("Person", "team"), many("Team", "members", .cascadeDeleteRule))
    link(all, many("Person", "tags"), many("Tag", "people"))
  }

  /// The model of runs with random objects. It equals the model of the runs over stores.
  static let staff: NSManagedObjectModel = {
    let photo = attribute("photo", .binaryDataAttributeType)
    photo.allowsExternalBinaryDataStorage = true
    let composite = NSCompositeAttributeDescription()
    composite.name = "place"
    composite.elements = [attribute("city", .stringAttributeType), attribute("floor", .integer16AttributeType)]
    let employee = entity(
      "Employee",
      [
        attribute("salary", .doubleAttributeType), attribute("rate", .decimalAttributeType),
        attribute("badge", .UUIDAttributeType),
      ])
    let person = entity(
      "Person",
      [
        attribute("name", .stringAttributeType), attribute("age", .integer16AttributeType),
        attribute("email", .stringAttributeType), attribute("born", .dateAttributeType),
        attribute("rank", .integer32AttributeType), attribute("score", .floatAttributeType), photo,
      ], unique: ["email"])
    person.subentities = [employee]
    let team = entity(
      "Team",
      [
        attribute("title", .stringAttributeType), attribute("number", .integer64AttributeType),
        attribute("stamp", .binaryDataAttributeType), attribute("notes", .transformableAttributeType), composite,
      ])
    let tag = entity(
      "Tag",
      [
        attribute("label", .stringAttributeType), attribute("isOn", .booleanAttributeType),
        attribute("weight", .doubleAttributeType), attribute("price", .decimalAttributeType),
      ])
    let item = entity("Item", [attribute("name", .stringAttributeType), attribute("link", .URIAttributeType)])
    index(person, ["age"], ["born"], ["name", "age"])
    index(employee, ["salary"], ["rate"], ["badge"])
    index(team, ["number"], ["stamp"])
    index(tag, ["isOn"], ["label", "weight"])
    index(item, ["link"])
    return model([person, employee, team, tag, entity("List", [attribute("name", .stringAttributeType)]), item]) {
      all in
      link(all, one("Person", "boss"), many("Person", "reports"))
      link(all, one("Person", "team"), many("Team", "members"))
      link(all, many("Person", "tags"), many("Tag", "people"))
      link(all, many("List", "items", ordered: true), one("Item", "list"))
      link(all, many("List", "picks", ordered: true), many("Item", "pickers", ordered: true))
      link(all, one("Team", "lead"), many("Employee", "leads"))
      lead(all, one("Team", "rival"), to: "Team")
      lead(all, many("Team", "keeps"), to: "Tag")
    }
  }()

  /// The attribute types, with the names of their attributes in M2.
  static let types: [(name: String, type: NSAttributeType)] = [
    ("int16", .integer16AttributeType), ("int32", .integer32AttributeType), ("int64", .integer64AttributeType),
    ("double", .doubleAttributeType), ("float", .floatAttributeType), ("decimal", .decimalAttributeType),
    ("bool", .booleanAttributeType), ("string", .stringAttributeType), ("data", .binaryDataAttributeType),
    ("date", .dateAttributeType), ("uuid", .UUIDAttributeType), ("uri", .URIAttributeType),
    ("transformable", .transformableAttributeType),
  ]

  /// M2: an optional attribute of each type, a composite one, and binary data that may be stored externally.
  static let allTypes: NSManagedObjectModel = {
    let composite = NSCompositeAttributeDescription()
    composite.name = "place"
    composite.elements = [attribute("city", .stringAttributeType), attribute("floor", .integer16AttributeType)]
    let large = attribute("large", .binaryDataAttributeType)
    large.allowsExternalBinaryDataStorage = true
    let number = attribute("number", .integer64AttributeType)
    let transient = attribute("transient", .stringAttributeType)
    transient.isTransient = true
    return model([
      entity("AllTypes", types.map { attribute($0.name, $0.type) } + [number, composite, large, transient])
    ])
  }()

  /// M3: `Node`, which is abstract, with the subentities `File`, `Drawer` and fifteen levels of folders. Each level
  /// adds an attribute.
  static let inheritance: NSManagedObjectModel = {
    let node = entity(
      "Node", [attribute("name", .stringAttributeType), attribute("code", .stringAttributeType)], unique: ["code"])
    node.isAbstract = true
    let file = entity("File", [attribute("size", .integer64AttributeType), attribute("kind", .stringAttributeType)])
    let drawer = entity("Drawer", [attribute("kind", .integer64AttributeType)])
    var entities = [node, file]
    var children = [file, drawer]
    for level in 1...15 {
      let folder = entity("Folder\(level)", [attribute("level\(level)", .integer64AttributeType)])
      if level == 1 {
        folder.properties.append(attribute("kind1", .integer64AttributeType))
        children.append(folder)
      } else {
        entities[entities.count - 1].subentities = [folder]
      }
      entities.append(folder)
    }
    node.subentities = children
    return model(entities + [drawer]) { link($0, one("Node", "parent"), many("Node", "children")) }
  }()

  /// M4: an ordered to-many relationship with a to-one inverse, and an ordered many-to-many relationship.
  static let ordered = model([
    entity("List", [attribute("name", .stringAttributeType)]),
    entity("Item", [attribute("name", .stringAttributeType)]),
    entity("Playlist", [attribute("name", .stringAttributeType)]),
    entity("Song", [attribute("name", .stringAttributeType)]),
  ]) { all in
    link(all, many("List", "items", ordered: true), one("Item", "list"))
    link(all, many("Playlist", "songs", ordered: true), many("Song", "playlists", ordered: true))
  }

  /// M6: an entity with a thousand attributes.
  static let wide = model([
    entity(
      "Wide", (1...1000).map { attribute("a\($0)", $0 % 2 == 0 ? .stringAttributeType : .integer64AttributeType) })
  ])

  /// M8: names with a meaning in SQL or in the file formats.
  static let hostileNames = ["select", "group", "where", "日本", "Z_PK", "_", String(repeating: "n", count: 200)]
  static let names = model([entity("Order", hostileNames.map { attribute($0, .stringAttributeType) })]) {
    link($0, one("Order", "from"), many("Order", "to"))
  }

  /// M1 with an additional attribute: another version of the same model.
  static let otherPeople: NSManagedObjectModel = {
    guard let copy = people.copy() as? NSManagedObjectModel else { return people }
    copy.entitiesByName["Person"]?.properties.append(attribute("nickname", .stringAttributeType))
    return copy
  }()
}

/// Functions that build models.
extension Models {
  static func attribute(
    _ name: String, _ type: NSAttributeType, mandatory: Bool = false, default value: Any? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType) = (name, type)
    attribute.isOptional = !mandatory
    attribute.defaultValue = value
    return attribute
  }

  /// An entity of plain managed objects.
  static func entity(
    _ name: String, _ properties: [NSPropertyDescription], unique: [String] = [], class objectClass: AnyClass? = nil
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = objectClass.map(NSStringFromClass) ?? "NSManagedObject"
    entity.properties = properties
    if !unique.isEmpty { entity.uniquenessConstraints = [unique] }
    return entity
  }

  /// A model of these entities. `links` creates their relationships.
  static func model(
    _ entities: [NSEntityDescription], _ links: ([String: NSEntityDescription]) -> Void = { _ in }
  ) -> NSManagedObjectModel {
    links(Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first }))
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  /// One side of a relationship.
  struct Side {
    let entity: String
    let relationship: NSRelationshipDescription
  }

  static func one(
    _ entity: String, _ name: String, _ rule: NSDeleteRule = .nullifyDeleteRule, mandatory: Bool = false
  ) -> Side {
    let side = many(entity, name, rule)
    (side.relationship.maxCount, side.relationship.isOptional) = (1, !mandatory)
    side.relationship.minCount = mandatory ? 1 : 0
    return side
  }

  static func many(
    _ entity: String, _ name: String, _ rule: NSDeleteRule = .nullifyDeleteRule, ordered: Bool = false,
    counts: ClosedRange<Int>? = nil
  ) -> Side {
    let relationship = NSRelationshipDescription()
    (relationship.name, relationship.deleteRule, relationship.isOrdered) = (name, rule, ordered)
    (relationship.minCount, relationship.maxCount) = (counts?.lowerBound ?? 0, counts?.upperBound ?? 0)
    return Side(entity: entity, relationship: relationship)
  }

  /// Adds the two sides of a relationship to their entities, as inverses of each other.
  static func link(_ entities: [String: NSEntityDescription], _ a: Side, _ b: Side) {
    a.relationship.destinationEntity = entities[b.entity]
    b.relationship.destinationEntity = entities[a.entity]
    entities[a.entity]?.properties.append(a.relationship)
    entities[b.entity]?.properties.append(b.relationship)
    a.relationship.inverseRelationship = b.relationship
    b.relationship.inverseRelationship = a.relationship
  }

  /// Sets fetch indexes on an entity, each of some of its properties.
  static func index(_ entity: NSEntityDescription, _ indexes: [String]...) {
    entity.indexes = indexes.map { names in
      let properties = names.compactMap { entity.propertiesByName[$0] }
      return NSFetchIndexDescription(
        name: "by " + names.joined(separator: " "),
        elements: properties.map { NSFetchIndexElementDescription(property: $0, collationType: .binary) })
    }
  }

  /// A relationship without an inverse.
  static func lead(_ entities: [String: NSEntityDescription], _ side: Side, to destination: String) {
    side.relationship.destinationEntity = entities[destination]
    entities[side.entity]?.properties.append(side.relationship)
  }
}
