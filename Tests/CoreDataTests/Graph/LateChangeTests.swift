import CoreData
import Foundation
import TestSupport
import Testing

/// Values that a save sets after its last event: observers are notified of them before the save is announced.
@Suite(.ofRootContexts) struct LateChangeTests {
  /// Notifications of a context, with the sets of objects that they name.
  ///
  /// Sendable, unchecked: used on the queue of the context.
  private final class Log: @unchecked Sendable {
    struct Event: Equatable {
      let name: Notification.Name
      let sets: [String: Set<NSManagedObject>]
    }

    private(set) var events: [Event] = []
    private var observers: [any NSObjectProtocol] = []

    init(_ context: NSManagedObjectContext) {
      let names = [
        NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.didSaveObjectsNotification,
      ]
      observers = names.map { name in
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [unowned self] note in
          let sets = (note.userInfo ?? [:]).compactMap { key, value in
            (value as? Set<NSManagedObject>).flatMap { objects in (key as? String).map { ($0, objects) } }
          }
          events.append(Event(name: name, sets: Dictionary(uniqueKeysWithValues: sets)))
        }
      }
    }

    deinit { observers.forEach(NotificationCenter.default.removeObserver) }

    static func change(_ sets: [String: Set<NSManagedObject>]) -> Event {
      Event(name: NSManagedObjectContext.didChangeObjectsNotification, sets: sets)
    }

    static func save(_ sets: [String: Set<NSManagedObject>]) -> Event {
      Event(name: NSManagedObjectContext.didSaveObjectsNotification, sets: sets)
    }
  }

  private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {}

  /// A validation method replaces the value. The results of a controller get the order of the new value.
  @Test func whatValidationSetsIsAnnounced() throws {
    let context = try KeyValueMethodTests().context()
    try context.performAndWait {
      let members = ["b", "c"].map { name in
        let member = KeyedMember(context: context)
        member["first"] = name
        return member
      }
      try context.save()
      let request = NSFetchRequest<KeyedMember>(entityName: "KeyedMember")
      request.sortDescriptors = [NSSortDescriptor(key: "first", ascending: false)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let delegate = Delegate()
      controller.delegate = delegate
      try controller.performFetch()
      members[0]["first"] = " d"
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [members[1], members[0]])
      let log = Log(context)
      try context.save()
      #expect(
        log.events == [Log.change([NSUpdatedObjectsKey: [members[0]]]), Log.save([NSUpdatedObjectsKey: [members[0]]])])
      #expect(controller.fetchedObjects == [members[0], members[1]])
      #expect(!members[0].hasChanges && members[0]["first"] as? String == "d")
    }
  }

  /// The stream of an object names the property that validation has set.
  @Test func theStreamOfAnObjectNamesWhatValidationSets() async throws {
    let context = try KeyValueMethodTests().context()
    let stream = try context.performAndWait {
      let member = KeyedMember(context: context)
      (member["first"], member["last"]) = ("b", "c")
      try context.save()
      let stream = member.changes()
      (member["first"], member["last"]) = (" d", "e")
      try context.save()
      member["last"] = "f"
      context.processPendingChanges()
      return stream
    }
    var changes: [ManagedObjectChange] = []
    for await change in stream.prefix(3) { changes.append(change) }
    #expect(
      changes == [.updated(keys: ["first", "last"]), .updated(keys: ["first"]), .updated(keys: ["last"])])
  }

  /// The store's row of the partner names another object than the row that this context has read.
  @Test func aPartnerThatASaveLinksIsAnnounced() throws {
    let stack = try UndoStack()
    let context = stack.context
    let items = try stack.savedItems("a", "b")
    try context.performAndWait {
      items[0].setPrimitiveValue(items[1], forKey: "partner")
      items[0]["number"] = 1
      context.processPendingChanges()
      let log = Log(context)
      try context.save()
      #expect(items[1]["partnerOf"] as? NSManagedObject == items[0])
      #expect(
        log.events == [Log.change([NSUpdatedObjectsKey: [items[1]]]), Log.save([NSUpdatedObjectsKey: Set(items)])])
    }
  }

  /// Values that the context derives, and those that the store computes, are announced as refreshed.
  @Test func derivedValuesAreAnnounced() throws {
    let (shelf, book) = (
      Describing.entity("Shelf", [Describing.derived("count", .integer64, "books.@count")]),
      Describing.entity(
        "Book", [Describing.attribute("title"), Describing.derived("folded", .string, "canonical:(title)")])
    )
    Describing.relate(book, "shelf", toMany: false, shelf, "books", toManyBack: true)
    let context = try Describing.context(Describing.model([shelf, book]))
    try context.performAndWait {
      let (shelf, books) = (
        NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context),
        ["Über", "Ärger"].map { title in
          let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
          book["title"] = title
          return book
        }
      )
      try context.save()
      books[0]["title"] = "Öl"
      context.processPendingChanges()
      let log = Log(context)
      try context.save()
      #expect(
        log.events == [Log.change([NSRefreshedObjectsKey: [books[0]]]), Log.save([NSUpdatedObjectsKey: [books[0]]])])
      #expect(books[0]["folded"] as? String == "ol")
      books[1]["shelf"] = shelf
      context.processPendingChanges()
      let second = Log(context)
      try context.save()
      #expect(second.events.first == Log.change([NSRefreshedObjectsKey: [shelf]]))
      #expect(second.events.count == 2 && shelf["count"] as? Int == 1)
    }
  }

  /// A save that changes nothing by itself announces nothing but itself.
  @Test func aSaveWithoutLateChangesPostsNoChange() throws {
    let stack = try UndoStack()
    let context = stack.context
    try context.performAndWait {
      let item = UndoStack.insert("a", context)
      context.processPendingChanges()
      let log = Log(context)
      try context.save()
      #expect(log.events == [Log.save([NSInsertedObjectsKey: [item]])])
    }
  }
}
