import CoreData
import Foundation
import TestSupport
import Testing

/// Section caches: used as long as nothing that the sections follow from has changed.
@Suite(.serialized) struct SectionCacheTests {
  private struct Stack {
    let folder: StoreFolder
    let name = "sections \(UUID())/../x"
    let coordinator: NSPersistentStoreCoordinator

    /// `version` makes another version of the model, for which the store is opened nevertheless.
    init(_ type: NSPersistentStore.StoreType = .sqlite, version: String? = nil, folder: StoreFolder? = nil) throws {
      self.folder = try folder ?? StoreFolder("sections")
      let attributes = ["title", "kind"].map { name in
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.type) = (name, .string)
        return attribute
      }
      let entity = NSEntityDescription()
      (entity.name, entity.managedObjectClassName) = ("CachedNote", "CoreDataTests.CachedNote")
      entity.properties = attributes
      entity.versionHashModifier = version
      let model = NSManagedObjectModel()
      model.entities = [entity]
      coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(
        type: type, at: self.folder.url,
        options: version == nil ? nil : [NSIgnorePersistentStoreVersioningOption: true])
    }

    func context() -> NSManagedObjectContext {
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }

    func insert(_ titles: String...) throws {
      let context = context()
      try context.performAndWait {
        for title in titles {
          let note = NSEntityDescription.insertNewObject(forEntityName: "CachedNote", into: context)
          note.setValue(title, forKey: "title")
        }
        try context.save()
      }
      age()
    }

    /// Lets the files be old enough.
    func age() {
      for suffix in ["", "-wal"] {
        try? FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSinceNow: -Double.random(in: 10...1000))],
          ofItemAtPath: folder.url.path + suffix)
      }
    }

    /// The sections of a new controller, and how many names were computed for them.
    func sections(
      _ cacheName: String?, _ context: NSManagedObjectContext? = nil, by key: String = "initial",
      change: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }
    ) throws -> (names: [String], computed: Int) {
      let context = context ?? self.context()
      return try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "CachedNote")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        change(request)
        let controller = NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: key, cacheName: cacheName)
        CachedNote.computed = 0
        try controller.performFetch()
        let computed = CachedNote.computed
        for (index, section) in (controller.sections ?? []).enumerated() {
          for item in 0..<section.numberOfObjects {
            let object = controller.object(at: IndexPath(item: item, section: index))
            #expect(object.value(forKey: key) as? String ?? "" == section.name)
          }
        }
        return (controller.sections?.map(\.name) ?? [], computed)
      }
    }
  }

  @Test func sectionsAreReadFromTheCache() throws {
    let stack = try Stack()
    defer { stack.folder.remove() }
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: stack.name) }
    try stack.insert("apple", "banana", "avocado", "cherry")
    let first = try stack.sections(stack.name)
    #expect(first.names == ["a", "b", "c"] && first.computed == 4)
    let second = try stack.sections(stack.name)
    #expect(second.names == ["a", "b", "c"] && second.computed == 0)
    #expect(try stack.sections(nil).computed == 4 && stack.sections("another \(UUID())").computed == 4)
    // A save.
    try stack.insert("date")
    #expect(try stack.sections(stack.name).names == ["a", "b", "c", "d"])
    #expect(try stack.sections(stack.name).computed == 0)
    // Another request, and the first one again.
    let other = try stack.sections(stack.name) { $0.predicate = NSPredicate(format: "title < 'c'") }
    #expect(other.names == ["a", "b"] && other.computed == 3)
    #expect(try stack.sections(stack.name) { $0.predicate = NSPredicate(format: "title < 'd'") }.computed == 4)
    #expect(try stack.sections(stack.name).computed == 5)
    // Each part of the request counts, and makes a cache of its own.
    let store = try #require(stack.coordinator.persistentStores.first)
    let changes: [(NSFetchRequest<NSManagedObject>) -> Void] = [
      { $0.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)] }, { $0.fetchLimit = 100 },
      { $0.includesSubentities = false }, { $0.affectedStores = [store] },
    ]
    for change in changes {
      #expect(try stack.sections(stack.name, change: change).computed == 5)
      #expect(try stack.sections(stack.name, change: change).computed == 0)
    }
    #expect(try stack.sections(stack.name) { $0.fetchOffset = 1 }.computed == 4)
    #expect(try stack.sections(stack.name).computed == 5)
    // Code in the request is never cached.
    for _ in 0..<2 {
      #expect(try stack.sections(stack.name) { $0.predicate = NSPredicate { _, _ in true } }.computed == 5)
    }
    #expect(try stack.sections(stack.name).computed == 0)
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: stack.name)
    #expect(try stack.sections(stack.name).computed == 5 && stack.sections(stack.name).computed == 0)
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: nil)
    #expect(try stack.sections(stack.name).computed == 5)
  }

  @Test func anotherKeyPathOfSectionsIsNotCached() throws {
    let stack = try Stack()
    defer { stack.folder.remove() }
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: stack.name) }
    try stack.insert("apple", "banana")
    for _ in 0..<2 {
      #expect(try stack.sections(stack.name).names == ["a", "b"])
      #expect(try stack.sections(stack.name, by: "title").names == ["apple", "banana"])
    }
  }

  @Test func theFolderOfCachesIsMade() throws {
    let stack = try Stack()
    defer { stack.folder.remove() }
    let caches = try #require(FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first)
    let folder = caches.appending(path: "OpenCoreData/SectionInfoCaches/\(ProcessInfo.processInfo.processName)")
    if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: stack.name) }
    try stack.insert("apple", "banana")
    #expect(try stack.sections(stack.name).computed == 2)
    #expect(try stack.sections(stack.name).computed == 0)
  }

  /// Files of others in the folder stay when all caches are deleted.
  @Test func onlyCachesAreDeleted() throws {
    let stack = try Stack()
    defer { stack.folder.remove() }
    try stack.insert("apple", "banana")
    #expect(try stack.sections(stack.name).computed == 2)
    let caches = try #require(FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first)
    let folder = caches.appending(path: "OpenCoreData/SectionInfoCaches/\(ProcessInfo.processInfo.processName)")
    let file = folder.appending(path: "notes of another")
    try Data("text".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: nil)
    #expect(FileManager.default.fileExists(atPath: file.path))
    #expect(try stack.sections(stack.name).computed == 2)
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: stack.name)
  }

  @Test func unsavedAndRecentChangesAreNotCached() throws {
    let stack = try Stack()
    defer { stack.folder.remove() }
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: stack.name) }
    try stack.insert("apple", "banana")
    let context = stack.context()
    _ = context.performAndWait { NSEntityDescription.insertNewObject(forEntityName: "CachedNote", into: context) }
    #expect(try stack.sections(stack.name, context).names == ["", "a", "b"])
    #expect(try stack.sections(stack.name).names == ["a", "b"] && stack.sections(stack.name).computed == 0)
    #expect(try stack.sections(stack.name, context).names == ["", "a", "b"])
    // A store that has just changed may change again without a sign.
    try context.performAndWait { try context.save() }
    for _ in 0..<2 { #expect(try stack.sections(stack.name).computed == 3) }
    let child = NSManagedObjectContext(.privateQueue)
    child.parent = context
    stack.age()
    for _ in 0..<2 { #expect(try stack.sections(stack.name, child).computed == 3) }
  }

  @Test func anotherModelAndAnotherStoreAreNotCached() throws {
    let stack = try Stack()
    defer { stack.folder.remove() }
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: stack.name) }
    try stack.insert("apple")
    #expect(try stack.sections(stack.name).computed == 1 && stack.sections(stack.name).computed == 0)
    try stack.coordinator.remove(try #require(stack.coordinator.persistentStores.first))
    stack.age()
    // The file as it was, with another version of the model.
    let newer = try Stack(version: "2", folder: stack.folder)
    #expect(try newer.sections(stack.name).computed == 1)
    let other = try Stack()
    defer { other.folder.remove() }
    try other.insert("banana")
    #expect(try other.sections(stack.name).names == ["b"])
    let memory = try Stack(.inMemory)
    try memory.insert("cherry")
    for _ in 0..<2 { #expect(try memory.sections(stack.name).computed == 1) }
  }

  @Test func aDamagedCacheIsWrittenAgain() throws {
    let stack = try Stack()
    defer { stack.folder.remove() }
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: stack.name) }
    try stack.insert("apple", "banana")
    _ = try stack.sections(stack.name)
    let folder = try #require(FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first)
      .appending(path: "OpenCoreData/SectionInfoCaches/\(ProcessInfo.processInfo.processName)")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".sections") }
    let file = try #require(
      files.map { folder.appending(path: $0) }.first { url in
        (try? Data(contentsOf: url))?.range(of: Data(stack.name.utf8)) != nil
      })
    let whole = try Data(contentsOf: file)
    for damaged in [Data(), Data("nothing".utf8), whole.prefix(whole.count / 2), whole + whole] {
      try damaged.write(to: file)
      let found = try stack.sections(stack.name)
      #expect(found.names == ["a", "b"])
      #expect(try stack.sections(stack.name).computed == 0)
    }
    // What is no file of ours is not removed.
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(try stack.sections(stack.name).names == ["a", "b"])
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: stack.name)
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: nil)
    #expect(FileManager.default.fileExists(atPath: file.path))
  }
}

final class CachedNote: NSManagedObject {
  nonisolated(unsafe) static var computed = 0

  override class var keyValueMethods: KeyValueMethods {
    super.keyValueMethods.accessor("initial", \CachedNote.initial)
  }

  var initial: String {
    Self.computed += 1
    return (value(forKey: "title") as? String).map { String($0.prefix(1)) } ?? ""
  }
}
