import CoreData
import Foundation
import Testing

/// What `ObjectsDidChange` says of insertions and deletions that are taken back. An observer that mirrors the context
/// by the inserted and deleted objects must have its objects.
@Suite(.ofRootContexts) struct EventAnnouncementTests {
  /// The names of the announced objects by the keys of the notifications.
  ///
  /// Sendable, unchecked: used on the queue of the context.
  private final class Mirror: @unchecked Sendable {
    private var names: [ObjectIdentifier: String] = [:]
    private var keeps: [NSManagedObject] = []
    private(set) var events: [String] = []
    private var observer: (any NSObjectProtocol)?

    init(_ context: NSManagedObjectContext) {
      observer = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
      ) { [unowned self] note in
        for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey] {
          let objects = note.userInfo?[key] as? Set<NSManagedObject> ?? []
          events += objects.map { "\(key) \(names[ObjectIdentifier($0)] ?? "?")" }.sorted()
        }
      }
    }

    deinit { observer.map(NotificationCenter.default.removeObserver) }

    func name(_ object: NSManagedObject) -> NSManagedObject {
      names[ObjectIdentifier(object)] = object["name"] as? String
      keeps.append(object)
      return object
    }

    func take() -> [String] {
      defer { events = [] }
      return events
    }
  }

  private func savedItem(_ stack: UndoStack, _ mirror: Mirror) throws -> NSManagedObject {
    let item = stack.event { mirror.name(UndoStack.insert("saved", $0)) }
    try stack.saveAll()
    _ = mirror.take()
    return item
  }

  @Test func anObjectOfOneEventIsReportedAsDeletedOnce() throws {
    let stack = try UndoStack()
    let mirror = Mirror(stack.context)
    try stack.context.performAndWait {
      let new = mirror.name(UndoStack.insert("new", stack.context))
      stack.context.delete(new)
      stack.context.processPendingChanges()
      #expect(mirror.take() == ["deleted new"])
      #expect(stack.context.deletedObjects == [] && stack.context.insertedObjects == [])
      new.setValue(3, forKey: "number")
      stack.context.processPendingChanges()
      #expect(mirror.take() == [])
      // It may be inserted again.
      stack.context.insert(new)
      stack.context.processPendingChanges()
      #expect(mirror.take() == ["inserted new"])
      new.setValue(4, forKey: "number")
      stack.context.processPendingChanges()
      #expect(mirror.take() == ["updated new"])
      stack.context.delete(new)
      stack.context.processPendingChanges()
      #expect(mirror.take() == ["deleted new"])
      try stack.context.save()
      #expect(mirror.take() == [])
    }
  }

  @Test func anObjectOfOneEventWithUndoRollbackAndSave() throws {
    let stack = try UndoStack()
    let mirror = Mirror(stack.context)
    try stack.context.performAndWait {
      let context = stack.context
      func insertAndDelete(_ name: String) -> NSManagedObject {
        let new = mirror.name(UndoStack.insert(name, context))
        context.delete(new)
        return new
      }
      _ = insertAndDelete("rolled back")
      context.rollback()
      #expect(mirror.take() == [], "its event has not ended")
      _ = insertAndDelete("saved")
      try context.save()
      #expect(mirror.take() == ["deleted saved"])
      let undone = insertAndDelete("undone")
      context.processPendingChanges()
      #expect(mirror.take() == ["deleted undone"])
      context.undo()
      context.processPendingChanges()
      #expect(mirror.take() == [] && undone.isDeleted)
      context.redo()
      context.processPendingChanges()
      #expect(mirror.take() == [])
      try context.save()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 0)
    }
  }

  @Test func aRollbackTakesBackWhatWasAnnounced() throws {
    let stack = try UndoStack()
    let mirror = Mirror(stack.context)
    let saved = try savedItem(stack, mirror)
    stack.context.performAndWait {
      // The deletion of an announced insertion is pending.
      let new = mirror.name(UndoStack.insert("new", stack.context))
      stack.context.processPendingChanges()
      #expect(mirror.take() == ["inserted new"])
      stack.context.delete(new)
      stack.context.rollback()
      #expect(mirror.take() == ["deleted new"])
      // The insertion may be known, for example by the object's own stream.
      _ = mirror.name(UndoStack.insert("early", stack.context))
      stack.context.rollback()
      #expect(mirror.take() == ["deleted early"])
      // Nobody knows of the deletion.
      stack.context.delete(saved)
      stack.context.rollback()
      #expect(mirror.take() == ["refreshed saved"])
      stack.context.delete(saved)
      stack.context.processPendingChanges()
      stack.context.rollback()
      #expect(mirror.take() == ["deleted saved", "inserted saved"])
    }
  }

  @Test func aDeletionThatIsTakenBackLaterIsAnInsertion() throws {
    let stack = try UndoStack()
    let mirror = Mirror(stack.context)
    let saved = try savedItem(stack, mirror)
    let new = stack.event { mirror.name(UndoStack.insert("new", $0)) }
    _ = mirror.take()
    for (item, name) in [(saved, "saved"), (new, "new")] {
      stack.event { $0.delete(item) }
      #expect(mirror.take() == ["deleted \(name)"])
      stack.event { $0.undo() }
      #expect(mirror.take() == ["inserted \(name)"])
      stack.event { context in
        context.delete(item)
        context.insert(item)
      }
      // In one event nothing has happened to it but a change.
      #expect(mirror.take() == ["updated \(name)"])
    }
  }

  @Test func aRefreshTakesADeletionBack() throws {
    let stack = try UndoStack()
    let mirror = Mirror(stack.context)
    let saved = try savedItem(stack, mirror)
    stack.event { $0.delete(saved) }
    stack.event { $0.refresh(saved, mergeChanges: false) }
    #expect(mirror.take() == ["deleted saved", "inserted saved"])
    stack.event { context in
      context.delete(saved)
      context.refresh(saved, mergeChanges: false)
    }
    #expect(mirror.take() == ["refreshed saved"])
  }

  /// A merge policy brings an object back that another context has changed, and what its delete rules had deleted.
  @Test func aMergePolicyTakesDeletionsBack() throws {
    let stack = try UndoStack()
    let mirror = Mirror(stack.context)
    let parent = try savedItem(stack, mirror)
    let child = stack.event { mirror.name(UndoStack.insert("child", $0)) }
    stack.event { _ in child["parent"] = parent }
    try stack.saveAll()
    _ = mirror.take()
    try stack.elsewhere { other in
      other.object(with: parent.objectID)["number"] = 9
      try other.save()
    }
    try stack.context.performAndWait {
      stack.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      stack.context.delete(parent)
      try stack.context.save()
    }
    #expect(mirror.take() == ["deleted child", "deleted saved", "inserted child", "inserted saved"])
    stack.event { _ in child["number"] = 1 }
    #expect(mirror.take() == ["updated child"])
  }

  /// A deleted object that changes again is not announced again.
  @Test func aDeletionIsAnnouncedOnce() throws {
    let stack = try UndoStack()
    let mirror = Mirror(stack.context)
    let saved = try savedItem(stack, mirror)
    let other = stack.event { mirror.name(UndoStack.insert("other", $0)) }
    stack.event { _ in other["seen"] = saved }
    _ = mirror.take()
    stack.event { $0.delete(saved) }
    #expect(mirror.take() == ["deleted saved"])
    stack.event { _ in saved["number"] = 5 }
    #expect(mirror.take() == [])
  }

  /// A merge announces a deletion once, and an object that is there again as inserted.
  @Test func aMergeAnnouncesWhatIsNew() throws {
    let stack = try UndoStack()
    let mirror = Mirror(stack.context)
    let saved = try savedItem(stack, mirror)
    let context = stack.context
    func merge(_ key: String) {
      context.performAndWait {
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: [saved.objectID]], into: [context])
      }
    }
    merge(NSDeletedObjectsKey)
    merge(NSDeletedObjectsKey)
    #expect(mirror.take() == ["deleted saved"])
    merge(NSUpdatedObjectsKey)
    #expect(mirror.take() == ["inserted saved"])
    merge(NSDeletedObjectsKey)
    stack.event { $0.refresh(saved, mergeChanges: false) }
    #expect(mirror.take() == ["deleted saved", "inserted saved"])
    merge(NSUpdatedObjectsKey)
    #expect(mirror.take() == ["refreshed saved"])
    // The context has it already.
    merge(NSInsertedObjectsKey)
    #expect(mirror.take() == ["refreshed saved"])
  }

  /// A child merges its own new object, when its parent saves that.
  @Test func aChildsOwnObjectIsInsertedOnce() throws {
    let stack = try UndoStack(levels: 2)
    let mirror = Mirror(stack.context)
    stack.context.automaticallyMergesChangesFromParent = true
    let item = stack.event { mirror.name(UndoStack.insert("own", $0)) }
    try stack.saveAll()
    stack.event { _ in }
    #expect(mirror.take().filter { $0.hasPrefix("inserted") } == ["inserted own"])
    withExtendedLifetime(item) {}
  }

  /// A refresh of all objects announces those that are gone, and those that are there again.
  @Test func aRefreshOfAllAnnouncesGoneObjects() throws {
    let stack = try UndoStack()
    let mirror = Mirror(stack.context)
    let saved = try savedItem(stack, mirror)
    let id = saved.objectID
    stack.event { _ in saved["size"] = 3 }
    _ = mirror.take()
    try stack.elsewhere { other in
      other.delete(try other.existingObject(with: id))
      try other.save()
    }
    stack.event { $0.refreshAllObjects() }
    #expect(mirror.take() == ["deleted saved"])
    stack.event { $0.refreshAllObjects() }
    #expect(mirror.take() == [])
  }

  /// An observer of a property deletes the object, and ends that event, while a refresh notifies it.
  @Test(arguments: [false, true]) func noObjectIsRefreshedAfterItsDeletion(isMerged: Bool) throws {
    let stack = try UndoStack()
    let mirror = Mirror(stack.context)
    let saved = try savedItem(stack, mirror)
    let context = stack.context
    let observation = stack.event { context in
      saved.observe("number") { item, _ in
        if item.isDeleted { return }
        context.delete(item)
        context.processPendingChanges()
      }
    }
    try stack.elsewhere { other in
      try other.existingObject(with: saved.objectID)["number"] = 9
      try other.save()
    }
    context.performAndWait {
      if isMerged {
        let changes = [NSUpdatedObjectsKey: [saved.objectID]]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
      } else {
        context.refresh(saved, mergeChanges: false)
      }
    }
    #expect(mirror.take() == ["deleted saved"])
    observation.invalidate()
  }

  /// A rollback of a deletion whose row turned out to be gone: it stays deleted, and was announced as such.
  @Test func aGoneObjectIsAnnouncedOnceAfterARollback() throws {
    let stack = try UndoStack()
    let mirror = Mirror(stack.context)
    let saved = try savedItem(stack, mirror)
    stack.event { $0.delete(saved) }
    try stack.elsewhere { other in
      other.delete(try other.existingObject(with: saved.objectID))
      try other.save()
    }
    stack.event { context in
      context.refresh(saved, mergeChanges: true)
      context.rollback()
      let changes = [NSDeletedObjectsKey: [saved.objectID]]
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
    }
    #expect(mirror.take() == ["deleted saved"])
  }
}
