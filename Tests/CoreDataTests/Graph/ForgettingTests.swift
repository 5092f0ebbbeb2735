import CoreData
import Foundation
import Testing

/// What objects and contexts forget when a change is taken back, and what an object is that is inserted again.
@Suite struct ForgettingTests {
  // MARK: IDs of objects that are inserted

  /// The ID that an object had before it was inserted names no object of the context.
  @Test func anIDThatWasAskedForBeforeTheInsertionIsReplaced() throws {
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

  /// The object of a row that others have deleted gets a row of its own when it is inserted again.
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

  // MARK: What a reset and a rollback let go of

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

  /// A context notes which members it left out of a relationship, in case their deletion is taken back. A reset takes
  /// nothing back.
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

  /// An object that changes again in another event knows what it was before: also its members. A client that holds the
  /// object after a reset or a rollback does not hold these.
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

  /// An owner of an ordered relationship is written when a member is deleted. It is read with the deletion: whoever
  /// saves it meanwhile is in conflict.
  @Test func theOwnerOfADeletedMemberIsReadWithTheDeletion() throws {
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

  enum Other: CaseIterable { case same, another }

  /// An object whose deletion is saved belongs to no context, and may be inserted as a new one.
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/managedobjectcontext
  @Test(arguments: Other.allCases, [true, false])
  func anObjectWhoseDeletionIsSavedMayBeInserted(_ other: Other, _ wasSaved: Bool) throws {
    let company = try CompanyStore()
    let (first, second) = (company.context(), other == .same ? nil : company.context())
    try first.performAndWait {
      let (person, department) = (Person(context: first), Department(context: first))
      (person.name, person.department) = ("Ada", department)
      if wasSaved { try first.save() }
      let former = person.objectID
      first.delete(person)
      try first.save()
      nonisolated(unsafe) let object = person
      try (second ?? first).performAndWait {
        let context = second ?? first
        context.insert(object)
        #expect(object.objectID.isTemporaryID && object.objectID != former)
        #expect(object.managedObjectContext === context && object.name == "Ada" && object.department == nil)
        try context.save()
        #expect(try context.existingObject(with: object.objectID) === object)
        context.refreshAllObjects()
        #expect(object.name == "Ada")
      }
      #expect(department.people.isEmpty)
    }
  }
}
