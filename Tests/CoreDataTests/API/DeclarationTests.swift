import CoreData
import Foundation
import TestSupport
import Testing

/// Apple's declarations that exist here, with their behaviour.
@Suite struct DeclarationTests {
  @Test func optionsAreNamedAsTheyAreOnApplesPlatforms() {
    #expect(NSBinaryStoreSecureDecodingClasses == "NSBinaryStoreSecureDecodingClasses")
    #expect(NSBinaryStoreInsecureDecodingCompatibilityOption == "NSBinaryStoreInsecureDecodingCompatibilityOption")
    #expect(NSValidateXMLStoreOption == "NSValidateXMLStoreOption")
  }

  @Test func aStoreNamesTheClassThatMigratesIt() {
    #expect(NSPersistentStore.migrationManagerClass() is NSMigrationManager.Type)
  }

  @Test func registeredTypesHaveTheirClasses() {
    final class Own: NSAtomicStore, @unchecked Sendable {}
    let type = "DeclarationTests.Own"
    NSPersistentStoreCoordinator.registerStoreClass(Own.self, forStoreType: type)
    defer { NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: type) }
    func registered(_ type: String) -> AnyClass? {
      guard let value = NSPersistentStoreCoordinator.registeredStoreTypes[type] else { return nil }
      var found: AnyClass = NSObject.self
      value.getValue(&found)
      return found
    }
    #expect(registered(type) is Own.Type && registered(NSSQLiteStoreType) is NSPersistentStore.Type)
    #expect(registered("none") == nil)
  }

  /// Results are the same with and without a cache, and when it is deleted.
  @Test func aCacheThatIsDeletedChangesNoResults() throws {
    let context = try Describing.context(Describing.model([Describing.entity("Note", [Describing.attribute("text")])]))
    try context.performAndWait {
      for text in ["b", "a"] {
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(text, forKey: "text")
      }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "text", cacheName: "notes")
      for name in ["notes", nil] {
        try controller.performFetch()
        NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name)
        #expect(controller.sections?.map(\.name) == ["a", "b"])
      }
    }
  }

  final class Lying: NSMergeConflict {
    override var sourceObject: NSManagedObject { fatalError("The library asks an open accessor.") }
    override var newVersionNumber: Int { fatalError("The library asks an open accessor.") }
  }

  /// Overridden accessors of a conflict change no merge.
  @Test func accessorsThatAreOverriddenAreNotCalled() throws {
    let context = try Describing.context(Describing.model([Describing.entity("Note", [Describing.attribute("text")])]))
    try context.performAndWait {
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      try context.save()
      note.setValue("x", forKey: "text")
      let conflict = Lying(source: note, newVersion: 1, oldVersion: 1, cachedSnapshot: nil, persistedSnapshot: nil)
      try NSMergePolicy.rollback.resolve(optimisticLockingConflicts: [conflict])
      #expect(note.value(forKey: "text") == nil)
    }
    #expect(NSConstraintConflict().constraint.isEmpty && NSConstraintConflict().databaseObject == nil)
    #expect(NSErrorMergePolicy === NSMergePolicy.error && NSOverwriteMergePolicy === NSMergePolicy.overwrite)
  }

  final class Container: NSPersistentContainer, @unchecked Sendable {
    override init(name: String, managedObjectModel model: NSManagedObjectModel) {
      super.init(name: name + "+", managedObjectModel: model)
    }
  }

  /// `init(name:managedObjectModel:)` is designated:
  /// https://developer.apple.com/documentation/coredata/nspersistentcontainer
  @Test func aContainersInitialiserCanBeOverridden() {
    #expect(Container(name: "A", managedObjectModel: NSManagedObjectModel()).name == "A+")
  }

  @Test func requestsForHistoryAreOfTheClassThatIsUsed() {
    final class Own: NSPersistentHistoryChangeRequest {}
    let own: Own = Own.fetchHistory(after: Date())
    #expect(own.resultType == .transactionsAndChanges && own.token == nil)
    let deletion: Own = Own.deleteHistory(before: NSPersistentHistoryToken?.none)
    #expect(deletion.resultType == .statusOnly)
    let fetch = NSFetchRequest<NSManagedObject>(entityName: "X")
    #expect(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch).fetchRequest?.entityName == "X")
  }

  private final class Asking: NSManagedObjectContext, @unchecked Sendable {
    var fetches = 0
    override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
      fetches += 1
      return try super.fetch(request)
    }
  }

  @Test func requestsOfNoTypeGiveAnything() throws {
    let stack = try Describing.context(Describing.model([Describing.entity("Note", [Describing.attribute("text")])]))
    let context = Asking(.privateQueue)
    context.persistentStoreCoordinator = stack.persistentStoreCoordinator
    try context.performAndWait {
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
      let found: [Any] = try context.fetch(request)
      #expect(found.first as? NSManagedObject === note && context.fetches == 1)
      #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) == [note])
      // The library itself calls no function that a subclass may override.
      #expect(try request.execute().count == 1 && context.count(for: request) == 1 && context.fetches == 1)
      request.resultType = .countResultType
      #expect(try context.fetch(request) as? [Int] == [1])
      let deletion = NSBatchDeleteRequest(fetchRequest: request)
      #expect(deletion.fetchRequest.entityName == "Note" && deletion.fetchRequest !== request)
    }
  }

  private final class LyingPolicy: NSMergePolicy, @unchecked Sendable {
    override var mergeType: NSMergePolicyType { .errorMergePolicyType }
  }

  private final class LyingContext: NSManagedObjectContext, @unchecked Sendable {
    override var shouldDeleteInaccessibleFaults: Bool {
      get { false }
      set {}
    }
  }

  /// A policy merges by the type that it was made with, and a context treats the objects of missing rows as it was set.
  /// https://developer.apple.com/documentation/coredata/nsmergepolicy/init(merge:)
  @Test func whatPoliciesAndContextsSayOfThemselvesChangesNothing() throws {
    let company = try CompanyStore()
    let other = company.context()
    let id = try company.run { context in
      let person = Person(context: context)
      try context.save()
      try other.performAndWait {
        (try other.existingObject(with: person.objectID) as? Person)?.name = "other"
        person.name = "first"
        try context.save()
        other.mergePolicy = LyingPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        try other.save()
      }
      context.refreshAllObjects()
      #expect(person.name == "other")
      context.delete(person)
      try context.save()
      return person.objectID
    }
    let context = LyingContext(.privateQueue)
    context.persistentStoreCoordinator = company.coordinator
    context.performAndWait { #expect((context.object(with: id) as? Person)?.name == nil) }
  }

  /// The library uses its own state: https://developer.apple.com/documentation/coredata/nsmanagedobject lists which
  /// methods may be overridden; these must not change what is saved.
  @Test func whatAnObjectSaysOfItselfChangesNoSave() throws {
    let liar = Describing.entity("Liar", [Describing.attribute("text"), Describing.attribute("name")])
    liar.managedObjectClassName = "CoreDataTests.LyingObject"
    let friend = Describing.entity("Friend", [Describing.attribute("text")])
    Describing.relate(liar, "friends", toMany: true, friend, "liar", toManyBack: false)
    liar.relationshipsByName["friends"]?.deleteRule = .cascadeDeleteRule
    let context = try Describing.context(Describing.model([liar, friend]))
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    func texts(_ key: String) throws -> [String?] {
      let reader = NSManagedObjectContext(.privateQueue)
      reader.persistentStoreCoordinator = context.persistentStoreCoordinator
      return try reader.performAndWait {
        try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Liar")).map { $0.value(forKey: key) as? String }
      }
    }
    try context.performAndWait {
      let object = try #require(
        NSEntityDescription.insertNewObject(forEntityName: "Liar", into: context) as? LyingObject)
      object.setValue("a", forKey: "text")
      let friend = NSEntityDescription.insertNewObject(forEntityName: "Friend", into: context)
      friend.setValue(object, forKey: "liar")
      try context.save()
      #expect(try texts("text") == ["a"])
      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Liar")
      ids.resultType = .managedObjectIDResultType
      ids.predicate = NSPredicate(format: "text == 'z'")
      object.setValue("z", forKey: "text")
      #expect(try context.fetch(ids).count == 1)
      object.setValue("b", forKey: "text")
      try context.save()
      #expect(try texts("text") == ["b"])
      try other.performAndWait {
        let same = try #require(try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Liar")).first)
        same.setValue("c", forKey: "text")
        object.setValue("d", forKey: "name")
        try context.save()
        try other.save()
      }
      #expect(try texts("text") == ["c"] && texts("name") == ["d"])
      context.refreshAllObjects()
      context.delete(object)
      try context.save()
      #expect(try texts("text") == [])
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Friend")) == 0)
    }
  }

  final class OwnID: NSManagedObjectID, @unchecked Sendable { override var isTemporaryID: Bool { false } }

  @Test func anIDThatIsMadeIsOfNoObject() throws {
    let context = try Describing.context(Describing.model([Describing.entity("Note")]))
    for id in [NSManagedObjectID(), OwnID()] {
      #expect(id.persistentStore == nil && id.isTemporaryID == !(id is OwnID))
      context.performAndWait {
        #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
        #expect(context.registeredObject(for: id) == nil)
      }
    }
  }

  /// https://developer.apple.com/documentation/coredata/nspersistentstoredescription/setvalue(_:forpragmanamed:)
  @Test func aDescriptionKeepsPragmas() {
    let description = NSPersistentStoreDescription(url: URL(filePath: "/tmp/none.sqlite"))
    #expect(description.sqlitePragmas.isEmpty)
    description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
    description.setValue("1" as NSString, forPragmaNamed: "secure_delete")
    #expect(description.sqlitePragmas["journal_mode"] == "DELETE" as NSString)
    #expect(description.sqlitePragmas["secure_delete"] == "1" as NSString)
    #expect((description.options[NSSQLitePragmasOption] as? NSDictionary)?.count == 2)
    description.setValue(nil, forPragmaNamed: "journal_mode")
    #expect(Set(description.sqlitePragmas.keys) == ["secure_delete"])
  }

  /// Objective-C initializers can be called on any class, as `class` functions of extensions do on Apple's platforms.
  @Test func coordinatorsAreMadeOfTheClassThatIsUsed() {
    #expect(type(of: NSPersistentStoreCoordinator.withoutEntities()) == NSPersistentStoreCoordinator.self)
    let own = OwnCoordinator.withoutEntities()
    #expect(own.note == "own" && own.managedObjectModel.entities.isEmpty)
  }

  /// The entity is that of the class, as for `init(context:)`:
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/init(context:)
  @Test func anObjectOfAClassAloneIsInNoContext() throws {
    // No other model has the class, because the newest model in use is used, and tests run in parallel.
    let entity = Describing.entity("Loner", [Describing.attribute("name")])
    entity.managedObjectClassName = "CoreDataTests.Loner"
    let context = try Describing.context(Describing.model([entity]))
    try context.performAndWait {
      let loner = Loner()
      #expect(loner.entity.name == "Loner" && loner.managedObjectContext == nil && !loner.isInserted)
      loner.setValue("A", forKey: "name")
      context.insert(loner)
      try context.save()
      let found = try context.fetch(NSFetchRequest<Loner>(entityName: "Loner"))
      #expect(found.map { $0.value(forKey: "name") as? String } == ["A"])
    }
  }
}

final class Loner: NSManagedObject {}

/// A coordinator class that declares its own designated initializer, and so inherits no other.
private final class OwnCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
  let note: String

  init(note: String, model: NSManagedObjectModel) {
    self.note = note
    super.init(managedObjectModel: model)
  }

  override convenience init(managedObjectModel model: NSManagedObjectModel) { self.init(note: "own", model: model) }
}

extension NSPersistentStoreCoordinator {
  fileprivate class func withoutEntities() -> Self { self.init(managedObjectModel: NSManagedObjectModel()) }
}

/// Returns wrong values for its own state.
final class LyingObject: NSManagedObject {
  override var isInserted: Bool { false }
  override var isUpdated: Bool { false }
  override var isDeleted: Bool { true }
  override var isFault: Bool { true }
  override var hasChanges: Bool { false }
  override var hasPersistentChangedValues: Bool { false }
  override var entity: NSEntityDescription { NSEntityDescription() }
  override var objectID: NSManagedObjectID { fatalError("The library asks an open accessor.") }
  override var managedObjectContext: NSManagedObjectContext? { nil }
  override func changedValues() -> [String: Any] { [:] }
  override func committedValues(forKeys keys: [String]?) -> [String: Any] { [:] }
}
