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

  @Test(arguments: 0..<40)
  func aTableThatFollowsTheChangesShowsTheResults(seed: Int) throws {
    var dice = Dice(state: UInt64(seed) &* 31 &+ 3)
    let company = try CompanyStore()
    try company.run { (context) throws in
      for index in 0..<8 {
        let person = Person(context: context)
        (person.name, person.age) = ("N\(index)", Int16(index % 3))
      }
      try context.save()
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [
        NSSortDescriptor(key: "age", ascending: true), NSSortDescriptor(key: "name", ascending: true),
      ]
      request.predicate = NSPredicate(format: "salary < 3")
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "age", cacheName: nil)
      let table = Table()
      controller.delegate = table
      try controller.performFetch()
      table.sections = (controller.sections ?? []).map { ($0.name, $0.objects as? [Person] ?? []) }
      for round in 0..<25 {
        for _ in 0..<(1 + dice.next(5)) {
          let people = try context.all(Person.self).sorted { $0.objectID.description < $1.objectID.description }
          guard let person = people.isEmpty ? nil : people[dice.next(people.count)] else { continue }
          switch dice.next(8) {
          case 0:
            let new = Person(context: context)
            (new.name, new.age) = ("I\(dice.next(20))", Int16(dice.next(5)))
          case 1: context.delete(person)
          case 2, 3: person.age = Int16(dice.next(5))
          case 4: person.name = "M\(dice.next(20))"
          case 5: person.salary = Double(dice.next(5))
          case 6: if dice.next(4) == 0 { context.rollback() }
          default: if dice.next(3) == 0 { try context.save() }
          }
        }
        context.processPendingChanges()
        let shown = table.sections.map { "\($0.name): \($0.rows.map { ObjectIdentifier($0) })" }
        let required = (controller.sections ?? []).map {
          "\($0.name): \(($0.objects as? [Person] ?? []).map { ObjectIdentifier($0) })"
        }
        #expect(shown == required, "seed \(seed) round \(round)")
        let fetched = try context.fetch(request)
        #expect(controller.fetchedObjects == fetched, "seed \(seed) round \(round)")
        table.sections = (controller.sections ?? []).map { ($0.name, $0.objects as? [Person] ?? []) }
      }
    }
  }
}
