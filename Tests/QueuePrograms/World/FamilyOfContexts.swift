import CoreData
import Dispatch
import Foundation
import Synchronization

/// A private root context, a main-queue child of it, private children of that, and a child of each of these. Every
/// context but the first two belongs to a thread, which counts in an item of its own, undoes other changes, and saves.
/// Meanwhile the main queue saves the upper two, and calls `performAndWait` of the contexts of the threads.
///
/// Sendable, unchecked: the arrays do not change once the threads run, and each thread has a counter of its own.
public final class FamilyOfContexts: @unchecked Sendable {
  private let container: NSPersistentContainer
  private let root = NSManagedObjectContext(.privateQueue)
  private let main = NSManagedObjectContext(.mainQueue)
  private var contexts: [NSManagedObjectContext] = []
  private var counters: [Counter] = []
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
    root.persistentStoreCoordinator = container.persistentStoreCoordinator
    main.parent = root
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
    counters = contexts.map { _ in Counter() }
  }

  /// Starts the threads, which end after some seconds. Call it on the main queue.
  public func start(seconds: Double) throws {
    let items = contexts.indices.map { owner in
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: main)
      item.setValue(owner, forKey: "owner")
      return item
    }
    try main.save()
    try root.performAndWait { try root.save() }
    ids = items.map(\.objectID)
    running.store(contexts.count, ordering: .sequentiallyConsistent)
    let end = Date(timeIntervalSinceNow: seconds)
    for index in contexts.indices {
      Thread.detachNewThread { [self] in
        while Date() < end { count(index) }
        running.subtract(1, ordering: .sequentiallyConsistent)
      }
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
        if counter.count % 5 == 0 { undoAndRedo(context) }
        try save(context)
        if counter.count % 4 == 0 { try undoASave(item, context) }
        if counter.count % 50 == 0 { context.reset() }
      } catch { fatalError("\(error)") }
    }
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

  /// Uses the upper contexts, and one of the others from the main queue. Returns whether the threads are still running.
  public func step() throws -> Bool {
    steps += 1
    let other = contexts[steps % contexts.count]
    other.performAndWait { _ = other.registeredObjects.count }
    _ = try main.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).count
    try save(main)
    try root.performAndWait { try save(root) }
    return running.load(ordering: .sequentiallyConsistent) > 0
  }

  /// Saves all that is left, and ends the program with an error if a count has not reached the store.
  public func finish() throws {
    for context in contexts.reversed() { try context.performAndWait { try save(context) } }
    try save(main)
    try root.performAndWait { try save(root) }
    let fresh = container.newBackgroundContext()
    try fresh.performAndWait {
      for (index, id) in ids.enumerated() {
        let number = try fresh.existingObject(with: id).value(forKey: "number") as? Int64
        let count = counters[index].count
        precondition(number == count, "context \(index) counted to \(count), the store has \(number ?? -1)")
        precondition(count > 0, "context \(index) did not run")
      }
    }
    print("\(counters.reduce(0) { $0 + $1.count }) saves of \(contexts.count) contexts")
  }
}
