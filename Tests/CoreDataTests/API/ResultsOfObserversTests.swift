import CoreData
import Foundation
import TestSupport
import Testing

/// Fetched results controllers whose objects change while observers are being notified.
@Suite struct ResultsOfObserversTests {
  private final class Recorder: NSObject, NSFetchedResultsControllerDelegate {
    var events: [String] = []
    var updated: [NSManagedObject] = []
    var whenChanged: () -> Void = {}
    var whenTitled: () -> Void = {}
    var readsResults = false

    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName name: String
    ) -> String? {
      if readsResults { _ = controller.fetchedObjects?.count }
      whenTitled()
      return name
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      events.append("will")
    }

    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      events.append("change")
      if type == .update, let object = anObject as? NSManagedObject { updated.append(object) }
      whenChanged()
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      events.append("did")
    }
  }

  private func controller(
    _ context: NSManagedObjectContext, sections: String? = nil, sortedBy key: String = "name",
    _ predicate: NSPredicate? = NSPredicate(format: "number == 1"), isFetched: Bool = true
  ) throws -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
    if isFetched { try controller.performFetch() }
    return controller
  }

  private func insert(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
    let item = UndoStack.insert(name, context)
    item["number"] = 1
    return item
  }

  /// An observer that is notified of a merge before the controller changes another result. The controller puts the
  /// merged object where the values belong that the results have now.
  @Test func anObserverMovesAResultBeforeTheControllerIsNotified() throws {
    // Where the search for a position meets the moved result is random.
    for _ in 0..<40 {
      let stack = try UndoStack(.inMemory)
      let (context, recorder) = (stack.context, Recorder())
      let (first, other) = stack.event { context in
        let first = insert("a", context)
        for name in ["b", "c", "d", "e"] { _ = insert(name, context) }
        return (first, UndoStack.insert("trigger", context))
      }
      try stack.saveAll()
      try context.performAndWait {
        let controller = try controller(context)
        controller.delegate = recorder
        let observation = other.observe("name") { _, _ in first["name"] = "z" }
        nonisolated(unsafe) var saved: Notification?
        try stack.elsewhere { elsewhere in
          let watch = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: elsewhere, queue: nil
          ) { saved = $0 }
          defer { NotificationCenter.default.removeObserver(watch) }
          try elsewhere.existingObject(with: other.objectID)["name"] = "triggered"
          for name in ["bb", "cc", "dd"] { _ = insert(name, elsewhere) }
          try elsewhere.save()
        }
        context.mergeChanges(fromContextDidSave: try #require(saved))
        let names = controller.fetchedObjects?.map { $0["name"] as? String }
        #expect(names == ["b", "bb", "c", "cc", "d", "dd", "e", "z"])
        observation.invalidate()
      }
    }
  }

  /// A delegate that ends an event gets the changes of that event after those that it is being called with.
  @Test func theChangesOfADelegateFollow() throws {
    let stack = try UndoStack(.inMemory)
    let (context, recorder) = (stack.context, Recorder())
    try context.performAndWait {
      let controller = try controller(context)
      controller.delegate = recorder
      var rounds = 0
      recorder.whenChanged = {
        rounds += 1
        if rounds > 1 { return }
        _ = insert("c", context)
        context.processPendingChanges()
      }
      _ = (insert("a", context), insert("b", context))
      context.processPendingChanges()
      #expect(recorder.events == ["will", "change", "change", "did", "will", "change", "did"])
      #expect(controller.fetchedObjects?.map { $0["name"] as? String } == ["a", "b", "c"])
    }
  }

  /// Names with other bytes are other sections, as the order of the results has them, also where they are canonically
  /// equivalent.
  @Test func sectionNamesAreComparedByTheirBytes() throws {
    let stack = try UndoStack(.inMemory)
    let (context, recorder) = (stack.context, Recorder())
    let names = ["e\u{301}", "f", "\u{e9}"]
    try context.performAndWait {
      for name in names { _ = insert(name, context) }
      try context.save()
      let controller = try controller(context, sections: "name")
      controller.delegate = recorder
      func shown() -> [[UInt8]]? { controller.sections?.map { Array($0.name.utf8) } }
      #expect(shown() == names.map { Array($0.utf8) })
      let item = insert("\u{e9}", context)
      context.processPendingChanges()
      #expect(shown() == names.map { Array($0.utf8) } && controller.indexPath(forObject: item)?.section == 2)
      context.delete(item)
      context.processPendingChanges()
      #expect(controller.sections?.map(\.numberOfObjects) == [1, 1, 1])
    }
  }

  /// All results are refreshed, and the row of one of them is found to be gone.
  @Test func aRefreshOfAllReportsAGoneResult() throws {
    let stack = try UndoStack()
    let (context, recorder) = (stack.context, Recorder())
    let (kept, gone) = stack.event { (insert("a", $0), insert("b", $0)) }
    try stack.saveAll()
    try context.performAndWait {
      let controller = try controller(context)
      controller.delegate = recorder
      gone["size"] = 3
      context.processPendingChanges()
      try stack.elsewhere { elsewhere in
        elsewhere.delete(try elsewhere.existingObject(with: gone.objectID))
        try elsewhere.save()
      }
      context.refreshAllObjects()
      #expect(gone.isDeleted && controller.fetchedObjects == [kept])
    }
  }

  /// A delegate reads the results while the controller inserts an object. Later it gets the object.
  @Test func theResultsAreNewAfterADelegateHasReadThem() throws {
    let stack = try UndoStack(.inMemory)
    let (context, recorder) = (stack.context, Recorder())
    try context.performAndWait {
      let controller = try controller(context, sections: "name")
      controller.delegate = recorder
      recorder.readsResults = true
      let item = insert("a", context)
      context.processPendingChanges()
      recorder.whenChanged = { _ = controller.fetchedObjects }
      let other = insert("b", context)
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [item, other] && controller.sections?.count == 2)
    }
  }

  /// An observer of a property ends the event while a merge notifies it: the merged objects have new values already.
  @Test func anEventEndsWithinAMerge() throws { try expectNewOrder(afterConflict: false) }

  /// The same while the save of a context merges conflicts.
  @Test(.ofRootContexts) func anEventEndsWithinAMergeOfConflicts() throws { try expectNewOrder(afterConflict: true) }

  /// Sets are in a different order each time, so there are several attempts.
  private func expectNewOrder(afterConflict isConflict: Bool) throws {
    for _ in 0..<40 {
      let stack = try UndoStack(.inMemory)
      let (context, recorder) = (stack.context, Recorder())
      let (items, other) = stack.event { context in
        (["b", "c", "d", "e"].map { insert($0, context) }, UndoStack.insert("trigger", context))
      }
      try stack.saveAll()
      try context.performAndWait {
        let controller = try controller(context)
        controller.delegate = recorder
        try stack.saveElsewhere { elsewhere in
          try elsewhere.existingObject(with: items[1].objectID)["name"] = "z"
          try elsewhere.existingObject(with: other.objectID)["name"] = "triggered"
        }
        if isConflict {
          context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
          for item in [items[1], other] { item["name"] = "cc" }
          context.processPendingChanges()
        }
        let observation = other.observe("name") { _, _ in
          items[3]["name"] = "dd"
          context.processPendingChanges()
        }
        if isConflict {
          try context.save()
        } else {
          let changes = [NSUpdatedObjectsKey: [items[1].objectID, other.objectID]]
          NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
        }
        #expect(controller.fetchedObjects?.map { $0["name"] as? String } == ["b", "d", "dd", "z"])
        observation.invalidate()
      }
    }
  }

  /// A delegate names a new section, and ends an event meanwhile that changes the object of the section again.
  @Test func aTitleMayEndAnEvent() throws {
    let stack = try UndoStack(.inMemory)
    let (context, recorder) = (stack.context, Recorder())
    try context.performAndWait {
      let controller = try controller(context, sections: "name")
      controller.delegate = recorder
      let item = insert("a", context)
      context.processPendingChanges()
      recorder.whenTitled = {
        recorder.whenTitled = {}
        item["size"] = 3
        context.processPendingChanges()
      }
      item["name"] = "b"
      context.processPendingChanges()
      #expect(controller.sectionIndexTitles == ["b"])
      #expect(controller.fetchedObjects == [item] && controller.sections?.count == 1)
    }
  }

  /// The same for an object that computes the name of its section.
  @Test func aSectionNameMayEndAnEvent() throws {
    let (stack, recorder) = (try labelledStack(), Recorder())
    let context = stack.context
    try context.performAndWait {
      let controller = try controller(context, sections: "label")
      controller.delegate = recorder
      let item = try #require(insert("a", context) as? LabelledItem)
      context.processPendingChanges()
      item.whenNamed = {
        item.whenNamed = {}
        item["size"] = 3
        context.processPendingChanges()
      }
      item["name"] = "b"
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [item] && controller.sections?.map(\.name) == ["b"])
    }
  }

  /// The event adds a result and removes one, during the first fetch, a second one by the client, or one that follows
  /// changes. The delegate learns of changes in the last case.
  @Test(arguments: ["first", "second", "following"]) func aSectionNameMayChangeTheResults(fetch: String) throws {
    let (stack, recorder) = (try labelledStack(), Recorder())
    let context = stack.context
    try context.performAndWait {
      let first = try #require(insert("a", context) as? LabelledItem)
      let gone = insert("c", context)
      let controller = try controller(context, sections: "label", isFetched: fetch != "first")
      var added: NSManagedObject?
      first.whenNamed = {
        first.whenNamed = {}
        added = insert("b", context)
        context.delete(gone)
        context.processPendingChanges()
      }
      if fetch == "following" {
        // Without a delegate, changes are not followed, so the next one fetches.
        first["size"] = 1
        context.processPendingChanges()
        controller.delegate = recorder
        first["size"] = 2
        context.processPendingChanges()
        #expect(recorder.events == ["will", "change", "change", "change", "did"] && recorder.updated == [first])
      } else {
        try controller.performFetch()
      }
      #expect(
        controller.fetchedObjects == [first, try #require(added)] && controller.sections?.map(\.name) == ["a", "b"])
      withExtendedLifetime(first) {}
    }
  }

  private func labelledStack() throws -> UndoStack {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entitiesByName["Item"]?.managedObjectClassName = "CoreDataTests.LabelledItem"
    return try UndoStack(.inMemory, model: model)
  }

  /// Without a predicate, a refreshed result is read only where its position is looked for.
  @Test(arguments: [0, 10]) func aResultThatIsFoundGoneWhileItIsSortedLeaves(limit: Int) throws {
    let stack = try UndoStack()
    let (context, recorder) = (stack.context, Recorder())
    let (kept, gone) = stack.event { (insert("a", $0), insert("b", $0)) }
    try stack.saveAll()
    try context.performAndWait {
      let controller = try controller(context, nil)
      controller.fetchRequest.fetchLimit = limit
      try controller.performFetch()
      controller.delegate = recorder
      try stack.saveElsewhere { $0.delete(try $0.existingObject(with: gone.objectID)) }
      context.refresh(gone, mergeChanges: false)
      #expect(controller.fetchedObjects == [kept] && recorder.events == ["will", "change", "did"])
    }
  }

  /// The order of the results does not keep a section together for one event. The next event reports what has changed
  /// in both.
  @Test func updatesOfAnEventThatTearsASectionFollow() throws {
    let stack = try UndoStack(.inMemory)
    let (context, recorder) = (stack.context, Recorder())
    try context.performAndWait {
      let items = ["a", "b", "b"].enumerated().map { size, name in
        let item = insert(name, context)
        item["size"] = size
        return item
      }
      let controller = try controller(context, sections: "name", sortedBy: "size")
      controller.delegate = recorder
      items[1]["memo"] = "changed"
      items[2]["name"] = "a"
      context.processPendingChanges()
      #expect(recorder.events.isEmpty && controller.sections?.map(\.numberOfObjects) == [1, 2])
      items[2]["name"] = "b"
      context.processPendingChanges()
      #expect(Set(recorder.updated) == [items[1], items[2]])
      recorder.updated = []
      items[0]["memo"] = "changed"
      context.processPendingChanges()
      #expect(recorder.updated == [items[0]])
    }
  }

  /// The same where the client fetches in between, which throws. A deletion of the first event is followed as well.
  @Test func aFetchThatThrowsHidesNoDeletion() throws {
    let stack = try UndoStack(.inMemory)
    let (context, recorder) = (stack.context, Recorder())
    try context.performAndWait {
      let items = ["0", "a", "b", "b"].enumerated().map { size, name in
        let item = insert(name, context)
        item["size"] = size
        return item
      }
      let controller = try controller(context, sections: "name", sortedBy: "size")
      controller.delegate = recorder
      context.delete(items[0])
      items[3]["name"] = "a"
      context.processPendingChanges()
      #expect(throws: CocoaError.self) { try controller.performFetch() }
      #expect(controller.sections?.map(\.numberOfObjects) == [1, 1, 2])
      items[3]["name"] = "b"
      context.processPendingChanges()
      #expect(controller.fetchedObjects == Array(items[1...]) && controller.sections?.map(\.name) == ["a", "b"])
    }
  }
}

/// An item whose section has a computed name.
final class LabelledItem: NSManagedObject {
  override class var keyValueMethods: KeyValueMethods {
    super.keyValueMethods.accessor("label", \LabelledItem.label)
  }

  var whenNamed: () -> Void = {}
  var label: String {
    whenNamed()
    return self["name"] as? String ?? ""
  }
}
