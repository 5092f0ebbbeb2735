import CoreData
import Foundation
import Testing

/// Which changes are undone together, and which are not recorded.
@Suite struct UndoEventTests {
  @Test func processPendingChangesEndsAGroup() throws {
    let stack = try UndoStack()
    try stack.context.performAndWait { () throws in
      let item = UndoStack.insert("a", stack.context)
      #expect(stack.manager.canUndo)
      // That made the context register its changes, but did not end the event.
      item["number"] = 1
      stack.context.processPendingChanges()
      #expect(stack.manager.undoCount == 1 && stack.manager.groupingLevel == 0)
      item["number"] = 2
      // A fetch ends no group.
      _ = try UndoStack.items(stack.context)
      item["number"] = 3
      stack.context.undo()
      #expect(item["number"] as? Int == 1)
      stack.context.undo()
      #expect(!stack.manager.canUndo && !stack.context.hasChanges)
    }
  }

  @Test func aBlockIsAGroup() async throws {
    let stack = try UndoStack()
    let context = stack.context
    await context.perform { _ = UndoStack.insert("a", context) }
    await context.perform { _ = UndoStack.insert("b", context) }
    #expect(stack.manager.undoCount == 2)
    await context.perform { context.undo() }
    #expect(try stack.names() == ["a"])
  }

  /// A merge in a turn of the context's queue is no end of the client's group.
  @Test func aMergeEndsNoGroup() async throws {
    let stack = try UndoStack()
    let item = try stack.savedItem()
    let context = stack.context
    context.automaticallyMergesChangesFromParent = true
    let (merges, merge) = AsyncStream<Void>.makeStream()
    let observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: context, queue: nil
    ) { _ in merge.yield() }
    defer { NotificationCenter.default.removeObserver(observer) }
    stack.manager.removeAllActions()
    context.performAndWait { item["number"] = 2 }
    try stack.elsewhere { other in
      _ = UndoStack.insert("other", other)
      try other.save()
    }
    for await _ in merges { break }
    context.performAndWait {
      item["size"] = 3
      context.undo()
      #expect(item["number"] as? Int == 1 && item["size"] as? Int == 7)
    }
  }

  /// The actions of a context of the main queue that ends elsewhere are removed.
  @MainActor @Test func aContextOfTheMainQueueMayEndElsewhere() async throws {
    let stack = try UndoStack()
    let manager = UndoManager()
    nonisolated(unsafe) var context: NSManagedObjectContext? = NSManagedObjectContext(.mainQueue)
    context?.persistentStoreCoordinator = stack.coordinator
    context?.undoManager = manager
    if let context { _ = UndoStack.insert("a", context) }
    context?.processPendingChanges()
    #expect(manager.canUndo)
    await Task.detached { context = nil }.value
    // The removal has been sent to the main queue before.
    await mainQueueTurn()
    #expect(!manager.canUndo)
  }

  /// Only the main queue uses the manager of a main-queue context.
  @MainActor @Test func aContextThatEndsElsewhereWaitsForTheMainQueue() async throws {
    let stack = try UndoStack()
    let manager = UndoManager()
    let ended = DispatchSemaphore(value: 0)
    func endElsewhere() {
      nonisolated(unsafe) var context: NSManagedObjectContext? = NSManagedObjectContext(.mainQueue)
      context?.persistentStoreCoordinator = stack.coordinator
      context?.undoManager = manager
      if let context { _ = UndoStack.insert("a", context) }
      context?.processPendingChanges()
      Thread.detachNewThread {
        context = nil
        ended.signal()
      }
      // The main queue is busy until then.
      ended.wait()
    }
    endElsewhere()
    #expect(manager.canUndo)
    await mainQueueTurn()
    #expect(!manager.canUndo)
  }

  @Test func groupsByHandHoldSeveralEvents() throws {
    let stack = try UndoStack()
    stack.manager.groupsByEvent = false
    let item = stack.event { UndoStack.insert("a", $0) }
    #expect(stack.manager.undoCount == 1)
    stack.context.performAndWait {
      stack.manager.beginUndoGrouping()
      item["number"] = 1
      stack.manager.setActionName("Number")
      stack.context.processPendingChanges()
      item["number"] = 2
      // The end of a group makes the context register its changes.
      stack.manager.endUndoGrouping()
      #expect(stack.manager.undoCount == 2 && stack.manager.undoActionName == "Number")
      stack.context.undo()
      #expect(item["number"] == nil && stack.manager.redoMenuItemTitle == "Redo Number")
      stack.context.redo()
      #expect(item["number"] as? Int == 2)
    }
  }

  /// The way that Apple's guide shows for changes that are not to be undone.
  @Test func changesAreLeftOutWhileRegistrationIsDisabled() throws {
    let stack = try UndoStack()
    let item = stack.event { UndoStack.insert("a", $0) }
    stack.context.performAndWait {
      stack.manager.disableUndoRegistration()
      item["number"] = 5
      stack.context.processPendingChanges()
      stack.manager.enableUndoRegistration()
      item["size"] = 1
      stack.context.processPendingChanges()
      #expect(stack.manager.undoCount == 2)
      stack.context.undo()
      #expect(item["number"] as? Int == 5 && item["size"] as? Int == 7)
    }
  }

  /// A new object that was deleted while nothing was recorded is not deleted again by the undo of its insertion.
  @Test func anUndoneInsertionDeletesAnObjectOnce() throws {
    let stack = try UndoStack(model: CallingFamily.model)
    let context = stack.context
    let item = stack.event { UndoStack.insert("a", $0) }
    context.performAndWait {
      nonisolated(unsafe) var deletions = 0
      var calls = CallingItem.Calls()
      calls.whenDeleted = { _ in deletions += 1 }
      CallingItem.set(calls, context)
      stack.manager.disableUndoRegistration()
      context.delete(item)
      context.processPendingChanges()
      stack.manager.enableUndoRegistration()
      context.undo()
      #expect(deletions == 1 && item.isDeleted)
    }
  }

  /// A group that begins in the middle of a change ends no event: the object is not complete.
  @Test func aGroupInACallbackEndsNoEvent() throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entitiesByName["Item"]?.managedObjectClassName = NSStringFromClass(GroupingItem.self)
    let stack = try UndoStack(.inMemory, model: model)
    let context = stack.context
    nonisolated(unsafe) var events = 0
    let observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
    ) { _ in events += 1 }
    defer { NotificationCenter.default.removeObserver(observer) }
    context.performAndWait {
      _ = UndoStack.insert("first", context)
      _ = UndoStack.insert("second", context)
      #expect(events == 0)
      context.processPendingChanges()
      #expect(events == 1)
    }
  }

  @Test func rollbackAndResetForgetActions() throws {
    let stack = try UndoStack()
    let target = NSObject()
    for forget in [{ $0.rollback() }, { $0.reset() }] as [(NSManagedObjectContext) -> Void] {
      stack.event { context in
        _ = UndoStack.insert("a", context)
        stack.manager.registerUndo(withTarget: target) { _ in }
      }
      #expect(stack.manager.canUndo)
      stack.context.performAndWait { forget(stack.context) }
      #expect(!stack.manager.canUndo)
    }
  }

  /// What a child saves is one event of its parent.
  @Test func aParentUndoesTheSaveOfAChild() throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let manager = UndoManager()
    parent.performAndWait { parent.undoManager = manager }
    for name in ["a", "b"] {
      stack.event { _ = UndoStack.insert(name, $0) }
      try child.performAndWait { try child.save() }
    }
    try parent.performAndWait {
      #expect(manager.undoCount == 2)
      parent.undo()
      #expect(try UndoStack.items(parent).map { $0["name"] as? String } == ["a"])
      try parent.save()
    }
    // The child's own actions are not touched.
    #expect(stack.manager.undoCount == 2)
    try child.performAndWait {
      child.undo()
      try child.save()
    }
    #expect(try stack.names() == ["a"])
  }

  /// The manager neither keeps a context alive, nor acts for one that is gone.
  @Test func aContextThatIsGoneLeavesNoActions() throws {
    let stack = try UndoStack()
    let manager = UndoManager()
    weak var gone: NSManagedObjectContext?
    do {
      let context = stack.other()
      gone = context
      context.performAndWait {
        context.undoManager = manager
        _ = UndoStack.insert("a", context)
        context.processPendingChanges()
      }
      #expect(manager.canUndo)
    }
    #expect(gone == nil && !manager.canUndo)
  }

  /// On the main queue the actions of a main-queue context go with it at once.
  @MainActor @Test func aMainQueueContextThatIsGoneLeavesNoActions() throws {
    let stack = try UndoStack()
    let manager = UndoManager()
    do {
      let context = NSManagedObjectContext(.mainQueue)
      context.persistentStoreCoordinator = stack.coordinator
      context.undoManager = manager
      _ = UndoStack.insert("a", context)
      context.processPendingChanges()
      #expect(manager.canUndo)
    }
    #expect(!manager.canUndo)
  }

  @Test func anotherManagerForgetsTheActionsOfTheContext() throws {
    let stack = try UndoStack()
    stack.event { _ = UndoStack.insert("a", $0) }
    stack.context.performAndWait {
      stack.context.undoManager = stack.manager
      #expect(stack.manager.canUndo)
      stack.context.undoManager = nil
      #expect(!stack.manager.canUndo)
      stack.context.undo()
      stack.context.redo()
    }
    #expect(try stack.names() == ["a"])
  }

  /// To describe an event, values are compared, which may run code of the client. What that changes is undone too.
  @Test func changesOfAComparisonAreUndone() throws {
    let stack = try UndoStack()
    let items = try stack.savedItems("a", "b")
    let former = ComparedValue()
    stack.event { _ in items[0]["list"] = former }
    stack.event { _ in
      items[0]["list"] = ComparedValue()
      former.onComparison = { if items[1]["number"] == nil { items[1]["number"] = 1 } }
    }
    stack.context.performAndWait {
      #expect(items[1]["number"] as? Int == 1)
      former.onComparison = nil
    }
    stack.event { $0.undo() }
    stack.context.performAndWait { #expect(items[1]["number"] == nil && items[0]["list"] as? ComparedValue === former) }
  }

  /// Observers of the event may undo it.
  @Test func anObserverUndoesTheEvent() throws {
    let stack = try UndoStack()
    let item = stack.event { UndoStack.insert("a", $0) }
    let context = stack.context
    nonisolated(unsafe) let object = item
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { _ in if object["number"] as? Int == 1 { context.undo() } }
    defer { NotificationCenter.default.removeObserver(observer) }
    stack.event { _ in item["number"] = 1 }
    context.performAndWait {
      #expect(item["number"] == nil && stack.manager.canRedo)
      #expect(stack.manager.undoCount == 1)
    }
  }
}

/// An item that begins and ends a group when it is inserted.
final class GroupingItem: NSManagedObject {
  override func awakeFromInsert() {
    managedObjectContext?.undoManager?.beginUndoGrouping()
    managedObjectContext?.undoManager?.endUndoGrouping()
  }
}

/// A transformable value that runs a closure where it is compared.
private final class ComparedValue: NSObject, NSCoding {
  var onComparison: (() -> Void)?

  override init() {}
  init?(coder: NSCoder) {}
  func encode(with coder: NSCoder) {}

  override func isEqual(_ object: Any?) -> Bool {
    onComparison?()
    return self === object as? ComparedValue
  }
}
