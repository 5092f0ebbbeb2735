import CoreData
import Foundation
import QueueWorld

/// A program with an asynchronous main. Once it has suspended, the main queue and the main actor run on other threads.
/// The main actor uses the view context directly while other threads use it in blocks.
@main struct AsyncProgram {
  @MainActor static func main() async throws {
    let world = ContendedContext()
    try world.start()
    while world.step() { await Task.yield() }
    precondition(!Thread.isMainThread, "an asynchronous main has changed: it goes on on the main thread")
    try world.finish()
    try await useTasks(world.container)
    print("async main ok")
  }

  /// Runs outside of the main actor.
  @concurrent private static func useTasks(_ container: NSPersistentContainer) async throws {
    let context = container.viewContext
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await container.performBackgroundTask { context in
            _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    let count = try await context.perform { try context.count(for: request) }
    precondition(count == 9)
  }
}
