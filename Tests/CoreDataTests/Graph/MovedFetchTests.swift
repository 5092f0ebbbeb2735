import CoreData
import Foundation
import Synchronization
import Testing

/// A store moves between URLs and types while other contexts fetch, follow relationships and save.
@Suite struct MovedFetchTests {
  private static let people = 120
  private static let total = people * 50

  private final class Progress: Sendable {
    let isDone = Atomic(false)
    let fetches = Atomic(0)
    let transfers = Atomic(0)
  }

  /// A transfer of age from one person to another leaves the sum as it is, so every fetch of all has the same sum.
  @Test(arguments: StoreMigrationTests.persistentTypes)
  func everyFetchHasOneWholeState(_ first: NSPersistentStore.StoreType) throws {
    let stack = try StoreMigrationTests.Stack(first)
    let setup = stack.context()
    try setup.performAndWait {
      let department = Department(context: setup)
      for number in 0..<Self.people {
        let person = Person(context: setup)
        (person.name, person.age, person.department) = ("N\(number)", 50, department)
      }
      try setup.save()
    }
    let progress = Progress()
    let (readers, writer) = ((0..<2).map { _ in stack.context() }, stack.context())
    // Threads of their own, because tasks that block would leave none to the others.
    let threads = DispatchGroup()
    func start(_ body: @escaping @Sendable () throws -> Void) {
      DispatchQueue(label: "worker").async(group: threads) {
        // A worker that fails ends the others.
        defer { progress.isDone.store(true, ordering: .releasing) }
        #expect(throws: Never.self) { while !progress.isDone.load(ordering: .acquiring) { try body() } }
      }
    }
    for reader in readers {
      start {
        try reader.performAndWait {
          reader.reset()
          let request = NSFetchRequest<Person>(entityName: "Person")
          request.returnsObjectsAsFaults = false
          let found = try reader.fetch(request)
          #expect(found.count == Self.people)
          #expect(found.reduce(0) { $0 + Int($1.age) } == Self.total)
          #expect(try reader.count(for: request) == Self.people)
          #expect(found.first?.department?.people.count == Self.people)
        }
        progress.fetches.add(1, ordering: .relaxed)
      }
    }
    start {
      try writer.performAndWait {
        let all = try writer.all(Person.self)
        let number = progress.transfers.load(ordering: .relaxed)
        let (from, to) = (all[number * 7 % all.count], all[(number * 11 + 1) % all.count])
        if from !== to {
          (from.age, to.age) = (from.age - 1, to.age + 1)
          try writer.save()
        }
      }
      progress.transfers.add(1, ordering: .relaxed)
    }
    defer {
      progress.isDone.store(true, ordering: .releasing)
      threads.wait()
    }
    let types = StoreMigrationTests.persistentTypes
    for round in 0..<8 {
      // Each round has fetches and transfers on both sides of the move.
      let fetches = progress.fetches.load(ordering: .relaxed) + 2
      let transfers = progress.transfers.load(ordering: .relaxed) + 1
      let store = try #require(stack.coordinator.persistentStores.first)
      _ = try stack.coordinator.migratePersistentStore(
        store, to: stack.folder.appending(path: "store\(round)"), options: nil,
        withType: types[(round + 1) % types.count].rawValue)
      while !progress.isDone.load(ordering: .acquiring),
        progress.fetches.load(ordering: .relaxed) < fetches || progress.transfers.load(ordering: .relaxed) < transfers
      { usleep(1000) }
    }
    progress.isDone.store(true, ordering: .releasing)
    threads.wait()
    let sum = try writer.performAndWait { try writer.all(Person.self).reduce(0) { $0 + Int($1.age) } }
    #expect(sum == Self.total)
  }
}
