import Foundation
import StoreProtocol
import StoreSchema
import Synchronization
import Testing

@testable import CoreData

/// The state that a coordinator keeps for its stores: metadata, read errors, and indices.
@Suite struct StoreUpkeepTests {
  @Test(arguments: StoreMigrationTests.persistentTypes)
  func metadataKeepsIntegersAndTruthValues(_ type: NSPersistentStore.StoreType) throws {
    let stack = try AcknowledgedStack(type)
    let values: [String: Any] = [
      "max": Int64.max, "min": Int64.min, "unsigned": UInt64.max, "true": true, "small": Int8(5),
      "number": NSNumber(value: Int64.max),
      "numberOfTruth": NSNumber(value: true), "unsignedNumber": NSNumber(value: UInt64.max),
      "half": NSNumber(value: 0.5),
      "seven": NSNumber(value: Int32(7)),
    ]
    let store = try #require(stack.coordinator.persistentStores.first)
    var metadata = stack.coordinator.metadata(for: store)
    metadata.merge(values) { $1 }
    stack.coordinator.setMetadata(metadata, for: store)
    let context = stack.context()
    try context.performAndWait { try context.save() }
    let url = try #require(store.url)
    try stack.coordinator.remove(store)
    let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type.rawValue, at: url)
    #expect((found["max"] as? Int).map(Int64.init) == Int64.max)
    #expect((found["min"] as? Int).map(Int64.init) == Int64.min)
    #expect(found["unsigned"] as? UInt64 == UInt64.max)
    #expect(found["true"] as? Bool == true)
    #expect(found["small"] as? Int == 5)
    #expect((found["number"] as? Int).map(Int64.init) == Int64.max)
    #expect(found["numberOfTruth"] as? Bool == true)
    #expect(found["unsignedNumber"] as? UInt64 == UInt64.max)
    #expect(found["half"] as? Double == 0.5)
    #expect(found["seven"] as? Int == 7)
  }

  /// Setting metadata replaces all former entries except the store's own.
  @Test(arguments: StoreMigrationTests.persistentTypes)
  func metadataThatIsSetReplacesWhatWasThere(_ type: NSPersistentStore.StoreType) throws {
    let stack = try AcknowledgedStack(type)
    let store = try #require(stack.coordinator.persistentStores.first)
    let context = stack.context()
    try context.performAndWait {
      for metadata in [["a": 1, "b": 2], ["a": 3]] {
        stack.coordinator.setMetadata(metadata, for: store)
        try context.save()
      }
    }
    let (url, uuid) = (try #require(store.url), store.identifier)
    try stack.coordinator.remove(store)
    let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type.rawValue, at: url)
    #expect(found["a"] as? Int == 3 && found["b"] == nil)
    #expect(found[NSStoreUUIDKey] as? String == uuid)
  }

  @Test func metadataThatIsSetWhileASaveRunsIsKept() throws {
    let stack = try AcknowledgedStack(.sqlite)
    let (context, coordinator) = (stack.context(), stack.coordinator)
    let store = try #require(coordinator.persistentStores.first)
    let url = try #require(store.url)
    let (backend, schema) = try (NSPersistentStoreCoordinator.backend(store.type), store.requireEngine().schema)
    // At this time the file contains the first metadata, and the save has not returned.
    let hook = { @Sendable in coordinator.setMetadata(["n": 2], for: store) }
    try store.reconnect(at: url) { (url) throws(StoreError) in
      HookedStore(try backend.open(at: url, schema: schema, options: StoreOptions()), didCommit: hook)
    }
    try context.performAndWait {
      coordinator.setMetadata(["n": 1], for: store)
      _ = stack.insert("Member", in: context)
      try context.save()
      try context.save()
    }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
    #expect(metadata["n"] as? Int == 2)
  }

  /// A save is planned, a newer one writes newer metadata, then the first one commits. The test arranges this by a
  /// value that is encoded; a store in memory encodes none.
  @Test(arguments: StoreMigrationTests.persistentTypes, [true, false])
  func metadataOfANewerSaveIsNotOverwritten(_ type: NSPersistentStore.StoreType, _ hasObjects: Bool) throws {
    let stack = try AcknowledgedStack(type)
    let (older, newer, coordinator) = (stack.context(), stack.context(), stack.coordinator)
    let store = try #require(coordinator.persistentStores.first)
    coordinator.setMetadata(["n": 1], for: store)
    try older.performAndWait {
      // Encoded after the save has begun its change set, and before it commits.
      let value = HookedValue {
        coordinator.setMetadata(["n": 2], for: store)
        newer.performAndWait {
          if hasObjects { _ = stack.insert("Member", in: newer) }
          #expect(throws: Never.self) { try newer.save() }
        }
      }
      stack.insert("Member", in: older).setValue(value, forKey: "list")
      try older.save()
    }
    #expect(coordinator.metadata(for: store)["n"] as? Int == 2)
    let url = try #require(store.url)
    try coordinator.remove(store)
    let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type.rawValue, at: url)
    #expect(found["n"] as? Int == 2)
  }

  /// A failed save leaves the metadata to the next one.
  @Test(arguments: StoreMigrationTests.persistentTypes)
  func metadataOfAFailedSaveIsSavedWithTheNext(_ type: NSPersistentStore.StoreType) throws {
    let stack = try AcknowledgedStack(type)
    let (mine, theirs, coordinator) = (stack.context(), stack.context(), stack.coordinator)
    let store = try #require(coordinator.persistentStores.first)
    try mine.performAndWait {
      let member = stack.insert("Member", in: mine)
      try mine.save()
      let id = member.objectID
      try theirs.performAndWait {
        try theirs.existingObject(with: id).setValue("theirs", forKey: "name")
        try theirs.save()
      }
      coordinator.setMetadata(["n": 1], for: store)
      member.setValue("mine", forKey: "name")
      let error = #expect(throws: CocoaError.self) { try mine.save() }
      #expect(error?.code == .managedObjectMerge)
      mine.rollback()
      try mine.save()
    }
    let url = try #require(store.url)
    try coordinator.remove(store)
    let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type.rawValue, at: url)
    #expect(found["n"] as? Int == 1)
  }

  /// Feature 20.3: where Apple's framework stops the program by an exception, every save throws an error until the
  /// changes are rolled back (decision 004).
  @Test func anUnreadableValueIsNoErrorOfOtherObjects() throws {
    let stack = try AcknowledgedStack(.sqlite)
    let context = stack.context()
    try context.performAndWait {
      let (broken, sound) = (stack.insert("Member", in: context), stack.insert("Member", in: context))
      broken.setValue(Data(repeating: 7, count: 300_000), forKey: "blob")
      try context.save()
      let id = sound.objectID
      context.reset()
      let support = stack.folder.appending(path: ".store_SUPPORT")
      try FileManager.default.removeItem(at: support)
      #expect(context.object(with: broken.objectID).value(forKey: "blob") == nil)
      let soundID = try context.existingObject(with: id).objectID
      #expect(soundID == id)
      // No save may depend on unread values, until the changes are rolled back.
      _ = stack.insert("Member", in: context)
      for _ in 0..<2 {
        let error = #expect(throws: CocoaError.self) { try context.save() }
        let advice = error?.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String
        #expect(advice?.contains("rollback()") == true && context.hasChanges)
      }
      context.rollback()
      _ = stack.insert("Member", in: context)
      try context.save()
    }
  }

  /// A store that enlarges its file, or repairs it after a failed commit, waits until no thread reads it. A context
  /// drops its own view before it allocates keys or saves.
  @Test(arguments: StoreMigrationTests.persistentTypes)
  func nobodyWaitsForAViewOfItsOwn(_ type: NSPersistentStore.StoreType) throws {
    let stack = try AcknowledgedStack(type)
    let store = try #require(stack.coordinator.persistentStores.first)
    let (backend, schema) = try (NSPersistentStoreCoordinator.backend(store.type), store.requireEngine().schema)
    let counts = Mutex<[Int]>([])
    let hook = { @Sendable (count: Int) in counts.withLock { $0.append(count) } }
    try store.reconnect(at: try #require(store.url)) { (url) throws(StoreError) in
      HookedStore(try backend.open(at: url, schema: schema, options: StoreOptions()), willWrite: hook)
    }
    let context = stack.context()
    try context.performAndWait {
      let known = stack.insert("Member", in: context)
      try context.save()
      func read() {
        context.refresh(known, mergeChanges: false)
        _ = known.value(forKey: "name")
      }
      read()
      try context.obtainPermanentIDs(for: [stack.insert("Member", in: context)])
      read()
      try context.save()
    }
    #expect(counts.withLock { $0 } == [0, 0, 0])
  }

  @Test func indicesOfRemovedStoresAreUsedAgain() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model())
    HookedTransformer.register()
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    func round() throws {
      let store = try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
      try coordinator.remove(store)
    }
    // More rounds than there are indices.
    for _ in 0..<66_000 { try round() }
    // Objects of a removed store never belong to another one.
    let first = try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Member", into: context)
      object.setValue("first", forKey: "name")
      try context.save()
      try coordinator.remove(first)
      let second = try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
      let other = NSEntityDescription.insertNewObject(forEntityName: "Member", into: context)
      other.setValue("second", forKey: "name")
      try context.save()
      #expect(other.objectID.persistentStore === second)
      #expect(object.objectID != other.objectID)
      let names = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Member")).map {
        $0.value(forKey: "name") as? String
      }
      #expect(names == ["second"])
      withExtendedLifetime(object) {}
    }
  }
}

/// A store that runs code before it writes, with the number of its views that are held, and at the end of each commit,
/// before the commit returns.
private final class HookedStore: Store {
  private struct View: Sendable {
    weak let snapshot: (any StoreSnapshot)?
  }

  private let base: any Store
  private let willWrite: @Sendable (Int) -> Void
  private let didCommit: @Sendable () -> Void
  private let views = Mutex<[View]>([])
  let schema: Schema

  init(
    _ base: any Store, willWrite: @escaping @Sendable (Int) -> Void = { _ in },
    didCommit: @escaping @Sendable () -> Void = {}
  ) {
    self.base = base
    self.willWrite = willWrite
    self.didCommit = didCommit
    schema = base.schema
  }

  private func noteWriting() { willWrite(views.withLock { $0.count { $0.snapshot != nil } }) }

  var identifier: String { base.identifier }
  var capabilities: Capabilities { base.capabilities }
  var isReadOnly: Bool { base.isReadOnly }
  var metadata: StoreMetadata { base.metadata }
  func snapshot() throws(StoreError) -> any StoreSnapshot {
    let snapshot = try base.snapshot()
    views.withLock { $0.append(View(snapshot: snapshot)) }
    return snapshot
  }
  func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
    noteWriting()
    defer { didCommit() }
    return try base.commit(changes)
  }
  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> {
    noteWriting()
    return try base.allocateKeys(root: root, count: count)
  }
  func externalData(_ name: Data) throws(StoreError) -> Data { try base.externalData(name) }
  func close() throws(StoreError) { try base.close() }
}
