@testable import CoreData
import Foundation
import TestSupport
import Testing

@Suite struct ContextTests {
  private func company(people: Int = 3) throws -> CompanyStore {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      department.title = "D"
      for index in 0..<people {
        let person = Person(context: context)
        person.name = "P\(index)"
        person.department = department
      }
      try context.save()
    }
    return company
  }

  /// An entity of another model means the context's own entity of that name, even if the other model is in use too.
  @Test func anEntityOfAnotherModelStandsForTheContextsOwn() throws {
    let model = Describing.model([Describing.entity("Note", [Describing.attribute("text")])])
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    let (context, other) = (try Describing.context(model), try Describing.context(copy))
    let foreign = try #require(copy.entitiesByName["Note"])
    other.performAndWait { _ = NSManagedObject(entity: foreign, insertInto: other) }
    try context.performAndWait {
      let note = NSManagedObject(entity: foreign, insertInto: context)
      note.setValue("a", forKey: "text")
      #expect(note.entity.managedObjectModel === context.persistentStoreCoordinator?.managedObjectModel)
      try context.save()
      let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
      #expect(found == [note])
    }
  }

  @Test func oneObjectStandsForOneRow() throws {
    let company = try company()
    try company.run { (context) throws in
      let people = try context.all(Person.self)
      let again = try context.all(Person.self)
      #expect(zip(people, again).allSatisfy { $0 === $1 })
      let id = people[0].objectID
      #expect(context.object(with: id) === people[0] && context.registeredObject(for: id) === people[0])
    }
  }

  @Test func faultsFireOnFirstUse() throws {
    let company = try company()
    try company.run { (context) throws in
      let person = try #require(try context.all(Person.self).first)
      #expect(person.isFault)
      #expect(person.name == "P0" && !person.isFault)
      context.refresh(person, mergeChanges: false)
      #expect(person.isFault && person.name == "P0")
    }
  }

  @Test func objectsAreForgottenWhenNobodyHoldsThem() throws {
    let company = try company()
    try company.run { (context) throws in
      #expect(try context.all(Person.self).count == 3)
      #expect(context.registeredObjects.isEmpty)
      var person: Person? = try context.all(Person.self).first
      person?.name = "changed"
      let id = try #require(person?.objectID)
      person = nil
      #expect(context.registeredObject(for: id) != nil)
      context.rollback()
      #expect(context.registeredObject(for: id) == nil)
    }
  }

  @Test func rollbackTakesEverythingBack() throws {
    let company = try company()
    try company.run { (context) throws in
      let people = try context.all(Person.self)
      let department = try #require(people[0].department)
      people[0].name = "X"
      people[1].department = nil
      context.delete(people[2])
      let new = Person(context: context)
      new.department = department
      #expect(context.hasChanges)
      context.rollback()
      #expect(!context.hasChanges && context.insertedObjects.isEmpty && context.deletedObjects.isEmpty)
      #expect(people[0].name == "P0" && people[1].department === department && !people[2].isDeleted)
      #expect(department.people == Set(people) && new.managedObjectContext == nil)
      try context.save()
    }
  }

  @Test func resetForgetsEverything() throws {
    let company = try company()
    try company.run { (context) throws in
      let person = try #require(try context.all(Person.self).first)
      person.name = "X"
      context.reset()
      #expect(!context.hasChanges && context.registeredObjects.isEmpty && person.managedObjectContext == nil)
      #expect(try context.all(Person.self).first?.name == "P0")
    }
  }

  @Test func aRowThatIsGoneMakesItsFaultDeleted() throws {
    let company = try company()
    let (first, second) = (company.context(), company.context())
    try second.performAndWait {
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.includesPropertyValues = false
      let mine = try second.fetch(request)
      try first.performAndWait {
        for person in try first.all(Person.self, "name == 'P1'") { first.delete(person) }
        try first.save()
      }
      #expect(mine[1].name == nil && mine[1].isDeleted)
      #expect(throws: CocoaError.self) { try second.existingObject(with: mine[1].objectID) }
    }
  }

  @Test func changedAndCommittedValues() throws {
    let company = try company()
    try company.run { (context) throws in
      let person = try #require(try context.all(Person.self).first)
      #expect(person.changedValues().isEmpty)
      person.name = "X"
      person.department = nil
      #expect(person.changedValues().keys.sorted() == ["department", "name"])
      let committed = person.committedValues(forKeys: ["name", "department", "badge"])
      #expect(committed["name"] as? String == "P0" && committed["department"] is Department)
      #expect(committed["badge"] is NSNull)
      try context.save()
      #expect(person.changedValues().isEmpty && person.committedValues(forKeys: ["name"])["name"] as? String == "X")
    }
  }

  @Test func awakeFromInsertIsCalledOnceAndNotifications() throws {
    let company = try CompanyStore()
    let context = company.context()
    try context.performAndWait {
      nonisolated(unsafe) var names: [String] = []
      let observers = [
        NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.willSaveObjectsNotification,
        NSManagedObjectContext.didSaveObjectsNotification, NSManagedObjectContext.didSaveObjectIDsNotification,
      ].map { name in
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
          let inserted = (note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0
          names.append("\(name.rawValue) \(inserted)")
        }
      }
      defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
      let department = Department(context: context)
      #expect(department.insertCount == 1)
      try context.save()
      #expect(department.insertCount == 1)
      #expect(
        names == [
          "NSObjectsChangedInManagingContextNotification 1", "NSManagingContextWillSaveChangesNotification 0",
          "NSManagingContextDidSaveChangesNotification 1", "NSManagedObjectContextDidSaveObjectIDsNotification 0",
        ])
    }
  }

  @Test func contextsWorkFromAsyncCode() async throws {
    let company = try company()
    let context = company.context()
    let count = try await context.perform { try context.all(Person.self).count }
    #expect(count == 3)
    await #expect(throws: CocoaError.self) {
      try await context.perform {
        _ = Tag(context: context)
        try context.save()
      }
    }
    let container = NSPersistentContainer(name: "Company", managedObjectModel: Company.model())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(filePath: "/dev/null"))]
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      container.loadPersistentStores { _, error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
    let saved = try await container.performBackgroundTask { context in
      Person(context: context).name = "Z"
      try context.save()
      return try context.all(Person.self).count
    }
    #expect(saved == 1)
    try takesInWhatOthersSave(container)
  }

  /// A context of a container "is set to consume NSManagedObjectContextDidSave broadcasts automatically".
  /// https://developer.apple.com/documentation/coredata/nspersistentcontainer/newbackgroundcontext()
  private func takesInWhatOthersSave(_ container: NSPersistentContainer) throws {
    let (background, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    #expect(background.automaticallyMergesChangesFromParent)
    let person = try background.performAndWait {
      let person = try #require(background.all(Person.self).first)
      #expect(person.name == "Z")
      return person
    }
    try other.performAndWait {
      try #require(other.all(Person.self).first).name = "new"
      try other.save()
    }
    try background.performAndWait {
      #expect(person.name == "new")
      person.age = 7
      try background.save()
    }
  }

  @Test func manyContextsReadWhileOneSaves() async throws {
    let company = try company(people: 200)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<20 {
            try company.run { (context) throws in
              let people = try context.all(Person.self)
              let sum = people.reduce(0) { $0 + Int($1.age) }
              // Every save changes all ages together, so a reader must never see only some of them changed.
              #expect(sum % people.count == 0)
            }
          }
        }
      }
      group.addTask {
        for age in 1...20 {
          try company.run { (context) throws in
            for person in try context.all(Person.self) { person.age = Int16(age) }
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
