import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Observers that change the objects of the context which notifies them.
@Suite struct ObserversThatChangeTests {
  /// An owner has a house, to which no link leads back, and is in a department.
  private static let model: NSManagedObjectModel = {
    let (owner, house) = (
      Describing.entity("Owner", [Describing.attribute("name"), Describing.attribute("note")]),
      Describing.entity("House", [Describing.attribute("name")])
    )
    let department = Describing.entity("Department", [Describing.attribute("title")])
    Describing.relate(owner, "department", toMany: false, department, "people", toManyBack: true)
    let home = NSRelationshipDescription()
    (home.name, home.destinationEntity, home.maxCount) = ("home", house, 1)
    home.deleteRule = .cascadeDeleteRule
    owner.properties.append(home)
    let model = NSManagedObjectModel()
    model.entities = [owner, house, department]
    return model
  }()

  private func count(_ entity: String, _ context: NSManagedObjectContext) throws -> Int {
    try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
  }

  /// The delete rules of an object are applied that an observer deletes, whether the rules are applied at the end of
  /// each event or at the save.
  @Test(arguments: [false, true]) func anObserversDeletionFollowsItsRules(atEndOfEvent: Bool) throws {
    let stack = try UndoStack(model: Self.model)
    try stack.context.performAndWait {
      let context = stack.context
      context.propagatesDeletesAtEndOfEvent = atEndOfEvent
      let made = ["Owner", "House", "Department"].map {
        NSEntityDescription.insertNewObject(forEntityName: $0, into: context)
      }
      made[0].setValue(made[1], forKey: "home")
      made[0].setValue(made[2], forKey: "department")
      try context.save()
      let observation = made[0].observe("department") { owner, _ in
        if owner["department"] == nil && !owner.isDeleted { context.delete(owner) }
      }
      context.delete(made[2])
      try context.save()
      let (owners, houses) = (try count("Owner", context), try count("House", context))
      #expect(owners == 0 && houses == 0 && !context.hasChanges)
      observation.invalidate()
    }
  }

  /// A rollback takes a new object away. That is not reported to its observers, because it has no context any more.
  @Test func anObjectThatIsRolledBackReportsNothing() throws {
    let stack = try UndoStack()
    let owner = try stack.savedItem()
    stack.event { context in
      let new = UndoStack.insert("new", context)
      new["owner"] = owner
      nonisolated(unsafe) var calls: [String] = []
      let observations = ["name", "owner", "friends", "list"].map { key in
        new.observe(key) { _, _ in calls.append(key) }
      }
      context.rollback()
      #expect(calls.isEmpty && new.managedObjectContext == nil)
      for observation in observations { observation.invalidate() }
    }
  }

  /// An object in the middle of an observed key path stays, although nobody else has it: a new object for its row
  /// would have no observers.
  @Test func aPathKeepsItsObjects() throws {
    let stack = try UndoStack()
    let item = stack.event { context in
      let (item, owner) = (UndoStack.insert("item", context), UndoStack.insert("owner", context))
      item["owner"] = owner
      return item
    }
    try stack.saveAll()
    let names = stack.event { _ in
      let log = ObservationLog<Any>()
      log.observation = item.observe("owner.name", options: .new) { _, change in log.note(change) }
      return log
    }
    // The context keeps the objects that were used last.
    try stack.context.performAndWait {
      for _ in 0..<3000 { _ = UndoStack.insert("other", stack.context) }
      try stack.context.save()
    }
    try stack.elsewhere { context in
      let owner = try #require(context.existingObject(with: item.objectID)["owner"] as? NSManagedObject)
      owner["name"] = "merged"
      let ids = [NSUpdatedObjectsKey: [owner.objectID]]
      try context.save()
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: ids, into: [stack.context])
    }
    #expect(names.changes.map { $0.new as? String } == ["merged"])
    stack.event { _ in (item["owner"] as? NSManagedObject)?["name"] = "new" }
    #expect(names.changes.map { $0.new as? String } == ["merged", "new"])
  }

  /// What an observation holds is released when another thread has ended it, and the context is used next.
  @Test func anObservationThatEndsElsewhereIsForgotten() throws {
    final class Held: Sendable {}
    let stack = try UndoStack()
    let item = stack.event { UndoStack.insert("item", $0) }
    weak var held: Held?
    try {
      let strong = Held()
      held = strong
      let observation = stack.event { _ in item.observe("name") { _, _ in _ = strong } }
      observation.invalidate()
      try stack.saveAll()
    }()
    stack.event { _ in }
    #expect(held == nil)
  }

  // MARK: Streams

  /// An observer of an event ends another one. The streams report both in the order in which they ended.
  @Test func streamsReportNestedEventsInTheirOrder() async throws {
    let stack = try UndoStack()
    let context = stack.context
    let changes = context.changes()
    nonisolated(unsafe) var isFirst = true
    let watch = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { note in
      let item = (note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.first
      guard isFirst, let item else { return }
      isFirst = false
      context.delete(item)
      context.processPendingChanges()
    }
    let id = stack.event { UndoStack.insert("item", $0) }.objectID
    NotificationCenter.default.removeObserver(watch)
    var iterator = changes.makeAsyncIterator()
    let (first, second) = (await iterator.next(), await iterator.next())
    #expect(first?.inserted == [id] && first?.deleted == [])
    #expect(second?.inserted == [] && second?.deleted == [id])
  }

  /// An observer of an event changes the object again. The object's stream has the keys of each event.
  @Test func anObjectStreamHasTheKeysOfEachEvent() async throws {
    let stack = try UndoStack()
    nonisolated(unsafe) let item = try stack.savedItem()
    let changes = item.changes()
    let watch = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: stack.context, queue: nil
    ) { _ in if item["number"] as? Int != 7 { item["number"] = 7 } }
    stack.event { _ in item["name"] = "new" }
    stack.event { _ in }
    NotificationCenter.default.removeObserver(watch)
    var iterator = changes.makeAsyncIterator()
    let (first, second) = (await iterator.next(), await iterator.next())
    #expect(first == .updated(keys: ["name"]) && second == .updated(keys: ["number"]))
  }

  /// An observer of a save saves again. The stream of the saves reports both in their order.
  @Test func savesWithinSavesAreReportedInTheirOrder() async throws {
    let stack = try UndoStack()
    nonisolated(unsafe) let item = try stack.savedItem()
    let context = stack.context
    let saves = context.saves()
    nonisolated(unsafe) var isFirst = true
    let watch = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: stack.context, queue: nil
    ) { _ in
      guard isFirst else { return }
      isFirst = false
      context.delete(item)
      try? context.save()
    }
    stack.event { _ in item["name"] = "new" }
    try stack.saveAll()
    NotificationCenter.default.removeObserver(watch)
    var iterator = saves.makeAsyncIterator()
    let (first, second) = (await iterator.next(), await iterator.next())
    #expect(first?.updated == [item.objectID] && second?.deleted == [item.objectID])
  }
}
