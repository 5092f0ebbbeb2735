import CoreData
import Foundation
import Testing

/// Undo and redo of a context's changes.
@Suite struct UndoTests {
  @Test(arguments: [1, 2]) func valuesAreUndone(levels: Int) throws {
    let stack = try UndoStack(levels: levels)
    let item = stack.event { UndoStack.insert("a", $0) }
    try stack.saveAll()
    stack.event { _ in
      item["number"] = 1
      item["memo"] = "one"
      item["list"] = [1, 2] as NSArray
      item["address"] = ["city": "Bern", "floor": 3]
      item["photo"] = Data(repeating: 1, count: 300_000)
    }
    stack.event { _ in
      item["number"] = 2
      item["memo"] = "two"
      item["list"] = [3] as NSArray
      item["address"] = nil
      item["photo"] = nil
    }
    try stack.context.performAndWait {
      stack.context.undo()
      #expect(item["number"] as? Int == 1 && item["memo"] as? String == "one" && item["list"] as? [Int] == [1, 2])
      #expect((item["address"] as? [String: Any])?["city"] as? String == "Bern")
      #expect((item["photo"] as? Data)?.count == 300_000)
      stack.context.undo()
      #expect(item["number"] == nil && item["memo"] == nil && item["list"] == nil && item["address"] == nil)
      #expect(item["photo"] == nil && !stack.context.hasChanges)
      stack.context.redo()
      stack.context.redo()
      #expect(item["number"] as? Int == 2 && item["memo"] as? String == "two" && item["list"] as? [Int] == [3])
      try stack.context.save()
      // After the save, undoing makes new changes.
      stack.context.undo()
      #expect(item["number"] as? Int == 1 && stack.context.hasChanges && item.isUpdated)
      #expect((item["photo"] as? Data)?.count == 300_000)
    }
    try stack.saveAll()
    #expect(try stack.elsewhere { try UndoStack.items($0).first?["number"] } as? Int == 1)
  }

  /// The large value of an undone state is in the store again, although a save has removed its file.
  @Test(arguments: [false, true]) func aValueInAFileSurvivesItsRemoval(isReadAgain: Bool) throws {
    let stack = try UndoStack()
    let item = stack.event { context in
      let item = UndoStack.insert("a", context)
      item["photo"] = Data(repeating: 7, count: 400_000)
      return item
    }
    try stack.saveAll()
    // The row then has the name of the file, and not its content.
    if isReadAgain { stack.event { $0.refresh(item, mergeChanges: false) } }
    stack.event { _ in item["photo"] = Data(repeating: 8, count: 400_000) }
    try stack.saveAll()
    stack.event { $0.delete(item) }
    try stack.saveAll()
    try stack.context.performAndWait {
      stack.context.undo()
      #expect((item["photo"] as? Data)?.first == 8)
      stack.context.undo()
      #expect((item["photo"] as? Data)?.first == 7)
      try stack.context.save()
    }
    #expect(
      try stack.elsewhere { try UndoStack.items($0).first?["photo"] as? Data } == Data(repeating: 7, count: 400_000))
  }

  @Test func aDeletionThatIsUndoneKeepsTheID() throws {
    let stack = try UndoStack()
    let (owner, item) = stack.event { ($0, UndoStack.insert("a", $0)) }
    stack.event { _ in item["owner"] = UndoStack.insert("b", owner) }
    try stack.saveAll()
    let id = item.objectID
    stack.event { $0.delete(item) }
    try stack.context.performAndWait {
      #expect(item.isDeleted)
      stack.context.undo()
      #expect(!item.isDeleted && item.objectID == id && !stack.context.hasChanges)
      #expect((item["owner"] as? NSManagedObject)?["owned"] as? Set<NSManagedObject> == [item])
      try stack.context.save()
    }
    #expect(try stack.elsewhere { try UndoStack.items($0).map(\.objectID.description) }.contains(id.description))
  }

  /// A cascade over three levels, with a nullified link and an order, unsaved and saved.
  @Test(arguments: [false, true], [1, 2])
  func aCascadeIsUndone(isSaved: Bool, levels: Int) throws {
    let stack = try UndoStack(levels: levels)
    let top = stack.event { context in
      let items = ["top", "one", "two", "three", "friend", "line"].map { UndoStack.insert($0, context) }
      items[1]["parent"] = items[0]
      items[2]["parent"] = items[0]
      items[3]["parent"] = items[1]
      items[4]["friends"] = Set([items[1], items[2]])
      items[5]["queue"] = NSOrderedSet(array: [items[3], items[0], items[4], items[1]])
      items[2]["photo"] = Data(repeating: 3, count: 200_000)
      return items[0]
    }
    try stack.saveAll()
    let before = try stack.state()
    stack.event { $0.delete(top) }
    if isSaved { try stack.saveAll() }
    #expect(try stack.names() == ["friend", "line"])
    let deleted = try stack.state()
    stack.event { $0.undo() }
    #expect(try stack.state() == before)
    stack.context.performAndWait {
      #expect(stack.context.insertedObjects.count == (isSaved ? 4 : 0) && stack.context.hasChanges == isSaved)
    }
    stack.event { $0.redo() }
    #expect(try stack.state() == deleted)
    stack.event { $0.undo() }
    try stack.saveAll()
    #expect(try stack.elsewhere { try UndoStack.state($0) } == before)
  }

  @Test(arguments: [false, true]) func anInsertionIsUndone(isSaved: Bool) throws {
    let stack = try UndoStack()
    let owner = stack.event { UndoStack.insert("owner", $0) }
    let item = stack.event { context in
      let item = UndoStack.insert("a", context)
      item["owner"] = owner
      return item
    }
    if isSaved { try stack.saveAll() }
    try stack.context.performAndWait {
      stack.context.undo()
      #expect(try UndoStack.items(stack.context) == [owner] && (owner["owned"] as? NSSet)?.count == 0)
      if isSaved { #expect(stack.context.deletedObjects == [item]) } else { #expect(!item.isInserted) }
      try stack.context.save()
      #expect(item.managedObjectContext == nil)
      stack.context.redo()
      // The same object is inserted again, with its values, without defaults and without `awakeFromInsert`.
      #expect(item.isInserted && item.managedObjectContext === stack.context && item["size"] as? Int == 7)
      #expect(item["owner"] as? NSManagedObject === owner && owner["owned"] as? Set<NSManagedObject> == [item])
      try stack.context.save()
    }
    #expect(try stack.elsewhere { try UndoStack.items($0).count } == 2)
  }

  /// "NSSnapshotEventUndoInsertion: a change due to undo from insertion", and so on.
  @Test(arguments: [1, 2]) func objectsAwakeFromSnapshotEvents(levels: Int) throws {
    let chain = try ContextChain(levels: levels)
    let context = chain.contexts[levels - 1]
    context.undoManager = UndoManager()
    try context.performAndWait {
      let object = Awakening(entity: try #require(NSEntityDescription.entity(forEntityName: "Everything", in: context)))
      context.insert(object)
      context.processPendingChanges()
      object["int16"] = 3
      context.processPendingChanges()
      context.delete(object)
      context.processPendingChanges()
      context.undo()
      #expect(object.events == [.undoDeletion])
      context.undo()
      #expect(object.events == [.undoDeletion, .undoUpdate] && object.seen.last == .some(nil))
      context.undo()
      #expect(object.events == [.undoDeletion, .undoUpdate, .undoInsertion])
      context.redo()
      #expect(object.events.last == .undoDeletion && object.insertions == 1)
      #expect(
        NSSnapshotEventType.undoInsertion.rawValue == 2 && NSSnapshotEventType.undoDeletion.rawValue == 4
          && NSSnapshotEventType.undoUpdate.rawValue == 8)
      #expect(
        NSSnapshotEventType.rollback.rawValue == 16 && NSSnapshotEventType.refresh.rawValue == 32
          && NSSnapshotEventType.mergePolicy.rawValue == 64)
    }
  }

  private final class Awakening: NSManagedObject {
    var events: [NSSnapshotEventType] = []
    var seen: [Int?] = []
    var insertions = 0
    convenience init(entity: NSEntityDescription) { self.init(entity: entity, insertInto: nil) }
    override func awakeFromInsert() { insertions += 1 }
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
      events.append(flags)
      seen.append(self["int16"] as? Int)
    }
  }

  @Test func refreshesAndMergesAreNotUndone() throws {
    let stack = try UndoStack()
    let item = try stack.savedItem()
    try stack.elsewhere { context in
      let mine = try UndoStack.items(context)[0]
      (mine["size"], mine["number"]) = (9, 4)
      try context.save()
    }
    try stack.context.performAndWait {
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectsKey: [item.objectID]], into: [stack.context])
      stack.context.processPendingChanges()
      #expect(item["number"] as? Int == 4 && stack.manager.undoCount == 2)
      stack.context.undo()
      // Only what the event has changed gets its former value.
      #expect(item["number"] == nil && item["size"] as? Int == 9)
      try stack.context.save()
    }
  }

  /// An object that others have deleted stays away; the rest of its event is undone.
  @Test func whatOthersHaveDeletedIsLeftOut() throws {
    let stack = try UndoStack()
    let (gone, left) = stack.event { (UndoStack.insert("gone", $0), UndoStack.insert("left", $0)) }
    try stack.saveAll()
    stack.event { _ in
      (gone["number"], left["number"]) = (1, 1)
      gone["friends"] = Set([left])
    }
    try stack.saveAll()
    try stack.elsewhere { context in
      for item in try UndoStack.items(context) where item["name"] as? String == "gone" { context.delete(item) }
      try context.save()
    }
    try stack.context.performAndWait {
      stack.context.refreshAllObjects()
      stack.context.undo()
      #expect(left["number"] == nil && (left["friendsOf"] as? NSSet)?.count == 0)
      try stack.context.save()
      #expect(try UndoStack.items(stack.context) == [left])
    }
  }

  /// Two contexts undo changes of the same object: the later save has a conflict, as with any change.
  @Test func twoContextsUndoTheSameChange() throws {
    let stack = try UndoStack()
    _ = try stack.savedItem()
    try stack.elsewhere { context in
      context.undoManager = UndoManager()
      let mine = try UndoStack.items(context)[0]
      mine["number"] = 2
      try context.save()
      context.undo()
      #expect(mine["number"] as? Int == 1)
      try context.save()
    }
    try stack.context.performAndWait {
      stack.context.undo()
      #expect(throws: CocoaError.self) { try stack.context.save() }
      stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try stack.context.save()
    }
    #expect(try stack.elsewhere { try UndoStack.items($0)[0]["number"] } == nil)
  }

  /// Primitive values that are set alone are no change, so there is nothing to undo.
  @Test func primitiveValuesAreNotRecorded() throws {
    let stack = try UndoStack()
    let item = stack.event { UndoStack.insert("a", $0) }
    stack.event { _ in item.setPrimitiveValue(3, forKey: "number") }
    #expect(stack.manager.undoCount == 1)
    // Setting a value to what it is changes nothing either.
    stack.event { _ in item["number"] = 3 }
    #expect(stack.manager.undoCount == 1)
  }

  @Test func anUndoAfterAFailedSaveGoesBackToBeforeTheEdits() throws {
    let company = try CompanyStore()
    let context = company.context()
    context.undoManager = UndoManager()
    try context.performAndWait {
      let tag = Tag(context: context)
      tag.label = "one"
      try context.save()
      let second = Tag(context: context)
      tag.label = "two"
      context.processPendingChanges()
      #expect(throws: CocoaError.self) { try context.save() }
      context.undo()
      #expect(tag.label == "one" && !second.isInserted && !context.hasChanges)
      try context.save()
    }
    #expect(try company.run { try $0.all(Tag.self).map(\.label) } == ["one"])
  }

  /// An object whose saved deletion is undone has its position again in an ordered relationship without inverse.
  @Test func anUndoneDeletionKeepsItsPosition() throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entitiesByName["Item"]?.relationshipsByName["keeps"]?.isOrdered = true
    let stack = try UndoStack(model: model)
    let (owner, items) = stack.event { context in
      let owner = UndoStack.insert("owner", context)
      let items = ["a", "b", "c"].map { UndoStack.insert($0, context) }
      owner["keeps"] = NSOrderedSet(array: items)
      return (owner, items)
    }
    try stack.saveAll()
    stack.event { $0.delete(items[1]) }
    try stack.saveAll()
    stack.event { $0.undo() }
    func names() -> [String?] {
      stack.event { _ in UndoStack.linked(owner, "keeps").map { $0["name"] as? String } }
    }
    #expect(names() == ["a", "b", "c"])
    try stack.saveAll()
    stack.event { $0.refreshAllObjects() }
    #expect(names() == ["a", "b", "c"])
  }
}
