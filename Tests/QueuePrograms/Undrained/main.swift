import CoreData
import Dispatch
import Foundation
import QueueWorld
import Synchronization

// The main thread is blocked, so nothing runs the main queue. Only blocks for the view context wait, and the library
// prints one message about that on standard error. Migrations and merges do not wait. Then the main thread runs its
// queue, and everything that waited finishes.

let world = ContendedContext()
let (container, view) = (world.container, world.context)
view.automaticallyMergesChangesFromParent = true
let folder = FileManager.default.temporaryDirectory.appending(path: "undrained-\(UUID())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

// Nothing retains the objects that the view context merges, so they are counted here.
let merged = Atomic<Int>(0)
let observer = NotificationCenter.default.addObserver(
  forName: .NSManagedObjectContextObjectsDidChange, object: view, queue: nil
) { note in
  let inserted = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
  merged.add(inserted.count, ordering: .sequentiallyConsistent)
}

let released = Atomic<Int>(0)
let waiters = 2
for _ in 0..<waiters {
  Thread.detachNewThread {
    view.performAndWait {
      guard let items = try? view.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")), items.count == 20 else {
        fatalError("What was saved meanwhile is not found.")
      }
    }
    released.add(1, ordering: .sequentiallyConsistent)
  }
}

// Work that waits for no queue.
let isDone = DispatchSemaphore(value: 0)
Thread.detachNewThread {
  do {
    let background = container.newBackgroundContext()
    for _ in 0..<20 {
      try background.performAndWait {
        _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: background)
        try background.save()
      }
    }
    let ids = background.performAndWait { (try? background.fetch(.ids)) ?? [] }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: ids.map { $0.uriRepresentation() }], into: [view, background])
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores {
      _ = try coordinator.migratePersistentStore(store, to: folder.appending(path: "items.sqlite"), type: .sqlite)
    }
    isDone.signal()
  } catch { fatalError("\(error)") }
}
precondition(isDone.wait(timeout: .now() + 5) == .success, "migration or a merge waits for the main queue")

// The message is printed after 5 seconds.
Thread.sleep(forTimeInterval: 6)
precondition(
  released.load(ordering: .sequentiallyConsistent) == 0, "a block of the view context ran off the main queue")
let timer = Timer(timeInterval: 0.01, repeats: true) { _ in
  if released.load(ordering: .sequentiallyConsistent) < waiters { return }
  precondition(merged.load(ordering: .sequentiallyConsistent) == 20, "what was saved meanwhile is not merged")
  try? FileManager.default.removeItem(at: folder)
  print("undrained ok")
  exit(0)
}
RunLoop.main.add(timer, forMode: .default)
RunLoop.main.run()

extension NSFetchRequest where ResultType == NSManagedObjectID {
  nonisolated static var ids: NSFetchRequest<NSManagedObjectID> {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
    request.resultType = .managedObjectIDResultType
    return request
  }
}
