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

  /// A link that another context has made or ended since the parent read one side of it, and that the child, which has
  /// read the other side later, ends or makes again. The save writes that, or reports a conflict.
  ///
  /// Whether the owner comes first among the child's changes must make no difference.
  @Test(arguments: [("friends", false), ("friends", true), ("picks", false)], [true, false])
  func aChangedLinkIsSavedWhateverTheParentHasRead(_ changed: (key: String, isOwnerFirst: Bool), ends: Bool) throws {
    let stack = try UndoStack(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let key = changed.key
    func link(_ context: NSManagedObjectContext, _ isLinked: Bool) throws {
      let items = try UndoStack.items(context)
      let owner = try #require(items.first { $0["name"] as? String == "owner" })
      let member = try #require(items.first { $0["name"] as? String == "member" })
      if changed.isOwnerFirst && context === child { owner["number"] = 1 }
      #expect(UndoStack.linked(member, key + "Of").contains(owner) != isLinked)
      let owners = isLinked ? [owner] : []
      member[key + "Of"] = key == "picks" ? NSOrderedSet(array: owners) : NSSet(array: owners)
      try context.save()
    }
    stack.event { for name in ["owner", "member"] { _ = UndoStack.insert(name, $0) } }
    try stack.saveAll()
    if !ends { try stack.elsewhere { try link($0, true) } }
    child.performAndWait { child.reset() }
    let held = try root.performAndWait {
      root.refreshAllObjects()
      let items = try UndoStack.items(root)
      for item in items where item["name"] as? String == "owner" {
        #expect(UndoStack.linked(item, key).count == (ends ? 0 : 1))
      }
      return items
    }
    try stack.elsewhere { try link($0, ends) }
    try root.performAndWait {
      for item in try UndoStack.items(root) where item["name"] as? String == "member" {
        root.refresh(item, mergeChanges: false)
      }
    }
    try child.performAndWait { try link(child, !ends) }
    var code: CocoaError.Code?
    root.performAndWait { do { try root.save() } catch { code = (error as? CocoaError)?.code } }
    if code == .managedObjectMerge { return }
    #expect(code == nil)
    try stack.elsewhere { context in
      for item in try UndoStack.items(context) where item["name"] as? String == "owner" {
        #expect(UndoStack.linked(item, key).count == (ends ? 0 : 1))
      }
    }
    withExtendedLifetime(held) {}
  }

  /// A child makes a link that the parent has already, because it has read it later. Nothing changes in the parent,
  /// although it has read one side only.
  @Test func aLinkThatTheParentHasIsNoChange() throws {
    let stack = try UndoStack(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let items = try stack.savedItems("owner", "member")
    child.performAndWait { for item in items { #expect(UndoStack.linked(item, "friendsOf").isEmpty) } }
    try stack.saveElsewhere {
      try UndoStack.named("owner", $0)["friends"] = NSSet(object: try UndoStack.named("member", $0))
    }
    let (owner, member) = root.performAndWait {
      root.refreshAllObjects()
      let (owner, member) = (root.object(with: items[0].objectID), root.object(with: items[1].objectID))
      #expect(UndoStack.linked(member, "friendsOf") == [owner])
      return (owner, member)
    }
    try child.performAndWait {
      items[1].mutableSetValue(forKey: "friendsOf").add(items[0])
      try child.save()
    }
    root.performAndWait {
      #expect(owner.changedValues()["friends"] == nil && member.changedValues()["friendsOf"] == nil)
      #expect(UndoStack.linked(owner, "friends") == [member])
    }
    try stack.saveAll()
  }
}
