import CoreData
import Foundation
import TestSupport
import Testing

/// A model with every kind of property and of relationship, and a context over a store of it.
final class UndoStack {
  /// The relationships of an item: name, inverse, whether each side is to-many and ordered, and the delete rule.
  private static let links:
    [(name: String, isToMany: Bool, inverse: String?, isInverseToMany: Bool, isOrdered: Bool, rule: NSDeleteRule)] = [
      ("owner", false, "owned", true, false, .nullifyDeleteRule),
      ("parent", false, "children", true, false, .nullifyDeleteRule),
      ("line", false, "queue", true, true, .nullifyDeleteRule),
      ("partner", false, "partnerOf", false, false, .nullifyDeleteRule),
      ("friends", true, "friendsOf", true, false, .nullifyDeleteRule),
      ("picks", true, "picksOf", true, true, .nullifyDeleteRule),
      ("seen", false, nil, false, false, .nullifyDeleteRule),
      ("keeps", true, nil, false, false, .nullifyDeleteRule),
    ]

  static let model: NSManagedObjectModel = {
    let item = NSEntityDescription()
    item.name = "Item"
    let address = NSCompositeAttributeDescription()
    address.name = "address"
    address.elements = [attribute("city", .string), attribute("floor", .integer16)]
    let memo = attribute("memo", .string)
    memo.isTransient = true
    let photo = attribute("photo", .binaryData)
    photo.allowsExternalBinaryDataStorage = true
    let size = attribute("size", .integer64)
    size.defaultValue = 7
    item.properties = [
      attribute("name", .string), attribute("number", .integer32), size, attribute("list", .transformable), memo, photo,
      address,
    ]
    for link in links {
      let there = relationship(link.name, item, isToMany: link.isToMany, isOrdered: link.isToMany && link.isOrdered)
      item.properties.append(there)
      guard let inverse = link.inverse else { continue }
      let back = relationship(inverse, item, isToMany: link.isInverseToMany, isOrdered: link.isOrdered)
      if inverse == "children" { back.deleteRule = .cascadeDeleteRule }
      (there.inverseRelationship, back.inverseRelationship) = (back, there)
      item.properties.append(back)
    }
    let model = NSManagedObjectModel()
    model.entities = [item]
    return model
  }()

  private static func attribute(
    _ name: String, _ type: NSAttributeDescription.AttributeType
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.type) = (name, type)
    return attribute
  }

  private static func relationship(
    _ name: String, _ destination: NSEntityDescription, isToMany: Bool, isOrdered: Bool
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    (relationship.name, relationship.destinationEntity, relationship.isOrdered) = (name, destination, isOrdered)
    relationship.maxCount = isToMany ? 0 : 1
    return relationship
  }

  let coordinator: NSPersistentStoreCoordinator
  private let folder: StoreFolder
  /// The contexts from the root down, each the child of the one before. Only the last one has an undo manager.
  let contexts: [NSManagedObjectContext]
  var context: NSManagedObjectContext { contexts[contexts.count - 1] }
  let manager = UndoManager()

  init(
    _ type: NSPersistentStore.StoreType = .sqlite, levels: Int = 1, model: NSManagedObjectModel = UndoStack.model
  ) throws {
    folder = try StoreFolder("undo")
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: type, at: folder.url)
    var contexts: [NSManagedObjectContext] = []
    for _ in 0..<levels {
      let next = NSManagedObjectContext(.privateQueue)
      if let parent = contexts.last { next.parent = parent } else { next.persistentStoreCoordinator = coordinator }
      contexts.append(next)
    }
    self.contexts = contexts
    context.undoManager = manager
  }

  deinit { folder.remove() }

  /// Runs an event of the context: its changes are one group.
  func event<T>(_ body: (NSManagedObjectContext) throws -> T) rethrows -> T {
    try context.performAndWait {
      defer { context.processPendingChanges() }
      return try body(context)
    }
  }

  /// New items of these names, which are saved.
  func savedItems(_ names: String...) throws -> [NSManagedObject] {
    let items = event { context in names.map { Self.insert($0, context) } }
    try saveAll()
    return items
  }

  /// An item that was saved twice: new, and with a number.
  func savedItem() throws -> NSManagedObject {
    let item = event { Self.insert("a", $0) }
    try saveAll()
    event { _ in item["number"] = 1 }
    try saveAll()
    return item
  }

  /// Two saved items, the second linked to the first by a relationship. The first is deleted; that is undone and
  /// redone.
  func redoDeletion(ofDestination key: String) throws {
    let destination = event { context in
      let destination = Self.insert("destination", context)
      Self.insert("source", context)[key] = destination
      return destination
    }
    try saveAll()
    event { $0.delete(destination) }
    event { $0.undo() }
    event { $0.redo() }
  }

  /// Saves the context and those above it.
  func saveAll() throws { for context in contexts.reversed() { try context.performAndWait { try context.save() } } }

  func names() throws -> [String] {
    try context.performAndWait { try Self.items(context).compactMap { $0["name"] as? String }.sorted() }
  }

  func state() throws -> [String: String] { try context.performAndWait { try Self.state(context) } }

  /// Runs `body` on another context of the coordinator.
  @discardableResult
  func elsewhere<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
    let context = other()
    return try context.performAndWait { try body(context) }
  }

  /// Changes and saves objects in another context of the coordinator.
  func saveElsewhere(_ change: (NSManagedObjectContext) throws -> Void) throws {
    try elsewhere { context in
      try change(context)
      try context.save()
    }
  }

  /// Removes the files of large values that no row names, whatever their age.
  func removeLargeValues() throws {
    let parent = folder.url.deletingLastPathComponent()
    let files = FileManager.default.enumerator(at: parent, includingPropertiesForKeys: nil)
    for case let file as URL in files ?? .init() where file.path.contains("_EXTERNAL_DATA/") {
      try FileManager.default.removeItem(at: file)
    }
  }

  /// Another context of the coordinator.
  func other() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  static func items(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
  }

  /// The item of that name in a context, which is fetched.
  static func named(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    try #require(try items(context).first { $0["name"] as? String == name })
  }

  static func insert(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
    item["name"] = name
    return item
  }

  /// What a context shows: of each item, by name, the values and the names of the items it is linked to.
  static func state(_ context: NSManagedObjectContext, without left: Set<String> = []) throws -> [String: String] {
    let items = try items(context)
    var state: [String: String] = [:]
    for item in items {
      let properties = item.entity.propertiesByName.keys.sorted().filter { !left.contains($0) }
      let texts = properties.map { "\($0)=\(text(item.value(forKey: $0)))" }
      state[item["name"] as? String ?? "?"] = texts.joined(separator: " ")
    }
    for item in items { if let torn = tear(item) { state["torn"] = torn } }
    return state
  }

  private static func text(_ value: Any?) -> String {
    func name(_ object: Any) -> String? {
      (object as? NSManagedObject).flatMap {
        $0.isDeleted || $0.managedObjectContext == nil ? nil : $0["name"] as? String ?? "?"
      }
    }
    switch value {
    case nil: return "-"
    case let object as NSManagedObject: return name(object) ?? "-"
    case let set as NSOrderedSet: return "\(set.compactMap(name))"
    case let set as NSSet: return "\(set.allObjects.compactMap(name).sorted())"
    case let data as Data: return "\(data.count):\(data.first ?? 0)"
    case let dictionary as [String: Any]:
      return dictionary.keys.sorted().map { "\($0):\(dictionary[$0] ?? "")" }.joined()
    case let list as [Int]: return "\(list)"
    case let value?: return "\(value)"
    }
  }

  /// A link of an item that its other side does not have.
  private static func tear(_ item: NSManagedObject) -> String? {
    for (name, relationship) in item.entity.relationshipsByName {
      guard let inverse = relationship.inverseRelationship?.name else { continue }
      for other in linked(item, name) where !other.isDeleted && !linked(other, inverse).contains(item) {
        return "\(item["name"] ?? "").\(name) has \(other["name"] ?? ""), whose \(inverse) lacks it"
      }
    }
    return nil
  }

  static func linked(_ item: NSManagedObject, _ name: String) -> [NSManagedObject] {
    switch item.value(forKey: name) {
    case let one as NSManagedObject: [one]
    case let set as NSOrderedSet: set.compactMap { $0 as? NSManagedObject }
    case let set as NSSet: set.compactMap { $0 as? NSManagedObject }
    default: []
    }
  }
}
