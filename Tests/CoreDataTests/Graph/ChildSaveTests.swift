import CoreData
import Foundation
import Testing

/// What a parent context does with the changes that a child saves to it.
@Suite struct ChildSaveTests {
  /// A parent has made a fault of a child's new object by its permanent ID, and has given it values. The child's count.
  @Test func aFaultBecomesTheChildsNewObject() throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let item = stack.event { context in
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      item["number"] = 5
      return item
    }
    let id = try child.performAndWait {
      try child.obtainPermanentIDs(for: [item])
      return item.objectID
    }
    parent.performAndWait {
      let known = parent.object(with: id)
      #expect(known["number"] == nil)
      (known["name"], known["memo"]) = ("of the parent", "of the parent")
    }
    try child.performAndWait { try child.save() }
    try parent.performAndWait {
      let known = try #require(try UndoStack.items(parent).first)
      #expect(known.objectID == id && known.isInserted)
      #expect(known["number"] as? Int == 5 && known["name"] == nil && known["memo"] == nil)
      try parent.save()
    }
    let numbers = try stack.elsewhere { other in try UndoStack.items(other).map { $0["number"] as? Int } }
    #expect(numbers == [5])
  }

  /// A grandchild saves to a child whose save calls code in the parent: the child is saved by then.
  @Test func aGrandchildSavesWithinTheSaveOfAChild() throws {
    try Leavers.with(2) { root, objects in
      let (child, grandchild) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
      child.parent = root
      grandchild.parent = child
      objects[0].leaves = { _ in
        grandchild.performAndWait {
          do { try grandchild.save() } catch { Issue.record(error) }
        }
      }
      let changed = try grandchild.performAndWait {
        let leaver = try #require(try grandchild.existingObject(with: objects[1].objectID) as? Leaver)
        leaver.setValue("changed", forKey: "name")
        return leaver
      }
      try child.performAndWait {
        child.delete(try child.existingObject(with: objects[0].objectID))
        try child.save()
        #expect(child.hasChanges && child.updatedObjects.map(\.objectID) == [changed.objectID])
      }
      grandchild.performAndWait { #expect(!grandchild.hasChanges) }
      try child.performAndWait { try child.save() }
      try root.save()
      root.reset()
      let left = try root.fetch(NSFetchRequest<Leaver>(entityName: "Leaver"))
      #expect(left.map { $0.value(forKey: "name") as? String } == ["changed"])
    }
  }

  /// An owner that has lost a member is not changed by that: the member's link is the member's. So the parent's
  /// deletion of the owner stays, saved or not.
  @Test(arguments: [false, true], [false, true])
  func anOwnerIsNotChangedByItsMembers(isSaved: Bool, deletes: Bool) throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let (owner, member) = stack.event { context in
      let (owner, member) = (UndoStack.insert("owner", context), UndoStack.insert("member", context))
      member["owner"] = owner
      return (owner, member)
    }
    try stack.saveAll()
    child.performAndWait { #expect(UndoStack.linked(owner, "owned") == [member] && owner["number"] == nil) }
    try parent.performAndWait {
      parent.delete(try #require(try UndoStack.items(parent).first { $0["name"] as? String == "owner" }))
      parent.processPendingChanges()
      if isSaved { try parent.save() }
    }
    try child.performAndWait {
      if deletes { child.delete(member) } else { member["owner"] = nil }
      owner["memo"] = "not stored"
      try child.save()
    }
    try parent.performAndWait {
      let left = try UndoStack.items(parent).compactMap { $0["name"] as? String }
      #expect(left == (deletes ? [] : ["member"]))
      try parent.save()
    }
    let stored = try stack.elsewhere { other in try UndoStack.items(other).compactMap { $0["name"] as? String } }
    #expect(stored == (deletes ? [] : ["member"]))
  }

  /// Members that were added in an order keep it, also where the child has not read the relationship.
  @Test(arguments: [false, true]) func unreadMembersKeepTheirOrder(isRead: Bool) throws {
    let stack = try UndoStack(levels: 2)
    let child = stack.contexts[1]
    let (list, old) = stack.event { (UndoStack.insert("list", $0), UndoStack.insert("old", $0)) }
    try stack.saveAll()
    try child.performAndWait {
      child.refreshAllObjects()
      if isRead { #expect(UndoStack.linked(list, "queue") == []) }
      old["line"] = list
      let new = UndoStack.insert("new", child)
      new["line"] = list
      try child.save()
    }
    func queue(_ context: NSManagedObjectContext) throws -> [String] {
      try UndoStack.items(context).flatMap { UndoStack.linked($0, "queue") }.compactMap { $0["name"] as? String }
    }
    let shown = try stack.contexts[0].performAndWait { try queue(stack.contexts[0]) }
    try stack.saveAll()
    let stored = try stack.elsewhere(queue)
    #expect(shown == ["old", "new"] && stored == ["old", "new"])
  }

  /// What an observer of a merge in the parent changes while the child saves is kept, because the parent does not merge
  /// then.
  @Test func aSaveWaitsForNoMergeOfTheParent() throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let (a, b) = stack.event { (UndoStack.insert("a", $0), UndoStack.insert("b", $0)) }
    try stack.saveAll()
    let held = try parent.performAndWait {
      parent.automaticallyMergesChangesFromParent = true
      return try UndoStack.items(parent)
    }
    nonisolated(unsafe) let (changing, other) = (a, b)
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: parent, queue: nil
    ) { note in
      if note.userInfo?[NSRefreshedObjectsKey] == nil { return }
      child.performAndWait { other["number"] = 2 }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try child.performAndWait {
      changing["number"] = 1
      // The parent is in use by the thread of the other save, so it merges later.
      let writer = stack.other()
      parent.performAndWait {
        let saved = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          do {
            try writer.performAndWait {
              try UndoStack.items(writer).first { $0["name"] as? String == "b" }?["size"] = 9
              try writer.save()
            }
          } catch { Issue.record(error) }
          saved.signal()
        }
        saved.wait()
      }
      try child.save()
    }
    // At the latest now it merges.
    parent.performAndWait {}
    try child.performAndWait { try child.save() }
    parent.performAndWait {
      let numbers = held.compactMap { $0["number"] as? Int }.sorted()
      #expect(numbers == [1, 2])
    }
  }

  /// A merge policy that finds an object gone reports it as deleted.
  @Test func anObjectThatAPolicyGivesUpIsReported() throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let item = stack.event { UndoStack.insert("a", $0) }
    try stack.saveAll()
    try child.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: child, sectionNameKeyPath: nil, cacheName: nil)
      try controller.performFetch()
      let delegate = Following()
      controller.delegate = delegate
      item["number"] = 2
      try parent.performAndWait {
        for item in try UndoStack.items(parent) { parent.delete(item) }
        try parent.save()
      }
      child.mergePolicy = NSMergePolicy.overwrite
      try child.save()
      #expect(item.isDeleted && controller.fetchedObjects == [] && delegate.changes > 0)
    }
  }

  private final class Following: NSObject, NSFetchedResultsControllerDelegate {
    var changes = 0
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { changes += 1 }
  }

  /// A store that was added while the parent is in a block takes the child's new objects.
  @Test func aStoreThatComesInABlockOfTheParentIsKnown() throws {
    let model = Company.model()
    let folder = FileManager.default.temporaryDirectory.appending(path: "late-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: folder.appending(path: "one.sqlite"))
    let (root, child) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
    root.persistentStoreCoordinator = coordinator
    child.parent = root
    try root.performAndWait {
      Person(context: root).name = "Ada"
      try root.save()
      let added = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        do { try coordinator.addPersistentStore(type: .sqlite, at: folder.appending(path: "two.sqlite")) } catch {
          Issue.record(error)
        }
        added.signal()
      }
      added.wait()
      let late = try #require(coordinator.persistentStores.last)
      try child.performAndWait {
        let person = Person(context: child)
        person.name = "Bob"
        child.assign(person, to: late)
        try child.save()
      }
      try root.save()
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.affectedStores = [late]
      #expect(try root.fetch(request).map(\.name) == ["Bob"])
    }
  }

  /// The other side of a many-to-many link has not been read, and no longer has the link: what comes back has it not
  /// either.
  @Test func anUnreadSideOfALinkStaysAsItIs() throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let (a, b) = stack.event { (UndoStack.insert("a", $0), UndoStack.insert("b", $0)) }
    try stack.saveAll()
    let (first, second) = (a.objectID, b.objectID)
    parent.performAndWait {
      parent.refreshAllObjects()
      let (own, other) = (parent.object(with: first), parent.object(with: second))
      own.mutableSetValue(forKey: "friends").add(other)
      parent.processPendingChanges()
      parent.delete(own)
      parent.processPendingChanges()
    }
    try child.performAndWait {
      a["number"] = 5
      try child.save()
    }
    try parent.performAndWait {
      #expect(try UndoStack.state(parent)["torn"] == nil)
      let friends = UndoStack.linked(parent.object(with: first), "friends")
      #expect(friends == [])
      try parent.save()
    }
    let state = try stack.elsewhere { try UndoStack.state($0) }
    #expect(state.count == 2 && state["torn"] == nil)
  }
}
