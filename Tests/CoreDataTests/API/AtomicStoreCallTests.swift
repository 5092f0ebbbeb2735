import CoreData
import Foundation
import Synchronization
import Testing

/// A client's store that runs code in the middle of a save and notes calls that come meanwhile.
private final class SlowStore: NSAtomicStore, @unchecked Sendable {
  static let name = "SlowStore"
  override var type: String { Self.name }
  /// Called by each save.
  let whenSaving = Mutex<(@Sendable () -> Void)?>(nil)
  /// The number of running saves, and of calls during a save.
  let saves = Atomic(0)
  let overlaps = Atomic(0)

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    [NSStoreTypeKey: name, NSStoreUUIDKey: UUID().uuidString]
  }

  override func load() throws {}

  override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    if saves.load(ordering: .acquiring) > 0 { overlaps.add(1, ordering: .releasing) }
    return UUID().uuidString
  }

  override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    NSAtomicStoreCacheNode(objectID: managedObject.objectID)
  }

  override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {}

  override func save() throws {
    saves.add(1, ordering: .releasing)
    whenSaving.withLock { $0 }?()
    saves.subtract(1, ordering: .releasing)
  }
}

@Suite struct AtomicStoreCallTests {
  /// One thread at a time calls a client's store, even if one context requests permanent IDs while another saves.
  @Test func callsComeOneAtATime() throws {
    NSPersistentStoreCoordinator.registerStoreClass(SlowStore.self, forStoreType: SlowStore.name)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let store = try #require(
      try coordinator.addPersistentStore(
        ofType: SlowStore.name, configurationName: nil, at: URL(filePath: "/nonexistent/\(UUID())")) as? SlowStore)
    func context() -> NSManagedObjectContext {
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let (saving, naming) = (context(), context())
    let (begins, ends) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    store.whenSaving.withLock {
      $0 = {
        begins.signal()
        // Long enough for a call that does not wait.
        #expect(ends.wait(timeout: .now() + 0.5) == .timedOut, "the store was called during its save")
      }
    }
    Thread {
      begins.wait()
      naming.performAndWait {
        let person = Person(context: naming)
        #expect(throws: Never.self) { try naming.obtainPermanentIDs(for: [person]) }
        #expect(!person.objectID.isTemporaryID)
      }
      ends.signal()
    }.start()
    try saving.performAndWait {
      Person(context: saving).name = "Ada"
      try saving.save()
    }
    #expect(ends.wait(timeout: .now() + 60) == .success)
    #expect(store.overlaps.load(ordering: .acquiring) == 0)
  }
}
