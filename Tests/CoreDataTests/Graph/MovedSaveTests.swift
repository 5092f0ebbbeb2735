import Foundation
import StoreProtocol
import Testing

@testable import CoreData

/// A store moves, is removed or is added during an operation of a context.
@Suite struct MovedSaveTests {
  typealias StoreType = NSPersistentStore.StoreType
  static let types = StoreMigrationTests.persistentTypes
  private static let large = Data(repeating: 7, count: 300_000)

  /// A store with one owner, which a context has read.
  private struct World {
    let stack: AcknowledgedStack
    let context: NSManagedObjectContext
    let owner: NSManagedObject
    var id: NSManagedObjectID { context.performAndWait { owner.objectID } }

    /// The owner's row has one version for each name.
    init(_ type: StoreType, names: [String] = ["first"]) throws {
      let stack = try AcknowledgedStack(type)
      let context = stack.context()
      owner = try context.performAndWait {
        let owner = stack.insert("Owner", in: context)
        owner.setValue(MovedSaveTests.large, forKey: "blob")
        for name in names {
          owner.setValue(name, forKey: "name")
          try context.save()
        }
        return owner
      }
      (self.stack, self.context) = (stack, context)
    }

    var store: NSPersistentStore { get throws { try #require(stack.coordinator.persistentStores.first) } }

    func move() throws {
      let (store, url) = (try store, stack.folder.appending(path: "moved"))
      _ = try stack.coordinator.migratePersistentStore(store, to: url, options: nil, withType: store.type)
    }

    /// Another context changes the owner, and saves.
    func elsewhere(_ body: (NSManagedObject) -> Void) throws {
      let (other, id) = (stack.context(), id)
      try other.performAndWait {
        body(try other.existingObject(with: id))
        try other.save()
      }
    }

    /// Sets the owner's name and saves. `body` runs in the middle of the save.
    func save(_ name: String, during body: @escaping () throws -> Void) throws {
      nonisolated(unsafe) let body = body
      try context.performAndWait {
        owner.setValue(name, forKey: "name")
        var isFirst = true
        nonisolated(unsafe) let run = {
          if isFirst { #expect(throws: Never.self) { try body() } }
          isFirst = false
        }
        let watch = NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextWillSave, object: context, queue: nil
        ) { _ in run() }
        defer { NotificationCenter.default.removeObserver(watch) }
        try context.save()
      }
    }

    /// Makes the next save check the owner, and write another object.
    func checkOwner() {
      context.performAndWait {
        context.detectConflicts(for: owner)
        stack.insert("Member", in: context).setValue("m", forKey: "name")
      }
    }

    /// Saves, and expects a conflict; `problem` describes the fault if there is none.
    func expectConflict(_ problem: Comment, _ location: SourceLocation = #_sourceLocation) {
      context.performAndWait {
        do {
          try context.save()
          Issue.record(problem, sourceLocation: location)
        } catch { #expect((error as NSError).code == NSManagedObjectMergeError, sourceLocation: location) }
      }
    }

    /// The stored values, read by a new coordinator.
    func stored() throws -> (name: String?, blob: Data?) {
      let (store, coordinator) = (
        try store, NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model())
      )
      let (url, type) = (try #require(store.url), store.type)
      try stack.coordinator.remove(store)
      try coordinator.addPersistentStore(type: StoreType(rawValue: type), at: url)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return try context.performAndWait {
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner")).first
        return (found?.value(forKey: "name") as? String, found?.value(forKey: "blob") as? Data)
      }
    }
  }

  /// The row that the save writes names files at the URL that the store has by then.
  @Test(arguments: types, [["first"], ["first", "second"]])
  func aSaveDuringWhichTheStoreMovesLosesNothing(type: StoreType, names: [String]) throws {
    let world = try World(type, names: names)
    try world.save("mine") { try world.move() }
    let stored = try world.stored()
    #expect(stored.name == "mine" && stored.blob == Self.large)
  }

  /// A large value is kept outside of the file before the save writes. If the store has moved meanwhile, and the file
  /// of the value is gone, the value goes to the new file.
  @Test(arguments: types, [false, true])
  func aLargeValueOfASaveDuringWhichTheStoreMovesIsKept(type: StoreType, isRemoved: Bool) throws {
    let world = try World(type)
    let larger = Data(repeating: 9, count: 400_000)
    world.context.performAndWait { world.owner.setValue(larger, forKey: "blob") }
    let former = try #require(try world.store.url)
    try world.save("mine") {
      try world.move()
      if isRemoved { try FileManager.default.removeItem(at: former) }
    }
    world.context.performAndWait { #expect(!world.context.hasChanges) }
    let stored = try world.stored()
    #expect(stored.name == "mine" && stored.blob == larger)
  }

  /// A version at the former URL has no meaning at the new one.
  @Test(arguments: types)
  func whatOthersSaveToTheNewURLIsAConflict(_ type: StoreType) throws {
    let world = try World(type, names: ["first", "second"])
    do {
      try world.save("mine") {
        try world.move()
        try world.elsewhere { $0.setValue("theirs", forKey: "name") }
      }
      Issue.record("what the other context saved is overwritten")
    } catch { #expect((error as NSError).code == NSManagedObjectMergeError) }
    #expect(try world.stored().name == "theirs")
  }

  @Test(arguments: types)
  func aChangeOfAnObjectThatIsGoneAfterAMoveIsAConflict(_ type: StoreType) throws {
    let world = try World(type)
    world.context.performAndWait { world.owner.setValue("mine", forKey: "name") }
    try world.elsewhere { $0.managedObjectContext?.delete($0) }
    try world.move()
    world.expectConflict("the change was dropped")
  }

  /// An object that the save only checks has changed at the store's new URL.
  @Test(arguments: types)
  func aCheckedObjectThatIsAnotherAfterAMoveIsAConflict(_ type: StoreType) throws {
    let world = try World(type)
    world.checkOwner()
    try world.elsewhere { $0.setValue("theirs", forKey: "name") }
    try world.move()
    world.expectConflict("the check was dropped")
  }

  /// The same for a deleted object that the save only checks.
  @Test(arguments: types)
  func aCheckedObjectThatIsGoneAfterAMoveIsAConflict(_ type: StoreType) throws {
    let world = try World(type)
    world.checkOwner()
    try world.elsewhere { $0.managedObjectContext?.delete($0) }
    try world.move()
    world.expectConflict("the check was dropped")
  }

  /// No change is saved that depends on values that could not be read.
  @Test func aReadThatFailsDuringASaveFailsIt() throws {
    let world = try World(.sqlite)
    world.context.performAndWait { world.context.refreshAllObjects() }
    let files = try FileManager.default.subpathsOfDirectory(atPath: world.stack.folder.path).filter {
      $0.contains("_EXTERNAL_DATA/")
    }
    #expect(files.count == 1)
    for file in files { try FileManager.default.removeItem(at: world.stack.folder.appending(path: file)) }
    do {
      try world.save("mine") { #expect(world.owner.value(forKey: "blob") == nil) }
      Issue.record("the save built on a value that could not be read")
    } catch { #expect("\(error)".contains("missingExternalData")) }
    try world.context.performAndWait {
      #expect(throws: CocoaError.self) { try world.context.save() }
      world.context.rollback()
      try world.context.save()
    }
  }

  @Test(arguments: types)
  func metadataThatIsSetOnAStoreThatHasMovedIsSaved(_ type: StoreType) throws {
    let world = try World(type)
    let former = try world.store
    world.stack.coordinator.setMetadata(["before": 1], for: former)
    try world.move()
    former.metadata["after"] = 2
    try world.context.performAndWait { try world.context.save() }
    let now = try world.store
    let url = try #require(now.url)
    try world.stack.coordinator.remove(now)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type.rawValue, at: url)
    #expect(metadata["before"] as? Int == 1 && metadata["after"] as? Int == 2)
  }

  /// If a store cannot be opened at its new URL, it is opened again at the former one, and counts versions anew.
  @Test(arguments: [StoreType.xml, .binary])
  func aURLThatIsOpenedAgainCountsVersionsAnew(_ type: StoreType) throws {
    let world = try World(type, names: ["first", "second"])
    let store = try world.store
    world.context.performAndWait { world.owner.setValue("mine", forKey: "name") }
    let copy = world.stack.folder.appending(path: "copy")
    try FileManager.default.copyItem(at: try #require(store.url), to: copy)
    let (backend, schema) = try (NSPersistentStoreCoordinator.backend(store.type), store.requireEngine().schema)
    #expect(throws: StoreError.self) {
      try store.reconnect(at: copy) { (url) throws(StoreError) in
        if url == copy { throw StoreError(.io, "made to fail") }
        return try backend.open(at: url, schema: schema, options: StoreOptions())
      }
    }
    try world.elsewhere { $0.setValue("theirs", forKey: "name") }
    world.expectConflict("what the other context saved is overwritten")
  }

  // MARK: Another store with the index of a removed one

  /// Two stores, one after the other in one coordinator, each with an object of the same key.
  private struct Successors {
    let stack: AcknowledgedStack
    let context: NSManagedObjectContext
    let former: NSPersistentStore
    let urls: [URL]

    init() throws {
      let stack = try AcknowledgedStack(.sqlite)
      let urls = ["former", "next"].map { stack.folder.appending(path: $0) }
      try stack.coordinator.remove(try #require(stack.coordinator.persistentStores.first))
      for url in urls {
        let store = try stack.coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = stack.context()
        try context.performAndWait {
          stack.insert("Owner", in: context).setValue(url.lastPathComponent, forKey: "name")
          try context.save()
          context.reset()
        }
        try stack.coordinator.remove(store)
      }
      (self.stack, self.urls, context) = (stack, urls, stack.context())
      former = try stack.coordinator.addPersistentStore(type: .sqlite, at: urls[0])
    }

    func replace() throws {
      try stack.coordinator.remove(former)
      let next = try stack.coordinator.addPersistentStore(type: .sqlite, at: urls[1])
      #expect(next.index == former.index)
    }

    func ids(_ context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Owner")
      request.resultType = .managedObjectIDResultType
      return try context.fetch(request)
    }
  }

  @Test func anIDOfARemovedStoreLeadsToNoObjectOfTheNext() throws {
    let stores = try Successors()
    let id = try stores.context.performAndWait {
      let id = try #require(try stores.ids(stores.context).first)
      #expect(try stores.context.existingObject(with: id).value(forKey: "name") as? String == "former")
      stores.context.reset()
      return id
    }
    try stores.replace()
    _ = stores.context.performAndWait {
      #expect(throws: (any Error).self) { _ = try stores.context.existingObject(with: id) }
    }
  }

  /// In the middle of a block a store becomes read-only. The next insertions go to the other store, also if another
  /// thread has moved the store and the context has not noticed that yet.
  @Test(arguments: types, [false, true])
  func whatIsInsertedAfterAMoveGoesWhereItCanBeWritten(type: StoreType, isElsewhere: Bool) throws {
    let world = try World(type)
    let (stack, context) = (world.stack, world.context)
    let first = try world.store
    let second = try stack.coordinator.addPersistentStore(type: type, at: stack.folder.appending(path: "second"))
    try context.performAndWait {
      #expect(stack.insert("Owner", in: context).objectID.persistentStore === first)
      try context.save()
      nonisolated(unsafe) let move = {
        _ = try stack.coordinator.migratePersistentStore(
          first, to: stack.folder.appending(path: "moved"), options: [NSReadOnlyPersistentStoreOption: true],
          withType: type.rawValue)
      }
      if isElsewhere {
        let hasMoved = DispatchSemaphore(value: 0)
        Thread {
          #expect(throws: Never.self) { try move() }
          hasMoved.signal()
        }.start()
        #expect(hasMoved.wait(timeout: .now() + 60) == .success)
      } else {
        try move()
      }
      #expect(stack.insert("Owner", in: context).objectID.persistentStore === second)
      try context.save()
    }
  }
}
