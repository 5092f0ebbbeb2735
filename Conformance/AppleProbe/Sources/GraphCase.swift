import CoreData
import Foundation

/// A small program over a graph of objects. It says what happened; nothing here is right or wrong.
struct GraphCase {
  let id: String
  let question: String
  let run: () throws -> String

  init(_ id: String, _ question: String, _ run: @escaping () throws -> String) {
    (self.id, self.question, self.run) = (id, question, run)
  }

  static let all = [
    deletion, inverses, changes, life, conflicts, validation, values, predicates, fetches, results, stores, identity,
    parts,
  ].flatMap { $0 }

  /// What happened. The description of an error that ends the case goes to standard error, which becomes the note of
  /// the report.
  func outcome() -> String {
    do { return try run() } catch {
      FileHandle.standardError.write(Data("\(error.localizedDescription)\n".utf8))
      return Text.of(error)
    }
  }
}

/// A store in a new folder, with the model of the cases. It lives until the process ends: objects do not keep their
/// contexts, and contexts do not keep files.
final class World {
  let folder: URL
  let url: URL
  let type: String
  let coordinator: NSPersistentStoreCoordinator
  let context: NSManagedObjectContext

  nonisolated(unsafe) private static var all: [AnyObject] = []

  /// A new name in the folder that the process works in.
  static func newURL() -> URL {
    URL(fileURLWithPath: FileManager.default.currentDirectoryPath).appendingPathComponent(UUID().uuidString)
  }

  init(
    type: String = NSSQLiteStoreType, model: NSManagedObjectModel = CaseModel.make(), folder: URL = World.newURL(),
    options: [AnyHashable: Any]? = nil
  ) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.folder = folder
    url = folder.appendingPathComponent("store")
    self.type = type
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: type == NSInMemoryStoreType ? nil : url, options: options)
    context = World.context(on: coordinator)
    World.all.append(self)
  }

  private static func context(on coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    all.append(context)
    return context
  }

  /// Another context of the same coordinator.
  func secondContext() -> NSManagedObjectContext { World.context(on: coordinator) }

  /// The same store through another coordinator.
  func secondWorld() throws -> World { try World(type: type, folder: folder) }

  @discardableResult
  func insert(_ entity: String, _ name: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    object.setValue(name, forKey: "name")
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  /// An object that is saved.
  func saved(_ entity: String, _ name: String, _ values: [String: Any] = [:]) throws -> NSManagedObject {
    let object = insert(entity, name, values)
    try context.save()
    return object
  }

  /// The names of what a predicate finds, sorted by name unless an order is given.
  func names(
    _ entity: String, _ format: String? = nil, _ arguments: [Any] = [], sort: [NSSortDescriptor]? = nil
  ) throws -> String {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
    request.sortDescriptors = sort
    let names = try context.fetch(request).map { Text.of($0) }
    return "[" + (sort == nil ? names.sorted() : names).joined(separator: ", ") + "]"
  }
}

extension NSManagedObjectContext {
  /// The object of this context that stands for one of another.
  func own(_ object: NSManagedObject) throws -> NSManagedObject { try existingObject(with: object.objectID) }
}

/// What the methods of ``Recorder`` have written, in order.
enum Journal {
  nonisolated(unsafe) static var lines: [String] = []
  /// What an observer of notifications has heard.
  nonisolated(unsafe) static var heard = "no notification"
  nonisolated(unsafe) static var note: Notification?
  /// What `willSave` does beside writing a line.
  nonisolated(unsafe) static var onSave: ((NSManagedObject) -> Void)?

  static func take() -> String {
    defer { lines = [] }
    return lines.isEmpty ? "nothing" : lines.joined(separator: ", ")
  }
}

/// The class of every entity of the cases: it writes down which of its methods are called.
final class Recorder: NSManagedObject {
  private func write(_ event: String) { Journal.lines.append("\(event) \(Text.of(primitiveValue(forKey: "name")))") }

  override func prepareForDeletion() {
    super.prepareForDeletion()
    write("prepareForDeletion")
  }

  override func willSave() {
    super.willSave()
    write("willSave")
    Journal.onSave?(self)
  }

  override func didSave() {
    super.didSave()
    Journal.lines.append("didSave")
  }

  override func willTurnIntoFault() {
    super.willTurnIntoFault()
    Journal.lines.append("willTurnIntoFault")
  }
}

/// A class that no model names.
final class WithoutModel: NSManagedObject {}

/// The model of the cases: people in teams with tags, owners with items for each delete rule, checked and derived
/// values.
enum CaseModel {
  /// `isChecked` adds a rule to `Checked.number`: it must be positive. The version hash has no part in it.
  static func make(isChecked: Bool = true) -> NSManagedObjectModel {
    let person = Describe.entity(
      "Person",
      [Describe.attribute("age", .integer16AttributeType), Describe.attribute("height", .doubleAttributeType)])
    let (team, tag) = (Describe.entity("Team"), Describe.entity("Tag"))
    Describe.link(person, "boss", person, "reports", backMany: true)
    Describe.link(team, "members", many: true, person, "team")
    Describe.link(team, "queue", many: true, ordered: true, person, "queued")
    Describe.link(person, "tags", many: true, tag, "people", backMany: true)
    Describe.link(person, "partner", person, "partnerOf")
    person.properties.append(Describe.relationship("idol", to: person, many: false))

    let (owner, item) = (Describe.entity("Owner"), Describe.entity("Item"))
    let rules: [(String, NSDeleteRule)] = [
      ("nullify", .nullifyDeleteRule), ("cascade", .cascadeDeleteRule), ("deny", .denyDeleteRule),
      ("ignore", .noActionDeleteRule),
    ]
    for (name, rule) in rules { Describe.link(owner, name, many: true, rule: rule, item, name + "Owner") }

    let number = Describe.attribute("number", .integer16AttributeType)
    if isChecked {
      number.setValidationPredicates(
        [NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["negative"])
    }
    let required = Describe.attribute("required", .stringAttributeType)
    required.isOptional = false
    required.defaultValue = "given"
    let checked = Describe.entity("Checked", [number, Describe.attribute("note", .stringAttributeType), required])

    let unique = Describe.entity("Unique", [Describe.attribute("note", .stringAttributeType)])
    unique.uniquenessConstraints = [["name"]]
    let derived = Describe.entity("Derived", [Describe.derived("folded", .stringAttributeType, "canonical:(name)")])
    let entities = [person, team, tag, owner, item, checked, unique, derived]
    for entity in entities { entity.managedObjectClassName = NSStringFromClass(Recorder.self) }
    return Describe.model(entities)
  }
}
