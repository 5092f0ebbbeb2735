import CoreData
import Foundation
import Testing

/// Controllers whose events come in an unusual order, or from objects of the results themselves.
@Suite(.ofRootContexts) struct ResultsEventTests {
  private final class Recorder: NSObject, NSFetchedResultsControllerDelegate {
    var events: [String] = []
    /// Whether it reads the objects.
    var reads = true

    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      let name = reads ? (anObject as? NSManagedObject)?["name"] as? String ?? "?" : "-"
      events.append("\(type) \(name) \(indexPath?.item ?? -1)>\(newIndexPath?.item ?? -1)")
    }
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      events.append("end")
    }
  }

  private func controller(
    _ context: NSManagedObjectContext, sortedBy keys: String...
  ) -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
  }

  /// A rollback takes an announced insertion back whose deletion is pending.
  @Test func aRolledBackObjectLeavesTheResults() throws {
    let stack = try UndoStack()
    let context = stack.context
    try context.performAndWait {
      let controller = controller(context, sortedBy: "name")
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      let item = UndoStack.insert("a", context)
      context.processPendingChanges()
      context.delete(item)
      context.rollback()
      #expect(controller.fetchedObjects?.isEmpty == true)
      #expect(recorder.events.last == "end" && recorder.events.filter { $0.hasPrefix("delete") }.count == 1)
    }
  }

  /// Without names there is one section, which may be empty.
  @Test func resultsWithoutSectionsAreOneSection() throws {
    let stack = try UndoStack(.inMemory)
    try stack.context.performAndWait {
      let controller = controller(stack.context, sortedBy: "name")
      try controller.performFetch()
      #expect(controller.sections?.map(\.numberOfObjects) == [0])
    }
  }

  /// Results in no order of values are not read for it.
  @Test func unsortedResultsStayFaults() throws {
    let stack = try UndoStack()
    let context = stack.context
    let item = stack.event { UndoStack.insert("a", $0) }
    try stack.saveAll()
    try context.performAndWait {
      let controller = controller(context)
      let recorder = Recorder()
      recorder.reads = false
      controller.delegate = recorder
      try controller.performFetch()
      // So the context has no row of it at hand.
      try stack.saveElsewhere { try $0.existingObject(with: item.objectID).setValue("b", forKey: "name") }
      context.refresh(item, mergeChanges: false)
      #expect(recorder.events.count == 2 && item.isFault)
      #expect(controller.fetchedObjects == [item])
    }
  }

  /// Without an order no values are needed: nobody looks whether another context has deleted the object. With one, the
  /// object is looked for, and leaves.
  @Test(arguments: [true, false]) func whatIsGoneIsFoundWhereAnOrderNeedsIt(isSorted: Bool) throws {
    let stack = try UndoStack()
    let context = stack.context
    let item = stack.event { UndoStack.insert("a", $0) }
    try stack.saveAll()
    try context.performAndWait {
      let controller = isSorted ? controller(context, sortedBy: "name") : controller(context)
      let recorder = Recorder()
      recorder.reads = false
      controller.delegate = recorder
      try controller.performFetch()
      try stack.saveElsewhere { $0.delete(try $0.existingObject(with: item.objectID)) }
      context.refresh(item, mergeChanges: false)
      #expect(recorder.events.count == 2 && item.isFault != isSorted)
      #expect(controller.fetchedObjects == (isSorted ? [] : [item]))
    }
  }

  /// An event whose results cannot be shown is reported on standard error.
  @Test func aTornSectionIsReported() async throws {
    let ending = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let stack = try UndoStack(.inMemory)
        let context = stack.context
        try context.performAndWait {
          let items = ["a", "a", "b"].enumerated().map { size, name in
            let item = UndoStack.insert(name, context)
            item["size"] = size
            return item
          }
          let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
          request.sortDescriptors = [NSSortDescriptor(key: "size", ascending: true)]
          let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "name", cacheName: nil)
          let recorder = Recorder()
          controller.delegate = recorder
          try controller.performFetch()
          items[1]["name"] = "b"
          items[2]["name"] = "a"
          context.processPendingChanges()
          withExtendedLifetime(recorder) {}
        }
      })
    let said = String(decoding: ending.standardErrorContent, as: UTF8.self)
    #expect(said.contains("fetched results could not be updated after a change"))
  }

  /// Feature 33.12: saves of other contexts are not seen until they are merged, also where the results are sorted
  /// again.
  @Test func whatOthersSaveStaysUnseen() throws {
    let stack = try UndoStack()
    let context = stack.context
    let (first, second) = stack.event { (UndoStack.insert("a", $0), UndoStack.insert("b", $0)) }
    let (item, gone) = stack.event { context in
      let items = (UndoStack.insert("item", context), UndoStack.insert("gone", context))
      (items.0["owner"], items.1["owner"]) = (first, second)
      return items
    }
    try stack.saveAll()
    try context.performAndWait {
      let controller = controller(context, sortedBy: "owner.name")
      controller.fetchRequest.predicate = NSPredicate(format: "owner != nil")
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      try stack.saveElsewhere { other in
        UndoStack.insert("new", other)["owner"] = try other.existingObject(with: second.objectID)
        other.delete(try other.existingObject(with: gone.objectID))
      }
      // The others move, because what they are sorted by belongs to another object.
      first["name"] = "z"
      item["number"] = 1
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [gone, item])
      #expect(!recorder.events.contains { $0.hasPrefix("insert") || $0.hasPrefix("delete") })
    }
  }

  /// With a limit the known objects are sorted again, without a fetch.
  @Test func anObjectThatIsGoneLeavesLimitedResults() throws {
    let stack = try UndoStack()
    let context = stack.context
    try context.performAndWait {
      let items = ["a", "b"].map { UndoStack.insert($0, context) }
      try context.save()
      let controller = controller(context, sortedBy: "name")
      controller.fetchRequest.fetchLimit = 10
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      let new = UndoStack.insert("c", context)
      context.processPendingChanges()
      // What happens without a delegate is followed by the next event.
      controller.delegate = nil
      context.delete(items[0])
      context.delete(new)
      try context.save()
      controller.delegate = recorder
      recorder.events = []
      items[1]["number"] = 1
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [items[1]])
      #expect(recorder.events.filter { $0.hasPrefix("delete") }.count == 2)
    }
  }

  /// The root changes, and so the order of its children, which did not change themselves.
  @Test func theOrderOfATreeFollowsItsNodes() throws {
    let stack = try UndoStack()
    let context = stack.context
    try context.performAndWait {
      let roots = ["A", "B"].map { UndoStack.insert($0, context) }
      for (name, root) in zip(["c1", "c2"], roots) { UndoStack.insert(name, context)["parent"] = root }
      try context.save()
      let controller = controller(context, sortedBy: "parent.name", "name")
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      func names() -> [String] { controller.fetchedObjects?.compactMap { $0["name"] as? String } ?? [] }
      #expect(names() == ["A", "B", "c1", "c2"])
      roots[0]["name"] = "Z"
      context.processPendingChanges()
      #expect(names() == ["B", "Z", "c2", "c1"])
      let expected = try context.fetch(controller.fetchRequest).compactMap { $0["name"] as? String }
      #expect(names() == expected)
    }
  }

  /// An observer before the controller changes the new object. The controller must fetch again, which ends that event.
  @Test func changesOfOtherObserversAreReportedOnce() throws {
    let stack = try UndoStack()
    let context = stack.context
    try context.performAndWait {
      // The centre calls observers in no order. One of many is called before the controller.
      let observers = (0..<40).map { _ in
        NotificationCenter.default.addObserver(
          forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
        ) { note in
          let inserted = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
          for item in inserted where item["number"] == nil { item["number"] = 7 }
        }
      }
      defer { observers.forEach(NotificationCenter.default.removeObserver) }
      _ = UndoStack.insert("b", context)
      try context.save()
      let controller = controller(context, sortedBy: "name")
      try controller.performFetch()
      // Not followed, so the next event makes the controller fetch again.
      _ = UndoStack.insert("c", context)
      context.processPendingChanges()
      let recorder = Recorder()
      controller.delegate = recorder
      _ = UndoStack.insert("a", context)
      context.processPendingChanges()
      #expect(recorder.events.filter { $0.hasPrefix("insert a") } == ["insert a -1>0"])
      #expect(recorder.events.filter { $0.hasPrefix("insert c") }.count == 1, "\(recorder.events)")
      #expect(controller.fetchedObjects?.compactMap { $0["name"] as? String } == ["a", "b", "c"])
    }
  }
}
