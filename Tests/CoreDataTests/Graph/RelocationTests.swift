import CoreData
import Foundation
import Testing

/// `setURL(_:for:)`: a store is used at another URL.
@Suite struct RelocationTests {
  typealias StoreType = NSPersistentStore.StoreType
  typealias Stack = StoreMigrationTests.Stack
  private static let persistent = StoreMigrationTests.persistentTypes
  private static let rowLevel = persistent.filter { $0 != .xml && $0 != .binary }

  private func insert(_ name: String, _ context: NSManagedObjectContext) throws {
    let person = Person(context: context)
    person.name = name
    let large = NSManagedObject(
      entity: try #require(NSEntityDescription.entity(forEntityName: "Everything", in: context)), insertInto: context)
    large.setValue(Data(repeating: 7, count: 300_000), forKey: "blob")
    try context.save()
  }

  /// The names that another coordinator reads at a URL.
  private func names(_ type: StoreType, _ url: URL) throws -> [String?] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let store = try coordinator.addPersistentStore(type: type, at: url)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    defer { try? coordinator.remove(store) }
    return try context.performAndWait {
      let blobs = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Everything"))
      #expect(blobs.allSatisfy { ($0.value(forKey: "blob") as? Data)?.count == 300_000 })
      return try context.all(Person.self).map(\.name).sorted { ($0 ?? "") < ($1 ?? "") }
    }
  }

  @Test(arguments: persistent) func aCopyTakesOver(_ type: StoreType) throws {
    let stack = try Stack(type)
    let (first, second) = (stack.folder.appending(path: "first"), stack.folder.appending(path: "second"))
    let context = stack.context()
    try context.performAndWait {
      try insert("Ada", context)
      let ada = try #require(try context.all(Person.self).first)
      let id = ada.objectID
      ada.age = 36
      stack.store.metadata["kept"] = "yes"
      try stack.coordinator.replacePersistentStore(at: second, withPersistentStoreFrom: first, type: type)
      #expect(stack.coordinator.setURL(second, for: stack.store))
      #expect(stack.store.url == second && stack.coordinator.persistentStores == [stack.store])
      #expect(ada.objectID == id && ada.age == 36 && ada.name == "Ada")
      try insert("Emmy", context)
    }
    #expect(try names(type, first) == ["Ada"])
    #expect(try names(type, second) == ["Ada", "Emmy"])
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: second)
    #expect(metadata["kept"] as? String == "yes" && metadata[NSStoreUUIDKey] as? String == stack.store.identifier)
  }

  /// As `mv` does while the store is open.
  @Test(arguments: persistent) func movedFilesAreFollowed(_ type: StoreType) throws {
    let stack = try Stack(type)
    let folder = stack.folder.appending(path: "moved")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let context = stack.context()
    try context.performAndWait {
      try insert("Ada", context)
      for name in try FileManager.default.contentsOfDirectory(atPath: stack.folder.path) where name != "moved" {
        try FileManager.default.moveItem(at: stack.folder.appending(path: name), to: folder.appending(path: name))
      }
      #expect(stack.coordinator.setURL(folder.appending(path: "first"), for: stack.store))
      try insert("Emmy", context)
      #expect(try context.all(Person.self).count == 2)
    }
    #expect(try names(type, folder.appending(path: "first")) == ["Ada", "Emmy"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: stack.folder.path) == ["moved"])
  }

  @Test(arguments: [StoreType.xml, .binary]) func aWholeFileIsCopiedWhereThereIsNone(_ type: StoreType) throws {
    let stack = try Stack(type)
    let second = stack.folder.appending(path: "second")
    let context = stack.context()
    try context.performAndWait {
      try insert("Ada", context)
      #expect(stack.coordinator.setURL(second, for: stack.store))
      try insert("Emmy", context)
    }
    #expect(try names(type, stack.folder.appending(path: "first")) == ["Ada"])
    #expect(try names(type, second) == ["Ada", "Emmy"])
  }

  @Test(arguments: rowLevel) func aStoreOfRowsMustBeThere(_ type: StoreType) throws {
    let stack = try Stack(type)
    let (first, second) = (stack.folder.appending(path: "first"), stack.folder.appending(path: "second"))
    let context = stack.context()
    try context.performAndWait {
      try insert("Ada", context)
      #expect(!stack.coordinator.setURL(second, for: stack.store))
      #expect(stack.store.url == first && !FileManager.default.fileExists(atPath: second.path))
      try insert("Emmy", context)
    }
    #expect(try names(type, first) == ["Ada", "Emmy"])
  }

  @Test(arguments: persistent) func anotherStoreIsRefused(_ type: StoreType) throws {
    let (stack, other) = (try Stack(type), try Stack(type))
    let location = other.folder.appending(path: "first")
    let context = stack.context()
    try context.performAndWait {
      try insert("Ada", context)
      #expect(!stack.coordinator.setURL(location, for: stack.store))
      #expect(!stack.coordinator.setURL(location, for: other.store))
      try insert("Emmy", context)
    }
    #expect(try names(type, stack.folder.appending(path: "first")) == ["Ada", "Emmy"])
    #expect(try names(type, location).isEmpty)
  }

  @Test func whatIsInMemoryIsAnywhere() throws {
    let stack = try Stack(.inMemory)
    let url = stack.folder.appending(path: "second")
    #expect(stack.coordinator.setURL(url, for: stack.store) && stack.coordinator.url(for: stack.store) == url)
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }
}
