import CoreData
import Foundation

/// Models with validation rules and delete rules.
extension Models {
  /// Mandatory values, defaults, bounds and patterns.
  static let rules: NSManagedObjectModel = {
    let title = attribute("title", .stringAttributeType, mandatory: true)
    let short = attribute("short", .stringAttributeType)
    short.setValidationPredicates(
      [NSPredicate(format: "SELF.length >= 2"), NSPredicate(format: "SELF.length <= 4")],
      withValidationWarnings: ["1670", "1660"])
    let code = attribute("code", .stringAttributeType)
    code.setValidationPredicates(
      [NSPredicate(format: "SELF MATCHES %@", "[a-z]+[0-9]")], withValidationWarnings: ["1680"])
    let amount = attribute("amount", .integer32AttributeType)
    amount.setValidationPredicates(
      [NSPredicate(format: "SELF >= 1"), NSPredicate(format: "SELF <= 10")], withValidationWarnings: ["1620", "1610"])
    let day = attribute("day", .dateAttributeType)
    day.setValidationPredicates(
      [
        NSPredicate(format: "SELF >= %@", Date(timeIntervalSinceReferenceDate: 100) as NSDate),
        NSPredicate(format: "SELF <= %@", Date(timeIntervalSinceReferenceDate: 200) as NSDate),
      ], withValidationWarnings: ["1640", "1630"])
    return model([entity("Ruled", [title, short, code, amount, day])])
  }()

  /// The attributes of an entity, with their default values.
  static let defaultValues: [(name: String, type: NSAttributeType, value: any Sendable)] = [
    ("int16", .integer16AttributeType, 7), ("int64", .integer64AttributeType, -9),
    ("double", .doubleAttributeType, 2.5),
    ("bool", .booleanAttributeType, true), ("string", .stringAttributeType, "new"),
    ("date", .dateAttributeType, Date(timeIntervalSinceReferenceDate: 5)),
    ("uuid", .UUIDAttributeType, UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
    ("decimal", .decimalAttributeType, Decimal(125) / 100),
  ]
  static let defaults = model([
    entity(
      "Defaulted",
      defaultValues.map {
        attribute(
          $0.name, $0.type, default: $0.type == .decimalAttributeType ? NSDecimalNumber(string: "1.25") : $0.value)
      }
        + [attribute("none", .stringAttributeType)])
  ])

  /// Relationships with minimum and maximum counts, and mandatory ones.
  static let counts = model([
    entity("Group", [attribute("name", .stringAttributeType)]),
    entity("Member", [attribute("name", .stringAttributeType)]),
    entity("Badge", [attribute("name", .stringAttributeType)]),
  ]) { all in
    link(all, many("Group", "members", counts: 2...3), one("Member", "group"))
    link(all, one("Badge", "owner", mandatory: true), many("Member", "badges"))
  }

  /// One-to-one, reflexive and one-way relationships.
  static let pairs = model([
    entity("Left", [attribute("name", .stringAttributeType)]),
    entity("Right", [attribute("name", .stringAttributeType)]),
    entity("Ring", [attribute("name", .stringAttributeType)]),
  ]) { all in
    link(all, one("Left", "partner"), one("Right", "partner"))
    lead(all, one("Left", "seen"), to: "Right")
    link(all, one("Ring", "next", mandatory: true), one("Ring", "previous"))
    let friends = many("Ring", "friends")
    lead(all, friends, to: "Ring")
    friends.relationship.inverseRelationship = friends.relationship
  }

  /// Delete rules: a hierarchy of objects that is deleted with its root, children that prevent the deletion of their
  /// parent, and owners with the rule deny.
  static let deletion = model(
    ["Root", "Branch", "Leaf", "Keeper", "Kept", "Parent", "Child", "Loose", "Target"].map {
      entity($0, [attribute("name", .stringAttributeType)])
    }
  ) { all in
    link(all, many("Root", "branches", .cascadeDeleteRule), one("Branch", "root"))
    link(all, many("Branch", "leaves", .cascadeDeleteRule), one("Leaf", "branch"))
    link(all, one("Branch", "main", .cascadeDeleteRule), one("Leaf", "mainOf"))
    link(all, many("Keeper", "kept", .denyDeleteRule), one("Kept", "keeper"))
    link(all, many("Root", "keepers", .cascadeDeleteRule), one("Keeper", "root"))
    link(all, many("Parent", "children"), one("Child", "parent", mandatory: true))
    link(all, one("Loose", "target", .noActionDeleteRule), many("Target", "loose", .noActionDeleteRule))
    link(all, one("Root", "twin", .cascadeDeleteRule), one("Root", "twinOf", .cascadeDeleteRule))
  }

  /// A chain that is deleted as a whole.
  static let chain = model([entity("Link", [attribute("number", .integer32AttributeType)])]) { all in
    link(all, one("Link", "next", .cascadeDeleteRule), one("Link", "previous"))
  }

  /// Two entities in one configuration each, and one in both.
  static let configured: NSManagedObjectModel = {
    let names = ["First", "Second", "Both"]
    let made = model(names.map { entity($0, [attribute("name", .stringAttributeType)]) }) { all in
      link(all, one("First", "other"), many("Second", "firsts"))
    }
    let byName = made.entitiesByName
    made.setEntities(["First", "Both"].compactMap { byName[$0] }, forConfigurationName: "A")
    made.setEntities(["Second", "Both"].compactMap { byName[$0] }, forConfigurationName: "B")
    return made
  }()

  /// A fetched property: the books with the colour of a shelf.
  static let fetched: NSManagedObjectModel = {
    let shelf = entity("Shelf", [attribute("colour", .stringAttributeType)])
    let book = entity("Book", [attribute("title", .stringAttributeType), attribute("colour", .stringAttributeType)])
    let alike = NSFetchedPropertyDescription()
    alike.name = "alike"
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = book
    request.predicate = NSPredicate(format: "colour == $FETCH_SOURCE.colour")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    alike.fetchRequest = request
    shelf.properties.append(alike)
    return model([shelf, book])
  }()

  /// Derived attributes.
  static let derived: NSManagedObjectModel = {
    func derived(_ name: String, _ type: NSAttributeType, _ expression: NSExpression) -> NSAttributeDescription {
      let attribute = NSDerivedAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      attribute.derivationExpression = expression
      return attribute
    }
    return model([
      entity(
        "Shelf",
        [
          attribute("name", .stringAttributeType),
          derived("count", .integer64AttributeType, NSExpression(format: "books.@count")),
          derived("pages", .integer64AttributeType, NSExpression(format: "books.pages.@sum")),
          derived("folded", .stringAttributeType, NSExpression(format: "canonical:(name)")),
        ]),
      entity(
        "Book",
        [
          attribute("title", .stringAttributeType), attribute("pages", .integer64AttributeType),
          derived("shelfName", .stringAttributeType, NSExpression(format: "shelf.name")),
        ]),
    ]) { all in link(all, many("Shelf", "books", .cascadeDeleteRule), one("Book", "shelf")) }
  }()
}
