import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Two people whose ages change together, in a store that a client implements.
private final class PairStore: NSIncrementalStore, @unchecked Sendable {
  override var type: String { "PairStore" }
  nonisolated(unsafe) var ages: [Int: Int] = [1: 0, 2: 0]

  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: Self.identifierForNewStore(at: URL(filePath: "/dev/null"))]
  }

  private func number(_ id: NSManagedObjectID) -> Int { referenceObject(for: id) as? Int ?? 0 }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    if let save = request as? NSSaveChangesRequest {
      for object in save.updatedObjects ?? [] {
        ages[number(object.objectID)] = (object.value(forKey: "age") as? Int16).map(Int.init)
      }
      return [Any]()
    }
    let entity = persistentStoreCoordinator!.managedObjectModel.entitiesByName["Person"]!
    return ages.keys.sorted().map { newObjectID(for: entity, referenceObject: $0) }
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    NSIncrementalStoreNode(objectID: objectID, withValues: ["age": ages[number(objectID)] ?? -1], version: 1)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any { relationship.isToMany ? [] : NSNull() }
}

/// A person that lets others act while it is read.
final class ReadPerson: NSManagedObject {
  nonisolated(unsafe) static var whenRead: () -> Void = {}
  override func awakeFromFetch() { Self.whenRead() }
}

private final class Once: Sendable {
  let isTaken = Atomic(false)
  func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}

/// What one fetch gives is of one moment, whatever is saved while it is under way.
@Suite(.serialized) struct FetchMomentTests {
  private static func wholePeople() -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.returnsObjectsAsFaults = false
    return request
  }

  private static func ages(_ context: NSManagedObjectContext) throws -> [Int] {
    try context.fetch(wholePeople()).map { Int($0.value(forKey: "age") as? Int16 ?? -1) }
  }

  /// Gives everybody an age, in a context of its own.
  private static func save(_ age: Int, _ coordinator: NSPersistentStoreCoordinator) throws {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for person in try context.fetch(wholePeople()) { person.setValue(age, forKey: "age") }
      try context.save()
    }
  }

  @Test func anIncrementalStoreIsNotSavedToBetweenTheRowsOfOneFetch() throws {
    NSPersistentStoreCoordinator.registerStoreClass(PairStore.self, forStoreType: "PairStore")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    try coordinator.addPersistentStore(
      ofType: "PairStore", configurationName: nil, at: URL(filePath: "/nonexistent/\(UUID())"))
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

  @MainActor
  @Test(arguments: [NSSQLiteStoreType, NSXMLStoreType, NSInMemoryStoreType])
  func outsideOfBlocksToo(_ type: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "moment-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = Company.model()
    model.entitiesByName["Person"]?.managedObjectClassName = NSStringFromClass(ReadPerson.self)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: type == NSInMemoryStoreType ? nil : folder.appending(path: "store"))
    let writer = NSManagedObjectContext(.privateQueue)
    writer.persistentStoreCoordinator = coordinator
    try writer.performAndWait {
      for _ in 0..<2 {
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: writer).setValue(0, forKey: "age")
      }
      try writer.save()
    }
    let context = NSManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = coordinator
    let once = Once()
    ReadPerson.whenRead = {
      guard once.take() else { return }
      do { try Self.save(7, coordinator) } catch { Issue.record(error) }
    }
    defer { ReadPerson.whenRead = {} }
    let ages = try Self.ages(context)
    #expect(ages == [0, 0])
  }
}
