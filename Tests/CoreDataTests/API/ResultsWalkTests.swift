import Foundation
import Testing

@testable import CoreData

/// A table that follows a controller's changes as a table view does, on random walks. A failure reports its seed.
@Suite struct ResultsWalkTests {
  private final class Table: NSObject, NSFetchedResultsControllerDelegate {
    var sections: [(name: String, rows: [NSManagedObject])] = []
    var changes: [(NSManagedObject, IndexPath?, NSFetchedResultsChangeType, IndexPath?)] = []
    var deletedSections: [Int] = []
    var insertedSections: [(Int, String)] = []
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      (changes, deletedSections, insertedSections) = ([], [], [])
    }
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      if let object = anObject as? NSManagedObject { changes.append((object, indexPath, type, newIndexPath)) }
    }
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
      for type: NSFetchedResultsChangeType
    ) {
      if type == .delete {
        deletedSections.append(sectionIndex)
      } else {
        insertedSections.append((sectionIndex, sectionInfo.name))
      }
    }
    /// Like a table view: deletions by old index paths, then insertions by new ones in order; a move is both.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      var gone: [IndexPath] = []
      var come: [(IndexPath, NSManagedObject)] = []
      for (object, from, type, to) in changes {
        if type == .delete || type == .move, let from {
          #expect(sections[from.section].rows[from.item] === object)
          gone.append(from)
        }
        if type == .insert || type == .move, let to { come.append((to, object)) }
        if type == .update, let from { #expect(sections[from.section].rows[from.item] === object) }
      }
      for path in gone.sorted(by: >) { sections[path.section].rows.remove(at: path.item) }
      for index in deletedSections.sorted(by: >) {
        #expect(sections[index].rows.isEmpty)
        sections.remove(at: index)
      }
      for (index, name) in insertedSections.sorted(by: { $0.0 < $1.0 }) { sections.insert((name, []), at: index) }
      for (path, object) in come.sorted(by: { $0.0 < $1.0 }) {
        guard path.section < sections.count, path.item <= sections[path.section].rows.count else {
          Issue.record("no place \(path)")
          continue
        }
        sections[path.section].rows.insert(object, at: path.item)
      }
    }
  }

  /// Collects the snapshots and differences of a controller.
  private final class Snapshots: NSObject, NSFetchedResultsControllerDelegate {
    var last: FetchedResultsSnapshot?
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      didChangeContentWith snapshot: FetchedResultsSnapshot
    ) { last = snapshot }
  }

  private final class Differences: NSObject, NSFetchedResultsControllerDelegate {
    var ids: [NSManagedObjectID] = []
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
      if let applied = ids.applying(diff) { ids = applied } else { Issue.record("a difference that does not apply") }
    }
  }

  /// What gives an object its section: a value of its own, one of another object, or nothing.
  enum Sections: String, CaseIterable {
    case age, title = "department.title", none
    var path: String? { self == .none ? nil : rawValue }
    var sort: [NSSortDescriptor] {
      (path.map { [$0] } ?? []).map { NSSortDescriptor(key: $0, ascending: true) } + [
        NSSortDescriptor(key: "name", ascending: true)
      ]
    }
  }

  @Test(arguments: Sections.allCases, 0..<40)
  func aTableThatFollowsTheChangesShowsTheResults(sections: Sections, seed: Int) throws {
    var dice = Dice(state: UInt64(seed) &* 31 &+ 3)
    let chain = try ContextChain(levels: 1 + seed % 3)
    let context = chain.contexts[seed % 3]
    try context.performAndWait {
      let departments = ["A", "B", "C", nil].map { title in
        let department = Department(context: context)
        department.title = title
        return department
      }
      for index in 0..<8 {
        let person = Person(context: context)
        (person.name, person.age) = ("N\(index)", Int16(index % 3))
      }
      try context.save()
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = sections.sort
      request.predicate = NSPredicate(format: "NOT salary >= 3")
      let controllers = (0..<3).map { _ in
        NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections.path, cacheName: nil)
      }
      let controller = controllers[0]
      let (table, snapshots, differences) = (Table(), Snapshots(), Differences())
      (controller.delegate, controllers[1].delegate) = (table, snapshots)
      if sections == .none { controllers[2].delegate = differences }
      for controller in controllers { try controller.performFetch() }
      func state() -> [(name: String, rows: [NSManagedObject])] {
        (controller.sections ?? []).map { ($0.name, $0.objects as? [Person] ?? []) }
      }
      table.sections = state()
      differences.ids = controller.fetchedObjects?.map(\.objectID) ?? []
      for round in 0..<25 {
        var isSaved = false
        for _ in 0..<(1 + dice.next(5)) {
          let people = try context.all(Person.self).sorted { $0.objectID.description < $1.objectID.description }
          guard let person = people.isEmpty ? nil : people[dice.next(people.count)] else { continue }
          switch dice.next(10) {
          case 0:
            let new = Person(context: context)
            (new.name, new.age) = ("I\(dice.next(20))", Int16(dice.next(5)))
          case 1: context.delete(person)
          case 2, 3: person.age = Int16(dice.next(5))
          case 4: person.name = "M\(dice.next(20))"
          case 5: person.salary = Double(dice.next(5))
          case 6: if dice.next(4) == 0 { context.rollback() }
          case 7: person.department = dice.next(4) == 0 ? nil : departments[dice.next(4)]
          case 8: if sections == .title { departments[dice.next(4)].title = "\(dice.next(6))" }
          default:
            if dice.next(3) == 0 {
              try context.save()
              isSaved = true
            }
          }
        }
        context.processPendingChanges()
        let comment: Comment = "\(sections) seed \(seed) round \(round)"
        func text(_ sections: [(name: String, rows: [NSManagedObject])]) -> [String] {
          sections.map { "\($0.name): \($0.rows.map { ObjectIdentifier($0) })" }
        }
        #expect(text(table.sections) == text(state()), comment)
        #expect(controller.fetchedObjects == (try context.fetch(request)), comment)
        if !isSaved, let last = snapshots.last {
          #expect(last.itemIdentifiers.map { context.object(with: $0) } == controller.fetchedObjects, comment)
          #expect(last.sectionIdentifiers == controller.sections?.map(\.name), comment)
        }
        if sections == .none {
          // A save gives objects other IDs, which is no change of the results.
          #expect(differences.ids.map { context.object(with: $0) } == controllers[2].fetchedObjects, comment)
        }
        for (index, section) in (controller.sections ?? []).enumerated() {
          for item in 0..<section.numberOfObjects {
            let path = IndexPath(item: item, section: index)
            #expect(controller.indexPath(forObject: controller.object(at: path)) == path, comment)
          }
        }
        table.sections = state()
      }
    }
  }
}
