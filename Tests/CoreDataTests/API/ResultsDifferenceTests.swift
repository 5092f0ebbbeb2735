import Foundation
import Testing

@testable import CoreData

private struct Seeded: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}

/// Feature 28: differences of fetched results.
@Suite struct ResultsDifferenceTests {
  /// Where all objects have changed, the difference has as few changes as the standard library's.
  @Test func differencesAreAsShortAsTheStandardLibrarys() throws {
    var generator = Seeded(state: 7)
    try CompanyStore().run { (context) throws in
      let (controller, differences) = (try salaries(context), Differences())
      controller.delegate = differences
      let people = (0..<12).map { _ in Person(context: context) }
      context.processPendingChanges()
      for round in 0..<200 {
        let old = controller.fetchedObjects?.map(\.objectID) ?? []
        differences.last = nil
        // A negative salary is not in the results.
        let order = (0..<12).shuffled(using: &generator)
        let count = Int.random(in: 0...12, using: &generator)
        for (person, salary) in zip(people, order) {
          person.salary = Double(salary < count ? salary + 12 * round : -1 - round)
        }
        context.processPendingChanges()
        let new = controller.fetchedObjects?.map(\.objectID) ?? []
        #expect(differences.ids == new, "round \(round)")
        #expect((differences.last?.count ?? 0) == new.difference(from: old).count, "round \(round)")
        // A moved element is removed and inserted, and both changes name each other.
        for case .remove(_, let id, let position)? in differences.last?.removals.map({ $0 }) ?? [] {
          #expect(position == new.firstIndex(of: id), "round \(round)")
        }
      }
    }
  }

  private func salaries(_ context: NSManagedObjectContext) throws -> NSFetchedResultsController<Person> {
    let request = NSFetchRequest<Person>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "salary", ascending: true)]
    request.predicate = NSPredicate(format: "salary >= 0")
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    try controller.performFetch()
    return controller
  }

  // MARK: Controllers

  private final class Differences: NSObject, NSFetchedResultsControllerDelegate {
    var ids: [NSManagedObjectID] = []
    var counts: [Int] = []
    var last: CollectionDifference<NSManagedObjectID>?
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
      counts.append(diff.count)
      last = diff
      ids = ids.applying(diff) ?? []
    }
  }

  private final class Changes: NSObject, NSFetchedResultsControllerDelegate {
    var types: [NSFetchedResultsChangeType: Int] = [:]
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { types[type, default: 0] += 1 }
  }

  @Test func manyNewObjectsAndTheirReversalAreReported() throws {
    try CompanyStore().run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "salary", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let (differences, changes) = (Differences(), Changes())
      controller.delegate = differences
      try controller.performFetch()
      let people = (0..<10_000).map { salary in
        let person = Person(context: context)
        person.salary = Double(salary)
        return person
      }
      context.processPendingChanges()
      #expect(differences.counts == [10_000] && differences.ids == people.map(\.objectID))
      for person in people { person.salary = -person.salary }
      context.processPendingChanges()
      #expect(differences.counts == [10_000, 2 * 9_999])
      #expect(differences.ids == people.reversed().map(\.objectID))
      #expect(controller.fetchedObjects == people.reversed())
      // A delegate without that function gets single reports; a later delegate with it gets differences again.
      controller.delegate = changes
      for person in people.prefix(3) { context.delete(person) }
      context.processPendingChanges()
      people[3].salary = 1
      context.processPendingChanges()
      #expect(changes.types[.delete] == 3 && changes.types[.update] == 1)
      controller.delegate = differences
      differences.ids = controller.fetchedObjects?.map(\.objectID) ?? []
      context.delete(people[4])
      context.processPendingChanges()
      #expect(differences.counts.last == 1)
    }
  }
}
