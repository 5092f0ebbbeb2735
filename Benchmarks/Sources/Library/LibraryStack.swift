import CoreData
import Foundation
import LMDBStore

/// A coordinator with one store.
struct LibraryStack {
  let coordinator: NSPersistentStoreCoordinator
  let store: NSPersistentStore

  /// Opens the store at `path`, or makes it.
  init(_ model: NSManagedObjectModel, _ path: String, synchronous: String, type: String = NSSQLiteStoreType) throws {
    #if LMDB
      LMDBStore.register()
    #endif
    NSManagedObjectContext.postsOnlyRequestedNotifications = getenv("STORE_BENCHMARK_ONLY_REQUESTED") != nil
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: URL(fileURLWithPath: path),
      options: type == NSSQLiteStoreType
        ? [NSSQLitePragmasOption: ["synchronous": synchronous], "SQLite.writerCacheBytes": Scale.writerCache] : nil)
  }

  /// A fresh context; everything with it happens inside its `performAndWait`.
  func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  func close() throws { try coordinator.remove(store) }

  /// Object IDs of employees by their keys, found without reading a row.
  func employeeIDs(_ keys: [Int64]) throws -> [NSManagedObjectID] {
    let prefix = "x-coredata://\(store.identifier ?? "")/Employee/p"
    return try keys.map { key in
      guard let url = URL(string: prefix + String(key)), let id = coordinator.managedObjectID(forURIRepresentation: url)
      else { throw BenchmarkError("The coordinator does not know the employee \(key).") }
      return id
    }
  }
}
