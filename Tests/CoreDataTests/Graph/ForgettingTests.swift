import CoreData
import Foundation
import TestSupport
import Testing

/// The state that objects and contexts drop when a change is undone, and the state of an object that is inserted again.
@Suite struct ForgettingTests {
  // MARK: IDs of objects that are inserted

  /// The ID that an object had before its insertion identifies no object of the context.
  @Test func anIDThatWasRequestedBeforeTheInsertionIsReplaced() throws {
    let company = try CompanyStore()
    try company.run { context in
      let entity = try #require(company.coordinator.managedObjectModel.entitiesByName["Person"])
      let person = Person(entity: entity, insertInto: nil)
      let former = person.objectID
      context.insert(person)
      #expect(person.objectID != former && person.objectID.isTemporaryID)
      #expect(person.objectID.persistentStore === company.store)
      #expect(context.registeredObject(for: person.objectID) === person)
      #expect(context.object(with: person.objectID) === person)
    }
  }

  /// The object of a row that others have deleted gets a new row when it is inserted again.
  @Test func anObjectThatIsInsertedAgainHasAnotherID() throws {
    let company = try CompanyStore()
    try company.run { context in
      let person = Person(context: context)
      person.name = "Ada"
      try context.save()
      let former = person.objectID
      try company.run { other in
        other.delete(try other.existingObject(with: former))
        try other.save()
      }
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [former]], into: [context])
      context.insert(person)
      #expect(person.objectID.isTemporaryID && person.objectID != former)
      #expect(context.registeredObject(for: person.objectID) === person)
      try context.save()
      #expect(!person.objectID.isTemporaryID && person.objectID != former)
      #expect(try context.existingObject(with: person.objectID) === person)
      #expect(throws: CocoaError.self) { try context.existingObject(with: former) }
    }
  }

  // MARK: Objects released by a reset and a rollback

  private final class Weak {
    weak var object: NSManagedObject?
    init(_ object: NSManagedObject?) { self.object = object }
  }

  private static func make(_ company: CompanyStore) throws {
    try company.run { context in
      let department = Department(context: context)
      for name in ["Ada", "Bob"] {
        let person = Person(context: context)
        (person.name, person.department) = (name, department)
      }
      try context.save()
    }
  }

  /// A context notes which members it left out of a relationship, in case their deletion is undone. A reset drops these
  /// notes.
  @Test func aResetLetsGoOfOwnersThatWereReadWithoutDeletedMembers() throws {
    let company = try CompanyStore()
    try Self.make(company)
    try company.run { context in
      func read() throws -> [Weak] {
        let person = try #require(try context.all(Person.self, "name == 'Bob'").first)
        context.delete(person)
        context.processPendingChanges()
        let department = try #require(try context.all(Department.self).first)
        #expect(department.people.map(\.name) == ["Ada"])
        return [Weak(person), Weak(department)]
      }
      let objects = try read()
      #expect(objects.allSatisfy { $0.object != nil })
      context.reset()
      #expect(objects.allSatisfy { $0.object == nil })
    }
  }

  /// An object that changes again in another event keeps its values from before the event, including members. A client
  /// that holds the object after a reset or a rollback does not hold these members.
  @Test(arguments: [false, true]) func whatAnObjectWasBeforeAnEventIsForgottenWithItsChanges(isReset: Bool) throws {
    let company = try CompanyStore()
    try Self.make(company)
    try company.run { context in
      let department = try #require(try context.all(Department.self).first)
      func change() throws -> [Weak] {
        let members = department.people.map { Weak($0) }
        #expect(members.count == 2)
        department.title = "first"
        context.processPendingChanges()
        department.title = "second"
        #expect(department.changedValuesForCurrentEvent()["title"] as? String == "first")
        return members
      }
      let members = try change()
      #expect(members.allSatisfy { $0.object != nil })
      if isReset { context.reset() } else { context.rollback() }
      #expect(members.allSatisfy { $0.object == nil })
      #expect(department.title == nil)
    }
  }

  // MARK: The owner of a deleted member

  /// An owner of an ordered relationship is written when a member is deleted. It is read together with the deletion: if
  /// another context saves it meanwhile, the save has a conflict.
  @Test(.ofRootContexts) func theOwnerOfADeletedMemberIsReadWithTheDeletion() throws {
    let company = try CompanyStore()
    try company.run { context in
      Person(context: context).setValue(Department(context: context), forKey: "rankedIn")
      try context.save()
    }
    let stack = try company.reopened()
    let (context, other) = (stack.context(), stack.context())
    try context.performAndWait {
      let person = try #require(try context.all(Person.self).first)
      context.delete(person)
      context.processPendingChanges()
      let department = try #require(context.updatedObjects.first as? Department)
      #expect(!department.isFault)
      try other.performAndWait {
        try #require(try other.all(Department.self).first).title = "theirs"
        try other.save()
      }
      do {
        try context.save()
        Issue.record("the save wrote an owner that another context had changed")
      } catch { #expect((error as NSError).code == NSManagedObjectMergeError) }
    }
  }

  /// An object whose deletion is saved may be inserted as a new one, which has no links.
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/managedobjectcontext
  @Test(arguments: [true, false]) func anObjectWhoseDeletionIsSavedMayBeInserted(_ wasSaved: Bool) throws {
    let company = try CompanyStore()
    try company.run { context in
      let (person, department) = (Person(context: context), Department(context: context))
      try context.save()
      let other = Person(context: context)
      let again = wasSaved ? person : other
      (again.name, again.department) = ("Ada", department)
      let former = again.objectID
      context.delete(again)
      try context.save()
      context.insert(again)
      #expect(again.objectID.isTemporaryID && again.objectID != former)
      #expect(again.managedObjectContext === context && again.name == "Ada" && again.department == nil)
      try context.save()
      #expect(try context.existingObject(with: again.objectID) === again)
      context.refreshAllObjects()
      #expect(again.name == "Ada" && again.department == nil && department.people.isEmpty)
    }
  }

  /// Values that are not in the row itself are read before the row is dropped.
  @Test(arguments: [NSPersistentStore.StoreType.sqlite, .inMemory]) func itKeepsItsLargeValues(
    _ type: NSPersistentStore.StoreType
  ) throws {
    let thing = Describing.entity(
      "Thing", [Describing.attribute("large", .binaryData), Describing.attribute("list", .transformable)])
    thing.attributesByName["large"]?.allowsExternalBinaryDataStorage = true
    let folder = FileManager.default.temporaryDirectory.appending(path: "large-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Describing.model([thing]))
    _ = try coordinator.addPersistentStore(type: type, at: folder.appending(path: "store"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
      let bytes = Data(repeating: 7, count: 1_000_000)
      object.setValue(bytes, forKey: "large")
      object.setValue(["a", "b"] as NSArray, forKey: "list")
      try context.save()
      context.refreshAllObjects()
      context.delete(object)
      try context.save()
      context.insert(object)
      #expect(
        object.value(forKey: "large") as? Data == bytes && object.value(forKey: "list") as? [String] == ["a", "b"])
      try context.save()
      context.refreshAllObjects()
      #expect(
        object.value(forKey: "large") as? Data == bytes && object.value(forKey: "list") as? [String] == ["a", "b"])
    }
  }
}
