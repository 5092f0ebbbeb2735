import CoreData
import Foundation
import TestSupport

@testable import SQLiteBackend

/// A folder with stores of a model with configurations, which are opened and closed for each piece of work.
final class ConfiguredStore {
  typealias StoreType = NSPersistentStore.StoreType

  let folder = FileManager.default.temporaryDirectory.appending(path: "configured-\(UUID())")
  var url: URL { folder.appending(path: "store") }

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// `Person` with the sub-entities `Employee` and `Guest`; the configuration `Staff` has no guests. `Staff` and
  /// `Labels` are connected by relationships of every kind, `Notes` is not connected. Entities of other configurations
  /// come first in the model's order.
  static func model(also more: [NSEntityDescription] = []) -> NSManagedObjectModel {
    let person = Describing.entity("Person", [Describing.attribute("name")])
    person.isAbstract = true
    let employee = Describing.entity("Employee", [Describing.attribute("salary", .integer64)])
    let guest = Describing.entity("Guest", [Describing.attribute("visits", .integer64)])
    person.subentities = [employee, guest]
    let department = Describing.entity("Department", [Describing.attribute("title")])
    let badge = Describing.entity("Badge", [Describing.attribute("text")])
    let note = Describing.entity("Audit", [Describing.attribute("text"), Describing.attribute("count", .integer64)])
    Describing.relate(department, "people", toMany: true, person, "department", toManyBack: false)
    Describing.relate(employee, "skills", toMany: true, department, "skilled", toManyBack: true)
    Describing.relate(employee, "labels", toMany: true, badge, "people", toManyBack: true)
    Describing.relate(person, "badge", toMany: false, badge, "owner", toManyBack: false)
    Describing.relate(badge, "wearers", toMany: true, person, "worn", toManyBack: false)
    badge.relationshipsByName["wearers"]?.isOrdered = true
    for entity in [person, employee, department, badge] {
      for relationship in entity.relationshipsByName.values { relationship.deleteRule = .nullifyDeleteRule }
    }
    department.properties += [Describing.fetched("notes", "Audit", NSPredicate(format: "text == $FETCH_SOURCE.title"))]
    let model = Describing.model([person, employee, guest, department, badge, note] + more)
    model.setEntities([employee, department], forConfigurationName: "Staff")
    model.setEntities([badge], forConfigurationName: "Labels")
    model.setEntities([note], forConfigurationName: "Notes")
    model.setEntities([], forConfigurationName: "Empty")
    return model
  }

  /// Adds the store, calls `body`, and removes the store again.
  @discardableResult
  func use<R>(
    _ type: StoreType, _ configuration: String?, at other: URL? = nil, model: NSManagedObjectModel = model(),
    options: [AnyHashable: Any]? = nil, _ body: (NSManagedObjectContext, NSPersistentStore) throws -> R
  ) throws -> R {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: type, configuration: configuration, at: other ?? url, options: options)
    defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context, store) }
  }

  /// The error code with which a store is rejected; nil where it opens.
  func refusal(
    _ type: StoreType, _ configuration: String?, model: NSManagedObjectModel = model()
  ) throws -> Int? {
    do { try use(type, configuration, model: model) { _, _ in } } catch let error as CocoaError {
      return error.errorCode
    }
    return nil
  }

  func metadata(_ type: StoreType = .sqlite, at other: URL? = nil) throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: other ?? url)
  }

  /// The names of the entities in the metadata's version hashes.
  func hashes(_ type: StoreType = .sqlite, at other: URL? = nil) throws -> [String] {
    (try metadata(type, at: other)[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]).keys.sorted()
  }

  // MARK: The file as SQLite has it

  func execute(_ statements: [String]) throws {
    let connection = try SQLiteConnection(url.path, .readWriteCreate, timeout: 1)
    for statement in statements { try connection.execute(statement) }
  }

  /// The first value of each row.
  func rows(_ sql: String) throws -> [String] {
    let connection = try SQLiteConnection(url.path, .readOnly, timeout: 1)
    let statement = try connection.prepare(sql)
    var rows: [String] = []
    while try statement.step() { rows.append(statement.string(0) ?? "NULL") }
    withExtendedLifetime(connection) {}
    return rows
  }

  func tables() throws -> [String] { try rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") }

  func columns(_ table: String) throws -> [String] {
    try rows("SELECT name FROM pragma_table_info('\(table)') ORDER BY name")
  }
}

extension NSManagedObjectContext {
  @discardableResult
  func insert(configured entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  func found(
    _ entity: String, _ predicate: String = "TRUEPREDICATE", sort: String? = nil
  ) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = NSPredicate(format: predicate)
    if let sort { request.sortDescriptors = [NSSortDescriptor(key: sort, ascending: true)] }
    return try fetch(request)
  }
}
