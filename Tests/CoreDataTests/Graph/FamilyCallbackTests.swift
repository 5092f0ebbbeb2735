import CoreData
import Foundation
import TestSupport
import Testing

/// An item that runs a closure when it is read, and when its deletion is prepared.
final class CallingItem: NSManagedObject {
  struct Calls {
    var whenRead: (CallingItem) -> Void = { _ in }
    var whenDeleted: (CallingItem) -> Void = { _ in }
  }

  /// By context, because tests run in parallel.
  private static let key = "calls"

  static func set(_ calls: Calls, _ context: NSManagedObjectContext) { context.userInfo[key] = calls }

  private var calls: Calls? { managedObjectContext?.userInfo[Self.key] as? Calls }

  override func awakeFromFetch() { calls?.whenRead(self) }
  override func prepareForDeletion() { calls?.whenDeleted(self) }
}

/// Code of the client that a save of a child context calls in the parent, and that changes either of them.
@Suite(.ofRootContexts) struct FamilyCallbackTests {
  private static let model: NSManagedObjectModel = {
    let model = UndoStack.model.copy() as! NSManagedObjectModel
    model.entitiesByName["Item"]?.managedObjectClassName = "CoreDataTests.CallingItem"
    return model
  }()

  private struct Family {
    let stack: UndoStack
    var root: NSManagedObjectContext { stack.contexts[0] }
    var child: NSManagedObjectContext { stack.contexts[1] }

    /// A family on a store that has items with the names.
    init(_ names: String...) throws {
      stack = try UndoStack(levels: 2, model: FamilyCallbackTests.model)
      try stack.elsewhere { context in
        for name in names { _ = UndoStack.insert(name, context) }
        try context.save()
      }
    }

    func item(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
      try #require(try UndoStack.items(context).first { $0["name"] as? String == name })
    }

    func stored(_ key: String = "name") throws -> [String] {
      try stack.elsewhere { try UndoStack.items($0).map { "\($0[key] ?? "nil")" }.sorted() }
    }
  }

  // MARK: Changes of the child that saves

  /// The parent's `prepareForDeletion` changes the child whose save deletes the object. These changes are unsaved.
  @Test func whatTheParentsCallbackChangesIsUnsaved() throws {
    let family = try Family("item", "note", "set back")
    let (root, child) = (family.root, family.child)
    try child.performAndWait {
      let (item, note) = (try family.item("item", child), try family.item("note", child))
      let other = try family.item("set back", child)
      let new = UndoStack.insert("new", child)
      var calls = CallingItem.Calls()
      nonisolated(unsafe) var isFirst = true
      calls.whenDeleted = { _ in
        child.performAndWait {
          if !isFirst { return }
          isFirst = false
          note["name"] = "item gone"
          other["name"] = "set back"
          child.delete(new)
          _ = UndoStack.insert("log", child)
        }
      }
      root.performAndWait { CallingItem.set(calls, root) }
      other["name"] = "changed"
      child.delete(item)
      try child.save()
      #expect(!isFirst && child.hasChanges && child.deletedObjects == [new])
      #expect(child.updatedObjects == [note, other] && child.insertedObjects.count == 1)
      let names = try root.performAndWait { try UndoStack.items(root).compactMap { $0["name"] as? String }.sorted() }
      #expect(names == ["changed", "new", "note"])
      try child.save()
      #expect(!child.hasChanges && new.managedObjectContext == nil)
    }
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(names == ["item gone", "log", "set back"])
  }

  /// The callback discards all changes of the child, which are saved by then.
  @Test(arguments: [false, true]) func theCallbackRollsBackTheChild(isReset: Bool) throws {
    let family = try Family("item")
    let (root, child) = (family.root, family.child)
    try child.performAndWait {
      let (item, new) = (try family.item("item", child), UndoStack.insert("new", child))
      var calls = CallingItem.Calls()
      calls.whenDeleted = { _ in child.performAndWait { if isReset { child.reset() } else { child.rollback() } } }
      root.performAndWait { CallingItem.set(calls, root) }
      child.delete(item)
      try child.save()
      #expect(!child.hasChanges)
      let names = try UndoStack.items(child).map { $0["name"] as? String }
      #expect(names == ["new"])
      withExtendedLifetime(new) {}
    }
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(names == ["new"])
  }

  /// The parent reads an object for the save, and its `awakeFromFetch` changes the child. The save has that, too.
  @Test func whatTheParentsReadChangesIsSaved() throws {
    let family = try Family("item", "note")
    let (root, child) = (family.root, family.child)
    try child.performAndWait {
      let (item, note) = (try family.item("item", child), try family.item("note", child))
      root.performAndWait { root.reset() }
      var calls = CallingItem.Calls()
      nonisolated(unsafe) var isFirst = true
      calls.whenRead = { _ in
        child.performAndWait {
          if isFirst { note["name"] = "item read" }
          isFirst = false
        }
      }
      root.performAndWait { CallingItem.set(calls, root) }
      item["name"] = "changed"
      try child.save()
      #expect(!isFirst && !child.hasChanges)
    }
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(names == ["changed", "item read"])
  }

  /// Callbacks that change the child each time end the save with an error. Nothing is saved, and nothing is lost.
  @Test func aCallbackWithoutEndIsAnError() throws {
    let family = try Family("item")
    let (root, child) = (family.root, family.child)
    try child.performAndWait {
      let item = try family.item("item", child)
      root.performAndWait { root.reset() }
      var calls = CallingItem.Calls()
      calls.whenRead = { _ in child.performAndWait { _ = UndoStack.insert("new", child) } }
      root.performAndWait { CallingItem.set(calls, root) }
      // Makes the root read the object again.
      let watch = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: child, queue: nil
      ) { _ in root.performAndWait { root.reset() } }
      item["name"] = "changed"
      #expect(throws: CocoaError.self) { try child.save() }
      NotificationCenter.default.removeObserver(watch)
      #expect(child.insertedObjects.count == 100 && child.updatedObjects == [item])
      root.performAndWait {
        CallingItem.set(CallingItem.Calls(), root)
        #expect(!root.hasChanges)
      }
      try child.save()
    }
    try root.performAndWait { try root.save() }
    let count = try family.stored().count
    #expect(count == 101)
  }

  /// The read of a deleted fault inserts an object while the root saves. The save has that object too.
  @Test func whatTheReadOfADeletedFaultInsertsIsSaved() throws {
    let family = try Family("item")
    let root = family.root
    try root.performAndWait {
      let item = try family.item("item", root)
      root.refresh(item, mergeChanges: false)
      var calls = CallingItem.Calls()
      calls.whenRead = { [unowned root] _ in _ = UndoStack.insert("read", root) }
      // The rules do not read the object where it is deleted without them.
      CallingItem.set(calls, root)
      root.delete(item)
      try root.save()
      CallingItem.set(CallingItem.Calls(), root)
      #expect(!root.hasChanges && root.insertedObjects.isEmpty)
    }
    let names = Set(try family.stored())
    #expect(names == ["read"])
  }

  /// A value transformer is called while the root writes. A child cannot save to it then, and loses nothing.
  @Test func aWritingRootTakesNoChanges() throws {
    HookedTransformer.register()
    let item = Describing.entity("Item", [Describing.attribute("name"), Describing.attribute("list", .transformable)])
    item.attributesByName["list"]?.valueTransformerName = HookedTransformer.name.rawValue
    let stack = try UndoStack(levels: 2, model: Describing.model([item]))
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    child.performAndWait { _ = UndoStack.insert("child", child) }
    var refusal: CocoaError?
    try root.performAndWait {
      let value = HookedValue {
        child.performAndWait { do { try child.save() } catch { refusal = refusal ?? error as? CocoaError } }
      }
      UndoStack.insert("root", root).setValue(value, forKey: "list")
      try root.save()
      #expect(refusal?.code.rawValue == 132_001 && !root.hasChanges)
    }
    child.performAndWait { #expect(child.insertedObjects.count == 1) }
    try stack.saveAll()
    let names = try stack.elsewhere { try UndoStack.items($0).compactMap { $0["name"] as? String }.sorted() }
    #expect(names == ["child", "root"])
  }

  // MARK: Callbacks that take objects out of the parent

  /// The parent is reset, or its new objects are rolled back, while it takes over deletions.
  @Test(arguments: [false, true]) func theParentIsResetWhileItTakesOverDeletions(isReset: Bool) throws {
    let family = try Family("first", "second")
    let (root, child) = (family.root, family.child)
    let new = root.performAndWait { UndoStack.insert("new", root) }
    try child.performAndWait {
      for item in try UndoStack.items(child) { child.delete(item) }
      var calls = CallingItem.Calls()
      nonisolated(unsafe) var isFirst = true
      calls.whenDeleted = { _ in
        if !isFirst { return }
        isFirst = false
        if isReset { root.reset() } else { root.rollback() }
      }
      root.performAndWait { CallingItem.set(calls, root) }
      try child.save()
    }
    withExtendedLifetime(new) {}
    try root.performAndWait { try root.save() }
  }

  /// A child saves within the parent's `awakeFromFetch`. What an observer of the parent changes then is saved.
  @Test func whatAnObserverChangesWithinAnAwakeningIsSaved() throws {
    let family = try Family("read", "other")
    let (root, child) = (family.root, family.child)
    nonisolated(unsafe) let (read, other) = try root.performAndWait {
      (try family.item("read", root), try family.item("other", root))
    }
    try child.performAndWait { try family.item("other", child)["name"] = "changed" }
    try root.performAndWait {
      root.refresh(read, mergeChanges: false)
      var calls = CallingItem.Calls()
      calls.whenRead = { [unowned root] item in
        if item !== read || child.performAndWait({ !child.hasChanges }) { return }
        CallingItem.set(CallingItem.Calls(), root)
        child.performAndWait { try? child.save() }
      }
      let watch = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: root, queue: nil
      ) { _ in if other["number"] as? Int != 2 { other["number"] = 2 } }
      CallingItem.set(calls, root)
      _ = read["name"]
      NotificationCenter.default.removeObserver(watch)
      #expect(other["number"] as? Int == 2)
      try root.save()
    }
    let numbers = try family.stored("number")
    #expect(numbers == ["2", "nil"] || numbers == ["0", "2"])
  }

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
