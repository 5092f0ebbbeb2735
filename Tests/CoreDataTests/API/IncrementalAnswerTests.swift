import Foundation
import Testing

@testable import CoreData

/// A store that answers fetches with a closure of the test, and keeps them.
private final class AnsweringStore: NSIncrementalStore, @unchecked Sendable {
  override var type: String { "AnsweringStore" }
  nonisolated(unsafe) var answer: (NSFetchRequest<NSManagedObject>, NSManagedObjectContext) -> [Any] = { _, _ in [] }
  nonisolated(unsafe) var members: [Any] = []
  nonisolated(unsafe) var requests: [NSFetchRequest<NSManagedObject>] = []
  nonisolated(unsafe) var updates: [Set<NSManagedObject>] = []

  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: Self.identifierForNewStore(at: URL(filePath: "/dev/null"))]
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    if let save = request as? NSSaveChangesRequest {
      updates.append(save.updatedObjects ?? [])
      return []
    }
    guard let context, let fetch = request as? NSFetchRequest<NSManagedObject> else {
      throw CocoaError(.persistentStoreUnsupportedRequestType)
    }
    requests.append(fetch)
    return answer(fetch, context)
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode { NSIncrementalStoreNode(objectID: objectID, withValues: [:], version: 1) }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any { relationship.isToMany ? members : NSNull() }

  func id(_ entity: String, _ reference: Int = 1) -> NSManagedObjectID {
    newObjectID(
      for: persistentStoreCoordinator!.managedObjectModel.entitiesByName[entity]!, referenceObject: reference)
  }
}

/// The answers that a client's incremental store may give, and the requests that it gets.
@Suite struct IncrementalAnswerTests {
  private func inStores(_ body: (NSManagedObjectContext, AnsweringStore, AnsweringStore) throws -> Void) throws {
    NSPersistentStoreCoordinator.registerStoreClass(AnsweringStore.self, forStoreType: "AnsweringStore")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let stores = try ["a", "b"].map { name in
      let store = try coordinator.addPersistentStore(
        ofType: "AnsweringStore", configurationName: nil, at: URL(filePath: "/nonexistent/\(UUID())/\(name)"))
      return try #require(store as? AnsweringStore)
    }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try body(context, stores[0], stores[1]) }
  }

  private func request<T>(_ type: T.Type, _ name: String, _ store: NSPersistentStore) -> NSFetchRequest<T> {
    let request = NSFetchRequest<T>(entityName: name)
    request.affectedStores = [store]
    return request
  }

  private func expectUnexpected(_ words: String, _ body: () throws -> Void) {
    let error = #expect(throws: CocoaError.self) { try body() }
    #expect(error?.code == .persistentStoreInvalidType, "\(error as Any)")
    #expect(error?.localizedDescription.contains(words) == true, "\(error as Any)")
  }

  @Test func anObjectOfAnotherEntityIsAnError() throws {
    try inStores { (context, store, _) throws in
      let people = request(Person.self, "Person", store)
      for entity in ["Department", "Research", "Tag"] {
        store.answer = { _, _ in [store.id(entity)] }
        expectUnexpected("objects of Person") { _ = try context.fetch(people) }
        store.answer = { _, context in [context.object(with: store.id(entity))] }
        expectUnexpected("objects of Person") { _ = try context.fetch(people) }
      }
      store.answer = { _, _ in ["text"] }
      expectUnexpected("gave String") { _ = try context.fetch(people) }
      let departments = request(Department.self, "Department", store)
      store.answer = { _, _ in [store.id("Research"), store.id("Department", 2)] }
      #expect(try context.fetch(departments).map(\.entity.name) == ["Research", "Department"])
      departments.includesSubentities = false
      expectUnexpected("objects of Department") { _ = try context.fetch(departments) }
    }
  }

  /// "The save request": https://developer.apple.com/documentation/coredata/nsincrementalstore/execute(_:with:)
  @Test func eachStoreSavesItsOwnObjects() throws {
    try inStores { (context, store, other) throws in
      let people = try [store, other].map { try #require(context.object(with: $0.id("Person")) as? Person) }
      for person in people { person.name = "new" }
      try context.save()
      #expect(store.updates == [[people[0]]] && other.updates == [[people[1]]])
    }
  }

  @Test func anObjectOfAnotherStoreOrOfNoneIsAnError() throws {
    try inStores { (context, store, other) throws in
      let people = request(Person.self, "Person", store)
      let new = Person(context: context)
      let elsewhere = NSManagedObjectContext(.privateQueue)
      elsewhere.persistentStoreCoordinator = context.persistentStoreCoordinator
      nonisolated(unsafe) let foreign = elsewhere.performAndWait { elsewhere.object(with: store.id("Person")) }
      let answers: [Any] = [
        other.id("Person"), context.object(with: other.id("Person")), new.objectID, new, foreign,
      ]
      for answer in answers {
        store.answer = { _, _ in [answer] }
        expectUnexpected("objects of Person") { _ = try context.fetch(people) }
      }
    }
  }

  @Test func membersOfAnotherEntityAreNotTakenForTheirs() throws {
    try inStores { (context, store, other) throws in
      let department = try #require(context.object(with: store.id("Department")) as? Department)
      let before = department.people
      #expect(before.isEmpty)
      for members in [[store.id("Tag", 5)], [other.id("Person", 5)], ["text"]] as [[Any]] {
        context.refresh(department, mergeChanges: false)
        store.members = members
        #expect(department.people.isEmpty)
      }
      context.refresh(department, mergeChanges: false)
      store.members = [store.id("Person", 5)]
      #expect(department.people.map(\.objectID) == [store.id("Person", 5)])
    }
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1, 0.5]) func aCountThatIsNoneIsAnError(_ count: Double)
    throws
  {
    try inStores { (context, store, _) throws in
      store.answer = { _, _ in [count] }
      expectUnexpected("count") { _ = try context.count(for: request(Person.self, "Person", store)) }
      store.answer = { _, _ in [NSNumber(value: 3)] }
      #expect(try context.count(for: request(Person.self, "Person", store)) == 3)
      #expect(store.requests.last?.resultType == .countResultType)
    }
  }

  @Test func aStoreSeesAllOfTheRequest() throws {
    try inStores { (context, store, _) throws in
      let people = request(Person.self, "Person", store)
      people.relationshipKeyPathsForPrefetching = ["department.people"]
      (people.shouldRefreshRefetchedObjects, people.includesPendingChanges) = (true, false)
      (people.propertiesToFetch, people.fetchBatchSize) = (["name"], 5)
      _ = try context.fetch(people)
      let seen = try #require(store.requests.first)
      #expect(seen.relationshipKeyPathsForPrefetching == ["department.people"])
      #expect(seen.shouldRefreshRefetchedObjects && !seen.includesPendingChanges && seen.fetchBatchSize == 5)
      #expect(seen.propertiesToFetch as? [String] == ["name"] && seen.resultType == .managedObjectResultType)
      #expect(seen.entity?.name == "Person")
    }
  }

  @Test func aStoreIsRequestedIDsWhereIDsAreFetched() throws {
    try inStores { (context, store, _) throws in
      let ids = request(NSManagedObjectID.self, "Person", store)
      ids.resultType = .managedObjectIDResultType
      store.answer = { fetch, context in
        let ids = [store.id("Person", 2), store.id("Person", 1)]
        return fetch.resultType == .managedObjectIDResultType ? ids : ids.map(context.object)
      }
      #expect(try context.fetch(ids) == [store.id("Person", 2), store.id("Person", 1)])
      #expect(store.requests.map(\.resultType) == [.managedObjectIDResultType])
    }
  }

  @Test func aNodeHasTheVersionOfItsValues() throws {
    try inStores { (context, store, _) throws in
      let node = NSIncrementalStoreNode(objectID: store.id("Person"), withValues: ["age": 1], version: 1)
      let age = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Person"])
        .attributesByName["age"]
      node.update(withValues: ["age": 2], version: 7)
      #expect(node.version == 7 && age.flatMap(node.value) as? Int == 2)
    }
  }
}
