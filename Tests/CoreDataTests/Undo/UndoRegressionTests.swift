import CoreData
import Foundation
import Testing

/// Cases of undo that were once wrong.
@Suite struct UndoRegressionTests {
  /// A member that was inserted and deleted in the event of its owner's deletion does not come back.
  @Test(arguments: ["children", "owned", "friends", "queue"]) func aMemberOfOneEventStaysAway(key: String) throws {
    let stack = try UndoStack()
    let owner = stack.event { UndoStack.insert("owner", $0) }
    stack.event { context in
      let member = UndoStack.insert("member", context)
      owner[key] = key == "queue" ? NSOrderedSet(object: member) : NSSet(object: member)
      context.delete(member)
      context.delete(owner)
    }
    stack.event { $0.undo() }
    stack.context.performAndWait { #expect(UndoStack.linked(owner, key).isEmpty) }
    var names = try stack.names()
    #expect(names == ["owner"])
    stack.event { $0.redo() }
    names = try stack.names()
    #expect(names.isEmpty)
  }

  /// A link and a value that two events set and set back, and a refresh in the second.
  @Test(arguments: ["friends", "picks", "owner", "parent", "line", "partner", "keeps"], [true, false])
  func aRefreshInAnEventChangesNothingThatIsUndone(key: String, refreshesAll: Bool) throws {
    let stack = try UndoStack()
    let (one, two) = stack.event { (UndoStack.insert("one", $0), UndoStack.insert("two", $0)) }
    try stack.saveAll()
    func link(_ other: NSManagedObject?) {
      guard one.entity.relationshipsByName[key]?.isToMany == true else { return one[key] = other }
      one[key] = key == "picks" ? NSOrderedSet(array: other.map { [$0] } ?? []) : NSSet(array: other.map { [$0] } ?? [])
    }
    stack.event { _ in
      link(two)
      one["number"] = 2
    }
    stack.event { context in
      link(nil)
      one["number"] = nil
      if refreshesAll { context.refreshAllObjects() } else { context.refresh(one, mergeChanges: true) }
      context.processPendingChanges()
      context.undo()
      #expect(UndoStack.linked(one, key) == [two] && one["number"] as? Int == 2)
      context.redo()
      #expect(UndoStack.linked(one, key) == [] && one["number"] == nil)
    }
    try stack.saveAll()
    try stack.elsewhere { other in
      for item in try UndoStack.items(other) { #expect(UndoStack.linked(item, key) == []) }
    }
  }

  /// An undo while the context saves changes what is saved.
  @Test func anUndoInASaveIsSaved() throws {
    let stack = try UndoStack()
    let item = try stack.savedItem()
    stack.event { _ in item["number"] = 2 }
    stack.event { _ in item["size"] = 3 }
    let context = stack.context
    try context.performAndWait {
      var undoes = true
      let observer = Observer(.NSManagedObjectContextWillSave, of: context) {
        if undoes { context.undo() }
        undoes = false
      }
      try withExtendedLifetime(observer) { try context.save() }
      #expect(!context.hasChanges && item["size"] as? Int == 7 && item["number"] as? Int == 2)
    }
    try stack.elsewhere { other in
      let saved = try UndoStack.items(other).first
      #expect(saved?["number"] as? Int == 2 && saved?["size"] as? Int == 7)
    }
    stack.event { $0.undo() }
    context.performAndWait { #expect(item["number"] as? Int == 1) }
  }

  /// The same in an object's own method, where nothing is left to save.
  @Test(arguments: ["willSave", "validateForUpdate"]) func anUndoOfAllInASaveLeavesNothing(method: String) throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entitiesByName["Item"]?.managedObjectClassName = "CoreDataTests.UndoingItem"
    let stack = try UndoStack(model: model)
    let item = try #require(try stack.savedItem() as? UndoingItem)
    let other = stack.event { UndoStack.insert("other", $0) }
    try stack.saveAll()
    stack.event { _ in (item["number"], other["number"]) = (2, 2) }
    item.undoes = method
    let context = stack.context
    try context.performAndWait {
      nonisolated(unsafe) var saved: [AnyHashable: Any]?
      let observer = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: context, queue: nil
      ) { saved = $0.userInfo ?? [:] }
      defer { NotificationCenter.default.removeObserver(observer) }
      try context.save()
      #expect(saved?.isEmpty == true && !context.hasChanges)
      #expect(item["number"] as? Int == 1 && other["number"] == nil)
      context.redo()
      #expect(item["number"] as? Int == 2 && other["number"] as? Int == 2)
    }
  }

  private final class Observer: @unchecked Sendable {
    private let token: any NSObjectProtocol
    init(_ name: Notification.Name, of object: AnyObject, _ body: @escaping () -> Void) {
      nonisolated(unsafe) let body = body
      token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { _ in body() }
    }
    deinit { NotificationCenter.default.removeObserver(token) }
  }

  /// A group that ends makes the context register its changes; what observers of those do ends no group.
  @Test(arguments: [Notification.Name.NSUndoManagerWillCloseUndoGroup, .NSUndoManagerDidOpenUndoGroup, nil])
  func observersSaveWhileAGroupEnds(_ name: Notification.Name?) throws {
    let stack = try UndoStack()
    let (context, manager) = (stack.context, stack.manager)
    let observer = Observer(
      name ?? .NSManagedObjectContextObjectsDidChange, of: name == nil ? context : manager
    ) {
      try? context.save()
      context.processPendingChanges()
    }
    withExtendedLifetime(observer) {
      context.performAndWait {
        manager.registerUndo(withTarget: stack) { _ in }
        let item = UndoStack.insert("a", context)
        manager.endUndoGrouping()
        item["number"] = 1
        context.processPendingChanges()
        #expect(manager.groupingLevel == 0 && !context.hasChanges)
        while manager.canUndo { context.undo() }
        #expect(item.isDeleted || item.managedObjectContext == nil)
      }
    }
  }

  private func wakingStack() throws -> UndoStack {
    guard let model = UndoStack.model.copy() as? NSManagedObjectModel else { throw CocoaError(.coreData) }
    model.entities[0].managedObjectClassName = NSStringFromClass(WakingItem.self)
    return try UndoStack(model: model)
  }

  /// What `awakeFromFetch` sets, and what changes while nothing is recorded, is no former value.
  @Test func transientValuesOfOtherEventsAreLeftAlone() throws {
    let stack = try wakingStack()
    let (context, manager) = (stack.context, stack.manager)
    let item = stack.event { context in
      let item = UndoStack.insert("a", context)
      item["memo"] = "new"
      return item
    }
    stack.event { _ in item["memo"] = "later" }
    try context.performAndWait {
      context.undo()
      #expect(item["memo"] as? String == "new")
      try context.save()
      context.refresh(item, mergeChanges: false)
      item["number"] = 1
      context.processPendingChanges()
      context.undo()
      #expect(item["number"] == nil && item["memo"] as? String == "fetched")
      manager.disableUndoRegistration()
      item["memo"] = "hidden"
      context.processPendingChanges()
      manager.enableUndoRegistration()
      item["memo"] = "shown"
      context.processPendingChanges()
      context.undo()
      #expect(item["memo"] as? String == "hidden")
    }
  }

  /// The members were unread when they were deleted together.
  @Test func linksBetweenDeletedObjectsComeBack() throws {
    let stack = try UndoStack()
    try stack.event { (context) throws in
      let items = ["p", "a", "b", "line"].map { UndoStack.insert($0, context) }
      for child in items[1...2] { child["parent"] = items[0] }
      items[1]["friends"] = Set([items[2]])
      items[3]["queue"] = NSOrderedSet(array: [items[2], items[0], items[1]])
      items[3]["parent"] = items[0]
      try context.save()
    }
    let before = try stack.state()
    try stack.context.performAndWait {
      stack.context.refreshAllObjects()
      let top = try #require(try UndoStack.items(stack.context).first { $0["name"] as? String == "p" })
      stack.context.delete(top)
      try stack.context.save()
      stack.context.undo()
      try stack.context.save()
    }
    #expect(try stack.elsewhere { try UndoStack.state($0) } == before)
  }

  @Test(arguments: [1, 2]) func aFaultThatWasDeletedHasItsValuesAgain(levels: Int) throws {
    let stack = try UndoStack(levels: levels)
    let id = try stack.event { context in
      let item = UndoStack.insert("a", context)
      (item["number"], item["photo"]) = (3, Data(repeating: 1, count: 300_000))
      try context.save()
      return item.objectID
    }
    try stack.saveAll()
    stack.context.performAndWait {
      stack.context.reset()
      stack.context.delete(stack.context.object(with: id))
    }
    try stack.saveAll()
    stack.event { $0.undo() }
    try stack.saveAll()
    try stack.elsewhere { (context) throws in
      let item = try #require(try UndoStack.items(context).first)
      #expect(item["name"] as? String == "a" && item["number"] as? Int == 3)
      #expect((item["photo"] as? Data)?.count == 300_000)
    }
  }

  /// The position of a member that leaves an unread ordered relationship.
  @Test(arguments: [false, true]) func anUnreadOrderIsKnown(isDeleted: Bool) throws {
    let stack = try UndoStack()
    try stack.event { (context) throws in
      let items = ["line", "a", "x", "b"].map { UndoStack.insert($0, context) }
      items[0]["queue"] = NSOrderedSet(array: [items[1], items[2], items[3]])
      try context.save()
      context.reset()
      let member = try #require(try UndoStack.items(context).first { $0["name"] as? String == "x" })
      if isDeleted { context.delete(member) } else { member["line"] = nil }
      context.processPendingChanges()
      if isDeleted { try context.save() }
      context.undo()
      try context.save()
    }
    try stack.elsewhere { context in
      let line = try #require(try UndoStack.items(context).first { $0["name"] as? String == "line" })
      #expect(UndoStack.linked(line, "queue").map { $0["name"] as? String } == ["a", "x", "b"])
    }
  }

  /// The undo manager reads what is deleted, but the context's rule for missing rows is for reads of the client.
  @Test func aFaultWithoutARowCanBeDeleted() throws {
    let stack = try UndoStack()
    let item = try stack.savedItem()
    try stack.elsewhere { context in
      try UndoStack.items(context).forEach(context.delete)
      try context.save()
    }
    try stack.context.performAndWait {
      stack.context.shouldDeleteInaccessibleFaults = false
      stack.context.refresh(item, mergeChanges: false)
      stack.context.delete(item)
      try stack.context.save()
      stack.context.undo()
      #expect(try UndoStack.items(stack.context).isEmpty)
    }
  }

  /// Objects that are registered refer to the object that has come back.
  @Test func oneWayLinksLeadToTheObjectAgain() throws {
    let stack = try UndoStack()
    let (keeper, kept) = stack.event { context in
      let (keeper, kept) = (UndoStack.insert("keeper", context), UndoStack.insert("kept", context))
      (keeper["seen"], keeper["keeps"]) = (kept, Set([kept]))
      return (keeper, kept)
    }
    // Its other relationship has not been read.
    let seer = stack.event { UndoStack.insert("seer", $0) }
    stack.event { _ in seer["seen"] = kept }
    try stack.saveAll()
    stack.event { $0.delete(kept) }
    try stack.saveAll()
    stack.event { $0.undo() }
    try stack.saveAll()
    stack.context.performAndWait {
      for item in [keeper, seer] { #expect(item["seen"] as? NSManagedObject === kept) }
    }
    try stack.elsewhere { context in
      let keeper = try #require(try UndoStack.items(context).first { $0["name"] as? String == "keeper" })
      #expect(UndoStack.linked(keeper, "seen").map { $0["name"] as? String } == ["kept"])
      #expect(UndoStack.linked(keeper, "keeps").map { $0["name"] as? String } == ["kept"])
    }
  }

  /// The parent has taken the deletion back, so the child has nothing to insert.
  @Test func anObjectThatTheParentHasBroughtBackIsNotDoubled() throws {
    let stack = try UndoStack(levels: 2)
    let item = stack.event { UndoStack.insert("a", $0) }
    try stack.saveAll()
    stack.event { $0.delete(item) }
    try stack.context.performAndWait { try stack.context.save() }
    stack.contexts[0].performAndWait { stack.contexts[0].rollback() }
    stack.event { $0.undo() }
    try stack.saveAll()
    #expect(try stack.elsewhere { try UndoStack.items($0).count } == 1)
  }

  /// As in Apple's samples: the name comes after the change.
  @Test func aNameBelongsToTheChangesBeforeIt() throws {
    let stack = try UndoStack()
    let item = stack.event { UndoStack.insert("a", $0) }
    stack.event { _ in
      item["number"] = 1
      stack.manager.setActionName("Count")
    }
    #expect(stack.manager.undoActionName == "Count")
    stack.event { $0.undo() }
    #expect(stack.manager.undoActionName == "" && stack.manager.redoActionName == "Count")
  }

  /// A group by hand that lasts longer than a turn leaves no group behind.
  @MainActor @Test func aGroupMayLastSeveralTurns() async {
    let counter = UndoManagerTests.Counter()
    counter.manager.beginUndoGrouping()
    for _ in 0..<3 { await mainQueueTurn() }
    counter.add(1)
    counter.manager.endUndoGrouping()
    await mainQueueTurn()
    #expect(counter.manager.groupingLevel == 0)
    counter.add(2)
    counter.manager.undo()
    #expect(counter.value == 1)
  }

  /// A merge policy's result is no action of its own.
  @Test func aMergeIsNotUndone() throws {
    let stack = try UndoStack()
    let item = stack.event { UndoStack.insert("a", $0) }
    try stack.saveAll()
    try stack.elsewhere { context in
      try UndoStack.items(context)[0]["size"] = 9
      try context.save()
    }
    try stack.context.performAndWait {
      stack.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      (item["size"], item["number"]) = (8, 1)
      try stack.context.save()
      #expect(item["size"] as? Int == 9 && stack.manager.undoCount == 2)
      stack.context.undo()
      #expect(item["number"] == nil)
    }
  }
}

/// An item that sets a transient value when it is read.
final class WakingItem: NSManagedObject {
  override func awakeFromFetch() { setValue("fetched", forKey: "memo") }
}

final class UndoingItem: NSManagedObject {
  var undoes = ""
  private func undo(in method: String) {
    if undoes != method { return }
    undoes = ""
    managedObjectContext?.undo()
  }
  override func willSave() { undo(in: "willSave") }
  override func validateForUpdate() throws {
    try super.validateForUpdate()
    undo(in: "validateForUpdate")
  }
}
