import CoreData
import Foundation
import TestSupport
import Testing

/// Code of the client that a save of a child context calls in the parent, and that changes either of them.
@Suite(.ofRootContexts) struct FamilyCallbackTests {
  // MARK: Changes of the child that saves

  /// The parent's `prepareForDeletion` changes the child whose save deletes the object. These changes are unsaved.
  @Test func whatTheParentsCallbackChangesIsUnsaved() throws {
    let family = try CallingFamily("item", "note", "set back")
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

  /// The validation of one object refreshes the other, which keeps its changes.
  @Test func anObjectRefreshedByTheValidationKeepsItsChanges() throws {
    let family = try CallingFamily("a", "b")
    let child = family.child
    try child.performAndWait {
      let items = [try family.item("a", child), try family.item("b", child)]
      for item in items { item["number"] = 1 }
      var calls = CallingItem.Calls()
      nonisolated(unsafe) var validated: [NSManagedObject] = []
      calls.whenValidated = { item in
        validated.append(item)
        if validated.count == 2 { child.refresh(validated[0], mergeChanges: true) }
      }
      CallingItem.set(calls, child)
      try child.save()
      #expect(validated.count == 2 && items.map { $0["name"] as? String } == ["a", "b"])
    }
    try family.root.performAndWait { try family.root.save() }
    #expect(try family.stored() == ["a", "b"] && family.stored("number") == ["1", "1"])
  }

  /// The callback discards all changes of the child, which are saved by then.
  @Test(arguments: [false, true]) func theCallbackRollsBackTheChild(isReset: Bool) throws {
    let family = try CallingFamily("item")
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
    let family = try CallingFamily("item", "note")
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

  /// The same where the callback ends the event of its changes, and where a grandchild saves them.
  @Test(arguments: [false, true]) func whatTheParentsReadChangesAndEndsIsSaved(isGrandchild: Bool) throws {
    let family = try CallingFamily("item", "note")
    let (root, child) = (family.root, family.child)
    let grandchild = NSManagedObjectContext(.privateQueue)
    grandchild.parent = child
    try child.performAndWait {
      let (item, note) = (try family.item("item", child), try family.item("note", child))
      let lower = try grandchild.performAndWait { try family.item("note", grandchild) }
      root.performAndWait { root.reset() }
      var calls = CallingItem.Calls()
      nonisolated(unsafe) var isFirst = true
      calls.whenRead = { _ in
        if !isFirst { return }
        isFirst = false
        if isGrandchild {
          grandchild.performAndWait {
            lower["name"] = "item read"
            do { try grandchild.save() } catch { Issue.record(error) }
          }
        } else {
          child.performAndWait {
            note["name"] = "item read"
            child.processPendingChanges()
          }
        }
      }
      root.performAndWait { CallingItem.set(calls, root) }
      item["name"] = "changed"
      try child.save()
      #expect(!isFirst && !child.hasChanges && note["name"] as? String == "item read")
    }
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(names == ["changed", "item read"])
  }

  /// A read for the save resets the parent. Nothing that was found before gets lost.
  @Test func aReadForTheSaveResetsTheParent() throws {
    let family = try CallingFamily("item", "other", "third")
    let (root, child) = (family.root, family.child)
    try child.performAndWait {
      let (item, other) = (try family.item("item", child), try family.item("other", child))
      let third = try family.item("third", child)
      root.performAndWait { root.reset() }
      var calls = CallingItem.Calls()
      nonisolated(unsafe) var reads = 0
      calls.whenRead = { [unowned root] _ in
        reads += 1
        if reads < 5 { root.reset() }
      }
      root.performAndWait { CallingItem.set(calls, root) }
      (item["name"], third["name"]) = ("changed", "changed too")
      child.delete(other)
      try child.save()
      #expect(reads > 4 && !child.hasChanges)
    }
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(names == ["changed", "changed too"])
  }

  /// A context above the parent reads an object for the save, whose `awakeFromFetch` changes the child that saves.
  @Test func whatAReadAboveTheParentChangesIsNotLost() throws {
    let stack = try UndoStack(levels: 3, model: CallingFamily.model)
    let (root, middle, leaf) = (stack.contexts[0], stack.contexts[1], stack.contexts[2])
    try stack.elsewhere { context in
      let items = ["x", "a", "b", "note"].map { UndoStack.insert($0, context) }
      items[0]["queue"] = NSOrderedSet(array: Array(items[1...2]))
      try context.save()
    }
    func item(_ name: String) throws -> NSManagedObject {
      try #require(try UndoStack.items(leaf).first { $0["name"] as? String == name })
    }
    try leaf.performAndWait {
      let (x, note) = (try item("x"), try item("note"))
      x["queue"] = NSOrderedSet(array: [try item("b"), try item("a")])
      middle.performAndWait { middle.reset() }
      root.performAndWait { root.reset() }
      var calls = CallingItem.Calls()
      nonisolated(unsafe) var isFirst = true
      calls.whenRead = { read in
        if !isFirst || read["name"] as? String != "x" { return }
        isFirst = false
        leaf.performAndWait { note["name"] = "late" }
      }
      root.performAndWait { CallingItem.set(calls, root) }
      try leaf.save()
      #expect(!isFirst && note["name"] as? String == "late")
      try leaf.save()
    }
    try stack.saveAll()
    let names = try stack.elsewhere { try UndoStack.items($0).compactMap { $0["name"] as? String }.sorted() }
    #expect(names == ["a", "b", "late", "x"])
  }

  /// Callbacks that change the child each time end the save with an error. Nothing is saved, and nothing is lost.
  @Test func aCallbackWithoutEndIsAnError() throws {
    let family = try CallingFamily("item")
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
    let family = try CallingFamily("item")
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
}
