import CoreData
import Foundation
import TestSupport
import Testing

/// Which moment of its parent a child shows: within one block or fetch the same one, else the newest.
@Suite(.ofRootContexts) struct ParentMomentTests {
  private func items(_ names: String...) throws -> (stack: UndoStack, upper: [NSManagedObject]) {
    let stack = try UndoStack(levels: 2)
    let root = stack.contexts[0]
    let items = try root.performAndWait {
      let items = names.map { UndoStack.insert($0, root) }
      for item in items { item["number"] = 1 }
      try root.save()
      return items
    }
    return (stack, items)
  }

  private func request(_ names: String..., prefetching paths: [String] = []) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    if !names.isEmpty { request.predicate = NSPredicate(format: "name IN %@", names) }
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.relationshipKeyPathsForPrefetching = paths
    return request
  }

  /// A prefetch finds no row of an object that the parent has deleted.
  @Test(arguments: [false, true]) func aDeletedDestinationIsGone(isPrefetched: Bool) throws {
    let (stack, upper) = try items("destination", "source")
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    try root.performAndWait {
      upper[1]["seen"] = upper[0]
      try root.save()
    }
    let held = try child.performAndWait { try child.fetch(request("destination")) }
    root.performAndWait { root.delete(upper[0]) }
    try child.performAndWait {
      let found = try child.fetch(request("source", prefetching: isPrefetched ? ["seen"] : []))
      #expect(found.count == 1 && held[0]["name"] == nil && held[0].isDeleted)
    }
  }

  /// The objects are met twice in one fetch, as results and as members.
  @Test func prefetchedMembersStay() throws {
    let (stack, upper) = try items("a", "b")
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    root.performAndWait { upper[0]["friends"] = NSSet(object: upper[1]) }
    try child.performAndWait {
      let found = try child.fetch(request(prefetching: ["friends", "friendsOf"]))
      #expect(found.count == 2 && found.allSatisfy(\.isFault))
      for item in found {
        #expect(!item.hasFault(forRelationshipNamed: "friends") && !item.hasFault(forRelationshipNamed: "friendsOf"))
      }
    }
  }

  /// A relationship is read between the fetch and the use of its results.
  @Test func resultsAgreeAlthoughMembersAreRead() throws {
    let (stack, upper) = try items("a", "b", "owner")
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    try root.performAndWait {
      upper[2]["friends"] = NSSet(object: upper[0])
      try root.save()
    }
    try child.performAndWait {
      let owner = try child.fetch(request("owner"))[0]
      let found = try child.fetch(request("a", "b"))
      root.performAndWait { for item in upper { item["number"] = 9 } }
      #expect(UndoStack.linked(owner, "friends") == [found[0]])
      #expect(found.map { $0["number"] as? Int } == [1, 1])
    }
  }

  /// The members of a fault were prefetched in an earlier block.
  @Test func prefetchedMembersOfAFaultAreReadAgain() throws {
    let (stack, upper) = try items("a", "b")
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let found = try child.performAndWait { try child.fetch(request("a", prefetching: ["friends"])) }
    root.performAndWait { upper[0]["friends"] = NSSet(object: upper[1]) }
    child.performAndWait { #expect(UndoStack.linked(found[0], "friends").count == 1) }
  }

  /// The middle context refreshes an object whose values are the same and whose members are others.
  @Test func aRefreshInTheMiddleReachesAGrandchild() throws {
    let stack = try UndoStack(levels: 3)
    let (root, middle, low) = (stack.contexts[0], stack.contexts[1], stack.contexts[2])
    let upper = try root.performAndWait {
      let items = ["a", "b"].map { UndoStack.insert($0, root) }
      try root.save()
      items[0]["number"] = 1
      root.processPendingChanges()
      return items
    }
    let known = try middle.performAndWait {
      let known = try middle.fetch(request())
      #expect(UndoStack.linked(known[0], "friends").isEmpty)
      return known
    }
    let lower = try low.performAndWait { try low.fetch(request("a", prefetching: ["friends"])) }
    root.performAndWait { upper[0]["friends"] = NSSet(object: upper[1]) }
    try middle.performAndWait {
      let refreshing = request()
      refreshing.shouldRefreshRefetchedObjects = true
      let found = try middle.fetch(refreshing)
      #expect(found == known && UndoStack.linked(known[0], "friends").count == 1)
    }
    low.performAndWait { #expect(UndoStack.linked(lower[0], "friends").count == 1) }
  }

  /// A nested fetch merges nothing that others have saved meanwhile.
  @Test func noMergeInterruptsAFetch() throws {
    let (stack, upper) = try items("a", "b", "c")
    let root = stack.contexts[0]
    let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    child.parent = root
    child.automaticallyMergesChangesFromParent = true
    var seen: [Int] = []
    let request = request()
    request.predicate = NSPredicate { object, _ in
      do {
        try root.performAndWait {
          for item in upper { item["number"] = 2 }
          try root.save()
        }
        _ = try child.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
      } catch { Issue.record(error) }
      seen.append((object as? NSManagedObject)?["number"] as? Int ?? 0)
      return true
    }
    #expect(try child.fetch(request).count == 3 && seen == [1, 1, 1])
  }

  /// While the middle context saves to the root, an object of the root waits for a lower context, whose thread waits
  /// for the middle one: a read and a save go on.
  @Test(.serialized, arguments: [false, true]) func aSavingParentAnswersWhereBothWouldWait(isSave: Bool) throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entitiesByName["Item"]?.managedObjectClassName = "CoreDataTests.DeletionHookItem"
    let stack = try UndoStack(levels: 4, model: model)
    let (root, middle, low, bottom) = (stack.contexts[0], stack.contexts[1], stack.contexts[2], stack.contexts[3])
    try root.performAndWait {
      _ = UndoStack.insert("a", root)
      try root.save()
    }
    let (entered, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    nonisolated(unsafe) var outcome: Result<Int, any Error>?
    DeletionHookItem.hook = {
      Thread.detachNewThread {
        low.performAndWait {
          entered.signal()
          outcome = Result {
            if !isSave { return try low.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) }
            _ = UndoStack.insert("new", low)
            try low.save()
            return 0
          }
        }
        ended.signal()
      }
      #expect(entered.wait(timeout: .now() + 10) == .success)
      bottom.performAndWait { _ = try? bottom.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) }
    }
    try middle.performAndWait {
      for item in try UndoStack.items(middle) { middle.delete(item) }
      try middle.save()
    }
    #expect(ended.wait(timeout: .now() + 10) == .success)
    middle.performAndWait { #expect(middle.insertedObjects.count == (isSave ? 1 : 0)) }
    switch outcome {
    case .success(let count)?: #expect(count <= 1)
    case let other: Issue.record("\(String(describing: other))")
    }
  }
}

/// An item whose deletion calls the test, once, where the context has no parent.
final class DeletionHookItem: NSManagedObject {
  /// Set by one test, on whose thread the deletion is.
  nonisolated(unsafe) static var hook: (() -> Void)?

  override func prepareForDeletion() {
    guard managedObjectContext?.parent == nil else { return }
    let hook = Self.hook
    Self.hook = nil
    hook?()
  }
}
