import CoreData
import Foundation
import Testing

/// Undo and redo of objects that other contexts change, or that are refreshed meanwhile.
@Suite struct UndoBesideOthersTests {
  // MARK: Values

  /// An undone value is the one of the row, so it follows the row.
  @Test func anUndoneValueIsNoValueOfItsOwn() throws {
    let stack = try UndoStack(.inMemory)
    let item = try stack.savedItems("a")[0]
    stack.event { _ in item["name"] = "b" }
    stack.event { $0.undo() }
    stack.event { _ in item["number"] = 1 }
    try stack.saveElsewhere { try UndoStack.named("a", $0)["name"] = "theirs" }
    stack.event { $0.refresh(item, mergeChanges: true) }
    stack.context.performAndWait { #expect(item["name"] as? String == "theirs") }
    try stack.saveAll()
    let names = try stack.names()
    #expect(names == ["theirs"])
  }

  /// A large value that was set to nil comes back by the name of its file. It outlives the file.
  @Test func anUndoneLargeValueOutlivesItsFile() throws {
    let stack = try UndoStack()
    let item = try stack.savedItems("a")[0]
    stack.event { _ in item["photo"] = Data(repeating: 7, count: 400_000) }
    try stack.saveAll()
    stack.event { _ in item["photo"] = nil }
    stack.event { $0.undo() }
    stack.event { $0.delete(item) }
    try stack.saveAll()
    try stack.removeLargeValues()
    stack.event { $0.undo() }
    stack.context.performAndWait { #expect((item["photo"] as? Data)?.count == 400_000) }
    try stack.saveAll()
    let saved = try stack.elsewhere { try UndoStack.named("a", $0)["photo"] as? Data }
    #expect(saved?.count == 400_000)
  }

  // MARK: Links

  /// What leads to an undone insertion, and to a redone deletion, is read before: the save forgets it.
  @Test(arguments: ["keeps", "friends", "picks"], [true, false])
  func unreadLinksComeBack(key: String, redoesDeletion: Bool) throws {
    let stack = try UndoStack()
    let kept = try stack.savedItems("kept")[0]
    let owner = stack.event { context in
      let owner = UndoStack.insert("owner", context)
      owner[key] = key == "picks" ? NSOrderedSet(object: kept) : NSSet(object: kept)
      return owner
    }
    try stack.saveAll()
    if redoesDeletion {
      stack.event { $0.delete(owner) }
      stack.event { $0.undo() }
    }
    stack.event { $0.refreshAllObjects() }
    stack.event { if redoesDeletion { $0.redo() } else { $0.undo() } }
    try stack.saveAll()
    var names = try stack.names()
    #expect(names == ["kept"])
    stack.event { if redoesDeletion { $0.undo() } else { $0.redo() } }
    stack.context.performAndWait { #expect(UndoStack.linked(owner, key) == [kept]) }
    try stack.saveAll()
    names = try stack.elsewhere {
      UndoStack.linked(try UndoStack.named("owner", $0), key).compactMap { $0["name"] as? String }
    }
    #expect(names == ["kept"])
  }

  /// An undo takes the deletion back, and no change that others have saved since.
  @Test func anUndoneDeletionKeepsTheLinksOfOthers() throws {
    let stack = try UndoStack(.inMemory)
    let items = try stack.savedItems("owner", "a", "b")
    stack.event { _ in
      items[1]["owner"] = items[0]
      items[0]["queue"] = NSOrderedSet(array: [items[1], items[2]])
    }
    try stack.saveAll()
    stack.event { $0.delete(items[1]) }
    try stack.saveElsewhere { context in
      try UndoStack.named("a", context)["owner"] = nil
      try UndoStack.named("owner", context)["queue"] = NSOrderedSet(array: [
        UndoStack.named("b", context), UndoStack.named("a", context),
      ])
    }
    stack.event { $0.refreshAllObjects() }
    stack.event { $0.undo() }
    stack.context.performAndWait {
      #expect(items[1]["owner"] == nil)
      #expect(UndoStack.linked(items[0], "queue") == [items[2], items[1]])
    }
    try stack.saveAll()
    try stack.elsewhere { context in
      let member = try UndoStack.named("a", context)
      #expect(member["owner"] == nil)
      let queue = UndoStack.linked(try UndoStack.named("owner", context), "queue")
      #expect(queue.map { $0["name"] as? String } == ["b", "a"])
    }
  }

  /// A member that was moved, and whose deletion is taken back, stays with its new owner.
  @Test(arguments: [true, false]) func aRevivedMemberStaysMoved(undoes: Bool) throws {
    let stack = try UndoStack()
    let items = try stack.savedItems("first", "second", "child")
    stack.event { _ in items[2]["parent"] = items[0] }
    try stack.saveAll()
    stack.event { _ in items[2]["parent"] = items[1] }
    stack.event { $0.refresh(items[0], mergeChanges: false) }
    stack.event { _ in #expect(UndoStack.linked(items[0], "children").isEmpty) }
    stack.event { $0.delete(items[2]) }
    stack.event { if undoes { $0.undo() } else { $0.insert(items[2]) } }
    stack.event { context in
      #expect(items[2]["parent"] as? NSManagedObject === items[1])
      #expect(UndoStack.linked(items[0], "children").isEmpty)
      context.delete(items[0])
    }
    try stack.saveAll()
    let names = try stack.names()
    #expect(names == ["child", "second"])
  }

  /// A link without an inverse leads to the object that has come back, also where its owner was not read.
  @Test func anUnreadOneWayLinkLeadsToTheObjectAgain() throws {
    let stack = try UndoStack()
    let items = try stack.savedItems("seer", "seen")
    stack.event { _ in items[0]["seen"] = items[1] }
    try stack.saveAll()
    stack.event { $0.delete(items[1]) }
    try stack.saveAll()
    stack.event { $0.refreshAllObjects() }
    stack.event { $0.undo() }
    stack.context.performAndWait { #expect(items[0]["seen"] as? NSManagedObject === items[1]) }
    try stack.saveAll()
    try stack.elsewhere { context in
      let seen = try UndoStack.named("seer", context)["seen"] as? NSManagedObject
      #expect(seen?["name"] as? String == "seen")
    }
  }

  // MARK: Deletions

  /// The redo of a deletion that was saved follows the delete rules too.
  @Test(arguments: [true, false]) func theRedoOfASavedDeletionFollowsItsRules(refreshes: Bool) throws {
    let stack = try UndoStack()
    let top = try stack.savedItems("top")[0]
    stack.event { $0.delete(top) }
    try stack.saveAll()
    stack.event { $0.undo() }
    try stack.saveAll()
    try stack.saveElsewhere { UndoStack.insert("child", $0)["parent"] = try UndoStack.named("top", $0) }
    if refreshes { stack.event { $0.refreshAllObjects() } }
    stack.event { $0.redo() }
    try stack.saveAll()
    let names = try stack.names()
    #expect(names.isEmpty)
  }

  /// A deleted object is refreshed, and its newer row has a link that its delete rule reaches.
  @Test func aRefreshOfADeletedObjectFollowsItsRulesAgain() throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entities[0].relationshipsByName["partner"]?.deleteRule = .cascadeDeleteRule
    let stack = try UndoStack(model: model)
    stack.context.performAndWait { stack.context.undoManager = nil }
    let items = try stack.savedItems("a", "b")
    stack.event { $0.delete(items[0]) }
    try stack.saveElsewhere { try UndoStack.named("a", $0)["partner"] = try UndoStack.named("b", $0) }
    stack.event { $0.refreshAllObjects() }
    try stack.saveAll()
    let names = try stack.names()
    #expect(names.isEmpty)
  }

  /// A merge leaves a deleted object alone. When it comes back, it has what was merged.
  @Test(arguments: ["undo", "rollback", "insert"]) func aMergeIsMadeUpFor(way: String) throws {
    let stack = try UndoStack()
    let item = try stack.savedItems("a")[0]
    stack.event { $0.delete(item) }
    try stack.saveElsewhere { try UndoStack.named("a", $0)["number"] = 9 }
    stack.event { context in
      let ids = [NSUpdatedObjectIDsKey: Set([item.objectID])]
      context.mergeChanges(
        fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave, object: nil, userInfo: ids))
      #expect(item.isDeleted)
    }
    stack.event { context in
      switch way {
      case "undo": context.undo()
      case "rollback": context.rollback()
      default: context.insert(item)
      }
    }
    stack.event { _ in
      #expect(item["number"] as? Int == 9)
      item["size"] = 3
    }
    try stack.saveAll()
    try stack.elsewhere { context in
      let saved = try UndoStack.named("a", context)
      #expect(saved["number"] as? Int == 9 && saved["size"] as? Int == 3)
    }
  }

  // MARK: The manager

  /// A rollback forgets actions, and leaves registration disabled where the client has disabled it.
  @Test func aRollbackLeavesRegistrationDisabled() throws {
    let stack = try UndoStack()
    let item = try stack.savedItems("a")[0]
    stack.event { context in
      stack.manager.disableUndoRegistration()
      item["number"] = 3
      context.rollback()
      #expect(!stack.manager.isUndoRegistrationEnabled)
      stack.manager.enableUndoRegistration()
      #expect(stack.manager.isUndoRegistrationEnabled && !stack.manager.canUndo)
    }
  }

  /// A refresh comes between the deletion of an owner and its undo. The order that was set before counts as a change.
  @Test(arguments: [["a", "c", "b"], ["a"]]) func anOrderOutlivesTheRefreshOfADeletedOwner(saved: [String]) throws {
    let stack = try UndoStack()
    let items = try stack.savedItems("line", "a", "b", "c")
    func set(_ names: [String]) {
      stack.event { _ in
        let members = names.compactMap { name in items.first { $0["name"] as? String == name } }
        items[0]["queue"] = NSOrderedSet(array: members)
      }
    }
    set(saved)
    try stack.saveAll()
    set(["c", "a", "b"])
    stack.event { $0.delete(items[0]) }
    stack.event { $0.refreshAllObjects() }
    stack.event { $0.undo() }
    stack.event { $0.refreshAllObjects() }
    stack.event { _ in
      #expect(UndoStack.linked(items[0], "queue").map { $0["name"] as? String } == ["c", "a", "b"])
    }
    try stack.saveAll()
    let names = try stack.elsewhere { context in
      UndoStack.linked(try UndoStack.named("line", context), "queue").map { $0["name"] as? String }
    }
    #expect(names == ["c", "a", "b"])
  }

  /// An object with a link that is not saved is deleted, and refreshed after others have saved it. That adds no event.
  @Test func aRefreshOfADeletedObjectIsNoEvent() throws {
    let stack = try UndoStack(.inMemory)
    let items = try stack.savedItems("a", "b")
    stack.event { _ in items[0]["friends"] = NSSet(object: items[1]) }
    stack.event { $0.delete(items[0]) }
    try stack.saveElsewhere { try UndoStack.named("a", $0)["number"] = 9 }
    stack.event { $0.refreshAllObjects() }
    stack.event { $0.undo() }
    stack.event { _ in
      #expect(!items[0].isDeleted && UndoStack.linked(items[1], "friendsOf") == [items[0]])
    }
  }
}
