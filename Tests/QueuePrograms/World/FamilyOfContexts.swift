import CoreData
import Dispatch
import Foundation
import Synchronization

/// A private root context, a private child of it, a main-queue child of that, private children of that, and a child of
/// each of these. Every context but the main-queue one belongs to a thread, which counts in an item of its own, and
/// saves. Those without children undo changes and saves. Those above the main-queue context call `performAndWait` of
/// it. Meanwhile the main queue saves its context, and calls `performAndWait` of the contexts below it. Observers of a
/// parent call `performAndWait` of contexts below it, which may be waiting for the observers to end.
///
/// Sendable, unchecked: the arrays do not change once the threads run, and each thread has a counter of its own.
public final class FamilyOfContexts: @unchecked Sendable {
  private let container: NSPersistentContainer
  /// The contexts above the main-queue context, the root first.
  private let uppers = [NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue)]
  private let main = NSManagedObjectContext(.mainQueue)
  private var contexts: [NSManagedObjectContext] = []
  private var counters: [Counter] = []
  /// The items by owner: each of `contexts`, then each of `uppers`.
  private var ids: [NSManagedObjectID] = []
  private let running = Atomic<Int>(0)
  private var steps = 0

  private final class Counter {
    var count: Int64 = 0
  }

  public init() {
    func attribute(_ name: String) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, .integer64AttributeType)
      return attribute
    }
    let entity = NSEntityDescription()
    (entity.name, entity.properties) = ("Item", [attribute("number"), attribute("owner")])
    let model = NSManagedObjectModel()
    model.entities = [entity]
    container = NSPersistentContainer(name: "Family", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(filePath: "/dev/null"))]
    container.loadPersistentStores { if let error = $1 { fatalError("\(error)") } }
    uppers[0].persistentStoreCoordinator = container.persistentStoreCoordinator
    uppers[1].parent = uppers[0]
    main.parent = uppers[1]
    main.automaticallyMergesChangesFromParent = true
    for _ in 0..<4 {
      for parent in [main, nil] {
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent ?? contexts.last
        child.undoManager = UndoManager()
        child.undoManager?.levelsOfUndo = 4
        contexts.append(child)
      }
    }
    counters = (contexts + uppers).map { _ in Counter() }
    for context in uppers { observe(context) { [self] _ in use(main) } }
    observe(uppers[0]) { [self] _ in use(contexts[0], beside: uppers[0]) }
    observe(main) { [self] in
      for object in $0.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? [] {
        // Its thread has probably saved it just now.
        guard let owner = object.value(forKey: "owner") as? Int, contexts.indices.contains(owner),
          contexts[owner].parent === main
        else { continue }
        use(contexts[owner])
      }
    }
    for child in contexts {
      guard let parent = child.parent, parent !== main else { continue }
      observe(parent) { [self] _ in use(child) }
    }
  }

  /// Reads an object of another context, and of one that this thread is using.
  private func use(_ context: NSManagedObjectContext, beside present: NSManagedObjectContext? = nil) {
    context.performAndWait {
      precondition(context !== main || Thread.isMainThread, "the main-queue context is used on another thread")
      guard let id = ids.first else { return }
      for context in [context, present] { _ = context?.object(with: id).value(forKey: "owner") }
    }
  }

  private func observe(_ context: NSManagedObjectContext, _ body: @escaping (Notification) -> Void) {
    nonisolated(unsafe) let body = body
    _ = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { body($0) }
  }

  /// Starts the threads, which end after some seconds. Call it on the main queue.
  public func start(seconds: Double) throws {
    let items = counters.indices.map { owner in
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: main)
      item.setValue(owner, forKey: "owner")
      return item
    }
    try main.save()
    for context in uppers.reversed() { try context.performAndWait { try context.save() } }
    ids = items.map(\.objectID)
    running.store(counters.count, ordering: .sequentiallyConsistent)
    let end = Date(timeIntervalSinceNow: seconds)
    for index in counters.indices {
      Thread.detachNewThread { [self] in
        while Date() < end {
          if index < contexts.count { count(index) } else { countAbove(index) }
          // A thread that takes its context again at once would keep it from the observers.
          usleep(1000)
        }
        running.subtract(1, ordering: .sequentiallyConsistent)
      }
    }
  }

  private func countAbove(_ index: Int) {
    let context = uppers[index - contexts.count]
    context.performAndWait {
      counters[index].count += 1
      context.object(with: ids[index]).setValue(counters[index].count, forKey: "number")
      use(main)
      do { try save(context) } catch { fatalError("\(error)") }
    }
  }

  private func count(_ index: Int) {
    let (context, counter) = (contexts[index], counters[index])
    context.performAndWait {
      do {
        guard let item = try context.existingObject(with: ids[index]) as NSManagedObject? else { return }
        counter.count += 1
        item.setValue(counter.count, forKey: "number")
        if counter.count % 3 == 0 {
          let extra = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
          extra.setValue(-1, forKey: "owner")
        }
        if counter.count % 7 == 0 {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
          request.predicate = NSPredicate(format: "owner < 0")
          request.fetchLimit = 2
          try context.fetch(request).forEach(context.delete)
        }
        // In a parent an undo may undo what a child has saved meanwhile, during a notification.
        let isParent = index % 2 == 0
        if counter.count % 5 == 0 && !isParent { undoAndRedo(context) }
        if counter.count % 9 == 0 { try fetchInFetch(context) }
        try save(context)
        if counter.count % 4 == 0 && !isParent { try undoASave(item, context) }
        if counter.count % 50 == 0 { context.reset() }
      } catch { fatalError("\(error)") }
    }
  }

  /// The root runs the request, and with it the nested fetch of the context.
  private func fetchInFetch(_ context: NSManagedObjectContext) throws {
    let nested = NSFetchRequest<NSManagedObject>(entityName: "Item")
    nested.predicate = NSPredicate(format: "owner == 0")
    let request = NSFetchRequest<NSDictionary>(entityName: "Item")
    request.resultType = .dictionaryResultType
    request.predicate = NSPredicate(format: "SELF IN FETCH(%@, %@, NO)", nested, context)
    let count = try context.fetch(request).count
    precondition(count == 1, "\(count) items of the first context")
  }

  /// The changes since the last save are the same again afterwards.
  private func undoAndRedo(_ context: NSManagedObjectContext) {
    context.processPendingChanges()
    context.undo()
    context.redo()
  }

  /// Saves another number, and then undoes that.
  private func undoASave(_ item: NSManagedObject, _ context: NSManagedObjectContext) throws {
    item.setValue(-1, forKey: "number")
    try save(context)
    context.undo()
    try save(context)
  }

  /// An extra item may have been deleted by another context meanwhile; then nothing of it is left to save.
  private func save(_ context: NSManagedObjectContext) throws {
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try context.save()
  }

  /// Uses the main-queue context and one below it. Returns whether the threads are still running.
  public func step() throws -> Bool {
    steps += 1
    let other = contexts[steps % contexts.count]
    use(other)
    _ = try main.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).count
    try save(main)
    return running.load(ordering: .sequentiallyConsistent) > 0
  }

  /// Saves all that is left, and ends the program with an error if a count has not reached the store.
  public func finish() throws {
    for context in contexts.reversed() { try context.performAndWait { try save(context) } }
    try save(main)
    for context in uppers.reversed() { try context.performAndWait { try save(context) } }
    let fresh = container.newBackgroundContext()
    try fresh.performAndWait {
      for (index, id) in ids.enumerated() {
        let number = try fresh.existingObject(with: id).value(forKey: "number") as? Int64
        let count = counters[index].count
        precondition(number == count, "context \(index) counted to \(count), the store has \(number ?? -1)")
        precondition(count > 0, "owner \(index) did not run")
      }
    }
    print("\(counters.reduce(0) { $0 + $1.count }) saves of \(counters.count) contexts")
  }
}
