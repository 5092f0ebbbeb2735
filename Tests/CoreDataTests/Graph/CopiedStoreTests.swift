import CoreData
import Foundation
import StoreProtocol
import Synchronization
import Testing

/// Copies of open stores, and copies that replace stores, have the files of the large values that their rows name.
@Suite struct CopiedStoreTests {
  private static func large(_ byte: UInt8) -> Data { Data(repeating: byte, count: 120_000) }

  private static func coordinator() -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model())
  }

  /// The large values of all members of the store at a URL; nil for a value that cannot be read.
  private static func blobs(_ url: URL, _ type: NSPersistentStore.StoreType) throws -> [Data?] {
    try AcknowledgedStack.blobs(of: "Member", at: url, type)
  }

  @Test(arguments: StoreMigrationTests.persistentTypes)
  func copiesThatAreMadeWhileLargeValuesAreSavedHaveThem(_ type: NSPersistentStore.StoreType) throws {
    let stack = try AcknowledgedStack(type)
    let (context, url) = (stack.context(), stack.folder.appending(path: "store"))
    let isOver = Atomic(false)
    let failures = Mutex<[String]>([])
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      context.performAndWait {
        while !isOver.load(ordering: .acquiring) {
          NSEntityDescription.insertNewObject(forEntityName: "Member", into: context)
            .setValue(Self.large(1), forKey: "blob")
          do { try context.save() } catch { failures.withLock { $0.append("\(error)") } }
        }
      }
      done.signal()
    }
    let copies = (0..<20).map { stack.folder.appending(path: "copy\($0)") }
    defer {
      isOver.store(true, ordering: .releasing)
      done.wait()
    }
    for copy in copies {
      try Self.coordinator().replacePersistentStore(at: copy, withPersistentStoreFrom: url, type: type)
    }
    for copy in copies { #expect(try Self.blobs(copy, type).allSatisfy { $0 == Self.large(1) }, "\(copy)") }
    #expect(failures.withLock { $0 } == [])
  }

  /// The file of a value waits for its removal, and belongs to the restored store again.
  @Test(arguments: StoreMigrationTests.persistentTypes)
  func aRestoredCopyKeepsTheValuesThatWereReplacedSince(_ type: NSPersistentStore.StoreType) throws {
    let stack = try AcknowledgedStack(type, options: [NSPersistentStore.externalDataGraceOption: 0.3])
    let (context, url) = (stack.context(), stack.folder.appending(path: "store"))
    let backup = stack.folder.appending(path: "backup")
    try context.performAndWait {
      let member = stack.insert("Member", in: context)
      member.setValue(Self.large(1), forKey: "blob")
      try context.save()
      try Self.coordinator().replacePersistentStore(at: backup, withPersistentStoreFrom: url, type: type)
      member.setValue(Self.large(2), forKey: "blob")
      try context.save()
      context.reset()
    }
    func restore() throws {
      try Self.coordinator().replacePersistentStore(at: url, withPersistentStoreFrom: backup, type: type)
    }
    do { try restore() } catch let error as CocoaError {
      // Some types require the store to be closed first.
      #expect((error.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == .busy)
      try stack.coordinator.remove(stack.coordinator.persistentStores[0])
      try restore()
    }
    #expect(try Self.blobs(url, type) == [Self.large(1)])
    Thread.sleep(forTimeInterval: 0.8)
    #expect(try Self.blobs(url, type) == [Self.large(1)], "after the grace time")
  }
}
