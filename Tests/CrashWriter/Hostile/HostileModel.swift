import CoreData
import Foundation

/// The model of Scripts/hostile_saves: inheritance, every attribute type, and every kind of relationship.
///
/// Every entity has the attribute `mark`. Changing it changes an object without touching its other columns.
enum HostileModel {
  static let entities = ["Box", "Desk", "Item", "SubItem", "Tag"]

  /// A model for a store of this type. Only SQLite stores have derived attributes, preserved values and large values in
  /// files.
  static func model(_ type: NSPersistentStore.StoreType) -> NSManagedObjectModel {
    let isSQLite = type == .sqlite
    let item = entity("Item", attributes(isSQLite))
    let (subItem, box) = (
      entity("SubItem", [attribute("bonus", .decimal)]), entity("Box", [attribute("name", .string)])
    )
    let (tag, desk) = (
      entity("Tag", [attribute("name", .string)]), entity("Desk", [attribute("number", .integer32)])
    )
    item.subentities = [subItem]
    relate(item, "box", box, "items", (false, false), (true, true))
    relate(item, "parent", item, "children", (false, false), (true, false))
    relate(item, "tags", tag, "items", (true, true), (true, false))
    relate(item, "likes", item, "likedBy", (true, true), (true, false))
    relate(subItem, "desk", desk, "user", (false, false), (false, false))
    let friends = relationship("friends", item, (true, false))
    friends.inverseRelationship = friends
    item.properties.append(friends)
    // No inverse: the table of the desks stores the link, as the key of the box.
    box.properties.append(relationship("desks", desk, (true, true)))
    box.uniquenessConstraints = [["name"]]
    if isSQLite {
      box.properties.append(derived("itemCount", .integer64, "items.@count"))
      item.properties.append(derived("boxName", .string, "box.name"))
    }
    let model = NSManagedObjectModel()
    model.entities = [box, desk, item, subItem, tag]
    return model
  }

  private static func attributes(_ isSQLite: Bool) -> [NSAttributeDescription] {
    let types: [(String, NSAttributeDescription.AttributeType)] = [
      ("name", .string), ("small", .integer16), ("medium", .integer32), ("large", .integer64), ("double", .double),
      ("ratio", .float), ("active", .boolean), ("born", .date), ("price", .decimal), ("ident", .uuid), ("site", .uri),
      ("bytes", .binaryData), ("photo", .binaryData), ("note", .transformable),
    ]
    let attributes = types.map { attribute($0.0, $0.1) }
    for attribute in attributes {
      if attribute.name == "note" { attribute.valueTransformerName = "NSSecureUnarchiveFromData" }
      if attribute.name == "photo" { attribute.allowsExternalBinaryDataStorage = isSQLite }
      if attribute.name == "price" { attribute.preservesValueInHistoryOnDeletion = isSQLite }
    }
    let composite = NSCompositeAttributeDescription()
    composite.name = "place"
    composite.elements = [attribute("street", .string), attribute("latitude", .double)]
    return attributes + [composite]
  }

  private static func entity(_ name: String, _ attributes: [NSAttributeDescription]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    // A subentity inherits `mark` from its superentity.
    entity.properties = name == "SubItem" ? attributes : [attribute("mark", .string)] + attributes
    return entity
  }

  private static func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription
  {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.type, attribute.isOptional) = (name, type, true)
    return attribute
  }

  private static func derived(
    _ name: String, _ type: NSAttributeDescription.AttributeType, _ expression: String
  ) -> NSDerivedAttributeDescription {
    let attribute = NSDerivedAttributeDescription()
    (attribute.name, attribute.type, attribute.isOptional) = (name, type, true)
    attribute.derivationExpression = NSExpression(format: expression)
    return attribute
  }

  private typealias Kind = (isToMany: Bool, isOrdered: Bool)

  private static func relationship(
    _ name: String, _ destination: NSEntityDescription, _ kind: Kind
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    (relationship.name, relationship.destinationEntity, relationship.isOptional) = (name, destination, true)
    (relationship.maxCount, relationship.isOrdered) = (kind.isToMany ? 0 : 1, kind.isOrdered)
    return relationship
  }

  private static func relate(
    _ owner: NSEntityDescription, _ name: String, _ destination: NSEntityDescription, _ inverse: String, _ kind: Kind,
    _ inverseKind: Kind
  ) {
    let (there, back) = (relationship(name, destination, kind), relationship(inverse, owner, inverseKind))
    (there.inverseRelationship, back.inverseRelationship) = (back, there)
    owner.properties.append(there)
    destination.properties.append(back)
  }

  /// The n-th value of an attribute. It is the same in every run.
  static func value(_ attribute: NSAttributeDescription, _ n: Int) -> Any? {
    switch attribute.name {
    case "street": "street \(n)"
    case "latitude": Double(n) * 1.25
    case "name": "name \(n)"
    case "mark": "mark \(n)"
    case "small": Int16(n % 100)
    case "medium", "number": Int32(n) * 1000
    case "large": Int64(n) << 33
    case "double": Double(n) / 7
    case "ratio": Float(n) / 2
    case "active": n % 2 == 0
    case "born": Date(timeIntervalSinceReferenceDate: Double(n) * 86400.5)
    case "price", "bonus": Decimal(n) / 4
    case "ident": UUID(uuidString: "01234567-89AB-4DEF-8123-" + String(format: "%012d", n))
    case "site": URL(string: "https://example.com/\(n)")
    case "bytes": Data([UInt8(n & 255), 0, 1, 2, 255])
    // One photo in eight is so large that SQLite stores keep it in a file.
    case "photo": Data(repeating: UInt8(n & 255), count: n % 8 == 3 ? 120_000 : 50)
    case "note": ["note \(n)", "text"] as NSArray
    case "place": ["street": "street \(n)", "latitude": Double(n) * 1.25]
    default: nil
    }
  }

  /// Sets each attribute of an object to its n-th value, except derived attributes.
  static func fill(_ object: NSManagedObject, _ n: Int) {
    for (name, attribute) in object.entity.attributesByName where !(attribute is NSDerivedAttributeDescription) {
      object.setValue(value(attribute, n), forKey: name)
    }
  }

  /// Creates the objects of an undamaged store in a context.
  static func insertObjects(in context: NSManagedObjectContext) {
    func insert(_ entity: String, _ count: Int) -> [NSManagedObject] {
      (1...count).map { n in
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        fill(object, n)
        return object
      }
    }
    let (boxes, desks, tags) = (insert("Box", 4), insert("Desk", 6), insert("Tag", 5))
    let subItems = insert("SubItem", 4)
    let items = insert("Item", 6) + subItems
    for (n, item) in items.enumerated() {
      item.setValue(boxes[n % 3], forKey: "box")
      if n > 0 { item.setValue(items[n / 2], forKey: "parent") }
      item.mutableOrderedSetValue(forKey: "tags").addObjects(from: Array(tags.prefix(n % 5)))
      item.mutableOrderedSetValue(forKey: "likes").addObjects(from: [items[(n + 3) % 10], items[(n + 1) % 10]])
      item.mutableSetValue(forKey: "friends").add(items[(n + 4) % 10])
    }
    for (n, item) in subItems.enumerated() { item.setValue(desks[n], forKey: "desk") }
    for (n, desk) in desks.enumerated() { boxes[n % 2].mutableOrderedSetValue(forKey: "desks").add(desk) }
  }
}
