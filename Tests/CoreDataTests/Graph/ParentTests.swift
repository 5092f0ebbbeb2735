import CoreData
import Foundation
import Testing

/// What a parent does, and what its child sees of it.
@Suite(.ofRootContexts) struct ParentTests {
  private func model(_ change: (NSEntityDescription) -> Void) throws -> NSManagedObjectModel {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    change(try #require(model.entitiesByName["Item"]))
    return model
  }

  /// A child's save validates in the child, and the parent's save validates again.
  @Test func theParentValidatesAgain() throws {
    let stack = try UndoStack(levels: 2, model: model { $0.attributesByName["name"]?.isOptional = false })
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let item = try child.performAndWait {
      let item = UndoStack.insert("a", child)
      try child.save()
      return item
    }
    try root.performAndWait {
      let upper = root.object(with: item.objectID)
      upper["name"] = nil
      let error = try #require(throws: CocoaError.self) { try root.save() }
      #expect(error.code.rawValue == 1570 && error.userInfo[NSValidationKeyErrorKey] as? String == "name")
      #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === upper)
      upper["name"] = "b"
      try root.save()
    }
  }

  /// The child sees what its parent has undone and redone when it reads again.
  @Test func theChildSeesAnUndoOfItsParent() throws {
    let stack = try UndoStack(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let item = try child.performAndWait {
      let item = UndoStack.insert("a", child)
      item["number"] = 1
      try child.save()
      return item
    }
    root.performAndWait { root.undoManager = UndoManager() }
    func event(_ body: () -> Void) {
      root.performAndWait {
        body()
        root.processPendingChanges()
      }
    }
    func shown() throws -> [String: Int] {
      try child.performAndWait {
        child.refreshAllObjects()
        let items = try UndoStack.items(child)
        return Dictionary(
          uniqueKeysWithValues: items.map { ($0["name"] as? String ?? "?", $0["number"] as? Int ?? 0) })
      }
    }
    let upper = root.performAndWait { root.object(with: item.objectID) }
    event { upper["number"] = 2 }
    event { _ = UndoStack.insert("new", root) }
    event { root.delete(upper) }
    let states: [[String: Int]] = [["a": 1], ["a": 2], ["a": 2, "new": 0], ["new": 0]]
    #expect(try shown() == states[3])
    for step in [2, 1, 0] {
      event { root.undo() }
      #expect(try shown() == states[step])
    }
    child.performAndWait { #expect(item["number"] as? Int == 1 && !item.isDeleted) }
    for step in 1...3 {
      event { root.redo() }
      #expect(try shown() == states[step])
    }
  }

  /// A merge into the parent alone does not reach what the child has read, until it reads again.
  @Test func aMergeIntoTheParentIsSeenByTheNextRead() throws {
    let stack = try UndoStack(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let item = try stack.savedItem()
    try stack.elsewhere { other in
      other.object(with: item.objectID)["number"] = 9
      try other.save()
    }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: [item.objectID]], into: [root])
    try child.performAndWait {
      #expect(item["number"] as? Int == 1)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = NSPredicate(format: "number == 9")
      let found = try child.fetch(request)
      #expect(found == [item])
      child.refresh(item, mergeChanges: false)
      #expect(item["number"] as? Int == 9)
    }
  }

  // MARK: Queues

  private static let kinds: [NSManagedObjectContextConcurrencyType] = [
    .mainQueueConcurrencyType, .privateQueueConcurrencyType, .confinementConcurrencyType,
  ]

  /// Saves, fetches and faults of a child, with a root of one kind and a child of another.
  private static func useFamily(
    _ root: NSManagedObjectContextConcurrencyType, _ child: NSManagedObjectContextConcurrencyType
  ) throws {
    let stack = try UndoStack()
    let root = NSManagedObjectContext(concurrencyType: root)
    root.persistentStoreCoordinator = stack.coordinator
    let child = NSManagedObjectContext(concurrencyType: child)
    child.parent = root
    let item = try child.performAndWait {
      let item = UndoStack.insert("a", child)
      try child.save()
      return item
    }
    try root.performAndWait {
      let upper = root.object(with: item.objectID)
      #expect(upper["name"] as? String == "a" && upper.isInserted)
      try root.save()
      upper["number"] = 2
      root.processPendingChanges()
    }
    try child.performAndWait {
      child.refresh(item, mergeChanges: false)
      #expect(item["number"] as? Int == 2 && !item.objectID.isTemporaryID)
      #expect(try UndoStack.items(child) == [item])
      child.delete(item)
      try child.save()
    }
    try root.performAndWait {
      #expect(root.deletedObjects.count == 1)
      try root.save()
    }
  }

  @Test(arguments: kinds.prefix(2), kinds)
  func everyMixOfQueuesWorks(
    _ root: NSManagedObjectContextConcurrencyType, _ child: NSManagedObjectContextConcurrencyType
  ) throws { try Self.useFamily(root, child) }

  @MainActor @Test(arguments: kinds.prefix(2), kinds)
  func everyMixOfQueuesWorksOnTheMainQueue(
    _ root: NSManagedObjectContextConcurrencyType, _ child: NSManagedObjectContextConcurrencyType
  ) throws { try Self.useFamily(root, child) }

  // MARK: Merging

  /// Insertions are merged, unsaved changes stay, and nothing is merged once the flag is off.
  @Test func siblingsKeepWhatTheyHaveChanged() throws {
    let stack = try UndoStack(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let item = try stack.savedItem()
    let sibling = NSManagedObjectContext(.privateQueue)
    sibling.parent = root
    sibling.automaticallyMergesChangesFromParent = true
    nonisolated(unsafe) var inserted: [String] = []
    let observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: sibling, queue: nil
    ) { note in
      let objects = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
      inserted += objects.map { $0["name"] as? String ?? "?" }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let own = sibling.performAndWait {
      let own = sibling.object(with: item.objectID)
      own["number"] = 5
      sibling.processPendingChanges()
      return own
    }
    try child.performAndWait {
      (item["number"], item["size"]) = (8, 9)
      _ = UndoStack.insert("new", child)
      try child.save()
    }
    sibling.performAndWait {
      #expect(inserted == ["new"])
      #expect(own["number"] as? Int == 5 && own["size"] as? Int == 9)
      sibling.automaticallyMergesChangesFromParent = false
    }
    try child.performAndWait {
      item["size"] = 10
      try child.save()
    }
    sibling.performAndWait { #expect(own["size"] as? Int == 9 && own["number"] as? Int == 5) }
  }

  // MARK: Lives

  /// The child is all that keeps its parent alive.
  @Test func aParentLivesAsLongAsItsChild() throws {
    let stack = try UndoStack()
    weak var gone: NSManagedObjectContext?
    var child: NSManagedObjectContext? = NSManagedObjectContext(.privateQueue)
    func join() {
      let parent = stack.other()
      child?.parent = parent
      gone = parent
    }
    join()
    #expect(gone != nil && child?.parent === gone)
    let item = try child?.performAndWait {
      let item = child.map { UndoStack.insert("a", $0) }
      try child?.save()
      try gone?.performAndWait { try gone?.save() }
      #expect(item?["name"] as? String == "a")
      return item
    }
    child = nil
    #expect(gone == nil && item?.managedObjectContext == nil)
    let names = try stack.names()
    #expect(names == ["a"])
  }

  // MARK: Rules

  /// A deletion that the child's rules allow may be denied where the parent knows more.
  @Test func aDeletionIsDeniedOnTheLevelThatKnowsTheMember() throws {
    let stack = try UndoStack(
      levels: 2, model: model { $0.relationshipsByName["owned"]?.deleteRule = .denyDeleteRule })
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let owner = stack.event { UndoStack.insert("owner", $0) }
    let member = stack.event { UndoStack.insert("member", $0) }
    stack.event { _ in member["owner"] = owner }
    try stack.saveAll()
    child.performAndWait {
      child.delete(owner)
      let error = #expect(throws: CocoaError.self) { try child.save() }
      #expect(error?.code.rawValue == 1600)
      child.rollback()
      child.delete(member)
    }
    try stack.saveAll()
    // The child has read that there are no members. Its parent gets one.
    child.performAndWait { #expect(UndoStack.linked(owner, "owned").isEmpty) }
    root.performAndWait {
      UndoStack.insert("late", root)["owner"] = root.object(with: owner.objectID)
      root.processPendingChanges()
    }
    try child.performAndWait {
      child.delete(owner)
      try child.save()
    }
    root.performAndWait {
      let error = #expect(throws: CocoaError.self) { try root.save() }
      #expect(error?.code.rawValue == 1600)
      root.rollback()
      #expect(!root.hasChanges && root.object(with: owner.objectID)["name"] as? String == "owner")
    }
    let names = try stack.elsewhere { try UndoStack.items($0).compactMap { $0["name"] as? String } }
    #expect(names == ["owner"])
  }
}
