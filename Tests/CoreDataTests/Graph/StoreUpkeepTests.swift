import CoreData
import Foundation
import Testing

/// What a coordinator keeps of its stores: their metadata, what could not be read, and their indices.
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

  @Test func metadataThatIsSetWhileASaveRunsIsKept() throws {
    let stack = try AcknowledgedStack(.sqlite)
    let (context, coordinator) = (stack.context(), stack.coordinator)
    let store = try #require(coordinator.persistentStores.first)
    try context.performAndWait {
      coordinator.setMetadata(["n": 1], for: store)
      // The change set has the metadata by now.
      stack.insert("Member", in: context).setValue(
        HookedValue { coordinator.setMetadata(["n": 2], for: store) }, forKey: "list")
      try context.save()
      try context.save()
    }
    let url = try #require(store.url)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
    #expect(metadata["n"] as? Int == 2)
  }

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
      // The save builds on nothing that was not read.
      #expect(throws: CocoaError.self) { try context.save() }
    }
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
    // More than there are indices.
    for _ in 0..<66_000 { try round() }
    // Objects of a removed store are never those of another one.
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
