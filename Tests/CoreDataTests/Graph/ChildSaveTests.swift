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

  /// A grandchild cannot save to a child that is saving to its parent: the changes that the parent takes are read already.
  @Test func aContextThatSavesToItsParentTakesNoChanges() throws {
    try Leavers.with(2) { root, objects in
      let (child, grandchild) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
      child.parent = root
      grandchild.parent = child
      var refusal: CocoaError?
      objects[0].leaves = { _ in
        grandchild.performAndWait {
          do { try grandchild.save() } catch { refusal = error as? CocoaError }
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
        #expect(!child.hasChanges)
      }
      #expect(refusal?.code.rawValue == 132_001)
      // Nothing is lost: the grandchild saves later.
      try grandchild.performAndWait {
        #expect(changed.hasChanges)
        try grandchild.save()
      }
      try child.performAndWait { try child.save() }
      try root.save()
      root.reset()
      let left = try root.fetch(NSFetchRequest<Leaver>(entityName: "Leaver"))
      #expect(left.map { $0.value(forKey: "name") as? String } == ["changed"])
    }
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

  /// The other side of a many-to-many link has not been read, and no longer has the link: what comes back has it not either.
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
