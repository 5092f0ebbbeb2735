import Foundation
import LMDBStore
import Testing

@testable import CoreData

/// Stores that move to another URL or type while contexts use them, and their metadata.
@Suite struct StoreMigrationTests {
  typealias StoreType = NSPersistentStore.StoreType
  static let persistentTypes: [StoreType] = {
    #if LMDB
      LMDBStore.register()
      return [.sqlite, .xml, .binary, .lmdb]
    #else
      return [.sqlite, .xml, .binary]
    #endif
  }()
  static let types = persistentTypes + [.inMemory]

  /// A coordinator with one store, in a folder that is removed at the end.
  final class Stack {
    let folder = FileManager.default.temporaryDirectory.appending(path: "migration-\(UUID())")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let store: NSPersistentStore

    init(_ type: StoreType) throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      store = try coordinator.addPersistentStore(type: type, at: folder.appending(path: "first"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func context() -> NSManagedObjectContext {
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }
  }

  /// A department whose people have a rank, tags and large data. The key of the first tag is also the key of a person.
  @discardableResult
  private func fill(_ context: NSManagedObjectContext) throws -> Department {
    let department = Department(context: context)
    department.title = "Physics"
    let tags = (0..<3).map { index in
      let tag = Tag(context: context)
      tag.label = "t\(index)"
      return tag
    }
    let people = ["Ada", "Emmy", "Lise"].enumerated().map { index, name in
      let person = Person(context: context)
      (person.name, person.age, person.department) = (name, Int16(index), department)
      person.tags = Set(tags[...index])
      return person
    }
    department.ranking = [people[2], people[0], people[1]]
    let large = NSManagedObject(
      entity: NSEntityDescription.entity(forEntityName: "Everything", in: context)!, insertInto: context)
    large.setValue(Data(repeating: 7, count: 300_000), forKey: "blob")
    try context.save()
    return department
  }

  @Test(arguments: types, types) func contextsKeepWorking(_ from: StoreType, _ to: StoreType) throws {
    let stack = try Stack(from)
    let (context, other) = (stack.context(), stack.context())
    try context.performAndWait {
      let department = try fill(context)
      let (id, uuid) = (department.objectID, stack.store.identifier)
      stack.store.metadata["kept"] = "yes"
      try context.save()
      // Unsaved changes are kept, in this context and in another one.
      let ada = try #require(try context.all(Person.self, "name == 'Ada'").first)
      ada.age = 36
      let new = Person(context: context)
      new.name = "Marie"
      try other.performAndWait { try #require(try other.all(Person.self, "name == 'Lise'").first).age = 90 }

      let successor = try stack.coordinator.migratePersistentStore(
        stack.store, to: stack.folder.appending(path: "second"), type: to)
      #expect(stack.coordinator.persistentStores == [successor])
      #expect(stack.store.persistentStoreCoordinator == nil)
      #expect(successor.persistentStoreCoordinator === stack.coordinator)
      #expect(successor.type == to.rawValue && successor.identifier != uuid)
      #expect(successor.metadata["kept"] as? String == "yes")
      #expect(id.persistentStore === successor)
      #expect(id.uriRepresentation().host == successor.identifier)
      #expect(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)

      #expect(ada.age == 36 && ada.department?.title == "Physics" && !ada.objectID.isTemporaryID)
      new.department = department
      try context.save()
      try other.performAndWait { try other.save() }
      #expect(new.objectID.persistentStore === successor)
    }
    let reader = try stack.reader(to)
    try reader.performAndWait {
      let people = try reader.all(Person.self).sorted { $0.name ?? "" < $1.name ?? "" }
      #expect(people.map(\.name) == ["Ada", "Emmy", "Lise", "Marie"])
      #expect(people.map(\.age) == [36, 1, 90, 0])
      #expect(people.map { $0.tags.count } == [1, 2, 3, 0])
      let department = try #require(try reader.all(Department.self).first)
      #expect(department.ranking.map(\.name) == ["Lise", "Ada", "Emmy"] && department.people.count == 4)
      let large = try #require(try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Everything")).first)
      #expect(large.value(forKey: "blob") as? Data == Data(repeating: 7, count: 300_000))
    }
  }

  /// New objects go to a writable store once theirs has moved to a file that is opened read-only.
  @Test func newObjectsGoToAnotherStoreOnceTheirsIsReadOnly() throws {
    let stack = try Stack(.sqlite)
    let second = try stack.coordinator.addPersistentStore(
      type: .sqlite, at: stack.folder.appending(path: "writable.sqlite"))
    let context = stack.context()
    try context.performAndWait {
      let before = Person(context: context)
      try context.save()
      #expect(before.objectID.persistentStore === stack.store)
      try stack.coordinator.migratePersistentStore(
        stack.store, to: stack.folder.appending(path: "archive.sqlite"),
        options: [NSReadOnlyPersistentStoreOption: true], type: .sqlite)
      let after = Person(context: context)
      try context.save()
      #expect(after.objectID.persistentStore === second)
    }
  }

  /// Another thread may have removed the store while its successor was made.
  @Test func aStoreThatWasRemovedHasNoSuccessor() throws {
    let company = try CompanyStore()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let store = try coordinator.addPersistentStore(type: CompanyStore.type, at: company.url)
    let other = try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
    try coordinator.remove(store)
    #expect(!coordinator.replace(store, by: other) && coordinator.persistentStores == [other])
  }

  @Test func whereSomethingIsTheStoreStaysInUse() throws {
    let stack = try Stack(.sqlite)
    let context = stack.context()
    let target = stack.folder.appending(path: "second")
    try Data("mine".utf8).write(to: target)
    try context.performAndWait {
      try fill(context)
      for type in [StoreType.sqlite, .xml, .binary] {
        let error = #expect(throws: CocoaError.self) {
          try stack.coordinator.migratePersistentStore(stack.store, to: target, type: type)
        }
        #expect(error?.code == .fileWriteFileExists)
      }
      #expect(stack.coordinator.persistentStores == [stack.store])
      #expect(try Data(contentsOf: target) == Data("mine".utf8))
      #expect(try context.all(Person.self).count == 3)
      Person(context: context).name = "Marie"
      try context.save()
    }
    #expect(throws: CocoaError.self) {
      try NSPersistentStoreCoordinator(managedObjectModel: Company.model()).migratePersistentStore(
        stack.store, to: target, type: .xml)
    }
  }

  @Test func aCommitThatWaitsGoesToTheNewStore() throws {
    let stack = try Stack(.sqlite)
    let first = stack.context()
    try first.performAndWait { _ = try fill(first) }
    let (count, writers) = (40, 2)
    let (group, coordinator) = (DispatchGroup(), stack.coordinator)
    for writer in 0..<writers {
      DispatchQueue.global().async(group: group) {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        for number in 0..<count {
          context.performAndWait {
            Person(context: context).name = "\(writer) \(number)"
            do { try context.save() } catch { Issue.record(error) }
          }
        }
      }
    }
    var store = stack.store
    for (step, type) in [StoreType.xml, .sqlite, .binary, .inMemory].enumerated() {
      store = try stack.coordinator.migratePersistentStore(
        store, to: stack.folder.appending(path: "step-\(step)"), type: type)
    }
    group.wait()
    let reader = stack.context()
    let found = try reader.performAndWait { try reader.all(Person.self).count }
    #expect(found == 3 + count * writers)
  }

  // MARK: Metadata without opening

  @Test(arguments: persistentTypes) func metadataIsSetWithoutAModel(_ type: StoreType) throws {
    let stack = try Stack(type)
    let (context, url) = (stack.context(), stack.folder.appending(path: "first"))
    try context.performAndWait { _ = try fill(context) }
    let uuid = stack.store.identifier
    try stack.coordinator.remove(stack.store)
    typealias Coordinator = NSPersistentStoreCoordinator
    var metadata = try Coordinator.metadataForPersistentStore(type: type, at: url)
    let known = Set(metadata.keys)
    metadata["application"] = ["list": [1, 2], "text": "<&>"] as [String: Any]
    metadata[NSStoreUUIDKey] = "another"
    metadata[NSStoreModelVersionHashesKey] = ["Person": Data(repeating: 0, count: 32)]
    try Coordinator.setMetadata(metadata, type: type, at: url)
    let found = try Coordinator.metadataForPersistentStore(type: type, at: url)
    #expect(found[NSStoreUUIDKey] as? String == uuid)
    #expect((found["application"] as? [String: Any])?["text"] as? String == "<&>")
    #expect(Set(found.keys) == known.union(["application"]))
    _ = try stack.coordinator.addPersistentStore(type: type, at: url)
    let counts = try context.performAndWait {
      context.reset()
      return try context.all(Person.self).map(\.tags.count).sorted()
    }
    #expect(counts == [1, 2, 3])
    #expect(throws: CocoaError.self) {
      try Coordinator.setMetadata([:], type: type, at: stack.folder.appending(path: "none"))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: stack.folder.path).contains("none") == false)
  }
}

extension StoreMigrationTests.Stack {
  /// A context with an empty cache; for a store in memory, one of the same coordinator.
  func reader(_ type: NSPersistentStore.StoreType) throws -> NSManagedObjectContext {
    if type == .inMemory { return context() }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    try coordinator.addPersistentStore(type: type, at: folder.appending(path: "second"))
    return context()
  }
}
