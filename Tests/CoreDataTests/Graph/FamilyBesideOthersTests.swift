import CoreData
import Foundation
import TestSupport
import Testing

/// A child context beside other contexts that save, or delete, what it has read, and beside a store that moves.
@Suite(.ofRootContexts) struct FamilyBesideOthersTests {
  /// The code of the error that saving a context meets; nil for none.
  private func code(ofSaving context: NSManagedObjectContext) -> CocoaError.Code? {
    context.performAndWait {
      do { try context.save() } catch { return (error as? CocoaError)?.code ?? .coreData }
      return nil
    }
  }

  private func move(_ stack: UndoStack, to folder: StoreFolder) throws {
    let store = try #require(stack.coordinator.persistentStores.first)
    _ = try stack.coordinator.migratePersistentStore(store, to: folder.url, options: nil, withType: store.type)
  }

  // MARK: Stores that move

  /// Another context has saved the same value before the store moved.
  @Test func aMoveHidesNoConflictOfAChild() throws {
    let stack = try UndoStack(levels: 2)
    let folder = try StoreFolder("moved")
    defer { folder.remove() }
    let item = try stack.savedItems("a")[0]
    stack.event { _ in item["number"] = 2 }
    try stack.saveElsewhere { try UndoStack.named("a", $0)["number"] = 9 }
    try move(stack, to: folder)
    try stack.context.performAndWait {
      #expect(item["number"] as? Int == 2)
      try stack.context.save()
    }
    let code = code(ofSaving: stack.contexts[0])
    #expect(code == .managedObjectMerge)
  }

  /// Versions count anew where a store has moved to, so what the root has written to the former URL says nothing.
  @Test func aVersionOfTheFormerURLIsNotTheRoots() throws {
    let stack = try UndoStack(levels: 2)
    let folder = try StoreFolder("moved")
    defer { folder.remove() }
    let root = stack.contexts[0]
    let item = try stack.savedItem()
    try move(stack, to: folder)
    stack.event { context in
      context.refresh(item, mergeChanges: false)
      #expect(item["number"] as? Int == 1)
    }
    root.performAndWait { root.reset() }
    try stack.saveElsewhere { try UndoStack.named("a", $0)["number"] = 9 }
    try stack.context.performAndWait {
      item["number"] = 2
      try stack.context.save()
    }
    let code = code(ofSaving: root)
    #expect(code == .managedObjectMerge)
  }

  // MARK: Conflicts

  /// The policy keeps a value that the context has only read, of which a row of an in-memory store holds the object.
  @Test func overwritingKeepsATransformableObject() throws {
    let stack = try UndoStack(.inMemory)
    let item = stack.event { context in
      let item = UndoStack.insert("a", context)
      item["list"] = [1] as NSArray
      return item
    }
    try stack.saveAll()
    stack.event { context in
      context.refresh(item, mergeChanges: false)
      #expect(item["list"] as? [Int] == [1])
    }
    try stack.saveElsewhere { try UndoStack.named("a", $0)["list"] = [2] as NSArray }
    try stack.context.performAndWait {
      stack.context.mergePolicy = NSMergePolicy.overwrite
      item["number"] = 5
      try stack.context.save()
      #expect(item["list"] as? [Int] == [1])
    }
    let saved = try stack.elsewhere { try UndoStack.named("a", $0)["list"] as? [Int] }
    #expect(saved == [1])
  }

  /// A large value that a child has changed, and another context too.
  @Test func theStoresLargeValueWinsOverAChilds() throws {
    let stack = try UndoStack(levels: 2)
    let root = stack.contexts[0]
    let item = stack.event { context in
      let item = UndoStack.insert("a", context)
      item["photo"] = Data([1])
      return item
    }
    try stack.saveAll()
    stack.event { context in
      context.refresh(item, mergeChanges: false)
      #expect(item["photo"] as? Data == Data([1]))
      item["photo"] = Data([2])
    }
    root.performAndWait { root.reset() }
    try stack.saveElsewhere { try UndoStack.named("a", $0)["photo"] = Data([3]) }
    root.performAndWait { root.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump }
    try stack.saveAll()
    let photo = try stack.elsewhere { try UndoStack.named("a", $0)["photo"] as? Data }
    #expect(photo == Data([3]))
  }

  /// The owner has been dropped by the parent, and another context has saved another order. The child has read the
  /// owner, or has saved it itself.
  @Test(arguments: [true, false]) func anOrderOfADroppedOwnerMeetsAConflict(isRead: Bool) throws {
    let stack = try UndoStack(levels: 2)
    let root = stack.contexts[0]
    let items = try stack.savedItems("line", "a", "b", "c")
    stack.event { _ in items[0]["queue"] = NSOrderedSet(array: Array(items[1...])) }
    try stack.saveAll()
    stack.event { context in
      if isRead { context.refreshAllObjects() }
      items[0]["queue"] = NSOrderedSet(array: [items[2], items[1], items[3]])
    }
    root.performAndWait { root.reset() }
    try stack.saveElsewhere { context in
      let line = try UndoStack.named("line", context)
      let order = try ["c", "b", "a"].map { try UndoStack.named($0, context) }
      line["queue"] = NSOrderedSet(array: order)
    }
    try stack.context.performAndWait { try stack.context.save() }
    let code = code(ofSaving: root)
    #expect(code == .managedObjectMerge)
  }

  /// The root has merged what another context has saved, and has not read the object since.
  @Test(arguments: ["size", "number"]) func whatTheRootHasMergedIsNoConflict(key: String) throws {
    let stack = try UndoStack(levels: 2)
    let root = stack.contexts[0]
    root.performAndWait { root.automaticallyMergesChangesFromParent = true }
    let item = try stack.savedItems("a")[0]
    stack.event { context in
      context.refresh(item, mergeChanges: false)
      #expect(item["number"] == nil)
    }
    try stack.saveElsewhere { try UndoStack.named("a", $0)["number"] = 9 }
    // The merge runs on the root's queue.
    root.performAndWait {}
    stack.event { _ in item[key] = 3 }
    try stack.saveAll()
    let saved = try stack.elsewhere { context in
      let saved = try UndoStack.named("a", context)
      return [saved["size"] as? Int, saved["number"] as? Int]
    }
    #expect(saved == (key == "size" ? [3, 9] : [7, 3]))
  }

  /// The parent knows that an object is gone, and has an unsaved link to it.
  @Test func aGoneObjectThatTheParentLinksToIsAConflict() throws {
    let stack = try UndoStack(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let items = try stack.savedItems("x", "y")
    let (upper, other) = root.performAndWait {
      (root.object(with: items[0].objectID), root.object(with: items[1].objectID))
    }
    stack.event { _ in items[0]["number"] = 1 }
    try stack.saveElsewhere { $0.delete(try UndoStack.named("x", $0)) }
    root.performAndWait {
      other["owner"] = upper
      root.processPendingChanges()
      let ids = [NSDeletedObjectIDsKey: [items[0].objectID.uriRepresentation()]]
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: ids, into: [root])
      #expect(upper.isDeleted)
    }
    let code = code(ofSaving: child)
    #expect(code == .managedObjectMerge)
  }

  /// The row that the conflict is based on is not shown any more.
  @Test func aRollbackAfterAConflictShowsWhatIsStored() throws {
    let stack = try UndoStack(levels: 2)
    let root = stack.contexts[0]
    let item = try stack.savedItem()
    root.performAndWait { root.reset() }
    try stack.saveElsewhere { try UndoStack.named("a", $0)["number"] = 9 }
    try stack.context.performAndWait {
      item["number"] = 2
      try stack.context.save()
    }
    let upper = root.performAndWait { root.object(with: item.objectID) }
    let code = code(ofSaving: root)
    #expect(code == .managedObjectMerge)
    root.performAndWait {
      root.rollback()
      #expect(upper["number"] as? Int == 9)
    }
  }

  // MARK: Links

  /// The destination has its store before the link is made, or gets it later.
  @Test(arguments: ["owner", "friends"], [true, false])
  func aLinkToAnotherStoreIsRefusedByTheChildsSave(key: String, isLater: Bool) throws {
    let stack = try UndoStack(levels: 2)
    let second = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let child = stack.context
    let (item, other) = child.performAndWait { (UndoStack.insert("item", child), UndoStack.insert("other", child)) }
    func link() { stack.event { _ in item[key] = key == "owner" ? other : NSSet(object: other) } }
    if isLater { link() }
    child.performAndWait { child.assign(other, to: second) }
    if !isLater {
      try stack.saveAll()
      link()
    }
    let code = code(ofSaving: child)
    #expect(code == .managedObjectExternalRelationship)
    child.performAndWait { #expect(UndoStack.linked(item, key) == [other] && child.hasChanges) }
  }

  // MARK: Reading

  /// The row of the owner does not change when others give it a member.
  @Test(arguments: [0, 1, 2]) func aHeldFaultReadsItsMembersAgain(way: Int) throws {
    let stack = try UndoStack(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.predicate = NSPredicate(format: "name == 'first'")
    request.relationshipKeyPathsForPrefetching = ["owned"]
    try stack.saveElsewhere { for name in ["first", "second"] { _ = UndoStack.insert(name, $0) } }
    let held = try child.performAndWait { try child.fetch(request) }
    try stack.saveElsewhere { try UndoStack.named("second", $0)["owner"] = try UndoStack.named("first", $0) }
    root.performAndWait { root.reset() }
    try child.performAndWait {
      #expect(held.count == 1 && held[0].isFault)
      let all = NSFetchRequest<NSManagedObject>(entityName: "Item")
      if way == 1 { _ = try child.fetch(all) }
      all.returnsObjectsAsFaults = false
      if way == 2 { _ = try child.fetch(all) }
      let names = held.map { UndoStack.linked($0, "owned").map { $0["name"] as? String } }
      #expect(names == [["second"]])
    }
  }

  /// The parent changes the child's new object before it saves it, or leaves it as it is.
  @Test(arguments: [true, false]) func aMergedInsertionThatTheChildHasIsPresent(isChanged: Bool) throws {
    let stack = try UndoStack(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    child.performAndWait { child.automaticallyMergesChangesFromParent = true }
    let item = try child.performAndWait {
      let item = UndoStack.insert("a", child)
      item["memo"] = "mine"
      try child.save()
      return item
    }
    try root.performAndWait {
      if isChanged { root.object(with: item.objectID)["number"] = 7 }
      try root.save()
    }
    // The merge runs on the child's queue.
    child.performAndWait {}
    child.performAndWait {
      #expect(item.isFault == isChanged && item["memo"] as? String == (isChanged ? nil : "mine"))
      #expect(item["number"] as? Int == (isChanged ? 7 : nil))
    }
  }

  /// A member is deleted, which is not saved. The owner is not changed by that.
  @Test(arguments: ["owned", "friends", "friendsOf"]) func aFetchLeavesOutDeletedMembers(key: String) throws {
    let stack = try UndoStack()
    let items = try stack.savedItems("owner", "member")
    stack.event { _ in items[0][key] = NSSet(object: items[1]) }
    try stack.saveAll()
    try stack.event { context in
      context.reset()
      context.delete(try UndoStack.named("member", context))
    }
    func names(_ format: String) throws -> [String] {
      try stack.event { context in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: format)
        return try context.fetch(request).compactMap { $0["name"] as? String }
      }
    }
    let (linked, empty) = (try names("ANY \(key).name == 'member'"), try names("\(key).@count == 0"))
    #expect(linked == [] && empty == ["owner"])
  }
}
