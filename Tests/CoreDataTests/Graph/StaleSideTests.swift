import CoreData
import Foundation
import TestSupport
import Testing

/// Links whose two sides a context has read at different times, or that others change beside a deletion.
@Suite(.ofRootContexts) struct StaleSideTests {
  private func merge(_ objects: [NSManagedObject], as key: String, _ context: NSManagedObjectContext) {
    let ids = [key: Set(objects.map(\.objectID))]
    context.mergeChanges(
      fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave, object: nil, userInfo: ids))
  }

  private func parent(_ name: String, _ stack: UndoStack) throws -> String? {
    try stack.elsewhere { (try UndoStack.named(name, $0)["parent"] as? NSManagedObject)?["name"] as? String }
  }

  /// The owner and one member, whose members are read, and another owner to which another context then moves the
  /// member.
  private func moved() throws -> (UndoStack, [NSManagedObject]) {
    let stack = try UndoStack(.inMemory)
    let items = try stack.savedItems("a", "b", "m")
    stack.event { _ in items[2]["parent"] = items[0] }
    try stack.saveAll()
    stack.event { $0.refreshAllObjects() }
    stack.event { _ in #expect(UndoStack.linked(items[0], "children").count == 1) }
    try stack.saveElsewhere { try UndoStack.named("m", $0)["parent"] = try UndoStack.named("b", $0) }
    return (stack, items)
  }

  @Test(arguments: [true, false]) func aCascadeLeavesAMovedMember(refreshes: Bool) throws {
    let (stack, items) = try moved()
    if refreshes { stack.event { $0.refresh(items[2], mergeChanges: false) } }
    stack.event { $0.delete(items[0]) }
    try stack.saveAll()
    let names = try stack.names()
    #expect(names == ["b", "m"])
    let owner = try parent("m", stack)
    #expect(owner == "b")
  }

  @Test func aMovedMemberCanBeAddedAgain() throws {
    let (stack, items) = try moved()
    stack.event { context in
      context.refresh(items[2], mergeChanges: false)
      items[0].mutableSetValue(forKey: "children").add(items[2])
      #expect(items[2]["parent"] as? NSManagedObject === items[0])
    }
    try stack.saveAll()
    let owner = try parent("m", stack)
    #expect(owner == "a")
  }

  /// A delete rule has ended the member's link. A merge brings the new link that another context has set.
  @Test func aMergedLinkReplacesTheOneThatARuleHasEnded() throws {
    let stack = try UndoStack(.inMemory)
    let items = try stack.savedItems("a", "b", "m")
    stack.event { _ in items[2]["owner"] = items[0] }
    try stack.saveAll()
    stack.event { $0.delete(items[0]) }
    try stack.saveElsewhere { try UndoStack.named("m", $0)["owner"] = try UndoStack.named("b", $0) }
    stack.event { context in
      merge([items[2]], as: NSUpdatedObjectIDsKey, context)
      #expect(items[2]["owner"] as? NSManagedObject === items[1])
    }
    try stack.saveAll()
    let owner = try stack.elsewhere { (try UndoStack.named("m", $0)["owner"] as? NSManagedObject)?["name"] as? String }
    #expect(owner == "b")
  }

  /// The context has given the partner to another object. A merge brings the new partner that another context has set.
  @Test func aMergedPartnerReplacesTheOneThatWasTakenAway() throws {
    let stack = try UndoStack(.inMemory)
    let items = try stack.savedItems("a", "b", "p", "q")
    stack.event { _ in items[0]["partner"] = items[2] }
    try stack.saveAll()
    stack.event { _ in
      items[1]["partner"] = items[2]
      #expect(items[0]["partner"] == nil)
    }
    try stack.saveElsewhere { try UndoStack.named("a", $0)["partner"] = try UndoStack.named("q", $0) }
    stack.event { context in
      merge([items[0], items[2], items[3]], as: NSUpdatedObjectIDsKey, context)
      #expect(items[0]["partner"] as? NSManagedObject === items[3])
    }
    try stack.saveAll()
    let links = try stack.elsewhere { context in
      try ["a", "b"].map { (try UndoStack.named($0, context)["partner"] as? NSManagedObject)?["name"] as? String }
        + ["p", "q"].map { (try UndoStack.named($0, context)["partnerOf"] as? NSManagedObject)?["name"] as? String }
    }
    #expect(links == ["q", "p", "b", "a"])
  }

  /// A merge says that the destination of a new object's mandatory link is deleted. The link would be stored as nil.
  @Test func aMandatoryLinkToAMergedDeletionIsMissing() throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entities[0].relationshipsByName["owner"]?.isOptional = false
    let stack = try UndoStack(.inMemory, model: model)
    let items = stack.event { context in ["r", "o"].map { UndoStack.insert($0, context) } }
    stack.event { _ in for item in items { item["owner"] = items[0] } }
    try stack.saveAll()
    stack.event { UndoStack.insert("n", $0)["owner"] = items[1] }
    try stack.saveElsewhere { $0.delete(try UndoStack.named("o", $0)) }
    stack.event { merge([items[1]], as: NSDeletedObjectIDsKey, $0) }
    stack.context.performAndWait {
      let error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code == .validationMissingMandatoryProperty)
    }
  }

  /// A child appends a member. The others keep the order that another child has saved.
  @Test func anAppendedMemberChangesNoOrder() throws {
    let stack = try UndoStack(.inMemory, levels: 2)
    let items = try stack.savedItems("line", "a", "b")
    stack.event { _ in items[0]["queue"] = NSOrderedSet(array: [items[1], items[2]]) }
    try stack.saveAll()
    stack.event { _ in #expect(UndoStack.linked(items[0], "queue").count == 2) }
    let other = NSManagedObjectContext(.privateQueue)
    other.parent = stack.contexts[0]
    try other.performAndWait {
      try UndoStack.named("line", other)["queue"] = NSOrderedSet(array: [
        UndoStack.named("b", other), UndoStack.named("a", other),
      ])
      try other.save()
    }
    stack.event { context in
      let queue = items[0].mutableOrderedSetValue(forKey: "queue")
      for name in ["c", "d"] { queue.add(UndoStack.insert(name, context)) }
    }
    try stack.saveAll()
    let names = try stack.elsewhere { context in
      UndoStack.linked(try UndoStack.named("line", context), "queue").compactMap { $0["name"] as? String }
    }
    #expect(names == ["b", "a", "c", "d"])
  }

  // MARK: Sub-entities

  private func family(levels: Int) throws -> UndoStack {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    let sub = NSEntityDescription()
    sub.name = "Sub"
    model.entities[0].subentities = [sub]
    model.entities.append(sub)
    return try UndoStack(.inMemory, levels: levels, model: model)
  }

  private func insertSub(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
    let item = NSEntityDescription.insertNewObject(forEntityName: "Sub", into: context)
    item["name"] = name
    return item
  }

  /// The parent has deleted the owner with its member, and a child saves a change of the member.
  @Test func aMemberThatAChildHasChangedOutlivesASubEntity() throws {
    let stack = try family(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let (owner, member) = stack.event { context in
      let (owner, member) = (insertSub("owner", context), UndoStack.insert("member", context))
      member["parent"] = owner
      return (owner, member)
    }
    try stack.saveAll()
    root.performAndWait {
      root.delete(root.object(with: owner.objectID))
      root.processPendingChanges()
    }
    child.performAndWait { member["name"] = "mine" }
    try stack.saveAll()
    let names = try stack.names()
    #expect(names == ["mine"])
  }

  /// A link of an item and a sub-item is undone, which leaves no change.
  @Test func anUndoneLinkOfASubEntityLeavesNothing() throws {
    let stack = try family(levels: 1)
    let (item, sub) = stack.event { (UndoStack.insert("item", $0), insertSub("sub", $0)) }
    try stack.saveAll()
    stack.event { $0.refreshAllObjects() }
    stack.event { _ in
      sub["number"] = 1
      item.mutableSetValue(forKey: "friends").add(sub)
    }
    stack.event { context in
      context.undo()
      #expect(!context.hasChanges)
    }
    try stack.saveElsewhere {
      try UndoStack.named("item", $0)["friends"] = NSSet(object: try UndoStack.named("sub", $0))
    }
    stack.event { merge([item, sub], as: NSUpdatedObjectIDsKey, $0) }
    try stack.saveAll()
    let count = try stack.elsewhere { UndoStack.linked(try UndoStack.named("item", $0), "friends").count }
    #expect(count == 1)
  }

  // MARK: Merges beside deletions

  /// A parent has deleted an object, and merged what others have changed in it. A child's change brings it back.
  @Test func aMergeIsMadeUpForWhenAChildBringsTheObjectBack() throws {
    let stack = try UndoStack(.inMemory, levels: 2)
    let item = try stack.savedItems("a")[0]
    let root = stack.contexts[0]
    stack.event { _ in #expect(item["number"] == nil) }
    root.performAndWait {
      root.delete(root.object(with: item.objectID))
      root.processPendingChanges()
    }
    try stack.saveElsewhere { try UndoStack.named("a", $0)["number"] = 9 }
    root.performAndWait { merge([root.object(with: item.objectID)], as: NSUpdatedObjectIDsKey, root) }
    stack.event { _ in item["size"] = 3 }
    try stack.saveAll()
    let saved = try stack.elsewhere { context in
      let saved = try UndoStack.named("a", context)
      return [saved["number"] as? Int, saved["size"] as? Int]
    }
    #expect(saved == [9, 3])
  }
}
