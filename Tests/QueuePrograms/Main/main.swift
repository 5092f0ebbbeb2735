import CoreData
import Dispatch
import Foundation

// Uses contexts from a plain main.swift, and from other threads while the main thread blocks. Hangs if any of these needs
// a main queue that nobody drains.

let entity = NSEntityDescription()
entity.name = "Item"
let model = NSManagedObjectModel()
model.entities = [entity]
let container = NSPersistentContainer(name: "Items", managedObjectModel: model)
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(filePath: "/dev/null"))]
container.loadPersistentStores { if let error = $1 { fatalError("\(error)") } }
let viewContext = container.viewContext
let request = NSFetchRequest<NSManagedObject>(entityName: "Item")

// On the main thread, directly and inside blocks that nest.
NSEntityDescription.insertNewObject(forEntityName: "Item", into: viewContext)
try viewContext.save()
try viewContext.performAndWait {
  try container.newBackgroundContext().performAndWait {
    let nested = try viewContext.performAndWait { try viewContext.count(for: request) }
    precondition(nested == 1)
  }
}
print("main thread ok")

// On another thread, through a main-queue and a private context, while the main thread waits.
let done = DispatchSemaphore(value: 0)
Thread.detachNewThread {
  viewContext.performAndWait {
    _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: viewContext)
    try? viewContext.save()
  }
  let background = container.newBackgroundContext()
  background.perform {
    _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: background)
    try? background.save()
    done.signal()
  }
}
done.wait()
let count = try viewContext.performAndWait { try viewContext.count(for: request) }
precondition(count == 3)
print("blocked main thread ok")

// A block for the main queue runs when the main queue does.
viewContext.perform {
  print("main queue ok")
  exit(0)
}
dispatchMain()
