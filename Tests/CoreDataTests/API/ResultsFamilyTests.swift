import Foundation
import Testing

@testable import CoreData

/// Controllers over contexts with parents and children, and the queues of their delegates.
@Suite(.ofRootContexts) struct ResultsFamilyTests {
  private final class Recorder: NSObject, NSFetchedResultsControllerDelegate {
    var events: [String] = []
    var isOnQueue: [Bool] = []

    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { events.append("\(type) \((anObject as? NSManagedObject)?["name"] as? String ?? "?")") }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      isOnQueue.append(controller.managedObjectContext.core.queue.isCurrent)
    }

    func take() -> [String] {
      defer { events = [] }
      return events
    }
  }

  private func makeController(_ context: NSManagedObjectContext) -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
  }

  private func names(_ controller: NSFetchedResultsController<NSManagedObject>) -> [String] {
    controller.fetchedObjects?.compactMap { $0["name"] as? String } ?? []
  }

  /// What a child saves is an event of its parent; what reaches the parent is merged into a sibling.
  @Test(arguments: [true, false]) func resultsFollowTheSavesOfAChild(isOfParent: Bool) throws {
    let stack = try UndoStack(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let sibling = NSManagedObjectContext(.privateQueue)
    sibling.parent = root
    sibling.automaticallyMergesChangesFromParent = true
    let items = stack.event { context in ["a", "c"].map { UndoStack.insert($0, context) } }
    try stack.saveAll()
    let context = isOfParent ? root : sibling
    let recorder = Recorder()
    let controller = try context.performAndWait {
      let controller = makeController(context)
      controller.delegate = recorder
      try controller.performFetch()
      return controller
    }
    func expect(_ expected: [String], _ events: [String]) throws {
      try child.performAndWait { try child.save() }
      try context.performAndWait {
        #expect(names(controller) == expected && Set(recorder.take()) == Set(events))
        let fetched = try context.fetch(controller.fetchRequest)
        #expect(controller.fetchedObjects == fetched)
      }
    }
    stack.event { _ = UndoStack.insert("b", $0) }
    try expect(["a", "b", "c"], ["insert b"])
    stack.event { _ in items[0]["name"] = "z" }
    try expect(["b", "c", "z"], ["move z"])
    stack.event { $0.delete(items[1]) }
    try expect(["b", "z"], ["delete c"])
    #expect(!recorder.isOnQueue.contains(false))
  }

  /// A merge that another thread causes calls the delegate on the queue of the context.
  @Test(arguments: [NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType, .privateQueueConcurrencyType])
  func delegatesAreCalledOnTheQueue(_ type: NSManagedObjectContextConcurrencyType) async throws {
    let stack = try UndoStack()
    let context = NSManagedObjectContext(concurrencyType: type)
    context.persistentStoreCoordinator = stack.coordinator
    context.automaticallyMergesChangesFromParent = true
    nonisolated(unsafe) let recorder = Recorder()
    nonisolated(unsafe) let controller = makeController(context)
    try await context.perform {
      controller.delegate = recorder
      try controller.performFetch()
    }
    stack.event { _ = UndoStack.insert("a", $0) }
    try stack.saveAll()
    let found = await context.perform { (names(controller), recorder.isOnQueue) }
    #expect(found == (["a"], [true]))
  }

  /// A delegate that takes snapshots gets one after a fetch, and one for each event, and no other report.
  private final class Snapshots: NSObject, NSFetchedResultsControllerDelegate {
    var taken: [FetchedResultsSnapshot] = []
    var others = 0

    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      didChangeContentWith snapshot: FetchedResultsSnapshot
    ) { taken.append(snapshot) }
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) { others += 1 }
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      others += 1
    }
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      others += 1
    }
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { others += 1 }
  }

  @Test func snapshotsAreAllThatADelegateOfThemGets() throws {
    let stack = try UndoStack()
    let context = stack.context
    try context.performAndWait {
      let items = ["a", "b"].map { UndoStack.insert($0, context) }
      try context.save()
      let controller = makeController(context)
      let delegate = Snapshots()
      controller.delegate = delegate
      try controller.performFetch()
      #expect(delegate.taken.map(\.itemIdentifiers) == [items.map(\.objectID)])
      items[1]["number"] = 3
      context.processPendingChanges()
      #expect(delegate.taken.count == 2 && delegate.taken[1].reloadedItemIdentifiers == [items[1].objectID])
      #expect(delegate.taken[1].itemIdentifiers == items.map(\.objectID))
      context.delete(items[0])
      context.processPendingChanges()
      #expect(delegate.taken.count == 3 && delegate.taken[2].itemIdentifiers == [items[1].objectID])
      #expect(delegate.taken[2].reloadedItemIdentifiers == [] && delegate.others == 0)
    }
  }
}
