import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The mutable ordered set over a relationship.
/// https://developer.apple.com/documentation/objectivec/nsobject-swift.class/mutableorderedsetvalue(forkey:)
@Suite struct OrderedSetViewTests {
  /// Three people, p0 to p2, that a department ranks, and two others.
  private func ranked(
    _ body: (Department, NSMutableOrderedSet, [Person], _ names: () -> [String]) throws -> Void
  ) throws {
    let company = try CompanyStore()
    try company.run { context in
      let department = Department(context: context)
      let people = Person.numbered(5, in: context)
      department.ranking = Array(people.prefix(3))
      let view = department.mutableOrderedSetValue(forKey: "ranking")
      try body(department, view, people) { department.ranking.map { $0.name ?? "" } }
      // The content of the view equals the relationship, and the inverse agrees.
      #expect(view.array as? [Person] == department.ranking)
      let linked = people.filter { $0.value(forKey: "rankedIn") as? Department === department }
      #expect(linked == people.filter(department.ranking.contains))
      try context.save()
      let stored = try company.run { other in
        (try other.existingObject(with: department.objectID) as? Department)?.ranking.map { $0.name ?? "" }
      }
      #expect(stored == department.ranking.map { $0.name ?? "" })
    }
  }

  @Test func everyWayToReadItSeesTheMembers() throws {
    try ranked { department, view, people, _ in
      let members = Array(people.prefix(3))
      #expect(view.array as? [Person] == members && view.map { $0 as? Person } == members)
      #expect(view.set == Set(members) && view.reversed.array as? [Person] == members.reversed())
      #expect(view.firstObject as? Person == people[0] && view.lastObject as? Person == people[2])
      #expect(view.objectEnumerator().allObjects.count == 3 && view.reverseObjectEnumerator().allObjects.count == 3)
      var seen: [Int] = []
      view.enumerateObjects { _, index, _ in seen.append(index) }
      #expect(seen == [0, 1, 2])
      #expect(view.contains(people[1]) && !view.contains(people[3]) && view.index(of: people[2]) == 2)
      #expect(view.intersects(NSOrderedSet(array: [people[1]])) && view.isSubset(of: Set(people)))
      #expect(view.isEqual(to: NSOrderedSet(array: members)) && view.objects(at: [0, 2]).count == 2)
      for copy in [view.copy(), view.mutableCopy()] {
        #expect((copy as? NSOrderedSet)?.array as? [Person] == members)
      }
      let predicate = NSPredicate(format: "name == 'p1'")
      #expect(view.filtered(using: predicate).array as? [Person] == [people[1]])
      let descending = NSSortDescriptor(key: "name", ascending: false)
      #expect(view.sortedArray(using: [descending]) as? [Person] == members.reversed())
    }
  }

  /// Observers see the members before and after, and none between.
  @Test func aReplacementIsOneChange() throws {
    try ranked { department, view, people, _ in
      var seen: [[String?]] = []
      let observation = department.observe(\.ranking) { department, _ in seen.append(department.ranking.map(\.name)) }
      view.replaceObject(at: 1, with: people[3])
      #expect(seen == [["p0", "p3", "p2"]])
      seen = []
      view.replaceObjects(at: [0, 2], with: [people[4], people[1]])
      #expect(seen == [["p4", "p3", "p1"]])
      seen = []
      view[1] = people[0]
      #expect(seen == [["p4", "p0", "p1"]])
      observation.invalidate()
    }
  }

  enum Change: CaseIterable {
    case add, addKnown, addSeveral, insert, insertSeveral, remove, removeAt, removeStranger, removeSeveral, removeRange
    case removeIndexes, removeAll, replace, replaceSeveral, setObject, setBehind, exchange, move, minus, minusSet
    case intersect, intersectSet, union, unionSet, filter, sort, sortWithOptions, sortRange, sortByDescriptors
  }

  @Test(arguments: Change.allCases) func everyChangeIsOneOfTheRelationship(_ change: Change) throws {
    try ranked { department, view, people, names in
      let descending = { (a: Any, b: Any) -> ComparisonResult in
        ((b as? Person)?.name ?? "").compare((a as? Person)?.name ?? "")
      }
      let others = NSOrderedSet(array: [people[1], people[3]])
      switch change {
      case .add: view.add(people[3])
      case .addKnown: view.add(people[0])
      case .addSeveral: view.addObjects(from: [people[3], people[4]])
      case .insert: view.insert(people[3], at: 1)
      case .insertSeveral: view.insert([people[3], people[4]], at: [0, 2])
      case .remove: view.remove(people[1])
      case .removeAt: view.removeObject(at: 0)
      case .removeStranger: view.remove(people[4])
      case .removeSeveral: view.removeObjects(in: [people[0], people[2]])
      case .removeRange: view.removeObjects(in: NSRange(location: 0, length: 2))
      case .removeIndexes: view.removeObjects(at: [0, 2])
      case .removeAll: view.removeAllObjects()
      case .replace: view.replaceObject(at: 1, with: people[3])
      case .replaceSeveral: view.replaceObjects(at: [0, 2], with: [people[3], people[4]])
      case .setObject: view[0] = people[4]
      case .setBehind: view.setObject(people[3], at: 3)
      case .exchange: view.exchangeObject(at: 0, withObjectAt: 2)
      case .move: view.moveObjects(at: [0], to: 2)
      case .minus: view.minus(others)
      case .minusSet: view.minusSet([people[1], people[3]])
      case .intersect: view.intersect(others)
      case .intersectSet: view.intersectSet([people[1], people[3]])
      case .union: view.union(others)
      case .unionSet: view.unionSet([people[1], people[3]])
      case .filter: view.filter(using: NSPredicate(format: "name != 'p1'"))
      case .sort: view.sort(comparator: descending)
      case .sortWithOptions: view.sort(options: .stable, usingComparator: descending)
      case .sortRange: view.sortRange(NSRange(location: 1, length: 2), options: [], usingComparator: descending)
      case .sortByDescriptors: view.sort(using: [NSSortDescriptor(key: "name", ascending: false)])
      }
      let expected: [String] =
        switch change {
        case .add, .union, .unionSet, .setBehind: ["p0", "p1", "p2", "p3"]
        case .addKnown, .removeStranger: ["p0", "p1", "p2"]
        case .addSeveral: ["p0", "p1", "p2", "p3", "p4"]
        case .insert: ["p0", "p3", "p1", "p2"]
        case .insertSeveral: ["p3", "p0", "p4", "p1", "p2"]
        case .remove, .minus, .minusSet, .filter: ["p0", "p2"]
        case .removeAt: ["p1", "p2"]
        case .removeSeveral, .removeIndexes, .intersect, .intersectSet: ["p1"]
        case .removeRange: ["p2"]
        case .removeAll: []
        case .replace: ["p0", "p3", "p2"]
        case .replaceSeveral: ["p3", "p1", "p4"]
        case .setObject: ["p4", "p1", "p2"]
        case .exchange, .sort, .sortWithOptions, .sortByDescriptors: ["p2", "p1", "p0"]
        case .move: ["p1", "p2", "p0"]
        case .sortRange: ["p0", "p2", "p1"]
        }
      #expect(names() == expected)
    }
  }

  /// A view that was made before the relationship was changed another way.
  @Test func aViewGoesOnFromWhatTheRelationshipHas() throws {
    try ranked { department, view, people, names in
      department.ranking = [people[4], people[2], people[0]]
      #expect(view.count == 3 && view.object(at: 0) as? Person == people[4] && !view.contains(people[1]))
      view.removeObject(at: 0)
      #expect(names() == ["p2", "p0"])
      people[0].setValue(nil, forKey: "rankedIn")
      view.add(people[3])
      #expect(names() == ["p2", "p3"])
    }
  }

  /// Clients get a view again for each object that they add. Changes by another view are visible too.
  @Test func aViewIsRequestedAgainAndAgain() throws {
    let company = try CompanyStore()
    try company.run { context in
      let departments = [Department(context: context), Department(context: context)]
      let first = departments[0].mutableOrderedSetValue(forKey: "ranking")
      for number in 0..<1000 {
        let person = Person(context: context)
        person.name = "\(number)"
        departments[number < 900 ? 0 : number % 2].mutableOrderedSetValue(forKey: "ranking").add(person)
      }
      for (department, count) in zip(departments, [950, 50]) {
        let view = department.mutableOrderedSetValue(forKey: "ranking")
        #expect(view.array as? [Person] == department.ranking && view.count == count)
      }
      first.remove(departments[0].ranking[1])
      #expect(first.array as? [Person] == departments[0].ranking && departments[0].ranking.count == 949)
      try context.save()
    }
  }

  /// The typed property takes an array, which may contain an object twice.
  @Test func aMemberThatIsGivenTwiceIsRankedOnce() throws {
    try ranked { department, view, people, names in
      department.ranking = [people[3], people[3], people[0], people[1]]
      department.ranking.append(people[3])
      #expect(names() == ["p3", "p0", "p1"])
      #expect(department.mutableOrderedSetValue(forKey: "ranking").array.count == 3)
      #expect(view.index(of: people[1]) == 2)
    }
  }

  /// Reads through a view of former members, and a view as a value.
  @Test func aViewOfFormerMembersIsSafe() throws {
    try ranked { department, view, people, names in
      department.ranking = [people[4]]
      people[3].setValue(department, forKey: "rankedIn")
      var seen: [Int] = []
      view.enumerateObjects(options: []) { _, index, _ in seen.append(index) }
      #expect(seen == [0, 1])
      department.ranking = [people[2], people[4]]
      department.setValue(view, forKey: "ranking")
      #expect(names() == ["p2", "p4"])
      view.removeObjects(in: NSRange(location: NSNotFound, length: 0))
      #expect(view.count == 2)
    }
  }

  /// Two owners in turn, and one by one: no change may read all members.
  @Test func manyMembersAreAddedAndRemoved() throws {
    let company = try CompanyStore()
    try company.run { context in
      let departments = [Department(context: context), Department(context: context)]
      let people = (0..<20_000).map { _ in Person(context: context) }
      let start = threadTime()
      for (number, person) in people.enumerated() {
        departments[number % 2].mutableOrderedSetValue(forKey: "ranking").add(person)
      }
      departments[0].ranking = []
      for person in people { context.delete(person) }
      context.processPendingChanges()
      // Takes less than a second; if each change read all members, a minute.
      #expect(threadTime() - start < .seconds(20))
      #expect(departments.allSatisfy { $0.ranking.isEmpty })
    }
  }

  /// "a managed object context … by default only keeps strong references to managed objects that have changes":
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext
  @Test func aViewThatNobodyHasKeepsNoMembers() throws {
    let company = try CompanyStore()
    try company.run { context in
      let department = Department(context: context)
      weak var member: Person?
      do {
        let person = Person(context: context)
        member = person
        department.mutableOrderedSetValue(forKey: "ranking").add(person)
      }
      try context.save()
      context.refreshAllObjects()
      #expect(member == nil)
      do {
        member = department.mutableOrderedSetValue(forKey: "ranking").firstObject as? Person
        #expect(member != nil)
      }
      context.refreshAllObjects()
      #expect(member == nil)
    }
  }
}
