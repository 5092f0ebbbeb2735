import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Former defects of contexts with parents and children, one test each.
@Suite struct FamilyRegressionTests {
  /// Two owners and a member of the first, which the root has saved.
  private func family(_ stack: UndoStack) throws -> (first: NSManagedObject, second: NSManagedObject, NSManagedObject) {
    let made = stack.event { context in
      let (first, second) = (UndoStack.insert("first", context), UndoStack.insert("second", context))
      let member = UndoStack.insert("member", context)
      member["parent"] = first
      return (first, second, member)
    }
    try stack.saveAll()
    return made
  }

  private func named(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    try #require(try UndoStack.items(context).first { $0["name"] as? String == name })
  }

  private func stored(_ stack: UndoStack) throws -> [String] {
    try stack.elsewhere { other in try UndoStack.items(other).compactMap { $0["name"] as? String }.sorted() }
  }

  // MARK: Links that were read at different moments

  /// The members of an owner are newer than the member's own side. A link that is set there makes it no second time a
  /// member, and a link that ends leaves nothing behind that a cascade would delete.
  @Test func aMemberIsListedOnce() throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let (first, second, member) = try family(stack)
    child.performAndWait {
      child.refreshAllObjects()
      #expect(member["parent"] as? NSManagedObject === first)
    }
    try parent.performAndWait {
      try named("member", parent)["parent"] = try named("second", parent)
      parent.processPendingChanges()
    }
    try child.performAndWait {
      #expect(UndoStack.linked(second, "children") == [member] && member["parent"] as? NSManagedObject === first)
      member["parent"] = second
      #expect(second.mutableSetValue(forKey: "children").count == 1)
      member["parent"] = nil
      #expect(second.mutableSetValue(forKey: "children").count == 0)
      child.delete(second)
      try child.save()
    }
    try stack.saveAll()
    let names = try stored(stack)
    #expect(names == ["first", "member"])
  }

  /// The same in one context, where the member is read after another context has moved it.
  @Test func aMovedMemberIsListedOnce() throws {
    let stack = try UndoStack()
    let (first, second, member) = try family(stack)
    stack.event { _ in member["parent"] = second }
    try stack.saveAll()
    stack.context.performAndWait {
      stack.context.refreshAllObjects()
      #expect(UndoStack.linked(second, "children") == [member])
    }
    try stack.elsewhere { other in
      try named("member", other)["parent"] = try named("first", other)
      try other.save()
    }
    try stack.context.performAndWait {
      stack.context.refresh(member, mergeChanges: true)
      #expect(member["parent"] as? NSManagedObject === first)
      member["parent"] = second
      #expect(second.mutableSetValue(forKey: "children").count == 1)
      member["parent"] = nil
      stack.context.delete(second)
      try stack.context.save()
      #expect(try UndoStack.items(stack.context).count == 2)
    }
  }

  /// An object that is inserted again after its deletion was saved may still be among the members of its former owner.
  @Test func aMemberThatComesBackIsListedOnce() throws {
    let (one, many) = (Describing.entity("One"), Describing.entity("Many", [Describing.attribute("name")]))
    Describing.relate(one, "members", toMany: true, many, "owner", toManyBack: false)
    one.relationshipsByName["members"]?.deleteRule = .cascadeDeleteRule
    many.relationshipsByName["owner"]?.deleteRule = .noActionDeleteRule
    let context = try Describing.context(Describing.model([one, many]))
    try context.performAndWait {
      let owner = NSEntityDescription.insertNewObject(forEntityName: "One", into: context)
      let member = NSEntityDescription.insertNewObject(forEntityName: "Many", into: context)
      member["owner"] = owner
      try context.save()
      context.delete(member)
      try context.save()
      context.insert(member)
      member["owner"] = owner
      #expect(owner.mutableSetValue(forKey: "members").count == 1)
      member["owner"] = nil
      #expect(owner.mutableSetValue(forKey: "members").count == 0)
      context.delete(owner)
      try context.save()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Many")) == 1)
    }
  }

  // MARK: Objects that come back

  /// A deletion and what takes it back are merged as one change.
  @Test func aDeletionThatWasTakenBackIsNone() throws {
    let stack = try UndoStack()
    let (parent, item) = (stack.context, try stack.savedItem())
    let children = (0..<3).map { _ in
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = parent
      return child
    }
    let id = item.objectID
    let seen = try children.map { child in try child.performAndWait { try child.existingObject(with: id) } }
    children[2].automaticallyMergesChangesFromParent = true
    nonisolated(unsafe) let (first, second) = (seen[0], seen[1])
    children[2].performAndWait {
      let saved = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        do {
          try children[0].performAndWait {
            children[0].delete(first)
            try children[0].save()
          }
          try children[1].performAndWait {
            second["number"] = 5
            try children[1].save()
          }
        } catch { Issue.record(error) }
        saved.signal()
      }
      saved.wait()
    }
    children[2].performAndWait { #expect(!seen[2].isDeleted && seen[2]["number"] as? Int == 5) }
  }

  /// A parent's deletion that is rolled back: the child has the object again with its next fetch, and can change it.
  @Test(arguments: [false, true]) func whatTheParentHasAgainCanBeChanged(byMerge: Bool) throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let (first, _, member) = try family(stack)
    child.performAndWait { child.refreshAllObjects() }
    let id = member.objectID
    try parent.performAndWait {
      parent.delete(try named("member", parent))
      parent.processPendingChanges()
    }
    child.performAndWait { #expect(member["name"] == nil && member.isDeleted) }
    parent.performAndWait { parent.rollback() }
    try child.performAndWait {
      if byMerge {
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSUpdatedObjectsKey: [id.uriRepresentation()]], into: [child])
      } else {
        let found = try UndoStack.items(child)
        #expect(found.count == 3)
      }
      #expect(!member.isDeleted && member["name"] as? String == "member")
      #expect(UndoStack.linked(first, "children") == [member])
      member["name"] = "new"
      #expect(member.hasChanges)
    }
    try stack.saveAll()
    let names = try stored(stack)
    #expect(names == ["first", "new", "second"])
  }

  // MARK: Saves in callbacks

  /// Changes in `awakeFromFetch` are not tracked. What a child saves meanwhile is.
  @Test func aSaveInAwakeFromFetchIsTracked() throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entitiesByName["Item"]?.managedObjectClassName = "CoreDataTests.HookedItem"
    let stack = try UndoStack(levels: 2, model: model)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let (first, _, member) = try family(stack)
    child.performAndWait {
      first["name"] = "changed"
      child.delete(member)
      _ = UndoStack.insert("third", child)
    }
    try parent.performAndWait {
      parent.refreshAllObjects()
      let second = try #require(try UndoStack.items(parent).first { $0.objectID != first.objectID })
      parent.refresh(second, mergeChanges: false)
      let hook = HookedItem.Hook { _ = child.performAndWait { Result { try child.save() } } }
      HookedItem.$hook.withValue(hook) { _ = second["name"] }
      #expect(hook.hasRun && !child.performAndWait { child.hasChanges })
      #expect(parent.updatedObjects.contains { $0.objectID == first.objectID })
      #expect(parent.deletedObjects.count == 1 && parent.insertedObjects.count == 1)
      try parent.save()
    }
    let names = try stored(stack)
    #expect(names == ["changed", "second", "third"])
  }

  /// A root that plans its save reads a deleted fault. What a child saved meanwhile would not be in the plan.
  @Test func aSaveWhileTheRootPlansIsRefused() throws {
    let item = Describing.entity("Item", [Describing.attribute("name")])
    item.managedObjectClassName = "CoreDataTests.HookedItem"
    let stack = try UndoStack(levels: 2, model: Describing.model([item]))
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let (first, second) = stack.event { (UndoStack.insert("first", $0), UndoStack.insert("second", $0)) }
    try stack.saveAll()
    child.performAndWait { first["name"] = "changed" }
    let hook = HookedItem.Hook { _ = child.performAndWait { Result { try child.save() } } }
    let id = second.objectID
    try root.performAndWait {
      root.reset()
      let gone = root.object(with: id)
      root.delete(gone)
      #expect(gone.isFault)
      try HookedItem.$hook.withValue(hook) { try root.save() }
      #expect(hook.hasRun)
    }
    try stack.saveAll()
    let names = try stored(stack)
    #expect(names == ["changed"])
  }

  // MARK: Transient values

  /// A child passes on the transient values that it has changed, nil too, and no others.
  @Test func changedTransientValuesReachTheParent() throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let (first, second, _) = try family(stack)
    func save(_ body: () -> Void) throws {
      try child.performAndWait {
        body()
        try child.save()
      }
    }
    func shown(_ name: String) throws -> String? {
      try parent.performAndWait { try named(name, parent)["memo"] as? String }
    }
    try save { (first["memo"], second["memo"]) = ("a", "b") }
    #expect(try shown("first") == "a" && shown("second") == "b")
    try save { first["memo"] = nil }
    #expect(try shown("first") == nil)
    try parent.performAndWait { try named("second", parent)["memo"] = "of the parent" }
    try save { second["number"] = 5 }
    #expect(try shown("second") == "of the parent")
    try save { second.setPrimitiveValue("c", forKey: "memo") }
    #expect(try shown("second") == "of the parent")
    try save { second["number"] = 6 }
    #expect(try shown("second") == "c")
  }

  // MARK: Threads

  /// A thread that holds a context merges into one two levels below, while another thread uses the level between and
  /// reads from the first.
  @Test(.timeLimit(.minutes(1))) func aMergeWaitsForNoContextAbove() throws {
    let stack = try UndoStack(levels: 3)
    let (root, middle, leaf) = (stack.contexts[0], stack.contexts[1], stack.contexts[2])
    let (first, _, _) = try family(stack)
    let id = first.objectID
    let added = try stack.elsewhere { other in
      let item = UndoStack.insert("added", other)
      try other.save()
      return item.objectID
    }
    let merged = Mutex(Set<NSManagedObjectID>())
    let observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: leaf, queue: nil
    ) { note in
      let ids = note.userInfo?[NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue]
      merged.withLock { $0.formUnion(ids as? Set<NSManagedObjectID> ?? []) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let (isHeld, isRead, done) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    Thread.detachNewThread {
      root.performAndWait {
        isHeld.signal()
        isRead.wait()
        Thread.sleep(forTimeInterval: 0.05)
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSInsertedObjectsKey: [added.uriRepresentation()]], into: [leaf])
      }
      done.signal()
    }
    middle.performAndWait {
      isHeld.wait()
      let object = middle.object(with: id)
      middle.refresh(object, mergeChanges: false)
      isRead.signal()
      #expect(object["name"] as? String == "first")
    }
    done.wait()
    // At the latest with the next use of the context.
    leaf.performAndWait {}
    #expect(merged.withLock { $0 } == [added])
  }

  /// A block of a private parent waits for its main-queue child, while the main thread reads a fault of that child.
  @MainActor @Test func aBlockOfTheParentMayWaitForTheMainQueue() async throws {
    let stack = try UndoStack()
    let (first, _, _) = try family(stack)
    let (parent, id) = (stack.context, first.objectID)
    let child = NSManagedObjectContext(.mainQueue)
    child.parent = parent
    let object = child.object(with: id)
    let (isHeld, isRead) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (ends, end) = AsyncStream<Never>.makeStream()
    // A thread, no task: other tests may hold all threads of tasks for minutes, and the main queue waits.
    Thread.detachNewThread {
      parent.performAndWait {
        isHeld.signal()
        isRead.wait()
        Thread.sleep(forTimeInterval: 0.05)
        child.performAndWait {}
      }
      end.finish()
    }
    func read() {
      isHeld.wait()
      isRead.signal()
      #expect(object["name"] as? String == "first")
    }
    read()
    for await _ in ends {}
  }
}

/// An item that runs the hook of its test when one is read.
final class HookedItem: NSManagedObject {
  @TaskLocal static var hook: Hook?

  /// A closure that runs once.
  final class Hook: Sendable {
    private let body: Mutex<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

    var hasRun: Bool { body.withLock { $0 == nil } }

    func run() {
      let body = body.withLock { $0.take() }
      body?()
    }
  }

  override func awakeFromFetch() { Self.hook?.run() }
}
