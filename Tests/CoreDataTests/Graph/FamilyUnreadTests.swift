import CoreData
import Foundation
import TestSupport
import Testing

/// Objects of a family of contexts that a context has not read, or could not read yet.
@Suite(.ofRootContexts) struct FamilyUnreadTests {
  // MARK: Stores

  /// The context in the middle has a fault of a new object, which the child then assigns to another store.
  @Test func anAssignmentReachesTheRoot() throws {
    let stack = try UndoStack(levels: 3)
    let second = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let (middle, leaf) = (stack.contexts[1], stack.contexts[2])
    let (item, held) = leaf.performAndWait {
      let item = UndoStack.insert("item", leaf)
      return (item, middle.performAndWait { middle.object(with: item.objectID) })
    }
    try leaf.performAndWait {
      leaf.assign(item, to: second)
      try leaf.save()
    }
    try stack.saveAll()
    leaf.performAndWait { #expect(item.objectID.persistentStore === second) }
    withExtendedLifetime(held) {}
  }

  /// A child saves an object to the parent before there is a store, and reads it again when there is one.
  @Test func anObjectFromBeforeTheFirstStoreIsReadAgain() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: UndoStack.model)
    let (root, child) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
    root.persistentStoreCoordinator = coordinator
    child.parent = root
    let item = try child.performAndWait {
      let (item, friend) = (UndoStack.insert("item", child), UndoStack.insert("friend", child))
      item["friends"] = NSSet(object: friend)
      try child.save()
      return item
    }
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    child.performAndWait {
      child.refresh(item, mergeChanges: false)
      #expect(item["name"] as? String == "item")
      #expect(UndoStack.linked(item, "friends").map { $0["name"] as? String } == ["friend"])
    }
    try root.performAndWait { try root.save() }
  }

  // MARK: What a child has not read

  /// A fault that a child has never read is deleted at whatever version the store has.
  @Test func anUnreadFaultIsDeletedAtAnyVersion() throws {
    let model = Describing.model([Describing.entity("Note", [Describing.attribute("number", .integer64)])])
    let stack = try UndoStack(levels: 2, model: model)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    try stack.elsewhere { context in
      _ = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      try context.save()
    }
    child.undoManager = nil
    let note = try child.performAndWait { try #require(try child.fetch(request).first) }
    root.performAndWait { root.reset() }
    try stack.elsewhere { context in
      try context.existingObject(with: note.objectID).setValue(9, forKey: "number")
      try context.save()
    }
    try child.performAndWait {
      #expect(note.isFault)
      child.delete(note)
      try child.save()
    }
    try root.performAndWait { try root.save() }
    let count = try stack.elsewhere { try $0.count(for: request) }
    #expect(count == 0)
  }

  /// The IDs of the members of a fault that the child holds, whose members were prefetched.
  @Test func theMemberIDsOfAHeldFaultArePresent() throws {
    let stack = try UndoStack(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let (first, second) = try root.performAndWait {
      let items = (UndoStack.insert("first", root), UndoStack.insert("second", root))
      try root.save()
      return items
    }
    let lower = try child.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = NSPredicate(format: "name == 'first'")
      request.relationshipKeyPathsForPrefetching = ["friends"]
      return try #require(try child.fetch(request).first)
    }
    root.performAndWait { first["friends"] = NSSet(object: second) }
    child.performAndWait {
      #expect(lower.isFault && lower.objectIDs(forRelationshipNamed: "friends") == [second.objectID])
    }
  }
}
