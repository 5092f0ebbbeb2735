import CoreData
import Foundation
import Testing

/// IDs and keys in a family of contexts whose objects are assigned to another store than the first.
@Suite(.ofRootContexts) struct FamilyKeyTests {
  /// A temporary ID keeps leading to its object after the object was assigned to another store and saved there.
  @Test(arguments: [false, true]) func anOldIDLeadsToAnAssignedObject(isSaved: Bool) throws {
    let stack = try UndoStack(levels: 2)
    let second = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let (item, other, id) = try root.performAndWait {
      let (other, item) = (UndoStack.insert("other", root), UndoStack.insert("item", root))
      let id = item.objectID
      root.assign(item, to: second)
      if isSaved { try root.save() } else { try root.obtainPermanentIDs(for: [item, other]) }
      return (item, other, id)
    }
    root.performAndWait {
      #expect(root.object(with: id) === item && root.registeredObject(for: id) === item)
      #expect(item.objectID.persistentStore === second)
    }
    try child.performAndWait {
      #expect(child.object(with: id)["name"] as? String == "item")
      #expect(child.object(with: other.objectID)["name"] as? String == "other")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = NSPredicate(format: "SELF == %@", id)
      let names = try child.fetch(request).map { $0["name"] as? String }
      #expect(names == ["item"])
    }
  }

  /// The child has made the object by an ID from before the parent assigned it to another store.
  @Test func anAssignedObjectCountsOnce() throws {
    let stack = try UndoStack(levels: 2)
    let second = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let item = root.performAndWait {
      let item = UndoStack.insert("item", root)
      _ = item.objectID
      root.assign(item, to: second)
      return item
    }
    try child.performAndWait {
      let lower = child.object(with: item.objectID)
      lower["number"] = 1
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      #expect(try child.fetch(request) == [lower])
      #expect(try child.count(for: request) == 1)
      try child.save()
    }
    try root.performAndWait {
      #expect(item["number"] as? Int == 1)
      try root.save()
    }
    try child.performAndWait {
      #expect(child.object(with: item.objectID).objectID.persistentStore === second)
      let count = try child.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
      #expect(count == 1)
    }
  }

  /// The object was made, and its ID read, when there was no store.
  @Test func anIDFromBeforeTheFirstStoreLeadsToItsObject() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: UndoStack.model)
    let (root, child) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
    root.persistentStoreCoordinator = coordinator
    child.parent = root
    let item = root.performAndWait { UndoStack.insert("item", root) }
    let id = root.performAndWait { item.objectID }
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    try child.performAndWait {
      let lower = child.object(with: id)
      #expect(lower["name"] as? String == "item")
      lower["number"] = 1
      try child.save()
    }
    try root.performAndWait {
      #expect(item["number"] as? Int == 1)
      try root.save()
    }
  }

  // MARK: Keys that change meanwhile

  /// Two new objects, the first assigned to the second store, with the ID from before. Both get the key 1.
  private struct Assigned {
    let stack: UndoStack
    let second: NSPersistentStore
    let item, other: NSManagedObject
    let id: NSManagedObjectID
    var root: NSManagedObjectContext { stack.contexts[0] }
    var child: NSManagedObjectContext { stack.contexts[1] }

    init() throws {
      stack = try UndoStack(levels: 2)
      second = try stack.coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
      let (root, second) = (stack.contexts[0], second)
      (item, other, id) = root.performAndWait {
        let (item, friend, other) = (
          UndoStack.insert("item", root), UndoStack.insert("friend", root), UndoStack.insert("other", root)
        )
        let id = item.objectID
        root.assign(item, to: second)
        root.assign(friend, to: second)
        item["friends"] = NSSet(object: friend)
        return (item, other, id)
      }
    }
  }

  private func onAnotherThread(_ body: @escaping () throws -> Void) -> DispatchSemaphore {
    nonisolated(unsafe) let body = body
    let end = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { try body() } catch { Issue.record(error) }
      end.signal()
    }
    return end
  }

  /// A merge names an object by its ID from before. The first store has another object with the same key.
  @Test func aMergeFollowsTheKey() throws {
    let assigned = try Assigned()
    let (root, item, other) = (assigned.root, assigned.item, assigned.other)
    try root.performAndWait { try root.save() }
    try assigned.stack.elsewhere { context in
      for object in [item, other] { try context.existingObject(with: object.objectID)["name"] = "merged" }
      try context.save()
    }
    root.performAndWait {
      let changes = [NSUpdatedObjectsKey: [assigned.id]]
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [root])
      #expect(item["name"] as? String == "merged" && other["name"] as? String == "other")
    }
  }

  /// Another thread saves the root within a block of the child.
  @Test(arguments: [false, true]) func aReadFollowsTheKey(ofMembers: Bool) throws {
    let assigned = try Assigned()
    let (root, child) = (assigned.root, assigned.child)
    child.performAndWait {
      let lower = child.object(with: assigned.id)
      if ofMembers { #expect(lower["name"] as? String == "item") }
      onAnotherThread { try root.performAndWait { try root.save() } }.wait()
      #expect(UndoStack.linked(lower, "friends").map { $0["name"] as? String } == ["friend"])
      #expect(lower["name"] as? String == "item" && lower.objectID.persistentStore === assigned.second)
    }
  }

  /// Another thread saves the root within a block of the context between it and the child that reads.
  @Test func aReadWithinABlockOfTheParentFollowsTheKey() throws {
    let stack = try UndoStack(levels: 3)
    let (root, middle, leaf) = (stack.contexts[0], stack.contexts[1], stack.context)
    let item = try leaf.performAndWait {
      let item = UndoStack.insert("item", leaf)
      try leaf.save()
      return item
    }
    try middle.performAndWait {
      try middle.save()
      onAnotherThread { try root.performAndWait { try root.save() } }.wait()
      try leaf.performAndWait {
        let found = try UndoStack.items(leaf)
        #expect(found == [item] && !item.objectID.isTemporaryID)
      }
    }
  }

  /// The root is in the middle of its save when the child describes its changes.
  @Test func aSaveFollowsTheKey() throws {
    let assigned = try Assigned()
    let (root, child) = (assigned.root, assigned.child)
    let (rootSaves, childSaves) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let watches = [
      NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextWillSave, object: root, queue: nil
      ) { _ in
        rootSaves.signal()
        _ = childSaves.wait(timeout: .now() + 10)
        // The child is about to wait for the root.
        usleep(300_000)
      },
      NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextWillSave, object: child, queue: nil
      ) { _ in childSaves.signal() },
    ]
    defer { for watch in watches { NotificationCenter.default.removeObserver(watch) } }
    try child.performAndWait {
      let lower = child.object(with: assigned.id)
      lower["number"] = 5
      let end = onAnotherThread { try root.performAndWait { try root.save() } }
      #expect(rootSaves.wait(timeout: .now() + 10) == .success)
      try child.save()
      #expect(end.wait(timeout: .now() + 10) == .success)
    }
    root.performAndWait {
      #expect(assigned.item["number"] as? Int == 5 && assigned.item.hasChanges)
      #expect(assigned.other["number"] == nil && !assigned.other.hasChanges)
    }
  }
}
