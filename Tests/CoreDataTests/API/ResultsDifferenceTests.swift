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
  /// Makes a difference and counts how many elements are read.
  private func difference(
    _ old: [Int], _ new: [Int]
  ) throws -> (difference: CollectionDifference<Int>, looks: Int) {
    let positions = Dictionary(new.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    var looks = 0
    let made = ResultsDifference.make(old.map { positions[$0] }, newCount: new.count) {
      looks += 1
      return old[$0]
    } new: {
      looks += 1
      return new[$0]
    }
    let applied = try #require(old.applying(made))
    #expect(applied == new)
    return (made, looks)
  }

  @Test func differencesAreAsShortAsTheStandardLibrarys() throws {
    var generator = Seeded(state: 7)
    for round in 0..<300 {
      let pool = Array(0..<Int.random(in: 0...12, using: &generator)).shuffled(using: &generator)
      let old = pool.prefix(Int.random(in: 0...pool.count, using: &generator)).shuffled(using: &generator)
      let new = pool.suffix(Int.random(in: 0...pool.count, using: &generator)).shuffled(using: &generator)
      let made = try difference(old, new).difference
      #expect(made.count == new.difference(from: old).count, "round \(round): \(old) to \(new)")
      // A moved element is removed and inserted, and both changes name each other.
      for case .remove(_, let element, let position) in made.removals {
        #expect(position == new.firstIndex(of: element), "round \(round)")
      }
    }
  }

  @Test func onlyWhatChangedIsLookedAt() throws {
    let all = Array(0..<10_000)
    #expect(try difference([], all).looks == 10_000)
    #expect(try difference(all, []).looks == 10_000)
    #expect(try difference(all, all).looks == 0)
    let reversed = try difference(all, all.reversed())
    #expect(reversed.looks == 2 * 9_999 && reversed.difference.insertions.count == 9_999)
    let moved = try difference(all, [9_999] + all.dropLast())
    #expect(moved.looks == 2)
    #expect(
      moved.difference.insertions.first == .insert(offset: 0, element: 9_999, associatedWith: 9_999))
  }

  /// A client's store may return an object twice.
  @Test func whatIsThereTwiceStopsNothing() throws {
    for (old, new) in [([1, 1, 2], [2, 1, 1]), ([1], [1, 1]), ([2, 1, 2, 1], [1]), ([1, 1], [])] {
      #expect(try difference(old, new).difference.count >= abs(old.count - new.count))
    }
  }

  // MARK: Controllers

  private final class Differences: NSObject, NSFetchedResultsControllerDelegate {
    var ids: [NSManagedObjectID] = []
    var counts: [Int] = []
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
      counts.append(diff.count)
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
