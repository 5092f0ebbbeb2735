import CoreData
import Foundation
import Synchronization
import Testing

/// Stores that are destroyed while contexts save to them.
@Suite struct DestroyedWhileSavingTests {
  /// Types whose files can be destroyed while they are open, and types that reject it.
  private static let (destructible, refusing) = (
    StoreMigrationTests.persistentTypes.filter { $0.rawValue != "LMDB" },
    StoreMigrationTests.persistentTypes.filter { $0.rawValue == "LMDB" }
  )

  /// The store is destroyed by the coordinator of the saving contexts, or by another one.
  @Test(.timeLimit(.minutes(2)), arguments: destructible, [true, false])
  func savesThatBeginAfterwardsFail(_ type: NSPersistentStore.StoreType, _ isOwn: Bool) throws {
    for round in 0..<5 {
      let stack = try AcknowledgedStack(type)
      let url = try #require(stack.coordinator.persistentStores.first?.url)
      let savers = Savers(stack, count: 2)
      defer { savers.stop() }
      try savers.waitForSaves(10 + round)
      let other = NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model())
      try (isOwn ? stack.coordinator : other).destroyPersistentStore(at: url, type: type)
      let (refused, late, wrong) = savers.storeIsGone()
      #expect(late == 0, "round \(round): a save that began after the store was gone was acknowledged")
      #expect(refused == 2 && wrong.isEmpty, "round \(round)")
      if isOwn { #expect(stack.coordinator.persistentStores.isEmpty) }

      // The store there now is a new one, and no earlier context writes to it.
      #expect(try members(url, type, adding: 3) == 3)
      for context in savers.contexts {
        context.performAndWait {
          _ = stack.insert("Member", in: context)
          #expect(throws: CocoaError.self) { try context.save() }
        }
      }
      #expect(try members(url, type, adding: 0) == 3)
    }
  }

  /// Nothing is lost where the type rejects it, as LMDB does, if it is built.
  @Test(.timeLimit(.minutes(2)), arguments: refusing, [true, false])
  func aStoreThatRefusesKeepsAllThatWasSaved(_ type: NSPersistentStore.StoreType, _ isOwn: Bool) throws {
    let stack = try AcknowledgedStack(type)
    let store = try #require(stack.coordinator.persistentStores.first)
    let url = try #require(store.url)
    let savers = Savers(stack, count: 2)
    defer { savers.stop() }
    let other = NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model())
    for number in 1...20 {
      try savers.waitForSaves(number)
      #expect(throws: CocoaError.self) {
        try (isOwn ? stack.coordinator : other).destroyPersistentStore(at: url, type: type)
      }
    }
    #expect(stack.coordinator.persistentStores == [store])
    try stack.coordinator.remove(store)
    let (refused, late, wrong) = savers.storeIsGone()
    #expect(refused == 2 && late == 0 && wrong.isEmpty)
    #expect(try members(url, type, adding: 0) == savers.count)
  }

  private func members(_ url: URL, _ type: NSPersistentStore.StoreType, adding count: Int) throws -> Int {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model())
    let store = try coordinator.addPersistentStore(type: type, at: url)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let found = try context.performAndWait {
      for _ in 0..<count { NSEntityDescription.insertNewObject(forEntityName: "Member", into: context) }
      try context.save()
      return try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Member"))
    }
    try coordinator.remove(store)
    return found
  }
}

/// Threads that save new objects, each in a separate context, until a save fails after the store was destroyed.
private final class Savers: Sendable {
  struct TooFew: Error {}

  let contexts: [NSManagedObjectContext]
  private let saves = Atomic(0)
  private let lateSaves = Atomic(0)
  private let lateRefusals = Atomic(0)
  private let isGone = Atomic(false)
  private let isToEnd = Atomic(false)
  private let wrongErrors = Mutex<[String]>([])
  private let ended = DispatchGroup()

  init(_ stack: AcknowledgedStack, count: Int) {
    contexts = (0..<count).map { _ in stack.context() }
    for context in contexts {
      ended.enter()
      Thread.detachNewThread {
        context.performAndWait { self.run(context) }
        self.ended.leave()
      }
    }
  }

  private func run(_ context: NSManagedObjectContext) {
    while !isToEnd.load(ordering: .relaxed) {
      let wasGone = isGone.load(ordering: .acquiring)
      NSEntityDescription.insertNewObject(forEntityName: "Member", into: context)
      do {
        try context.save()
        saves.add(1, ordering: .relaxed)
        if wasGone { lateSaves.add(1, ordering: .relaxed) }
      } catch {
        if !(error is CocoaError) { wrongErrors.withLock { $0.append("\(error)") } }
        context.rollback()
        if wasGone {
          lateRefusals.add(1, ordering: .relaxed)
          return
        }
        sched_yield()
      }
    }
  }

  /// The number of acknowledged saves.
  var count: Int { saves.load(ordering: .relaxed) }

  /// Throws if the number is not reached within half a minute.
  func waitForSaves(_ count: Int) throws {
    let end = Date() + 30
    while self.count < count {
      if Date() > end { throw TooFew() }
      sched_yield()
    }
  }

  /// Called after the store was destroyed: waits until each thread's save has been rejected. Returns how many were
  /// rejected, how many saves were acknowledged nevertheless, and errors of a wrong type.
  func storeIsGone() -> (refused: Int, late: Int, wrong: [String]) {
    isGone.store(true, ordering: .releasing)
    _ = ended.wait(timeout: .now() + 30)
    return (
      lateRefusals.load(ordering: .relaxed), lateSaves.load(ordering: .relaxed), wrongErrors.withLock { $0 }
    )
  }

  func stop() {
    isToEnd.store(true, ordering: .relaxed)
    ended.wait()
  }
}
