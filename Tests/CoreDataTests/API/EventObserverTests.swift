import Foundation
import TestSupport
import Testing

@testable import CoreData

/// What observers of an event see in the objects that it names. Applications call `changedValuesForCurrentEvent()` of
/// the objects there:
/// https://developer.apple.com/documentation/coredata/nsmanagedobject/1506472-changedvaluesforcurrentevent
@Suite struct EventObserverTests {
  private final class Log: @unchecked Sendable { var changes: [[String: String]] = [] }

  private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
    let log = Log()
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      for object in controller.fetchedObjects as? [NSManagedObject] ?? [] { log.changes.append(reported(object)) }
    }
  }

  private func context() throws -> NSManagedObjectContext {
    let author = Describing.entity("Author", [Describing.attribute("name"), Describing.attribute("city")])
    return try Describing.context(Describing.model([author]))
  }

  private func author(_ context: NSManagedObjectContext) throws -> NSManagedObject {
    let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
    author.setValue("Ann", forKey: "name")
    try context.save()
    return author
  }

  /// Calls `body` when an event of the context is reported.
  private func observing(
    _ context: NSManagedObjectContext, _ body: @escaping (NSManagedObject) -> Void, while work: () throws -> Void
  ) rethrows {
    nonisolated(unsafe) let body = body
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { note in
      let keys = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey]
      for object in keys.flatMap({ note.userInfo?[$0] as? Set<NSManagedObject> ?? [] }) { body(object) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try work()
  }

  @Test func observersSeeTheChangesOfTheEvent() throws {
    let context = try context()
    try context.performAndWait {
      let ann = try author(context)
      let log = Log()
      try observing(context, { log.changes.append(reported($0)) }) {
        ann.setValue("Bea", forKey: "name")
        context.processPendingChanges()
        ann.setValue("Bonn", forKey: "city")
        context.processPendingChanges()
        ann.setValue("Cleo", forKey: "name")
        try context.save()
        context.delete(ann)
        context.processPendingChanges()
      }
      #expect(log.changes == [["name": "Ann"], ["city": "nil"], ["name": "Bea"], [:]])
      #expect(ann.changedValuesForCurrentEvent().isEmpty)
    }
  }

  /// Changes by an observer belong to the next event.
  @Test func changesOfObserversBelongToTheNextEvent() throws {
    let context = try context()
    try context.performAndWait {
      let ann = try author(context)
      let log = Log()
      observing(
        context,
        { object in
          log.changes.append(reported(object))
          if object.value(forKey: "city") == nil { object.setValue("Rome", forKey: "city") }
          log.changes.append(reported(object))
        }
      ) {
        ann.setValue("Bea", forKey: "name")
        context.processPendingChanges()
        #expect(reported(ann) == ["city": "nil"])
        context.processPendingChanges()
      }
      #expect(log.changes == [["name": "Ann"], ["city": "nil"], ["city": "nil"], ["city": "nil"]])
      #expect(ann.changedValuesForCurrentEvent().isEmpty)
      ann.setValue("Cleo", forKey: "name")
      #expect(reported(ann) == ["name": "Bea"])
    }
  }

  /// An observer may save. Its later changes are reported relative to the saved values.
  @Test func anObserverMaySave() throws {
    let context = try context()
    try context.performAndWait {
      let ann = try author(context)
      ann.setValue("Bea", forKey: "name")
      context.processPendingChanges()
      var isFirst = true
      try observing(
        context,
        { object in
          if !isFirst { return }
          isFirst = false
          #expect(throws: Never.self) { try context.save() }
          object.setValue("Dora", forKey: "name")
        }
      ) {
        ann.setValue("Cleo", forKey: "name")
        context.processPendingChanges()
        #expect(reported(ann) == ["name": "Cleo"])
        try context.save()
      }
      #expect(ann.changedValuesForCurrentEvent().isEmpty && ann.value(forKey: "name") as? String == "Dora")
    }
  }

  /// The same where no observer is notified of events.
  @Test func anEventEndsWithoutNotifications() async {
    await #expect(processExitsWith: .success) {
      NSManagedObjectContext.postsOnlyRequestedNotifications = true
      let author = Describing.entity("Author", [Describing.attribute("name")])
      let context = try Describing.context(Describing.model([author]))
      try context.performAndWait {
        let ann = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
        ann.setValue("Ann", forKey: "name")
        try context.save()
        for name in ["Bea", "Cleo"] {
          ann.setValue(name, forKey: "name")
          #expect(ann.changedValuesForCurrentEvent()["name"] as? String == (name == "Bea" ? "Ann" : "Bea"))
          context.processPendingChanges()
          #expect(ann.changedValuesForCurrentEvent().isEmpty)
        }
      }
    }
  }

  @Test func delegatesOfResultsSeeTheChangesOfTheEvent() throws {
    let context = try context()
    try context.performAndWait {
      let ann = try author(context)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let delegate = Delegate()
      controller.delegate = delegate
      try controller.performFetch()
      ann.setValue("Bea", forKey: "name")
      context.processPendingChanges()
      #expect(delegate.log.changes == [["name": "Ann"]])
    }
  }
}

private func reported(_ object: NSManagedObject) -> [String: String] {
  object.changedValuesForCurrentEvent().mapValues { $0 as? String ?? "nil" }
}
