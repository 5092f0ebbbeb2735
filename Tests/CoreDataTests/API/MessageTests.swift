import CoreData
import Foundation
import TestSupport
import Testing

/// The typed notifications. Each message is in Apple's documentation under its name, such as
/// nsmanagedobjectcontext/didsavemessage.
@Suite struct MessageTests {
  private func notes() throws -> NSManagedObjectContext {
    try Describing.context(Describing.model([Describing.entity("Note", [Describing.attribute("text")])]))
  }

  private func insert(_ entity: String, _ context: NSManagedObjectContext) -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
  }

  /// nsmanagedobjectcontext/objectsdidchangemessage and similar pages.
  @MainActor @Test func aMainQueueContextPostsMessages() throws {
    let model = Describing.model([Describing.entity("Note", [Describing.attribute("text")])])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let center = NotificationCenter.default
    var stores: [NSPersistentStoreCoordinator.StoresDidChangeMessage] = []
    var tokens = [center.addObserver(of: coordinator, for: .storesDidChange) { stores.append($0) }]
    let store = try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
    #expect(stores.map(\.addedStores) == [[store]] && stores.first?.persistentStoreCoordinator === coordinator)
    let context = NSManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = coordinator
    var seen: [String] = []
    var changed: NSManagedObjectContext.ObjectsDidChangeMessage?
    var saved: NSManagedObjectContext.DidSaveMessage?
    var ids: NSManagedObjectContext.DidSaveObjectIDsMessage?
    tokens += [
      center.addObserver(of: context, for: .objectsDidChange) {
        changed = $0
        seen.append("change")
      },
      center.addObserver(of: context, for: .willSave) { message in
        #expect(message.context === context)
        seen.append("will")
      },
      center.addObserver(of: context, for: .didSave) {
        saved = $0
        seen.append("did")
      },
      center.addObserver(of: context, for: .didSaveObjectIDs) {
        ids = $0
        seen.append("ids")
      },
    ]
    defer { for token in tokens { center.removeObserver(token) } }
    let note = insert("Note", context)
    try context.save()
    #expect(seen == ["change", "will", "did", "ids"])
    #expect(changed?.inserted == [note] && changed?.deleted.isEmpty == true && changed?.invalidatedAll == nil)
    #expect(saved?.inserted == [note] && saved?.historyToken == nil && saved?.queryGeneration == nil)
    #expect(ids?.insertedIDs == [note.objectID] && ids?.updatedIDs.isEmpty == true)
    let again = try #require(saved.map(NSManagedObjectContext.DidSaveMessage.makeNotification))
    #expect(again.name == .NSManagedObjectContextDidSave)
    #expect(NSManagedObjectContext.DidSaveMessage.makeMessage(again)?.inserted == [note])
    #expect(NSManagedObjectContext.WillSaveMessage.makeMessage(again) == nil)
    context.reset()
    #expect(changed?.invalidatedAll == true)
  }

  @Test func aPrivateQueueContextPostsMessages() async throws {
    let context = try notes()
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    other.automaticallyMergesChangesFromParent = true
    let center = NotificationCenter.default
    let seen = Seen()
    let tokens = [
      center.addObserver(of: context, for: .didSaveObjectIDsAsync) { message in
        seen.add("saved \(message.insertedIDs.count)")
      },
      center.addObserver(of: other, for: .didMergeChangesAsync) { message in
        seen.add("merged \(message.insertedIDs.count)")
      },
    ]
    defer { for token in tokens { center.removeObserver(token) } }
    try context.performAndWait {
      _ = insert("Note", context)
      try context.save()
    }
    for _ in 0..<500 where seen.all.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
    #expect(Set(seen.all) == ["saved 1", "merged 1"])
  }

  /// The main-queue context merges the saves of another context.
  @MainActor @Test func aMainQueueContextTellsOfMerges() async throws {
    let writer = try notes()
    let reader = NSManagedObjectContext(.mainQueue)
    reader.persistentStoreCoordinator = writer.persistentStoreCoordinator
    var merged: [NSManagedObjectContext.DidMergeChangesMessage] = []
    let token = NotificationCenter.default.addObserver(of: reader, for: .didMergeChanges) { merged.append($0) }
    defer { NotificationCenter.default.removeObserver(token) }
    reader.automaticallyMergesChangesFromParent = true
    let id = try writer.performAndWait {
      let note = insert("Note", writer)
      try writer.save()
      return note.objectID
    }
    for _ in 0..<500 where merged.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    #expect(merged.map(\.insertedIDs) == [[id]] && merged.first?.context === reader)
    #expect(merged.first?.historyToken == nil && merged.first?.queryGeneration == nil)
    #expect(merged.first?.refreshedIDs.isEmpty == true && merged.first?.invalidatedIDs.isEmpty == true)
  }

  @Test func storesThatChangeElsewhereAreReportedAsynchronously() async throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Describing.model([Describing.entity("A")]))
    let seen = Seen()
    let token = NotificationCenter.default.addObserver(of: coordinator, for: .storesDidChangeAsync) { message in
      seen.add("\(message.addedStores.count) \(message.removedStores.count) \(message.uuidChangedStores != nil)")
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let isDone = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
      Thread.detachNewThread {
        let url = URL(fileURLWithPath: "/dev/null")
        do {
          let store = try coordinator.addPersistentStore(type: .inMemory, at: url)
          let moved = try coordinator.migratePersistentStore(store, to: url, type: .inMemory)
          try coordinator.remove(moved)
          done.resume(returning: true)
        } catch { done.resume(returning: false) }
      }
    }
    #expect(isDone)
    for _ in 0..<500 where seen.all.count < 3 { try await Task.sleep(for: .milliseconds(10)) }
    #expect(seen.all == ["1 0 false", "0 0 true", "0 1 false"])
  }

  /// A message has the content of a notification with its name. A notification with another name or subject gives no
  /// message.
  @MainActor @Test func messagesAndNotificationsStandForEachOther() throws {
    let context = try notes()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    let ids = try context.performAndWait {
      let notes = (0..<2).map { _ in insert("Note", context) }
      try context.save()
      return notes.map(\.objectID)
    }
    typealias Context = NSManagedObjectContext
    let info: [AnyHashable: Any] = [
      NSInsertedObjectIDsKey: Set([ids[0]]), NSDeletedObjectIDsKey: Set([ids[1]]),
      NSRefreshedObjectIDsKey: Set([ids[0]]),
    ]
    let saved = Notification(name: Context.didSaveObjectIDsNotification, object: context, userInfo: info)
    let merged = Notification(name: Context.didMergeChangesObjectIDsNotification, object: context, userInfo: info)
    let main = try #require(Context.DidSaveObjectIDsMessage.makeMessage(saved))
    let other = try #require(Context.DidSaveObjectIDsAsyncMessage.makeMessage(saved))
    #expect(main.insertedIDs == [ids[0]] && other.deletedIDs == [ids[1]] && other.updatedIDs.isEmpty)
    #expect(Context.DidSaveObjectIDsAsyncMessage.makeNotification(other).userInfo?.count == 2)
    let merge = try #require(Context.DidMergeChangesAsyncMessage.makeMessage(merged))
    #expect(merge.refreshedIDs == [ids[0]] && Context.DidMergeChangesMessage.makeMessage(saved) == nil)
    let again = Context.DidMergeChangesAsyncMessage.makeNotification(merge)
    #expect(Context.DidMergeChangesMessage.makeMessage(again)?.deletedIDs == [ids[1]])
    let will = Notification(name: Context.willSaveObjectsNotification, object: context)
    #expect(Context.WillSaveMessage.makeMessage(will)?.context === context)
    #expect(Context.WillSaveMessage.makeMessage(Notification(name: will.name, object: coordinator)) == nil)
    typealias Coordinator = NSPersistentStoreCoordinator
    let change = Notification(
      name: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator,
      userInfo: [NSUUIDChangedPersistentStoresKey: [store, store, ids]])
    let message = try #require(Coordinator.StoresDidChangeAsyncMessage.makeMessage(change))
    #expect(message.uuidChangedStores?.newValue === store && message.addedStores.isEmpty)
    let back = Coordinator.StoresDidChangeAsyncMessage.makeNotification(message)
    #expect((back.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any])?.count == 3)
    #expect(Coordinator.StoresDidChangeMessage.makeMessage(back)?.uuidChangedStores?.oldValue === store)
  }

  private final class Seen: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [String] = []
    func add(_ text: String) { lock.withLock { list.append(text) } }
    var all: [String] { lock.withLock { list } }
  }
}
