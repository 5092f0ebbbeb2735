import CoreData
import Foundation
import StoreProtocol

/// A few transactions on a disk that may fail. Goes on after an error as an application should: with a fresh context,
/// from what it reads there.
///
/// Prints what it knows: "read T" for the last transaction that a fresh context sees (-1 before the accounts, which are
/// transaction 0), "begin T", then "saved T", "failed T notSaved" or "failed T unknown"; "other …" for an error of
/// another kind; "closed" after all are done and the store was removed from its coordinator.
struct FaultRun {
  let url: URL
  let type: NSPersistentStore.StoreType
  let count: Int64
  let isLogged: Bool
  /// Ends at the first failed save, without closing the store.
  let stops: Bool

  private static let size = CrashModel.Size(rows: 3, window: 1, hasPhoto: true)

  /// More than any fault lasts.
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

  /// The last transaction in the store; makes the next one where it is below the goal.
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
      // Here, while the store is open: who closes it tidies up what the failed save left.
      if stops { withExtendedLifetime(context.persistentStoreCoordinator) { exit(0) } }
    }
  }

  private func describe(_ error: any Error) -> String { "\(error)".replacingOccurrences(of: "\n", with: " ") }
}
