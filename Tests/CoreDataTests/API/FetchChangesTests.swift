import Foundation
import Testing

@testable import CoreData
@testable import SQLiteBackend

/// The limits of fetches in contexts with unsaved changes.
@Suite struct FetchChangesTests {
  private func company() throws -> CompanyStore {
    let company = try CompanyStore()
    try company.run { (context) throws in
      for age in 0..<10 { Person(context: context).age = Int16(age) }
      try context.save()
    }
    return company
  }

  @Test func countsAndIdentifiersMakeNoObjects() throws {
    let company = try company()
    try company.run { (context) throws in
      let changed = try #require(try context.all(Person.self, "age == 3").first)
      changed.age = 30
      let new = Person(context: context)
      new.age = 4
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
      request.resultType = .managedObjectIDResultType
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      // Neither option affects IDs.
      request.returnsObjectsAsFaults = false
      request.relationshipKeyPathsForPrefetching = ["department", "nothing"]
      let ids = try context.fetch(request)
      #expect(ids.count == 11 && ids[10] == changed.objectID && ids[4] == new.objectID)
      #expect(try context.count(for: NSFetchRequest<Person>(entityName: "Person")) == 11)
      #expect(context.registeredObjects == [changed, new])
    }
    try company.run { (context) throws in
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
      request.resultType = .managedObjectIDResultType
      request.relationshipKeyPathsForPrefetching = ["department"]
      request.returnsObjectsAsFaults = false
      #expect(try context.fetch(request).count == 10)
      #expect(context.registeredObjects.isEmpty)
    }
  }

  @Test func aControllerFollowsTheStoresOfItsRequest() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "stores-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let stores = try ["a", "b"].map {
      try coordinator.addPersistentStore(type: .sqlite, at: folder.appending(path: $0 + ".sqlite"))
    }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      request.affectedStores = [stores[1]]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let delegate = Delegate()
      controller.delegate = delegate
      try controller.performFetch()
      for (age, store) in stores.enumerated() {
        let person = Person(context: context)
        person.age = Int16(age)
        context.assign(person, to: store)
      }
      context.processPendingChanges()
      #expect(controller.fetchedObjects?.map(\.age) == [1])
    }
  }

  @Test func aControllerThatFollowsAChangeLeavesTheOthersFaults() throws {
    let company = try company()
    try company.run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let delegate = Delegate()
      controller.delegate = delegate
      try controller.performFetch()
      let new = Person(context: context)
      new.age = 5
      context.processPendingChanges()
      let people = try #require(controller.fetchedObjects)
      #expect(people.filter { !$0.isFault } == [new])
      #expect(people.map(\.age) == [0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9])
    }
  }

  private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {}

  /// A new object that no store takes yet is in no store that a request can name.
  @Test func whatNoStoreTakesYetIsInNoNamedStore() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let person = Person(context: context)
      let request = NSFetchRequest<Person>(entityName: "Person")
      #expect(try context.fetch(request) == [person])
      request.affectedStores = []
      #expect(try context.fetch(request).isEmpty)
      let store = try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
      request.affectedStores = [store]
      #expect(try context.fetch(request) == [person])
    }
  }

  /// A trigger changes a row without incrementing its version.
  @Test(.enabled(if: CompanyStore.type == .sqlite, "it looks at rows that others wrote"))
  func
    aRefreshingFetchTakesAnotherRowOfTheSameVersion() throws
  {
    let company = try company()
    try company.run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      let people = try context.fetch(request)
      #expect(people.map(\.age) == Array(0..<10))
      try SQLiteConnection(company.url.path, .readWrite, timeout: 1)
        .execute("UPDATE ZPERSON SET ZAGE = 50 WHERE ZAGE = 9")
      #expect(try context.fetch(request).map(\.age) == Array(0..<10))
      request.shouldRefreshRefetchedObjects = true
      #expect(try context.fetch(request).map(\.age) == Array(0..<9) + [50])
    }
  }
}
