import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Two people whose ages change together, in a client's store.
private final class PairStore: NSIncrementalStore, @unchecked Sendable {
  override var type: String { "PairStore" }
  nonisolated(unsafe) var ages: [Int: Int] = [1: 0, 2: 0]
  nonisolated(unsafe) var requestedNames = 0
  /// IDs that the store returns again, by number.
  nonisolated(unsafe) var kept: [Int: NSManagedObjectID] = [:]
  /// Whether a new object may get the number of one that the same save deletes.
  nonisolated(unsafe) var reusesDeleted = false
  nonisolated(unsafe) var failsSaves = false

  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: Self.identifierForNewStore(at: URL(filePath: "/dev/null"))]
  }

  private func number(_ id: NSManagedObjectID) -> Int { referenceObject(for: id) as? Int ?? 0 }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    if let save = request as? NSSaveChangesRequest {
      if failsSaves { throw CocoaError(.fileWriteNoPermission) }
      for object in save.deletedObjects ?? [] { ages[number(object.objectID)] = nil }
      for object in (save.updatedObjects ?? []).union(save.insertedObjects ?? []) {
        ages[number(object.objectID)] = (object.value(forKey: "age") as? Int16).map(Int.init)
      }
      return [Any]()
    }
    return ages.keys.sorted().map { id($0) }
  }

  private func id(_ number: Int) -> NSManagedObjectID {
    kept[number] ?? newObjectID(for: person, referenceObject: number)
  }

  private var person: NSEntityDescription {
    persistentStoreCoordinator!.managedObjectModel.entitiesByName["Person"]!
  }

  /// The first free names, including names of former objects.
  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    let deleted =
      reusesDeleted ? array.first?.managedObjectContext?.deletedObjects.map { number($0.objectID) } ?? [] : []
    let free = (1...).lazy.filter { [ages] in ages[$0] == nil || deleted.contains($0) }.prefix(array.count)
    return free.map { id($0) }
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    requestedNames += 1
    guard ages[number(objectID)] != nil else { throw CocoaError(.managedObjectReferentialIntegrity) }
    return NSIncrementalStoreNode(objectID: objectID, withValues: ["age": ages[number(objectID)] ?? -1], version: 1)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any { relationship.isToMany ? [] : NSNull() }
}

/// A person that runs code of the test while it is read.
final class ReadPerson: NSManagedObject {
  nonisolated(unsafe) static var whenRead: (ReadPerson) -> Void = { _ in }
  override func awakeFromFetch() { Self.whenRead(self) }
}

private final class Once: Sendable {
  let isTaken = Atomic(false)
  func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}

/// The results of one fetch agree with each other, whatever is saved while it runs.
@Suite(.serialized) struct FetchMomentTests {
  private static func wholePeople() -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.returnsObjectsAsFaults = false
    return request
  }

  private static func ages(_ context: NSManagedObjectContext) throws -> [Int] {
    try context.fetch(wholePeople()).map { Int($0.value(forKey: "age") as? Int16 ?? -1) }
  }

  /// Gives all people an age, in a separate context.
  private static func save(_ age: Int, _ coordinator: NSPersistentStoreCoordinator) throws {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for person in try context.fetch(wholePeople()) { person.setValue(age, forKey: "age") }
      try context.save()
    }
  }

  private static func pairs() throws -> (coordinator: NSPersistentStoreCoordinator, store: PairStore) {
    NSPersistentStoreCoordinator.registerStoreClass(PairStore.self, forStoreType: "PairStore")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let store = try coordinator.addPersistentStore(
      ofType: "PairStore", configurationName: nil, at: URL(filePath: "/nonexistent/\(UUID())"))
    return (coordinator, try #require(store as? PairStore))
  }

  private static func context(
    _ coordinator: NSPersistentStoreCoordinator, _ type: NSManagedObjectContext.ConcurrencyType = .privateQueue
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(type)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func anIncrementalStoreIsNotSavedToBetweenTheRowsOfOneFetch() throws {
    let coordinator = try Self.pairs().coordinator
    let isOver = Once()
    let torn = Mutex<[[Int]]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        if thread == 0 {
          for age in 1...4000 { try Self.save(age, coordinator) }
          _ = isOver.take()
          return
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        while !isOver.isTaken.load(ordering: .relaxed) {
          let ages = try context.performAndWait {
            context.reset()
            return try Self.ages(context)
          }
          if ages.count != 2 || ages[0] != ages[1] { torn.withLock { $0.append(ages) } }
        }
      } catch { Issue.record(error) }
    }
    #expect(torn.withLock { $0 } == [])
  }

  /// The object that has the name of a deleted one is another object: changes of the first are not saved to it.
  @Test func aNameThatIsUsedAgainIsAnotherObject() throws {
    let (coordinator, store) = try Self.pairs()
    let (a, b) = (Self.context(coordinator), Self.context(coordinator))
    let first = try a.performAndWait {
      let first = try #require(try a.fetch(Self.wholePeople()).first)
      first.setValue(1, forKey: "age")
      return first.objectID
    }
    try b.performAndWait {
      b.delete(b.object(with: first))
      try b.save()
      let new = NSEntityDescription.insertNewObject(forEntityName: "Person", into: b)
      new.setValue(50, forKey: "age")
      try b.save()
      #expect(new.objectID != first)
    }
    #expect(store.ages == [1: 50, 2: 0])
    a.performAndWait { _ = #expect(throws: CocoaError.self) { try a.save() } }
    #expect(store.ages == [1: 50, 2: 0])
    try a.performAndWait {
      a.rollback()
      #expect(throws: CocoaError.self) { try a.existingObject(with: first) }
      let ages = try Self.ages(a)
      #expect(ages.sorted() == [0, 50])
    }
  }

  /// A client that keeps the IDs of its names means the object that has the name now, even by the ID of a deleted
  /// object.
  @Test func aKeptIDLeadsToWhoHasTheNameNow() throws {
    let (coordinator, store) = try Self.pairs()
    let context = Self.context(coordinator)
    try context.performAndWait {
      let first = try #require(try context.fetch(Self.wholePeople()).first)
      store.kept[1] = first.objectID
      context.delete(first)
      try context.save()
      let new = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
      new.setValue(50, forKey: "age")
      try context.save()
      #expect(store.ages == [1: 50, 2: 0])
      new.setValue(51, forKey: "age")
      try context.save()
      #expect(store.ages == [1: 51, 2: 0])
      context.reset()
      let found = try context.fetch(Self.wholePeople())
      #expect(found.map { $0.value(forKey: "age") as? Int16 } == [51, 0])
      #expect(found.first?.objectID == new.objectID || new.managedObjectContext == nil)
    }
  }

  /// One save deletes an object and gives its name to a new one.
  @Test func aNameMayGoOnInTheSaveThatDeletesItsObject() throws {
    let (coordinator, store) = try Self.pairs()
    let context = Self.context(coordinator)
    store.reusesDeleted = true
    try context.performAndWait {
      let first = try #require(try context.fetch(Self.wholePeople()).first)
      let former = first.objectID
      context.delete(first)
      let new = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
      new.setValue(50, forKey: "age")
      try context.save()
      #expect(store.ages == [1: 50, 2: 0])
      #expect(new.objectID != former)
      new.setValue(51, forKey: "age")
      try context.save()
      #expect(store.ages == [1: 51, 2: 0])
      let found = try context.fetch(Self.wholePeople())
      #expect(found.contains(new) && found.count == 2)
    }
  }

  /// If that save fails, the name stays with the stored object.
  @Test func aNameStaysWhereTheSaveThatDeletesItsObjectFails() throws {
    let (coordinator, store) = try Self.pairs()
    let (context, other) = (Self.context(coordinator), Self.context(coordinator))
    store.reusesDeleted = true
    try context.performAndWait {
      let first = try #require(try context.fetch(Self.wholePeople()).first)
      context.delete(first)
      let new = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
      new.setValue(50, forKey: "age")
      try context.obtainPermanentIDs(for: [new])
      let found = try other.performAndWait { try other.fetch(Self.wholePeople()).map(\.objectID) }
      #expect(found.first == first.objectID && new.objectID != first.objectID)
      store.failsSaves = true
      #expect(throws: CocoaError.self) { try context.save() }
      context.rollback()
      #expect(try context.fetch(Self.wholePeople()).map(\.objectID) == found)
      #expect(first.value(forKey: "age") as? Int16 == 0)
    }
    #expect(store.ages == [1: 0, 2: 0])
  }

  @Test func countsReadNoRowsOfAnIncrementalStore() throws {
    let (coordinator, store) = try Self.pairs()
    let context = Self.context(coordinator)
    try context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
      let request = Self.wholePeople()
      request.shouldRefreshRefetchedObjects = true
      let count = try context.count(for: request)
      #expect(count == 3)
    }
    #expect(store.requestedNames == 0)
  }

  /// Rows that faults had before are not used in a fetch that reads a batch of them.
  @Test(arguments: [NSSQLiteStoreType, NSXMLStoreType, NSInMemoryStoreType])
  func rowsOfAnEarlierFetchAreNotMixedIn(_ type: String) throws {
    try Self.inBlock(type) { (context, coordinator) throws in
      let faults = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
      try Self.save(7, coordinator)
      let request = Self.wholePeople()
      request.fetchBatchSize = 10
      #expect(try context.fetch(request).map { $0.value(forKey: "age") as? Int16 } == [7, 7, 7])
      request.fetchBatchSize = 0
      request.includesPropertyValues = false
      try Self.save(8, coordinator)
      let other = Self.context(coordinator)
      #expect(
        try other.performAndWait { try other.fetch(request).map { $0.value(forKey: "age") as? Int16 } } == [8, 8, 8])
      withExtendedLifetime(faults) {}
    }
  }

  /// Prefetching gives no newer rows to the objects of the fetch.
  @Test(arguments: [NSSQLiteStoreType, NSXMLStoreType, NSInMemoryStoreType])
  func prefetchingLeavesTheRowsOfTheFetch(_ type: String) throws {
    try Self.inBlock(type) { (context, coordinator) throws in
      let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
      try Self.save(7, coordinator)
      try context.core.prefetch("tags", people)
      #expect(people.map { $0.value(forKey: "age") as? Int16 } == [0, 0, 0])
    }
  }

  /// Reading a batch of one fetch does not replace the rows that a later fetch has given.
  @Test(arguments: [NSSQLiteStoreType, NSXMLStoreType, NSInMemoryStoreType])
  func aBatchLeavesTheRowsOfAnotherFetch(_ type: String) throws {
    try Self.inBlock(type) { (context, coordinator) throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      request.fetchBatchSize = 10
      let batched = try context.fetch(request)
      request.fetchBatchSize = 0
      request.predicate = NSPredicate(format: "name != 'a'")
      let later = try context.fetch(request)
      try Self.save(7, coordinator)
      // The row that others have saved is removed from the cache, so that the batch is read.
      let store = try #require(coordinator.persistentStores.first)
      store.cache.removeAll()
      #expect(batched[0].value(forKey: "age") as? Int16 == 7)
      #expect(later.map { $0.value(forKey: "age") as? Int16 } == [0, 0])
    }
  }

  /// Calls `body` in a block of a context.
  private static func inBlock(
    _ type: String, _ body: (NSManagedObjectContext, NSPersistentStoreCoordinator) throws -> Void
  ) throws {
    try inCompany(type) { coordinator in
      let context = context(coordinator)
      try context.performAndWait { try body(context, coordinator) }
    }
  }

  private static func inCompany(_ type: String, _ body: (NSPersistentStoreCoordinator) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "moment-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = Company.model()
    model.entitiesByName["Person"]?.managedObjectClassName = NSStringFromClass(ReadPerson.self)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: type == NSInMemoryStoreType ? nil : folder.appending(path: "store"))
    let writer = context(coordinator)
    try writer.performAndWait {
      for name in ["a", "b", "c"] {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: writer)
        person.setValuesForKeys(["age": 0, "name": name])
        let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: writer)
        tag.setValuesForKeys(["label": name, "people": Set([person])])
      }
      try writer.save()
    }
    try body(coordinator)
  }

  /// A fetch of a main-queue context outside of blocks.
  @MainActor
  @Test(arguments: [NSSQLiteStoreType, NSXMLStoreType, NSInMemoryStoreType], [-1, 0.0])
  func outsideOfBlocksToo(_ type: String, stalenessInterval: Double) throws {
    try Self.inCompany(type) { coordinator in
      let context = Self.context(coordinator, .mainQueue)
      context.stalenessInterval = stalenessInterval
      let once = Once()
      ReadPerson.whenRead = { person in
        guard person.managedObjectContext === context, once.take() else { return }
        #expect((person.value(forKey: "tags") as? NSSet)?.count == 1)
        do { try Self.save(7, coordinator) } catch { Issue.record(error) }
      }
      defer { ReadPerson.whenRead = { _ in } }
      let ages = try Self.ages(context)
      #expect(ages == [0, 0, 0])
    }
  }

  /// Section names are computed from the same values as the order.
  @MainActor
  @Test(arguments: [NSSQLiteStoreType, NSXMLStoreType, NSInMemoryStoreType])
  func sectionsAreOfTheMomentOfTheirFetch(_ type: String) throws {
    try Self.inCompany(type) { coordinator in
      let context = Self.context(coordinator, .mainQueue)
      let once = Once()
      ReadPerson.whenRead = { person in
        guard person.managedObjectContext === context, once.take() else { return }
        let other = Self.context(coordinator)
        do {
          try other.performAndWait {
            let request = Self.wholePeople()
            request.predicate = NSPredicate(format: "name == 'b'")
            try other.fetch(request).first?.setValue(7, forKey: "age")
            try other.save()
          }
        } catch { Issue.record(error) }
      }
      defer { ReadPerson.whenRead = { _ in } }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = ["age", "name"].map { NSSortDescriptor(key: $0, ascending: true) }
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "age", cacheName: nil)
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["0"])
    }
  }

  /// A client's store is read again for rows older than the context's staleness interval.
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/stalenessinterval
  @Test func aStaleRowOfAnIncrementalStoreIsReadAgain() throws {
    let (coordinator, store) = try Self.pairs()
    let first = Self.context(coordinator)
    let id = try first.performAndWait {
      let people = try first.fetch(Self.wholePeople())
      #expect(people.map { $0.value(forKey: "age") as? Int } == [0, 0])
      return people[0].objectID
    }
    store.ages[1] = 5
    let second = Self.context(coordinator)
    second.performAndWait {
      let person = second.object(with: id)
      #expect(person.value(forKey: "age") as? Int == 0)
      second.refresh(person, mergeChanges: false)
      second.stalenessInterval = 0
      #expect(person.value(forKey: "age") as? Int == 5)
    }
  }
}
