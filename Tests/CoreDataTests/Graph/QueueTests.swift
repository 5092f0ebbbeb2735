import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Which queue runs a block, and which thread waits.
@Suite struct QueueTests {
  private func context(
    _ company: CompanyStore, _ type: NSManagedObjectContextConcurrencyType
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: type)
    context.persistentStoreCoordinator = company.coordinator
    // The store must live as long as the context.
    context.userInfo["company"] = company
    return context
  }

  /// Runs `body` on a new thread.
  private func onAnotherThread<T: Sendable>(_ body: sending @escaping () throws -> T) async throws -> T {
    nonisolated(unsafe) let body = body
    return try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
  }

  /// The form of `perform` that does not wait, which asynchronous code cannot select.
  private func queue(_ context: NSManagedObjectContext, _ body: sending @escaping () -> Void) { context.perform(body) }

  // MARK: Blocks

  private struct Failure: Error {}

  @Test func blocksFromElsewhereRunOnTheMainQueue() async throws {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    let context = context(try CompanyStore(), .mainQueueConcurrencyType)
    let found = try await onAnotherThread {
      context.performAndWait { context.performAndWait { DispatchQueue.getSpecific(key: key) } }
    }
    #expect(found == true)
    await #expect(throws: Failure.self) { try await onAnotherThread { try context.performAndWait { throw Failure() } } }
  }

  @Test(arguments: [0, 1].compactMap(NSManagedObjectContextConcurrencyType.init))
  func otherContextsRunBlocksOnTheCallingThread(type: NSManagedObjectContextConcurrencyType) async throws {
    let context = context(try CompanyStore(), type)
    let isSame = try await onAnotherThread {
      let outside = PlatformThread.current
      return context.performAndWait { PlatformThread.current == outside }
    }
    #expect(isSame)
  }

  @Test func aContextWithoutAQueueRunsEverythingAtOnce() throws {
    let context = context(try CompanyStore(), try #require(.init(rawValue: 0)))
    #expect(NSManagedObjectContext().concurrencyType == context.concurrencyType)
    Person(context: context).name = "Ada"
    nonisolated(unsafe) var hasRun = false
    context.perform { hasRun = true }
    #expect(hasRun)
    var found: Int?
    let fetch = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<Person>(entityName: "Person")) {
      found = $0.finalResult?.count
    }
    try context.execute(fetch)
    #expect(found == 1)
  }

  @MainActor @Test func immediateBlocksOfTheQueueRunAtOnceAndOthersInTurn() async throws {
    let context = context(try CompanyStore(), .mainQueueConcurrencyType)
    nonisolated(unsafe) var order: [String] = []
    queue(context) { order.append("queued") }
    await context.perform { order.append("immediate") }
    await context.perform(schedule: .enqueued) { order.append("enqueued") }
    #expect(order == ["immediate", "queued", "enqueued"])
  }

  // MARK: Marks

  /// While another thread is inside a block of each context.
  @Test(arguments: [1, 2].compactMap(NSManagedObjectContextConcurrencyType.init))
  func migrationAndMergesWaitForNobody(type: NSManagedObjectContextConcurrencyType) async throws {
    let stack = try StoreMigrationTests.Stack(.sqlite)
    let (coordinator, folder, store) = (stack.coordinator, stack.folder, stack.store)
    let writer = stack.context()
    let id = try writer.performAndWait {
      let ada = Person(context: writer)
      ada.age = 1
      try writer.save()
      return ada.objectID
    }
    let context = NSManagedObjectContext(concurrencyType: type)
    context.persistentStoreCoordinator = coordinator
    context.automaticallyMergesChangesFromParent = true
    let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // Held, so that registered objects are not read again.
    nonisolated(unsafe) var ada: Person?
    queue(context) {
      ada = (try? context.existingObject(with: id)) as? Person
      entered.signal()
      gate.wait()
    }
    let isFree = try await onAnotherThread {
      entered.wait()
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        do {
          try writer.performAndWait {
            for age in 2...20 {
              (try writer.existingObject(with: id) as? Person)?.age = Int16(age)
              try writer.save()
            }
          }
          NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [id.uriRepresentation()]], into: [context])
          try coordinator.migratePersistentStore(store, to: folder.appending(path: "second"), type: .sqlite)
        } catch { Issue.record(error) }
        done.signal()
      }
      defer { gate.signal() }
      return done.wait(timeout: .now() + 5) == .success
    }
    #expect(isFree)
    // Handled at the next use, whether or not the queue had a turn.
    try context.performAndWait {
      #expect(ada?.age == 20)
      ada?.age = 21
      try context.save()
      ada = nil
    }
    let age = try writer.performAndWait {
      writer.reset()
      return try writer.all(Person.self).map(\.age)
    }
    #expect(age == [21])
    withExtendedLifetime(stack) {}
  }

  @Test func aContextInTheMiddleOfABlockGoesOnWithTheNewStore() async throws {
    let stack = try StoreMigrationTests.Stack(.sqlite)
    let (coordinator, folder, store) = (stack.coordinator, stack.folder, stack.store)
    let context = stack.context()
    try context.performAndWait {
      for name in ["Ada", "Emmy"] { Person(context: context).name = name }
      try context.save()
    }
    let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let migration = Task {
      try await onAnotherThread {
        entered.wait()
        defer { gate.signal() }
        try coordinator.migratePersistentStore(store, to: folder.appending(path: "second"), type: .xml)
      }
    }
    let names = try await onAnotherThread {
      try context.performAndWait {
        let request = NSFetchRequest<Person>(entityName: "Person")
        (request.includesPropertyValues, request.sortDescriptors) = (
          false, [NSSortDescriptor(key: "name", ascending: true)]
        )
        let people = try context.fetch(request)
        people[0].age = 36
        entered.signal()
        gate.wait()
        people[1].age = 60
        try context.save()
        return try context.fetch(request).map { "\($0.name ?? "") \($0.age)" }
      }
    }
    _ = try await migration.value
    #expect(names == ["Ada 36", "Emmy 60"])
    withExtendedLifetime(stack) {}
  }

  @Test func marksAreOneTurnHoweverManyThereAre() async {
    let (marks, queue, turns) = (ContextMarks(), DispatchQueue(label: "turns"), Turns())
    queue.suspend()
    for _ in 0..<100 { marks.queueTurn(on: queue) { turns.count.add(1, ordering: .relaxed) } }
    queue.resume()
    queue.sync {}
    marks.queueTurn(on: queue) { turns.count.add(1, ordering: .relaxed) }
    queue.sync {}
    #expect(turns.count.load(ordering: .relaxed) == 2)
  }

  private final class Turns: Sendable { let count = Atomic<Int>(0) }

  @Test func aQueuedTurnKeepsNoContextAlive() async throws {
    let company = try CompanyStore()
    let gate = DispatchSemaphore(value: 0)
    DispatchQueue.main.async { gate.wait() }
    defer { gate.signal() }
    weak var gone: NSManagedObjectContext?
    do {
      let follower = context(company, .mainQueueConcurrencyType)
      follower.automaticallyMergesChangesFromParent = true
      for _ in 0..<3 {
        try company.run { (context) throws in
          Person(context: context).name = "Ada"
          try context.save()
        }
      }
      gone = follower
    }
    #expect(gone == nil)
  }

  // MARK: Turns

  @MainActor @Test func aMainQueueContextTellsOfChangesAtTheEndOfTheTurn() async throws {
    let context = context(try CompanyStore(), .mainQueueConcurrencyType)
    nonisolated(unsafe) var inserted: [Int] = []
    let observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
    ) { inserted.append(($0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0) }
    defer { NotificationCenter.default.removeObserver(observer) }
    let request = NSFetchRequest<Person>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    let delegate = ChangeCounter()
    controller.delegate = delegate
    try controller.performFetch()
    for name in ["Ada", "Emmy"] { Person(context: context).name = name }
    #expect(inserted.isEmpty && delegate.changes == 0)
    await mainQueueTurn()
    #expect(inserted == [2] && delegate.changes == 2 && controller.fetchedObjects?.count == 2)
    // Nothing is left to report.
    await mainQueueTurn()
    #expect(inserted == [2] && context.hasChanges)
    Person(context: context).name = "Lise"
    await mainQueueTurn()
    #expect(inserted == [2, 1])
  }

  private final class ChangeCounter: NSObject, NSFetchedResultsControllerDelegate {
    var changes = 0
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { changes += 1 }
  }
}

/// Waits for the blocks that are in the main queue now.
@MainActor func mainQueueTurn() async {
  await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
}
