import Foundation
import Synchronization
import Testing

@testable import CoreData

/// The asynchronous sequences of a context, an object and a fetch.
@Suite struct StreamTests {
  /// Reads what a stream has at present, and no more.
  private func read<Element: Sendable>(_ stream: AsyncStream<Element>, _ count: Int) async -> [Element] {
    var elements: [Element] = []
    var iterator = stream.makeAsyncIterator()
    while elements.count < count, let element = await iterator.next() { elements.append(element) }
    return elements
  }

  @Test(.ofRootContexts) func aContextAnnouncesChangesSavesAndMerges() async throws {
    let company = try CompanyStore()
    let (context, other) = (company.context(), company.context())
    let (changes, saves, merges) = (context.changes(), context.saves(), context.merges())
    let id = try await context.perform {
      let person = Person(context: context)
      person.name = "Ada"
      let temporary = person.objectID
      context.processPendingChanges()
      try context.save()
      person.name = "Grace"
      context.processPendingChanges()
      return [temporary, person.objectID]
    }
    let first = await read(changes, 2)
    #expect(first.map(\.inserted) == [[id[0]], []] && first.map(\.updated) == [[], [id[1]]])
    try await other.perform {
      let person = try #require(try other.existingObject(with: id[1]) as? Person)
      person.age = 5
      _ = Department(context: other)
      try other.save()
    }
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [id[1]]], into: [context])
    try await context.perform {
      try context.save()
      context.delete(context.object(with: id[1]))
      try context.save()
      context.reset()
    }
    let saved = await read(saves, 3)
    #expect(saved.map(\.inserted) == [[id[1]], [], []] && saved.map(\.updated) == [[], [id[1]], []])
    #expect(saved.map(\.deleted) == [[], [], [id[1]]])
    #expect(await read(merges, 1).map(\.refreshed) == [[id[1]]])
    let rest = await read(changes, 3)
    #expect(rest.map(\.refreshed) == [[id[1]], [], []] && rest.map(\.deleted) == [[], [id[1]], []])
    #expect(rest[2].invalidated.isEmpty)
  }

  @Test func streamsEndWithTheirContext() async throws {
    let company = try CompanyStore()
    var context: NSManagedObjectContext? = company.context()
    let stream = try #require(context?.changes())
    let object = try #require(
      context?.performAndWait { context.map { Person(context: $0) } })
    let changes = context?.performAndWait { object.changes() }
    context = nil
    #expect(await read(stream, 1).isEmpty)
    #expect(await read(try #require(changes), 5) == [.invalidated])
  }

  @Test func aStreamThatIsNotReadIsForgotten() async throws {
    let company = try CompanyStore()
    let context = company.context()
    do {
      let newest = context.saves(bufferingPolicy: .bufferingNewest(1))
      try await context.perform {
        for _ in 0..<3 {
          _ = Department(context: context)
          try context.save()
        }
      }
      #expect(await read(newest, 1).map(\.inserted.count) == [1])
    }
    let task = Task {
      for await _ in context.changes() {}
    }
    task.cancel()
    await task.value
    await context.perform { _ = Department(context: context) }
    #expect(await context.perform { context.core.streams.withLock { $0.isEmpty } })
  }

  @Test func anObjectAnnouncesWhatHappensToIt() async throws {
    let company = try CompanyStore()
    let context = company.context()
    let stream = try await context.perform {
      let (person, other) = (Person(context: context), Person(context: context))
      try context.save()
      let stream = person.changes()
      person.name = "Ada"
      person.name = "Grace"
      other.name = "other"
      context.processPendingChanges()
      person.department = Department(context: context)
      person.department?.title = "first"
      context.processPendingChanges()
      context.refresh(person, mergeChanges: true)
      context.delete(person)
      context.processPendingChanges()
      context.rollback()
      context.reset()
      return stream
    }
    let changes = await read(stream, 10)
    #expect(
      changes == [
        .updated(keys: ["name"]), .updated(keys: ["department"]), .refreshed, .deleted, .inserted, .invalidated,
      ])
  }

  @Test func anObjectEndsItsStream() async throws {
    let company = try CompanyStore()
    let context = company.context()
    let stream = try await context.perform {
      let person = Person(context: context)
      try context.save()
      return person.changes()
    }
    #expect(await read(stream, 1).isEmpty)
  }

  @Test func anObjectWithoutAContextHasAnEmptyStream() async throws {
    let company = try CompanyStore()
    let entity = try #require(company.coordinator.managedObjectModel.entitiesByName["Person"])
    let person = Person(entity: entity, insertInto: nil)
    let stream = person.changes()
    #expect(await read(stream, 1).isEmpty)
    withExtendedLifetime(person) {}
  }

  /// One object of an event is observed, among others that are not.
  @Test func anObservedObjectIsFoundAmongOthers() async throws {
    let company = try CompanyStore()
    let context = company.context()
    let (stream, people) = await context.perform {
      let people = (0..<30).map { _ in Person(context: context) }
      context.processPendingChanges()
      return (people[11].changes(), people)
    }
    await context.perform { for person in people { person.name = "Ada" } }
    #expect(await read(stream, 1) == [.updated(keys: ["name"])])
  }

  @Test func aFetchShowsItsResults() async throws {
    let company = try CompanyStore()
    let context = company.context()
    let request = NSFetchRequest<Person>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.predicate = NSPredicate(format: "age < 5")
    let stream = try await context.perform { try context.results(of: request, sectionNameKeyPath: "name") }
    var iterator = stream.makeAsyncIterator()
    #expect(await iterator.next()?.numberOfItems == 0)
    let people = try await context.perform {
      let people = ["B", "A", "B"].map { name in
        let person = Person(context: context)
        (person.name, person.age) = (name, 1)
        return person
      }
      try context.save()
      return people.map(\.objectID)
    }
    _ = await iterator.next()
    await context.perform {
      (context.object(with: people[0]) as? Person)?.age = 7
      (context.object(with: people[1]) as? Person)?.salary = 1
    }
    let changed = try #require(await iterator.next())
    #expect(changed.sectionIdentifiers == ["A", "B"] && changed.numberOfSections == 2)
    #expect(changed.itemIdentifiers == [people[1], people[2]] && changed.reloadedItemIdentifiers == [people[1]])
    #expect(changed.itemIdentifiers(inSection: "B") == [people[2]] && changed.numberOfItems(inSection: "C") == 0)
    #expect(changed.sectionIdentifier(containingItem: people[2]) == "B" && changed.indexOfItem(people[2]) == 1)
    #expect(changed.sectionIdentifier(containingItem: people[0]) == nil && changed.indexOfSection("B") == 1)
    // Only the newest state is kept; a reset fetches again.
    try await context.perform {
      try context.save()
      for age in [6, 7, 8, 4] {
        (context.object(with: people[2]) as? Person)?.age = Int16(age)
        context.processPendingChanges()
      }
      try context.save()
      context.reset()
    }
    #expect(await iterator.next()?.itemIdentifiers == [people[1], people[2]])
    let newcomer = try await context.perform {
      let person = Person(context: context)
      (person.name, person.age) = ("C", 1)
      try context.obtainPermanentIDs(for: [person])
      try context.save()
      return person.objectID
    }
    #expect(await iterator.next()?.itemIdentifiers == [people[1], people[2], newcomer])
    let failing = NSFetchRequest<Person>(entityName: "Nobody")
    failing.sortDescriptors = []
    await #expect(throws: (any Error).self) { try await context.perform { _ = try context.results(of: failing) } }
  }

  /// A snapshot that replaces one that was not read has the changes of both. All results that a reader has
  /// are read again after a reset.
  @Test func noReloadedResultIsLost() async throws {
    let company = try CompanyStore()
    let context = company.context()
    let request = NSFetchRequest<Person>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.predicate = NSPredicate(format: "age < 5")
    let people = try await context.perform {
      let people = ["A", "B", "C", "D"].map { name in
        let person = Person(context: context)
        (person.name, person.age) = (name, 1)
        return person
      }
      try context.save()
      return people.map(\.objectID)
    }
    func change(_ index: Int, in context: NSManagedObjectContext, _ body: (Person?) -> Void) {
      body(context.object(with: people[index]) as? Person)
      context.processPendingChanges()
    }
    let stream = try await context.perform { try context.results(of: request) }
    var iterator = stream.makeAsyncIterator()
    #expect(await iterator.next()?.numberOfItems == 4)
    try await context.perform {
      change(0, in: context) { $0?.salary = 1 }
      change(1, in: context) { $0?.salary = 1 }
      // Leaves the results, and comes back.
      change(2, in: context) { $0?.age = 7 }
      change(2, in: context) { $0?.age = 1 }
      let new = Person(context: context)
      (new.name, new.age) = ("E", 1)
      context.processPendingChanges()
      new.salary = 1
      context.processPendingChanges()
      try context.save()
    }
    let changed = try #require(await iterator.next())
    #expect(changed.numberOfItems == 5 && changed.reloadedItemIdentifiers == Array(people[..<3]))
    await context.perform { change(1, in: context) { $0?.salary = 2 } }
    #expect(await iterator.next()?.reloadedItemIdentifiers == [people[1]])
    try company.run { other in
      change(3, in: other) { $0?.salary = 3 }
      try other.save()
    }
    try await context.perform {
      try context.save()
      context.reset()
    }
    let reset = try #require(await iterator.next())
    #expect(reset.numberOfItems == 5 && reset.reloadedItemIdentifiers == reset.itemIdentifiers)
  }

  @Test func aStreamOfResultsReleasesItsContext() async throws {
    let company = try CompanyStore()
    weak var context: NSManagedObjectContext?
    do {
      let made = company.context()
      context = made
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = []
      let stream = try await made.perform { try made.results(of: request) }
      #expect(await read(stream, 1).count == 1)
    }
    for _ in 0..<200 where context != nil { try await Task.sleep(for: .milliseconds(5)) }
    #expect(context == nil)
  }
}
