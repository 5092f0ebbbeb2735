import CoreData
import Foundation
import LMDBStore
import Testing

/// The shared model of the graph tests: a company, its people, their tags and badges.
final class Person: NSManagedObject {
  static let name = ManagedProperty<String?>("name")
  var name: String? {
    get { value(of: Self.name) }
    set { setValue(newValue, of: Self.name) }
  }
  static let age = ManagedProperty<Int16>("age")
  var age: Int16 {
    get { value(of: Self.age) }
    set { setValue(newValue, of: Self.age) }
  }
  static let salary = ManagedProperty<Double>("salary")
  var salary: Double {
    get { value(of: Self.salary) }
    set { setValue(newValue, of: Self.salary) }
  }
  static let department = ManagedProperty<Department?>("department")
  var department: Department? {
    get { value(of: Self.department) }
    set { setValue(newValue, of: Self.department) }
  }
  static let tags = ManagedProperty<Set<Tag>>("tags")
  var tags: Set<Tag> {
    get { value(of: Self.tags) }
    set { setValue(newValue, of: Self.tags) }
  }
  static let badge = ManagedProperty<Badge?>("badge")
  var badge: Badge? {
    get { value(of: Self.badge) }
    set { setValue(newValue, of: Self.badge) }
  }
  /// How often a save has called the person.
  private(set) var saves = 0

  override func didSave() { saves += 1 }

  /// New people whose names are p0, p1 and so on.
  static func numbered(_ count: Int, in context: NSManagedObjectContext) -> [Person] {
    (0..<count).map { number in
      let person = Person(context: context)
      person.name = "p\(number)"
      return person
    }
  }
}

class Department: NSManagedObject {
  static let title = ManagedProperty<String?>("title")
  var title: String? {
    get { value(of: Self.title) }
    set { setValue(newValue, of: Self.title) }
  }
  static let people = ManagedProperty<Set<Person>>("people")
  var people: Set<Person> {
    get { value(of: Self.people) }
    set { setValue(newValue, of: Self.people) }
  }
  static let ranking = ManagedProperty<[Person]>("ranking")
  var ranking: [Person] {
    get { value(of: Self.ranking) }
    set { setValue(newValue, of: Self.ranking) }
  }
  private(set) var insertCount = 0
  override func awakeFromInsert() { insertCount += 1 }
}

final class Tag: NSManagedObject {
  static let label = ManagedProperty<String>("label")
  var label: String {
    get { value(of: Self.label) }
    set { setValue(newValue, of: Self.label) }
  }
  static let people = ManagedProperty<Set<Person>>("people")
  var people: Set<Person> {
    get { value(of: Self.people) }
    set { setValue(newValue, of: Self.people) }
  }
}

final class Badge: NSManagedObject {
  static let owner = ManagedProperty<Person?>("owner")
  var owner: Person? {
    get { value(of: Self.owner) }
    set { setValue(newValue, of: Self.owner) }
  }
}

enum Company {
  static func model() -> NSManagedObjectModel {
    let person = entity("Person", [("name", .string), ("age", .integer16), ("salary", .double)])
    let department = entity("Department", [("title", .string)])
    let research = entity("Research", [("budget", .decimal)])
    research.managedObjectClassName = "CoreDataTests.Department"
    let tag = entity("Tag", [("label", .string)])
    let badge = entity("Badge", [])
    tag.attributesByName["label"]?.isOptional = false
    tag.uniquenessConstraints = [["label"]]
    let values = entity(
      "Everything",
      [
        ("int16", .integer16), ("int32", .integer32), ("int64", .integer64), ("decimal", .decimal), ("double", .double),
        ("float", .float), ("string", .string), ("bool", .boolean), ("date", .date), ("data", .binaryData),
        ("uuid", .uuid), ("uri", .uri), ("list", .transformable), ("blob", .binaryData),
      ])
    values.attributesByName["blob"]?.allowsExternalBinaryDataStorage = true
    department.subentities = [research]
    relate(person, "department", false, department, "people", true)
    relate(person, "tags", true, tag, "people", true)
    relate(person, "badge", false, badge, "owner", false)
    relate(person, "rankedIn", false, department, "ranking", true, ordered: true)
    department.relationshipsByName["people"]?.deleteRule = .nullifyDeleteRule
    person.relationshipsByName["badge"]?.deleteRule = .cascadeDeleteRule
    let model = NSManagedObjectModel()
    model.entities = [person, department, research, tag, badge, values]
    return model
  }

  private static func entity(
    _ name: String, _ attributes: [(String, NSAttributeDescription.AttributeType)]
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = name == "Everything" ? "NSManagedObject" : "CoreDataTests.\(name)"
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.type = type
      return attribute
    }
    return entity
  }

  private static func relate(
    _ a: NSEntityDescription, _ name: String, _ isToMany: Bool, _ b: NSEntityDescription, _ inverse: String,
    _ isInverseToMany: Bool, ordered: Bool = false
  ) {
    let there = NSRelationshipDescription()
    there.name = name
    there.destinationEntity = b
    there.maxCount = isToMany ? 0 : 1
    let back = NSRelationshipDescription()
    back.name = inverse
    back.destinationEntity = a
    back.maxCount = isInverseToMany ? 0 : 1
    back.isOrdered = ordered
    there.inverseRelationship = back
    back.inverseRelationship = there
    a.properties += [there]
    b.properties += [back]
  }
}

extension Trait where Self == ConditionTrait {
  /// For tests of what only the context meets that saves to a store: conflicts with other contexts, failing commits and
  /// the notifications of one save. They do not run with child contexts.
  static var ofRootContexts: Self {
    .disabled(if: CompanyStore.usesChildContexts, "it is about a context that saves to a store itself")
  }
}

/// A store of the company's model in a new folder, which is removed at the end.
final class CompanyStore: Sendable {
  /// The type of the stores: what holds for SQLite must hold for every other type.
  static let type = NSPersistentStore.StoreType(
    rawValue: ProcessInfo.processInfo.environment["OPENCOREDATA_STORE_TYPE"] ?? NSSQLiteStoreType)

  let url: URL
  let coordinator: NSPersistentStoreCoordinator
  let store: NSPersistentStore

  init(options: [AnyHashable: Any] = [:]) throws {
    #if LMDB
      LMDBStore.register()
    #endif
    owner = nil
    let folder = FileManager.default.temporaryDirectory.appending(path: "company-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    url = folder.appending(path: "company.sqlite")
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    store = try coordinator.addPersistentStore(type: Self.type, at: url, options: options)
  }

  deinit {
    if owner == nil { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
  }

  func context() -> NSManagedObjectContext {
    var context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    for _ in 0..<Self.childLevels {
      let child = SavingThroughContext(.privateQueue)
      child.parent = context
      context = child
    }
    return context
  }

  /// How many levels of child contexts the tests use, whose saves go on to the store: what holds for a root context
  /// must hold for these.
  private static let childLevels =
    ProcessInfo.processInfo.environment["OPENCOREDATA_CHILD_CONTEXTS"].flatMap(Int.init) ?? 0
  static var usesChildContexts: Bool { childLevels > 0 }

  /// A child context that saves its parent, too. The parent forgets its objects then, so that the child always reads
  /// what the store has.
  private final class SavingThroughContext: NSManagedObjectContext, @unchecked Sendable {
    override func save() throws {
      guard let parent else { return }
      parent.performAndWait { parent.reset() }
      try super.save()
      try parent.performAndWait {
        parent.mergePolicy = mergePolicy
        try parent.save()
        parent.reset()
      }
    }
  }

  /// Runs `body` in a new context.
  @discardableResult
  func run<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
    let context = context()
    return try context.performAndWait { try body(context) }
  }

  /// Another coordinator on the same file, with an empty cache.
  func reopened() throws -> CompanyStore { try CompanyStore(sharing: self) }

  private let owner: CompanyStore?

  init(sharing other: CompanyStore, options: [AnyHashable: Any] = [:]) throws {
    owner = other
    url = other.url
    // A store in memory cannot be opened a second time.
    if Self.type == .inMemory {
      (coordinator, store) = (other.coordinator, other.store)
      return
    }
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    store = try coordinator.addPersistentStore(type: Self.type, at: url, options: options)
  }
}

extension NSManagedObjectContext {
  func all<T: NSManagedObject>(_ type: T.Type, _ format: String? = nil, _ arguments: Any?...) throws -> [T] {
    let request = NSFetchRequest<T>(entityName: "\(type)")
    request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
    return try fetch(request)
  }
}
