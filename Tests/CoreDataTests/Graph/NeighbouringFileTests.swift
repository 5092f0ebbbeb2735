import Foundation
import TestSupport
import LMDBStore
import StoreProtocol
import Testing

@testable import CoreData
@testable import StoreSupport

/// Operations on the files of one store leave the files of others alone.
@Suite struct NeighbouringFileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "neighbours-\(UUID())")
  private static let large = Data(repeating: 7, count: 150_000)
  private static let other = Data(repeating: 8, count: 150_000)

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  /// A stack on the store with that name, with one owner that has a large value.
  private func stack(
    _ name: String, grace: Double = 60
  ) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext, NSManagedObject) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model())
    try coordinator.addPersistentStore(
      type: .sqlite, at: folder.appending(path: name), options: [NSPersistentStore.externalDataGraceOption: grace])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let owner = try context.performAndWait {
      let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
      owner.setValue(Self.large, forKey: "blob")
      try context.save()
      return owner
    }
    return (coordinator, context, owner)
  }

  #if os(Linux)
    /// The system releases a process's locks on a file when the process closes any descriptor of it.
    @Test(arguments: [NSXMLStoreType, NSBinaryStoreType, "LMDB"])
    func whoLooksForAnotherTypeLeavesTheLocksOfADatabase(_ type: String) throws {
      defer { try? FileManager.default.removeItem(at: folder) }
      #if LMDB
        LMDBStore.register()
      #else
        if type == "LMDB" { return }
      #endif
      let (coordinator, context, _) = try stack("store.sqlite")
      let url = folder.appending(path: "store.sqlite")
      let before = try ProcessLocks.on(url)
      #expect(!before.isEmpty)
      #expect(throws: (any Error).self) {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
      }
      #expect(throws: (any Error).self) { try coordinator.destroyPersistentStore(at: url, ofType: type) }
      #expect(throws: (any Error).self) {
        try coordinator.addPersistentStore(
          ofType: type, configurationName: nil, at: URL(filePath: url.path + "/../store.sqlite"))
      }
      #expect(try ProcessLocks.on(url) == before)
      context.performAndWait {}
    }

    /// When the destroyed store is closed, a new store has its name.
    @Test func whoClosesADestroyedStoreLeavesTheLocksOfTheNext() throws {
      defer { try? FileManager.default.removeItem(at: folder) }
      let (former, _, _) = try stack("store.sqlite")
      let url = folder.appending(path: "store.sqlite")
      try NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model()).destroyPersistentStore(
        at: url, type: .sqlite)
      let (next, context, owner) = try stack("store.sqlite")
      let log = URL(filePath: url.path + "-shm")
      let before = try ProcessLocks.on(log)
      #expect(!before.isEmpty)
      for store in former.persistentStores { try former.remove(store) }
      #expect(try ProcessLocks.on(log) == before)
      try context.performAndWait {
        owner.setValue("x", forKey: "name")
        try context.save()
      }
      for store in next.persistentStores { try next.remove(store) }
    }
  #endif

  /// Apple's folder of large values has the store's name without its extension.
  @Test(arguments: [false, true])
  func theValuesOfAStoreWithAnotherExtensionStay(isReplaced: Bool) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (_, _, _) = try stack("store.sqlite")
    let (_, context, owner) = try stack("store.db")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model())
    let url = folder.appending(path: "store.sqlite")
    if isReplaced {
      _ = try stack("other.sqlite")
      try coordinator.replacePersistentStore(
        at: url, withPersistentStoreFrom: folder.appending(path: "other.sqlite"), type: .sqlite)
    } else {
      try coordinator.destroyPersistentStore(at: url, type: .sqlite)
      let values = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
        $0.contains("_EXTERNAL_DATA/")
      }
      #expect(values.count == 1)
    }
    context.performAndWait {
      context.refreshAllObjects()
      #expect(owner.value(forKey: "blob") as? Data == Self.large)
    }
  }

  // MARK: Copies, which have the UUID of their original

  private func copy(_ name: String, to copy: String) throws {
    try NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model()).replacePersistentStore(
      at: folder.appending(path: copy), withPersistentStoreFrom: folder.appending(path: name), type: .sqlite)
  }

  /// The large values of the owners in the store with that name, which is opened read-only.
  private func blobs(_ name: String) throws -> [Data?] {
    try AcknowledgedStack.blobs(
      of: "Owner", at: folder.appending(path: name), .sqlite, options: [NSReadOnlyPersistentStoreOption: true])
  }

  /// The files of large values of all stores in the folder.
  private func files() throws -> [URL] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).map { folder.appending(path: $0) }
      .filter { UUID(uuidString: $0.lastPathComponent) != nil }
  }

  /// Waits until one of the files is removed, or for `seconds`.
  private func awaitRemoval(of files: [URL], _ seconds: Double, _ body: () -> Void = {}) {
    let end = Date(timeIntervalSinceNow: seconds)
    while files.allSatisfy({ FileManager.default.fileExists(atPath: $0.path) }) && Date() < end {
      Thread.sleep(forTimeInterval: 0.01)
      body()
    }
  }

  @Test(arguments: ["store.sqlite", "store.backup"])
  func aDestroyedStoreLeavesTheValuesOfItsCopyOrOriginal(_ name: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (coordinator, _, _) = try stack("store.sqlite")
    try copy("store.sqlite", to: "store.backup")
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    try coordinator.destroyPersistentStore(at: folder.appending(path: name), type: .sqlite)
    #expect(try blobs(name == "store.sqlite" ? "store.backup" : "store.sqlite") == [Self.large])
  }

  /// One store names a value that it has saved after the copy was made. Opening the other store leaves the value's
  /// file, although that is old.
  @Test(arguments: [("store.sqlite", "store.backup"), ("store.backup", "store.sqlite")])
  func anOpeningLeavesTheValuesOfACopyOrOriginal(_ saved: String, _ opened: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (former, _, _) = try stack("store.sqlite")
    try copy("store.sqlite", to: "store.backup")
    for store in former.persistentStores { try former.remove(store) }
    let saver = NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model())
    try saver.addPersistentStore(type: .sqlite, at: folder.appending(path: saved))
    try giveUp(saver, isDeleted: false)
    for store in saver.persistentStores { try saver.remove(store) }
    let values = try files()
    #expect(values.count == 2)
    // A sweep removes drafts before it removes values.
    let draft = try #require(values.first).deletingLastPathComponent().appending(path: ".\(UUID()).\(UUID()).copying")
    try Self.large.write(to: draft)
    for url in values + [draft] {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: url.path)
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model())
    try coordinator.addPersistentStore(type: .sqlite, at: folder.appending(path: opened))
    awaitRemoval(of: [draft], 20)
    #expect(!FileManager.default.fileExists(atPath: draft.path))
    awaitRemoval(of: values, 1)
    #expect(try blobs(saved) == [Self.other])
    #expect(try blobs(opened) == [Self.large])
    withExtendedLifetime(coordinator) {}
  }

  /// An open store of another type, or a file of the program itself, does not affect a store's values.
  @Test(arguments: [NSXMLStoreType, NSBinaryStoreType, "a text"])
  func aFileOfAnotherKindThatIsOpenKeepsNoValues(_ kind: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (coordinator, _, _) = try stack("store.sqlite")
    let other = folder.appending(path: "store.other")
    let others = NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model())
    var file: FileHandle?
    if kind == "a text" {
      try Data("a text".utf8).write(to: other)
      file = try FileHandle(forReadingFrom: other)
    } else {
      let store = try #require(coordinator.persistentStores.first)
      try coordinator.migratePersistentStore(store, to: other, options: nil, withType: kind)
    }
    #expect(try files().contains { $0.path.contains("_SUPPORT") })
    try others.destroyPersistentStore(at: folder.appending(path: "store.sqlite"), type: .sqlite)
    #expect(try files().filter { $0.path.contains("_SUPPORT") } == [])
    withExtendedLifetime((coordinator, file)) {}
  }

  @Test(arguments: [false, true])
  func aValueThatAnOriginalGivesUpStaysInItsCopy(isDeleted: Bool) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (coordinator, _, _) = try stack("store.sqlite", grace: 0)
    try copy("store.sqlite", to: "store.backup")
    let value = try #require(try files().first)
    try giveUp(coordinator, isDeleted: isDeleted)
    awaitRemoval(of: [value], 1) { ObsoleteValues.shared.look(now: .distantFuture) }
    let left: [Data?] = isDeleted ? [] : [Self.other]
    #expect(try blobs("store.sqlite") == left)
    #expect(try blobs("store.backup") == [Self.large])
  }

  /// A neighbour that is not a copy does not keep a store's values.
  @Test func aValueGoesBesideAStoreWithAUUIDOfItsOwn() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (coordinator, _, _) = try stack("store.sqlite", grace: 0)
    let value = try #require(try files().first)
    let (neighbour, _, _) = try stack("store.db")
    try giveUp(coordinator, isDeleted: false)
    awaitRemoval(of: [value], 20) { ObsoleteValues.shared.look(now: .distantFuture) }
    #expect(!FileManager.default.fileExists(atPath: value.path))
    #expect(try blobs("store.sqlite") == [Self.other])
    #expect(try blobs("store.db") == [Self.large])
    withExtendedLifetime(neighbour) {}
  }

  /// Replaces the value of the one owner, or deletes the owner, in a temporary context.
  private func giveUp(_ coordinator: NSPersistentStoreCoordinator, isDeleted: Bool) throws {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let owner = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner")).first)
      if isDeleted { context.delete(owner) } else { owner.setValue(Self.other, forKey: "blob") }
      try context.save()
    }
  }

  // MARK: While a store is replaced

  private func values() throws -> (former: ExternalDataFolder, other: ExternalDataFolder) {
    (
      ExternalDataFolder(beside: folder.appending(path: "former").path),
      ExternalDataFolder(beside: folder.appending(path: "other").path)
    )
  }

  private func name(_ slot: Data?) -> String {
    String(decoding: (slot ?? Data()).dropFirst().dropLast(), as: UTF8.self)
  }

  /// A process that has the new store open already may be saving to it.
  @Test func aValueThatIsSavedWhileAStoreIsReplacedStays() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (former, other) = try values()
    let identifier = UUID().uuidString
    let (old, early) = (
      try former.write(Self.large, ofStore: identifier), try former.write(Self.large, ofStore: identifier)
    )
    var late: Data?
    try former.replace(with: other, isNew: false) { () throws(StoreError) in
      late = try former.write(Self.large, ofStore: identifier)
      // The same as `prepare` does in a commit.
      for slot in [early, late] { _ = slot.flatMap(ExternalDataFolder.file).map(former.touch) }
    }
    #expect(Set(former.names) == [name(early), name(late)])
    #expect(!former.names.contains(name(old)))
  }

  /// The source may lose a value while its rows, as of the beginning, are copied.
  @Test func aValueThatTheSourceLosesMeanwhileIsCopied() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (former, other) = try values()
    let value = try other.write(Self.large, ofStore: UUID().uuidString)
    for _ in 0..<2 {
      try former.replace(with: other, isNew: false) { () throws(StoreError) in
        if let value { other.remove([value]) }
      }
      #expect(former.names == [name(value)])
      // As if it had been copied before.
      try FileManager.default.createDirectory(at: other.folder, withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        at: former.folder.appending(path: name(value)), to: other.folder.appending(path: name(value)))
    }
  }

  /// The folder may be removed by a failed copy while a value is written to it.
  @Test func aValueIsWrittenWhileCopiesComeToNothing() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (former, other) = try values()
    _ = try other.write(Self.large, ofStore: UUID().uuidString)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      for _ in 0..<300 {
        try? former.replace(with: other, isNew: false) { () throws(StoreError) in throw StoreError(.busy, "no") }
      }
      done.signal()
    }
    for _ in 0..<300 {
      let slot = try #require(try former.write(Self.large, ofStore: UUID().uuidString))
      #expect(try former.read(slot) == Self.large)
      former.remove([slot])
    }
    done.wait()
  }
}
