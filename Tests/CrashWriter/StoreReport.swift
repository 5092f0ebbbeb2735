import CoreData
import Foundation

/// The contents of a crash test's store, read in a process that did not write it: a line of JSON, for the scripts.
struct StoreReport {
  let text: String

  init(_ url: URL, _ type: NSPersistentStore.StoreType) throws {
    guard FileManager.default.fileExists(atPath: url.path) else {
      text = "{}"
      return
    }
    let coordinator = try Self.open(url, type)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    text = try context.performAndWait {
      let accounts = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Account"))
      let entries = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Entry"))
      func number(_ object: NSManagedObject, _ key: String) -> Int64 { object.value(forKey: key) as? Int64 ?? -1 }
      let groups = Dictionary(grouping: entries) { number($0, "transaction") }
      let report: [String: Any] = [
        "transactions": Set(accounts.map { number($0, "transaction") }).sorted(),
        "accounts": accounts.count,
        "sum": accounts.reduce(0) { $0 + number($1, "balance") },
        "entries": Dictionary(uniqueKeysWithValues: groups.map { ("\($0)", $1.count) }),
        "checks": entries.map { number($0, "check") - number($0, "transaction") * 1_000_003 },
        "pairs": entries.reduce(0) { $0 + (($1.value(forKey: "watchers") as? Set<NSManagedObject>)?.count ?? 0) },
        "owned": accounts.reduce(0) { $0 + (($1.value(forKey: "entries") as? Set<NSManagedObject>)?.count ?? 0) },
        "photos": accounts.compactMap { Self.photo($0) },
      ]
      return String(decoding: try JSONSerialization.data(withJSONObject: report), as: UTF8.self)
    }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// Tries the model with photos, then the one without: one of them made the store.
  private static func open(_ url: URL, _ type: NSPersistentStore.StoreType) throws -> NSPersistentStoreCoordinator {
    let options = [NSReadOnlyPersistentStoreOption: true]
    do {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: CrashModel.model(hasPhoto: true))
      try coordinator.addPersistentStore(type: type, at: url, options: options)
      return coordinator
    } catch let error as CocoaError where error.code == .persistentStoreIncompatibleVersionHash {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: CrashModel.model())
      try coordinator.addPersistentStore(type: type, at: url, options: options)
      return coordinator
    }
  }

  /// The byte that a photo repeats, and the photo's size. The byte is -1 if the photo has several different bytes.
  private static func photo(_ account: NSManagedObject) -> [Int]? {
    guard account.entity.attributesByName["photo"] != nil, let photo = account.value(forKey: "photo") as? Data else {
      return nil
    }
    let first = photo.first ?? 0
    return [photo.allSatisfy { $0 == first } ? Int(first) : -1, photo.count]
  }
}
