import CoreData
import Foundation
import Testing

/// The behaviour of a container towards its stores and contexts.
/// https://developer.apple.com/documentation/coredata/nspersistentcontainer
@Suite struct ContainerTests {
  private static func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "container-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Loads the stores of a container, and returns the URLs that its block was called for.
  private static func load(_ container: NSPersistentContainer) -> [URL?] {
    var loaded: [URL?] = []
    container.loadPersistentStores { description, error in
      #expect(error == nil)
      loaded.append(description.url)
    }
    return loaded
  }

  /// A loaded store is left alone, and the block is not called for it again.
  /// https://developer.apple.com/documentation/coredata/nspersistentcontainer/loadpersistentstores(completionhandler:)
  @Test func aStoreThatIsLoadedIsNotLoadedAgain() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let urls = ["a", "b", "c"].map { folder.appending(path: $0) }
    let container = NSPersistentContainer(name: "Company", managedObjectModel: Company.model())
    container.persistentStoreDescriptions = urls[..<2].map { NSPersistentStoreDescription(url: $0) }
    #expect(Self.load(container) == [urls[0], urls[1]])
    let stores = container.persistentStoreCoordinator.persistentStores
    #expect(stores.count == 2 && Self.load(container) == [])
    container.persistentStoreDescriptions.append(NSPersistentStoreDescription(url: urls[2]))
    #expect(Self.load(container) == [urls[2]])
    let now = container.persistentStoreCoordinator.persistentStores
    #expect(now.count == 3 && stores.allSatisfy { store in now.contains { $0 === store } })
  }

  private static func container() -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Company", managedObjectModel: Company.model())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(filePath: "/dev/null"))]
    #expect(load(container).count == 1)
    return container
  }

  /// Waits for a task of a container, and returns its result.
  private static func run<T>(
    on container: NSPersistentContainer, _ task: @escaping (NSManagedObjectContext) throws -> T
  ) throws -> T {
    nonisolated(unsafe) var result: Result<T, any Error>?
    nonisolated(unsafe) let task = task
    let isDone = DispatchSemaphore(value: 0)
    container.performBackgroundTask { context in
      result = Result { try task(context) }
      isDone.signal()
    }
    #expect(isDone.wait(timeout: .now() + 60) == .success, "the block did not run")
    return try #require(result).get()
  }

  /// The block runs on a new private-queue context over the container's stores.
  /// https://developer.apple.com/documentation/coredata/nspersistentcontainer/performbackgroundtask(_:)
  @Test func aBackgroundTaskRunsItsBlockOnAContextOfItsOwn() throws {
    let container = Self.container()
    let task = try Self.run(on: container) { context in
      Person(context: context).name = "Ada"
      try context.save()
      #expect(try context.all(Person.self).count == 1)
      return context
    }
    #expect(task !== container.viewContext && task.concurrencyType == .privateQueueConcurrencyType)
    #expect(task.persistentStoreCoordinator === container.persistentStoreCoordinator)
    #expect(try Self.run(on: container) { $0 } !== task)
    let other = container.newBackgroundContext()
    #expect(try other.performAndWait { try other.all(Person.self).map(\.name) } == ["Ada"])
  }

  /// The context of a task merges the saves of others, from the moment that its block begins.
  @Test func aBackgroundTaskTakesInWhatOthersSave() throws {
    let container = Self.container()
    let other = container.newBackgroundContext()
    try other.performAndWait {
      Person(context: other).name = "old"
      try other.save()
    }
    let (task, person) = try Self.run(on: container) { context in
      #expect(context.automaticallyMergesChangesFromParent)
      let person = try #require(try context.all(Person.self).first)
      #expect(person.name == "old")
      try other.performAndWait {
        try #require(other.all(Person.self).first).name = "new"
        try other.save()
      }
      return (context, person)
    }
    task.performAndWait { #expect(person.name == "new" && !person.hasChanges) }
  }
}
