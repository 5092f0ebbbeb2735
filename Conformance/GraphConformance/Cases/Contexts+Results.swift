import CoreData
import Foundation

extension GraphSuite {
  /// Fetched results controllers follow changes in memory, in the order in which the store sorts.
  static let results: [GraphCase] = [
    follows("CTX-022/sections", "localizedStandardCompare:"), follows("CTX-022/caseless", "caseInsensitiveCompare:"),
    follows("CTX-022/binary", "compare:"),
  ]

  private static let spellings = [
    "a", "A", "\u{e1}", "b", "B", "a1", "a2", "a10", "", "Z", "z", "\u{df}", "ss", "e\u{301}", "\u{e9}", "\u{1F600}",
    "-", "_a",
  ]

  /// A controller with sections over several steps of random changes, compared with a new one after each.
  private static func follows(_ id: String, _ comparison: String) -> GraphCase {
    GraphCase(id, "a results controller with sections keeps the store's order by \(comparison)", ways: .own) { g in
      var random = NumberStream(seed: g.seed)
      // No two people have the same, so that their order is one.
      var number = 0
      try g.inWriting { c in
        func controller() -> NSFetchedResultsController<NSManagedObject> {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
          request.sortDescriptors = [
            NSSortDescriptor(key: "team.title", ascending: true, selector: Selector(comparison)),
            NSSortDescriptor(key: "name", ascending: false, selector: Selector(comparison)),
            NSSortDescriptor(key: "age", ascending: true),
          ]
          request.predicate = NSPredicate(format: "team != nil")
          return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: c, sectionNameKeyPath: "team.title", cacheName: nil)
        }
        // No two titles are equal by any of the comparisons: then the order would not keep a section together.
        let teams = ["a", "B", "\u{e9}", "team 10", "team 2", "Z"].map { c.insert("Team", ["title": $0]) }
        try c.save()
        let followed = controller()
        let delegate = Follower()
        followed.delegate = delegate
        try followed.performFetch()
        for step in 0..<40 {
          for _ in 0...random.next(below: 4) {
            let known = try c.objects("Person", by: "age")
            let name = spellings[random.next(below: spellings.count)]
            let team = teams[random.next(below: teams.count)]
            switch known.isEmpty ? 0 : random.next(below: 5) {
            case 0, 1:
              number += 1
              c.insert("Person", ["name": name, "age": number, "team": team])
            case 2: known[random.next(below: known.count)].setValue(name, forKey: "name")
            case 3: known[random.next(below: known.count)].setValue(team, forKey: "team")
            default: c.delete(known[random.next(below: known.count)])
            }
          }
          c.processPendingChanges()
          // A fetch that reads only from the store.
          if step % 2 == 0 { try c.save() }
          let fresh = controller()
          try fresh.performFetch()
          func ages(_ sections: [any NSFetchedResultsSectionInfo]?) -> [String] {
            (sections ?? []).map { section in
              let objects = (section.objects ?? []).compactMap { ($0 as? NSManagedObject)?.number("age") }
              return "\(section.name): \(objects)"
            }
          }
          g.equal(ages(followed.sections), ages(fresh.sections))
        }
        g.expect(delegate.changes > 0, "the delegate was not called")
      }
    }
  }
}

private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
  var changes = 0

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { changes += 1 }
}
