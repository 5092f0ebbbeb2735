import CoreData
import Foundation
import StoreProtocol

/// A few transactions on a disk that may fail. After an error the program continues as an application should: with a
/// new context, from the state that this context reads.
///
/// Prints one line for each event:
///
/// - "read T": T is the last transaction that a new context sees. It is -1 before the accounts exist, which are
///   transaction 0.
/// - "begin T", followed by "saved T", "failed T notSaved" or "failed T unknown".
/// - "other …": an error of another kind.
/// - "closed": all transactions are done and the store was removed from its coordinator.
struct FaultRun {
  let url: URL
  let type: NSPersistentStore.StoreType
  let count: Int64
  let isLogged: Bool
  /// Whether the program ends at the first failed save, without closing the store.
  let stops: Bool

  private static let size = CrashModel.Size(rows: 3, window: 1, hasPhoto: true)

  /// More attempts than any fault lasts.
  private static let attempts = 100

  func run() {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: CrashModel.model(hasPhoto: true))
    var goal: Int64?
    for _ in 0..<Self.attempts {
      do {
        try open(coordinator)
        let last = try step(coordinator, goal: goal)
        goal = goal ?? last + count
        if last >= goal ?? 0 {
          for store in coordinator.persistentStores { try coordinator.remove(store) }
          say("closed")
          return
        }
      } catch { say("retry: \(describe(error))") }
    }
    say("other: still not done after \(Self.attempts) attempts")
  }

  private func open(_ coordinator: NSPersistentStoreCoordinator) throws {
    if !coordinator.persistentStores.isEmpty { return }
    let options: [AnyHashable: Any]? = isLogged ? nil : [NSSQLitePragmasOption: ["journal_mode": "DELETE"]]
    try coordinator.addPersistentStore(type: type, at: url, options: options)
  }

  /// Returns the number of the last transaction in the store. Makes the next transaction if that number is below the
  /// goal.
  private func step(_ coordinator: NSPersistentStoreCoordinator, goal: Int64?) throws -> Int64 {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      let accounts = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Account"))
      let last = accounts.first?.value(forKey: "transaction") as? Int64 ?? -1
      say("read \(last)")
      guard let goal, last < goal else { return last }
      if last >= 0 {
        try CrashModel.change(accounts, last + 1, Self.size, in: context)
      } else {
        CrashModel.insertAccounts(in: context)
      }
      try save(context, last + 1)
      return last
    }
  }

  private func save(_ context: NSManagedObjectContext, _ transaction: Int64) throws {
    say("begin \(transaction)")
    do {
      try context.save()
      say("saved \(transaction)")
    } catch {
      guard let cause = (error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? StoreError else {
        return say("other: \(transaction) failed with \(describe(error))")
      }
      say("failed \(transaction) \(cause.outcome == .notSaved ? "notSaved" : "unknown")")
      say("cause: \(describe(cause))")
      // Exits while the store is open, because closing it would clean up what the failed save left.
      if stops { withExtendedLifetime(context.persistentStoreCoordinator) { exit(0) } }
    }
  }

  private func describe(_ error: any Error) -> String { "\(error)".replacingOccurrences(of: "\n", with: " ") }
}
