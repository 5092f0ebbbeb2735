import Foundation
import StoreProtocol
import Testing

@testable import CoreData

/// Merges with values of several words, with several stores and with observers.
@Suite struct MergePolicyTests {
  /// Two contexts have read the same object: `first` changes and saves it, then `second` changes it and saves with a
  /// policy.
  private func merged(
    _ company: CompanyStore, _ policy: NSMergePolicy, first: (NSManagedObject) -> Void,
    second: (NSManagedObject) -> Void
  ) throws -> NSManagedObject {
    let (a, b) = (company.context(), company.context())
    let id = try a.performAndWait {
      let made = NSEntityDescription.insertNewObject(forEntityName: "Everything", into: a)
      made.setValue(["old"], forKey: "list")
      made.setValue(Data(repeating: 1, count: 200_000), forKey: "blob")
      made.setValue("s", forKey: "string")
      try a.save()
      return made.objectID
    }
    let object = try b.performAndWait {
      let object = try b.existingObject(with: id)
      _ = object.value(forKey: "list")
      return object
    }
    try a.performAndWait {
      first(a.object(with: id))
      try a.save()
    }
    try b.performAndWait {
      b.mergePolicy = policy
      second(object)
      try b.save()
    }
    return object
  }

  private func list(_ object: NSManagedObject) -> [String]? { object.value(forKey: "list") as? [String] }
  private func blob(_ object: NSManagedObject) -> UInt8? { (object.value(forKey: "blob") as? Data)?.first }

  private static let policies: [NSMergePolicy] = [
    .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]

  @Test(.ofRootContexts, arguments: policies.indices)
  func encodedValuesAreMergedAsOthers(index: Int) throws {
    let company = try CompanyStore()
    let object = try merged(company, Self.policies[index]) {
      $0.setValue(["first"], forKey: "list")
    } second: {
      $0.setValue(5, forKey: "int16")
    }
    let expected = [["first"], ["first"], ["old"], ["first"]][index]
    object.managedObjectContext?.performAndWait { #expect(list(object) == expected) }
    try company.run { #expect(list($0.object(with: object.objectID)) == expected) }

    let other = try merged(company, Self.policies[index]) {
      $0.setValue(["first"], forKey: "list")
    } second: {
      $0.setValue(["second"], forKey: "list")
    }
    let winner = [["first"], ["second"], ["second"], ["first"]][index]
    other.managedObjectContext?.performAndWait { #expect(list(other) == winner) }
    try company.run { #expect(list($0.object(with: other.objectID)) == winner) }
  }

  /// The data that `overwrite` would keep was removed with the row that named it.
  @Test(.ofRootContexts, arguments: policies.indices)
  func dataOutsideTheRowIsThereAfterwards(index: Int) throws {
    let company = try CompanyStore()
    let object = try merged(company, Self.policies[index]) {
      $0.setValue(Data(repeating: 2, count: 300_000), forKey: "blob")
    } second: {
      $0.setValue("t", forKey: "string")
    }
    object.managedObjectContext?.performAndWait { #expect(blob(object) == 2) }
    try company.run { #expect(blob($0.object(with: object.objectID)) == 2) }

    let other = try merged(company, Self.policies[index]) {
      $0.setValue(Data(repeating: 2, count: 300_000), forKey: "blob")
    } second: {
      $0.setValue(Data(repeating: 3, count: 300_000), forKey: "blob")
    }
    let winner: UInt8 = [2, 3, 3, 2][index]
    other.managedObjectContext?.performAndWait { #expect(blob(other) == winner) }
    try company.run { #expect(blob($0.object(with: other.objectID)) == winner) }
  }

  @Test(.ofRootContexts) func mergedObjectsAreAnnounced() throws {
    let company = try CompanyStore()
    nonisolated(unsafe) var refreshed: Set<NSManagedObject> = []
    nonisolated(unsafe) var saved: Set<NSManagedObject> = []
    let object = try merged(company, .rollback) {
      $0.setValue("a", forKey: "string")
    } second: { object in
      object.setValue("b", forKey: "string")
      let (center, context) = (NotificationCenter.default, object.managedObjectContext)
      for name in [
        NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.didSaveObjectsNotification,
      ] {
        _ = center.addObserver(forName: name, object: context, queue: nil) {
          refreshed.formUnion($0.userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject> ?? [])
          if name == NSManagedObjectContext.didSaveObjectsNotification {
            saved.formUnion($0.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? [])
          }
        }
      }
    }
    #expect(refreshed.contains(object))
    #expect(saved.isEmpty, "what was rolled back is said to be saved")
  }

  @Test(.ofRootContexts) func snapshotsHaveIDsOfDestinations() throws {
    let company = try CompanyStore()
    let (a, b) = (company.context(), company.context())
    let mine = try a.performAndWait {
      let person = Person(context: a)
      person.department = Department(context: a)
      try a.save()
      return person
    }
    let theirs = try b.performAndWait {
      let person = try #require(try b.existingObject(with: mine.objectID) as? Person)
      _ = person.department
      return person
    }
    try a.performAndWait {
      mine.department = Department(context: a)
      try a.save()
    }
    try b.performAndWait {
      theirs.department = nil
      do {
        try b.save()
        Issue.record("there is no conflict")
      } catch {
        let list = (error as NSError).userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
        let conflict = try #require(list?.first { $0.sourceObject === theirs })
        let read = try #require(conflict.objectSnapshot?["department"] as? NSManagedObjectID)
        let cached = try #require(conflict.cachedSnapshot?["department"] as? NSManagedObjectID)
        #expect(read != cached && cached.entity.name == "Department")
        #expect(conflict.cachedSnapshot?["tags"] == nil && conflict.persistedSnapshot == nil)
      }
    }
  }

  /// Changes that one store has saved before a conflict of another store was found are not written twice.
  @Test func aSaveOverTwoStoresGoesOn() throws {
    let model = Company.model()
    let entities = model.entitiesByName
    model.setEntities(["Department", "Person", "Badge"].compactMap { entities[$0] }, forConfigurationName: "Staff")
    model.setEntities(["Everything"].compactMap { entities[$0] }, forConfigurationName: "Values")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    for name in ["Staff", "Values"] {
      try coordinator.addPersistentStore(
        type: .inMemory, configuration: name, at: URL(fileURLWithPath: "/nowhere/\(name)"))
    }
    func context() -> NSManagedObjectContext {
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let (a, b) = (context(), context())
    let (person, values) = try a.performAndWait {
      let (person, values) = (
        Person(context: a), NSEntityDescription.insertNewObject(forEntityName: "Everything", into: a)
      )
      try a.save()
      return (person, values)
    }
    for changed in [person, values] {
      let key = changed === person ? "name" : "string"
      try b.performAndWait {
        b.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let both = try [person, values].map { try b.existingObject(with: $0.objectID) }
        for (object, key) in zip(both, ["name", "string"]) { _ = object.value(forKey: key) }
        try a.performAndWait {
          changed.setValue("a", forKey: key)
          try a.save()
        }
        both[0].setValue("b", forKey: "name")
        both[1].setValue("b", forKey: "string")
        try b.save()
        #expect(!b.hasChanges)
      }
      let c = context()
      let found = try c.performAndWait {
        try zip([person, values], ["name", "string"]).map {
          try c.existingObject(with: $0.objectID).value(forKey: $1) as? String
        }
      }
      #expect(found == ["b", "b"])
      try a.performAndWait {
        a.refreshAllObjects()
        person.setValue(nil, forKey: "name")
        values.setValue(nil, forKey: "string")
        try a.save()
      }
      b.performAndWait { b.refreshAllObjects() }
    }
  }

  /// A member that is added after the delete rule was applied does not keep a link to its deleted owner.
  @Test func membersThatComeLateAreFound() throws {
    let company = try CompanyStore()
    let (a, b) = (company.context(), company.context())
    let department = try a.performAndWait {
      let department = Department(context: a)
      Person(context: a).department = department
      try a.save()
      #expect(department.people.count == 1)
      a.delete(department)
      a.processPendingChanges()
      return department
    }
    try b.performAndWait {
      Person(context: b).department = b.object(with: department.objectID) as? Department
      try b.save()
    }
    try a.performAndWait { try a.save() }
    try company.run { (context) throws in
      #expect(try context.all(Person.self).map { $0.department == nil } == [true, true])
    }
  }

  /// A link to an object that another context has deleted is a conflict.
  @Test func anOwnerThatIsGoneIsAConflict() throws {
    let company = try CompanyStore()
    let (a, b) = (company.context(), company.context())
    let department = try a.performAndWait {
      let department = Department(context: a)
      try a.save()
      return department
    }
    try b.performAndWait {
      let theirs = try #require(try b.existingObject(with: department.objectID) as? Department)
      Person(context: b).department = theirs
    }
    try a.performAndWait {
      a.delete(department)
      try a.save()
    }
    b.performAndWait {
      do {
        try b.save()
        Issue.record("there is no conflict")
      } catch { #expect((error as NSError).code == NSManagedObjectMergeError) }
    }
    try company.run { (context) throws in #expect(try context.all(Person.self).isEmpty) }
  }

  /// After rolling back a constraint conflict, the object has nothing to save.
  @Test(.ofRootContexts) func anObjectThatIsRolledBackIsNotSaved() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      for label in ["a", "b"] { Tag(context: context).label = label }
      try context.save()
      let tag = try #require(context.all(Tag.self, "label == 'a'").first)
      nonisolated(unsafe) var saved: [AnyHashable: Any]?
      let observer = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
      ) { saved = $0.userInfo ?? [:] }
      defer { NotificationCenter.default.removeObserver(observer) }
      context.mergePolicy = NSMergePolicy.rollback
      tag.label = "b"
      try context.save()
      #expect(tag.label == "a" && saved?.isEmpty == true && !tag.hasChanges)
    }
  }

  /// A read error in a policy is an error of the save, which writes nothing.
  @Test(.ofRootContexts) func aPolicyThatMeetsAnUnreadableFaultFailsTheSave() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      for label in ["a", "b"] { Tag(context: context).label = label }
      try context.save()
      let tag = try #require(context.all(Tag.self, "label == 'a'").first)
      context.mergePolicy = UnreadingPolicy(core: context.core)
      tag.label = "b"
      #expect(throws: CocoaError.self) { try context.save() }
      context.rollback()
      #expect(try Set(context.all(Tag.self).map(\.label)) == ["a", "b"])
      tag.label = "c"
      context.mergePolicy = NSMergePolicy.error
      try context.save()
    }
  }
}

/// Resolves a conflict, and then fails to read an object.
private final class UnreadingPolicy: NSMergePolicy, @unchecked Sendable {
  private let core: ContextCore

  init(core: ContextCore) {
    self.core = core
    super.init(merge: .rollbackMergePolicyType)
  }

  override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    for conflict in list { for object in conflict.conflictingObjects { object.setValue("d", forKey: "label") } }
    core.faultError = StoreError(.corrupt, "The row cannot be read.")
  }
}
