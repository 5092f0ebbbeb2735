import CoreData
import Foundation

/// Uses contexts from an asynchronous main program and from tasks.
@main struct AsyncProgram {
  static func main() async throws {
    let entity = NSEntityDescription()
    entity.name = "Item"
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let container = NSPersistentContainer(name: "Items", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(filePath: "/dev/null"))]
    container.loadPersistentStores { if let error = $1 { fatalError("\(error)") } }
    let viewContext = container.viewContext
    try await viewContext.perform {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: viewContext)
      try viewContext.save()
    }
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
    let count = try await viewContext.perform {
      try viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
    }
    precondition(count == 9)
    print("async main ok")
  }
}
