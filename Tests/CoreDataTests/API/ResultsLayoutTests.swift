import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The order of a controller's objects, against an array.
@Suite struct ResultsLayoutTests {
  @Test(arguments: 0..<20) func anOrderIsAnArray(seed: Int) throws {
    var dice = Dice(state: UInt64(seed) &* 77 &+ 5)
    try CompanyStore().run { context in
      let people = (0..<300).map { index in
        let person = Person(context: context)
        person.age = Int16(index)
        return person
      }
      func precedes(_ a: NSManagedObject, _ b: NSManagedObject) -> Bool {
        (a as? Person)?.age ?? 0 < (b as? Person)?.age ?? 0
      }
      let section = ResultsLayout.Section(name: "") { _ in nil }
      let nodes = people.map { ResultsOrder.Node($0, section) }
      var order = ResultsOrder()
      var members = Array(nodes.prefix(dice.next(200)))
      order.append(members)
      for round in 0..<400 {
        let node = nodes[dice.next(nodes.count)]
        if let position = members.firstIndex(where: { $0 === node }) {
          #expect(order.position(of: node) == position, "round \(round)")
          order.remove(node)
          members.remove(at: position)
        } else if dice.next(2) == 0 {
          order.insert(node, where: precedes)
          members.insert(node, at: members.firstIndex { precedes(node.object, $0.object) } ?? members.count)
        } else {
          let position = members.firstIndex { precedes(node.object, $0.object) } ?? members.count
          order.insert(node, at: position)
          members.insert(node, at: position)
        }
        #expect(order.count == members.count && order.first === members.first && order.last === members.last)
        if let position = members.indices.randomElement() { #expect(order.node(at: position) === members[position]) }
        #expect(order.objects == members.map(\.object), "round \(round)")
      }
      order.append([])
      #expect(order.node(at: members.count) == nil)
    }
  }

  @Test func longestSequencesAreFound() {
    var dice = Dice(state: 11)
    for _ in 0..<500 {
      let numbers = (0..<dice.next(9)).map { _ in dice.next(20) }
      let found = AscendingSequence.longest(numbers).reversed().map { numbers[$0] }
      #expect(zip(found, found.dropFirst()).allSatisfy { $0 < $1 })
      var best = 0
      for choice in 0..<(1 << numbers.count) {
        let chosen = numbers.indices.filter { choice & (1 << $0) != 0 }.map { numbers[$0] }
        if zip(chosen, chosen.dropFirst()).allSatisfy({ $0 < $1 }) { best = max(best, chosen.count) }
      }
      #expect(found.count == best, "\(numbers)")
    }
  }

  /// An event with 100 changes compares in proportion to them and to the logarithm of the number of objects.
  @Test func changesTakeLogarithmicTime() throws {
    func comparisons(_ count: Int) throws -> Int {
      try CompanyStore().run { context in
        let people = (0..<count).map { age in
          let person = Person(context: context)
          person.salary = Double(age)
          return person
        }
        context.processPendingChanges()
        let comparisons = Counter()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [
          NSSortDescriptor(key: "salary", ascending: true) { one, other in
            comparisons.count += 1
            return (one as? NSNumber)?.compare(other as? NSNumber ?? 0) ?? .orderedSame
          }
        ]
        let controller = NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let delegate = Updates()
        controller.delegate = delegate
        try controller.performFetch()
        comparisons.count = 0
        for index in 0..<100 { people[index * (count / 100)].salary = Double((index * 7919) % count) + 0.5 }
        context.processPendingChanges()
        #expect(delegate.count == 100)
        return comparisons.count
      }
    }
    let (few, many) = (try comparisons(500), try comparisons(8_000))
    // 100 searches in a order, whose depth is about 1.4 times the logarithm, and the sorting of 100 objects.
    #expect(few < 100 * 40 && many < 100 * 60, "\(few), \(many)")
  }

  private final class Counter { var count = 0 }

  private final class Updates: NSObject, NSFetchedResultsControllerDelegate {
    var count = 0
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { count += 1 }
  }
}
