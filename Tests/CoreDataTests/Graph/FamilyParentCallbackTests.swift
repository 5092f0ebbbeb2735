import CoreData
import Foundation
import TestSupport
import Testing

/// Code of the client that a save of a child context calls in the parent, and that changes the parent.
@Suite(.ofRootContexts) struct FamilyParentCallbackTests {
  // MARK: Later changes and deletions

  /// A deletion that the callback makes, in a save of the child within the save, is later than the child's change.
  @Test func aLaterDeletionStays() throws {
    let family = try CallingFamily("a", "b")
    let (root, child) = (family.root, family.child)
    try child.performAndWait {
      let (a, b) = (try family.item("a", child), try family.item("b", child))
      var calls = CallingItem.Calls()
      nonisolated(unsafe) var isFirst = true
      calls.whenDeleted = { _ in
        if !isFirst { return }
        isFirst = false
        child.performAndWait {
          child.delete(b)
          do { try child.save() } catch { Issue.record(error) }
        }
      }
      root.performAndWait { CallingItem.set(calls, root) }
      b["name"] = "changed"
      child.delete(a)
      try child.save()
      #expect(!child.hasChanges)
    }
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(names == [])
  }

  /// The callback changes an object that is still to be deleted by the same save, by way of another child: that is
  /// later, and the object stays.
  @Test func aLaterChangeKeepsAnObject() throws {
    let family = try CallingFamily("a", "b")
    let (root, child) = (family.root, family.child)
    let sibling = NSManagedObjectContext(.privateQueue)
    sibling.parent = root
    let others = try sibling.performAndWait {
      let items = try UndoStack.items(sibling)
      for item in items { _ = item["number"] }
      return items
    }
    try child.performAndWait {
      for item in try UndoStack.items(child) { child.delete(item) }
      var calls = CallingItem.Calls()
      nonisolated(unsafe) var isFirst = true
      calls.whenDeleted = { deleted in
        if !isFirst { return }
        isFirst = false
        sibling.performAndWait {
          let other = others.first { $0.objectID != deleted.objectID }
          other?["name"] = "kept"
          do { try sibling.save() } catch { Issue.record(error) }
        }
      }
      root.performAndWait { CallingItem.set(calls, root) }
      try child.save()
    }
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(names == ["kept"])
    withExtendedLifetime(others) {}
  }

  /// The parent cannot be saved while it has only a part of a child's save.
  @Test func theParentIsNotSavedInBetween() throws {
    let family = try CallingFamily("item", "note")
    let (root, child) = (family.root, family.child)
    var refusal: CocoaError?
    try child.performAndWait {
      let (item, note) = (try family.item("item", child), try family.item("note", child))
      var calls = CallingItem.Calls()
      calls.whenDeleted = { [unowned root] _ in
        do { try root.save() } catch { refusal = error as? CocoaError }
      }
      root.performAndWait { CallingItem.set(calls, root) }
      note["name"] = "changed"
      child.delete(item)
      try child.save()
    }
    #expect(refusal != nil)
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(names == ["changed"])
  }

  /// A rollback of the parent in its `prepareForDeletion` discards all that it has taken over.
  @Test func aRollbackOfTheParentDiscardsTheWholeSave() throws {
    let family = try CallingFamily("first", "note", "second")
    let (root, child) = (family.root, family.child)
    try child.performAndWait {
      let note = try family.item("note", child)
      var calls = CallingItem.Calls()
      nonisolated(unsafe) var isFirst = true
      calls.whenDeleted = { [unowned root] _ in
        if isFirst { root.rollback() }
        isFirst = false
      }
      root.performAndWait { CallingItem.set(calls, root) }
      for name in ["first", "second"] { child.delete(try family.item(name, child)) }
      note["name"] = "changed"
      try child.save()
    }
    try root.performAndWait {
      #expect(!root.hasChanges)
      try root.save()
    }
    let names = try family.stored()
    #expect(names == ["first", "note", "second"])
  }

  /// The rules of what the child deletes reach an object, in the parent only, that the child has changed. It keeps what
  /// the child has set, and what belongs to it.
  @Test func anObjectThatTheRulesReachKeepsItsLinks() throws {
    let family = try CallingFamily("o", "x", "f", "y")
    let (root, child) = (family.root, family.child)
    try family.stack.elsewhere { context in
      try family.item("y", context)["parent"] = try family.item("x", context)
      try context.save()
    }
    try child.performAndWait {
      let (o, x) = (try family.item("o", child), try family.item("x", child))
      #expect(UndoStack.linked(o, "children") == [] && x["parent"] == nil)
      try root.performAndWait {
        try family.item("x", root)["parent"] = try family.item("o", root)
        root.processPendingChanges()
      }
      x["owner"] = try family.item("f", child)
      child.delete(o)
      try child.save()
    }
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(names == ["f", "x", "y"])
    try family.stack.elsewhere { context in
      let x = try family.item("x", context)
      #expect((x["owner"] as? NSManagedObject)?["name"] as? String == "f" && x["parent"] == nil)
    }
  }

  /// A sibling's save within the deletion is later than the rules of that deletion.
  @Test func aLaterChangeIsNotReachedByRules() throws {
    let family = try CallingFamily("o", "x")
    let (root, child) = (family.root, family.child)
    try family.stack.elsewhere { context in
      try family.item("x", context)["parent"] = try family.item("o", context)
      try context.save()
    }
    let sibling = NSManagedObjectContext(.privateQueue)
    sibling.parent = root
    let other = try sibling.performAndWait {
      let item = try family.item("x", sibling)
      _ = item["number"]
      return item
    }
    try child.performAndWait {
      var calls = CallingItem.Calls()
      nonisolated(unsafe) var isFirst = true
      calls.whenDeleted = { _ in
        if !isFirst { return }
        isFirst = false
        sibling.performAndWait {
          other["name"] = "kept"
          do { try sibling.save() } catch { Issue.record(error) }
        }
      }
      root.performAndWait { CallingItem.set(calls, root) }
      child.delete(try family.item("o", child))
      try child.save()
    }
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(names == ["kept"])
  }

  // MARK: Deletions that callbacks meet

  /// A refresh in the parent's `prepareForDeletion` leaves the deletion.
  @Test func aRefreshedObjectIsDeleted() throws {
    let family = try CallingFamily("item")
    let (root, child) = (family.root, family.child)
    try child.performAndWait {
      var calls = CallingItem.Calls()
      calls.whenDeleted = { [unowned root] in root.refresh($0, mergeChanges: false) }
      root.performAndWait { CallingItem.set(calls, root) }
      child.delete(try family.item("item", child))
      try child.save()
    }
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(names == [])
  }

  /// A fetch in a callback applies the rules of the deletions so far. An object that they delete, and that the child
  /// has changed, stays nevertheless.
  @Test func aFetchInACallbackLosesNoChange() throws {
    let family = try CallingFamily("o", "p", "x")
    let (root, child) = (family.root, family.child)
    try child.performAndWait {
      let (o, p) = (try family.item("o", child), try family.item("p", child))
      let x = try family.item("x", child)
      #expect(UndoStack.linked(o, "children") == [] && x["parent"] == nil)
      var calls = CallingItem.Calls()
      calls.whenDeleted = { [unowned root] _ in _ = try? UndoStack.items(root) }
      try root.performAndWait {
        try family.item("x", root)["parent"] = try family.item("o", root)
        root.processPendingChanges()
        CallingItem.set(calls, root)
      }
      x["name"] = "kept"
      child.delete(o)
      child.delete(p)
      try child.save()
    }
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(names == ["kept"])
  }

  /// Each object is prepared once for its deletion, and has the members that are to be deleted with it.
  @Test(arguments: [false, true]) func eachDeletionIsPreparedOnce(isRead: Bool) throws {
    let family = try CallingFamily("p", "c")
    let (root, child) = (family.root, family.child)
    try family.stack.elsewhere { context in
      try family.item("c", context)["parent"] = try family.item("p", context)
      try context.save()
    }
    nonisolated(unsafe) var prepared: [String] = []
    var calls = CallingItem.Calls()
    calls.whenDeleted = { [unowned root] item in
      prepared.append(item["name"] as? String ?? "")
      for member in UndoStack.linked(item, "children") { root.delete(member) }
    }
    try root.performAndWait {
      let parent = try family.item("p", root)
      if isRead { #expect(UndoStack.linked(parent, "children").count == 1) }
      CallingItem.set(calls, root)
    }
    try child.performAndWait {
      child.delete(try family.item("p", child))
      try child.save()
    }
    try root.performAndWait { try root.save() }
    let names = try family.stored()
    #expect(prepared == ["p", "c"] && names == [])
  }

  /// A child's deletion is undone in the parent, with the position of the object, also where a callback fetches.
  @Test func aChildsDeletionIsUndoneInTheParent() throws {
    let family = try CallingFamily("l", "a", "d", "b")
    let (root, child) = (family.root, family.child)
    try family.stack.elsewhere { context in
      let items = try ["a", "d", "b"].map { try family.item($0, context) }
      try family.item("l", context)["queue"] = NSOrderedSet(array: items)
      try context.save()
    }
    let manager = UndoManager()
    var calls = CallingItem.Calls()
    calls.whenDeleted = { [unowned root] _ in _ = try? UndoStack.items(root) }
    root.performAndWait {
      root.undoManager = manager
      CallingItem.set(calls, root)
    }
    try child.performAndWait {
      child.delete(try family.item("d", child))
      try child.save()
    }
    try root.performAndWait {
      #expect(UndoStack.linked(try family.item("l", root), "queue").count == 2)
      root.undo()
      let names = UndoStack.linked(try family.item("l", root), "queue").map { $0["name"] as? String }
      #expect(names == ["a", "d", "b"])
    }
  }

  // MARK: Callbacks that take objects out of the parent

  /// The parent is reset, or its new objects are rolled back, while it takes over deletions.
  @Test(arguments: [false, true]) func theParentIsResetWhileItTakesOverDeletions(isReset: Bool) throws {
    let family = try CallingFamily("first", "second")
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
    let family = try CallingFamily("read", "other")
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
}
