import CoreData
import Dispatch
import Foundation
import Synchronization

/// A view context that the main queue uses directly, step by step, while other threads use it in blocks.
///
/// Sendable, unchecked: the variables are used on the main queue only.
public final class ContendedContext: @unchecked Sendable {
  public let container: NSPersistentContainer
  public var context: NSManagedObjectContext { container.viewContext }
  private let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
  private let running = Atomic<Int>(0)
  private var steps = 0
  private var changesReported = 0
  private var observer: (any NSObjectProtocol)?
  /// Whether the context has merged what another one has saved.
  public private(set) var hasMerged = false
  private static let (threads, rounds) = (4, 250)

  public init() {
    let number = NSAttributeDescription()
    (number.name, number.attributeType) = ("number", .integer64AttributeType)
    let entity = NSEntityDescription()
    (entity.name, entity.properties) = ("Item", [number])
    let model = NSManagedObjectModel()
    model.entities = [entity]
    container = NSPersistentContainer(name: "Items", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(filePath: "/dev/null"))]
    container.loadPersistentStores { if let error = $1 { fatalError("\(error)") } }
    container.viewContext.name = "view"
  }

  /// Starts threads that change the context's only item in blocks. Call it on the main queue.
  public func start() throws {
    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
    item.setValue(0, forKey: "number")
    try context.save()
    _ = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
    ) { [unowned self] _ in changesReported += 1 }
    running.store(Self.threads, ordering: .sequentiallyConsistent)
    for _ in 0..<Self.threads {
      Thread.detachNewThread { [self] in
        for _ in 0..<Self.rounds { context.performAndWait(count) }
        running.subtract(1, ordering: .sequentiallyConsistent)
      }
    }
  }

  /// A block of the context waits for a queue of the client. That queue's block runs on this thread and uses the
  /// context too.
  public func nestThroughAnotherQueue() {
    context.performAndWait { DispatchQueue(label: "client").sync { context.performAndWait { count() } } }
  }

  /// Uses the context on the main queue without a block. Returns whether the threads are still running.
  public func step() -> Bool {
    steps += 1
    count()
    return running.load(ordering: .sequentiallyConsistent) > 0
  }

  private func count() {
    guard let item = try? context.fetch(request).first, let number = item.value(forKey: "number") as? Int64 else {
      fatalError("The item is not found.")
    }
    item.setValue(number + 1, forKey: "number")
  }

  /// Ends the program with an error if a change was lost or no change was notified.
  public func finish() throws {
    guard let item = try context.fetch(request).first else { fatalError("The item is gone.") }
    let number = item.value(forKey: "number") as? Int64
    precondition(number == Int64(steps + Self.threads * Self.rounds), "changes are lost: \(number ?? -1)")
    precondition(changesReported > 0, "no notification reported a change before a save")
    try context.save()
  }

  /// Another context saves while an observer of this context runs the main queue, so the turn that would merge comes
  /// too early. ``hasMerged`` must become true without another use of the context. For a program with a run loop.
  public func saveElsewhereDuringANotification() {
    context.automaticallyMergesChangesFromParent = true
    hasMerged = false
    let center = NotificationCenter.default
    _ = center.addObserver(
      forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: context, queue: nil
    ) { [unowned self] _ in hasMerged = true }
    observer = center.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
    ) { [unowned self] _ in
      observer.map(NotificationCenter.default.removeObserver)
      saveElsewhere()
      precondition(!hasMerged, "a merge has interrupted a notification")
    }
    count()
    context.processPendingChanges()
  }

  /// The same while a block of this context runs the main queue.
  public func saveElsewhereDuringABlock() {
    hasMerged = false
    context.performAndWait {
      saveElsewhere()
      precondition(!hasMerged, "a merge has interrupted a block")
    }
  }

  private func saveElsewhere() {
    let other = container.newBackgroundContext()
    other.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: other)
      do { try other.save() } catch { fatalError("\(error)") }
    }
    RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.2))
  }
}
