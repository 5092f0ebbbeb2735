import Foundation
import Testing

@testable import CoreData

/// Objects that outlive their context, model and stores.
@Suite struct ObjectLifeTests {
  @Test func anObjectKnowsItsIDWithoutItsContext() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Person(context: context).name = "Ada"
      try context.save()
    }
    let known = try company.run { try #require(try $0.fetch(.ids("Person")).first) }
    let orphan = try company.run { try #require(try $0.all(Person.self).first) }
    #expect(orphan.managedObjectContext == nil)
    #expect(orphan.objectID == known)
    #expect(orphan.objectID.uriRepresentation() == known.uriRepresentation())
  }

  @Test func anObjectKnowsItsIDAfterAReset() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Person(context: context).name = "Ada"
      try context.save()
    }
    try company.run { (context) throws in
      let ada = try #require(try context.all(Person.self).first)
      context.reset()
      #expect(try context.existingObject(with: ada.objectID).value(forKey: "name") as? String == "Ada")
    }
  }

  /// Objects refer to their entity's `EntityInfo` without reference counting; it must stay, whatever happens to the
  /// model.
  @Test func anEntityThatWasUsedIsNeverFreed() async throws {
    weak var info: EntityInfo?
    let id: NSManagedObjectID
    do {
      let frozen = try Company.model().freeze()
      info = frozen.infos[0]
      id = NSManagedObjectID(frozen.infos[0], key: 1, store: nil, family: 0)
      // Even if the description drops it.
      frozen.infos[0].description.frozen = nil
    }
    #expect(info != nil)
    withExtendedLifetime(id) {}
    await #expect(processExitsWith: .failure) {
      let first = Company.model()
      _ = try first.freeze()
      NSManagedObjectModel().entities = first.entities
    }
  }

  @Test(.ofRootContexts) func aContextWithObjectsKeepsItsCoordinator() async throws {
    await #expect(processExitsWith: .failure) {
      let (one, two) = (try CompanyStore(), try CompanyStore())
      let context = one.context()
      context.performAndWait {
        let person = Person(context: context)
        context.persistentStoreCoordinator = two.coordinator
        _ = person
      }
    }
    let (one, two) = (try CompanyStore(), try CompanyStore())
    let context = one.context()
    try context.performAndWait {
      Person(context: context).name = "One"
      try context.save()
      context.reset()
      context.persistentStoreCoordinator = two.coordinator
      #expect(try context.all(Person.self).isEmpty)
    }
  }

  @Test func aRolledBackObjectCanBeInsertedAgain() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let person = Person(context: context)
      context.rollback()
      context.insert(person)
      person.name = "Ada"
      #expect(person.isInserted)
      try context.save()
      #expect(try context.all(Person.self).count == 1)
    }
  }

  @Test func anObjectIsNotAssignedToAStoreOfAnotherCoordinator() async {
    await #expect(processExitsWith: .failure) {
      let (one, two) = (try CompanyStore(), try CompanyStore())
      try one.run { (context) throws in
        let person = Person(context: context)
        context.assign(person, to: two.store)
        try context.save()
      }
    }
  }
}

extension NSFetchRequest where ResultType == NSManagedObjectID {
  fileprivate static func ids(_ entity: String) -> NSFetchRequest<NSManagedObjectID> {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
    request.resultType = .managedObjectIDResultType
    return request
  }
}
