import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Objects that a fetch refreshes are announced, however the fetch is run.
/// https://developer.apple.com/documentation/coredata/nsfetchrequest/shouldrefreshrefetchedobjects
@Suite struct RefetchedObjectTests {
  enum Way: CaseIterable { case fetch, asynchronousFetch, asynchronousFetchOnTheQueue, controller, child }

  static func request(_ predicate: NSPredicate? = nil) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.shouldRefreshRefetchedObjects = true
    return request
  }

  private static func controller(_ context: NSManagedObjectContext) -> NSFetchedResultsController<NSManagedObject> {
    NSFetchedResultsController(
      fetchRequest: request(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
  }

  private final class Recorder: NSObject, NSFetchedResultsControllerDelegate {}

  /// What the observers of a context are notified of: refreshed objects, and a change of a name.
  ///
  /// Sendable, unchecked: used on the queue of the context.
  private final class Log: @unchecked Sendable {
    var refreshed: [Set<NSManagedObject>] = []
    var names: [String?] = []
    private var observer: (any NSObjectProtocol)?
    private var observation: NSKeyValueObservation?

    init(_ item: NSManagedObject) {
      observer = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.didChangeObjectsNotification, object: item.managedObjectContext, queue: nil
      ) { [unowned self] note in refreshed.append(note.userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject> ?? [])
      }
      observation = item.observe("name") { [unowned self] item, _ in names.append(item["name"] as? String) }
    }

    deinit { observer.map(NotificationCenter.default.removeObserver) }
  }

  /// The result whose value has changed gets its new position. No other object is announced.
  @Test(arguments: Way.allCases) func whatAFetchRefreshesIsAnnounced(_ way: Way) async throws {
    let stack = try UndoStack(levels: way == .child ? 2 : 1)
    let context = stack.context
    let items = try stack.savedItems("a", "b", "c")
    let (delegate, controller) = (Recorder(), Self.controller(context))
    let log = try context.performAndWait {
      controller.delegate = delegate
      try controller.performFetch()
      for item in items { _ = item["name"] }
      let log = Log(items[0])
      try stack.saveElsewhere { try $0.existingObject(with: items[0].objectID)["name"] = "z" }
      if way == .child { stack.contexts[0].performAndWait { stack.contexts[0].reset() } }
      return log
    }
    try await Self.refetch(way, context)
    context.performAndWait {
      #expect(log.refreshed == [[items[0]]] && log.names == ["z"])
      #expect(controller.fetchedObjects == [items[1], items[2], items[0]])
    }
    withExtendedLifetime(delegate) {}
  }

  /// While an object is incomplete, the end of the event announces what a fetch has refreshed.
  @Test func nothingIsAnnouncedWhileAnObjectAwakes() throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entities[0].managedObjectClassName = "CoreDataTests.FetchingItem"
    let stack = try UndoStack(model: model)
    let items = try stack.savedItems("a", "b")
    stack.event { $0.refresh(items[1], mergeChanges: false) }
    stack.event { _ in #expect(items[0]["name"] as? String == "a") }
    try stack.saveElsewhere { try $0.existingObject(with: items[0].objectID)["name"] = "z" }
    let log = stack.context.performAndWait { Log(items[0]) }
    stack.context.performAndWait {
      FetchingItem.request.withLock { $0 = true }
      #expect(items[1]["name"] as? String == "b" && log.refreshed.isEmpty)
      stack.context.processPendingChanges()
      #expect(log.refreshed == [[items[0]]] && log.names == ["z"])
    }
  }

  private static func refetch(_ way: Way, _ context: NSManagedObjectContext) async throws {
    switch way {
    case .fetch, .child: _ = try context.performAndWait { try context.fetch(request()) }
    case .controller: try context.performAndWait { try controller(context).performFetch() }
    // A block is evaluated on the queue, and no rows are read anywhere else.
    case .asynchronousFetchOnTheQueue: await fetch(NSPredicate { _, _ in true }, context)
    case .asynchronousFetch: await fetch(nil, context)
    }
  }

  private static func fetch(_ predicate: NSPredicate?, _ context: NSManagedObjectContext) async {
    let count: Int? = await withCheckedContinuation { continuation in
      let fetch = NSAsynchronousFetchRequest(fetchRequest: request(predicate)) { result in
        continuation.resume(returning: result.finalResult?.count)
      }
      do { _ = try context.performAndWait { try context.execute(fetch) } } catch {
        continuation.resume(returning: nil)
      }
    }
    #expect(count == 3)
  }

  /// The results of a controller must be fetched again. What that fetch refreshes is announced.
  @Test func aFetchOfAControllerAnnouncesWhatItRefreshes() throws {
    let stack = try UndoStack()
    let context = stack.context
    let items = try stack.savedItems("a", "b", "c")
    let delegate = Recorder()
    try context.performAndWait {
      let controller = Self.controller(context)
      try controller.performFetch()
      for item in items { _ = item["name"] }
      let log = Log(items[0])
      try stack.saveElsewhere { try $0.existingObject(with: items[0].objectID)["name"] = "z" }
      // Without a delegate the change is not followed, and the next one makes the controller fetch again.
      items[1]["number"] = 1
      context.processPendingChanges()
      controller.delegate = delegate
      items[1]["number"] = 2
      context.processPendingChanges()
      #expect(log.names == ["z"] && log.refreshed.contains([items[0]]))
      #expect(controller.fetchedObjects == [items[1], items[2], items[0]])
    }
  }
}

/// Refreshes all items when it awakes, once.
final class FetchingItem: NSManagedObject {
  static let request = Mutex(false)

  override func awakeFromFetch() {
    super.awakeFromFetch()
    let isDue = Self.request.withLock { due in
      defer { due = false }
      return due
    }
    if isDue { _ = try? managedObjectContext?.fetch(RefetchedObjectTests.request()) }
  }
}
