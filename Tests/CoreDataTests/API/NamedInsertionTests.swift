import Foundation
import Testing

@testable import CoreData

/// A store that names people by their ages, and fails after it has saved.
private final class AgeStore: NSIncrementalStore, @unchecked Sendable {
  nonisolated(unsafe) var ages: Set<Int> = []
  nonisolated(unsafe) var failsAfterSaves = false

  override var type: String { "AgeStore" }

  override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString] }

  private func age(_ object: NSManagedObject) -> Int { Int(object.value(forKey: "age") as? Int16 ?? 0) }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    if let save = request as? NSSaveChangesRequest {
      ages.formUnion((save.insertedObjects ?? []).map(age))
      if failsAfterSaves { throw CocoaError(.fileWriteUnknown) }
      return [Any]()
    }
    let person = try #require(persistentStoreCoordinator?.managedObjectModel.entitiesByName["Person"])
    return ages.sorted().map { newObjectID(for: person, referenceObject: $0) }
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { newObjectID(for: $0.entity, referenceObject: age($0)) }
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    guard let age = referenceObject(for: objectID) as? Int, ages.contains(age) else {
      throw CocoaError(.managedObjectReferentialIntegrity)
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: ["age": age], version: 1)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any { relationship.isToMany ? [] : NSNull() }
}

/// New objects that have their permanent IDs, in a store that assigns names itself.
@Suite struct NamedInsertionTests {
  private static func context() throws -> (NSManagedObjectContext, AgeStore) {
    NSPersistentStoreCoordinator.registerStoreClass(AgeStore.self, forStoreType: "AgeStore")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let store = try coordinator.addPersistentStore(
      ofType: "AgeStore", configurationName: nil, at: URL(filePath: "/nonexistent/\(UUID())"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return (context, try #require(store as? AgeStore))
  }

  private static func insert(_ age: Int, _ context: NSManagedObjectContext) -> NSManagedObject {
    let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
    person.setValue(age, forKey: "age")
    return person
  }

  /// The save has reached the store, and has failed: the object is new in the context, and the store contains it.
  @Test func anObjectThatTheStoreHasAlreadyCountsOnce() throws {
    let (context, store) = try Self.context()
    try context.performAndWait {
      store.failsAfterSaves = true
      let person = Self.insert(30, context)
      #expect(throws: CocoaError.self) { try context.save() }
      #expect(person.isInserted && !person.objectID.isTemporaryID)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      let (found, count) = (try context.fetch(request), try context.count(for: request))
      #expect(found == [person] && count == 1)
    }
  }

  /// The name of a deleted new object is given to another one, which gets its own ID.
  @Test func aNameGoesOnFromADeletedNewObject() throws {
    let (context, store) = try Self.context()
    try context.performAndWait {
      let former = Self.insert(30, context)
      try context.obtainPermanentIDs(for: [former])
      context.delete(former)
      let new = Self.insert(30, context)
      try context.obtainPermanentIDs(for: [new])
      #expect(new.objectID != former.objectID)
      try context.save()
      #expect(store.ages == [30])
      #expect(context.registeredObjects == [new])
    }
  }
}
