import CoreData
import Foundation
import TestSupport
import Testing

/// Random operations on a root context, its child and the child of that, against a model of plain values.
///
/// The model knows for each level only what its unsaved changes do to the state of the level above.
@Suite struct FamilyWalkTests {
  /// What a level shows: people by number with their ages and departments, and the departments.
  struct State: Equatable {
    var people: [Int: Values] = [:]
    var departments: Set<Int> = []
    /// The departments whose two sides differ.
    var torn: [String] = []

    func difference(from given: State, without unsure: Set<Int>) -> String? {
      var expected = given
      for number in unsure {
        if let own = people[number] { expected.people[number]?.department = own.department }
      }
      if self == expected { return nil }
      let numbers = Set(people.keys).union(expected.people.keys).filter { people[$0] != expected.people[$0] }
      let parts = numbers.sorted().map { number in
        "\(number): \(people[number]?.description ?? "none"), not \(expected.people[number]?.description ?? "none")"
      }
      return (parts + ["departments \(departments.sorted()), not \(expected.departments.sorted())"] + torn)
        .joined(separator: ", ")
    }
  }

  struct Values: Equatable {
    var age = 0
    var department: Int?

    var description: String { "\(age)/\(department ?? 0)" }
  }

  /// The unsaved changes of a level.
  struct Changes {
    var ages: [Int: Int] = [:]
    var links: [Int: Int?] = [:]
    var newPeople: Set<Int> = []
    var newDepartments: Set<Int> = []
    var deletedPeople: Set<Int> = []
    var deletedDepartments: Set<Int> = []

    func applied(to above: State) -> State {
      var state = above
      for number in newPeople where state.people[number] == nil { state.people[number] = Values() }
      state.departments.formUnion(newDepartments)
      for (number, age) in ages { state.people[number]?.age = age }
      for (number, link) in links { state.people[number]?.department = link }
      for number in deletedPeople { state.people[number] = nil }
      state.departments.subtract(deletedDepartments)
      for (number, values) in state.people {
        if let link = values.department, !state.departments.contains(link) { state.people[number]?.department = nil }
      }
      return state
    }
  }

  /// The contexts of the levels and the model of each.
  final class Walk {
    let company: CompanyStore
    let contexts: [NSManagedObjectContext]
    var dice: Dice
    var stored = State()
    var changes: [Changes]
    private var lastNumber = 0

    init(seed: Int, levels: Int) throws {
      company = try CompanyStore()
      dice = Dice(state: UInt64(seed) &* 7919 &+ 3)
      var contexts = [NSManagedObjectContext(.privateQueue)]
      contexts[0].persistentStoreCoordinator = company.coordinator
      while contexts.count < levels {
        let next = NSManagedObjectContext(.privateQueue)
        next.parent = contexts.last
        contexts.append(next)
      }
      self.contexts = contexts
      changes = contexts.map { _ in Changes() }
    }

    func state(_ level: Int) -> State { changes[...level].reduce(stored) { $1.applied(to: $0) } }

    /// The objects of a level are read again. Changes of those that the parent no longer shows are lost.
    func forgetGone(_ level: Int) {
      let above = state(level - 1)
      let lost = Set(changes[level].ages.keys).union(changes[level].links.keys)
        .subtracting(above.people.keys).subtracting(changes[level].newPeople)
      for number in lost { (changes[level].ages[number], changes[level].links[number]) = (nil, nil) }
    }

    func newNumber() -> Int {
      lastNumber += 1
      return lastNumber
    }

    func some(_ numbers: some Collection<Int>) -> Int? {
      let sorted = numbers.sorted()
      return sorted.isEmpty ? nil : sorted[dice.next(sorted.count)]
    }

    // MARK: Objects

    func person(_ number: Int, _ context: NSManagedObjectContext) throws -> Person? {
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.predicate = NSPredicate(format: "name == %@", "\(number)")
      return try context.fetch(request).first
    }

    func department(_ number: Int, _ context: NSManagedObjectContext) throws -> Department? {
      let request = NSFetchRequest<Department>(entityName: "Department")
      request.predicate = NSPredicate(format: "title == %@", "\(number)")
      return try context.fetch(request).first
    }

    /// People whose departments are not compared any more, for one of these reasons:
    /// - An unsaved link was once equal to that of the parent. It may no longer count as a change.
    /// - A link led to a department that is deleted on this level, which only the save takes away.
    /// - An unsaved link led to a department that the parent was about to delete. If the parent undoes that, the
    ///   department may not list the person until the save.
    private(set) var unsure: Set<Int> = []

    func noteUnsure() {
      for level in changes.indices {
        let above = level == 0 ? stored : state(level - 1)
        for (number, link) in changes[level].links {
          let isGone = link.map { !above.departments.contains($0) && !changes[level].newDepartments.contains($0) }
          if link == above.people[number]?.department || isGone == true { unsure.insert(number) }
        }
        let gone = changes[...level].reduce(into: Set<Int>()) { $0.formUnion($1.deletedDepartments) }
        for (number, values) in above.people where values.department.map(gone.contains) ?? false {
          unsure.insert(number)
        }
      }
    }

    func shown(_ context: NSManagedObjectContext) throws -> State {
      var state = State()
      for person in try context.fetch(NSFetchRequest<Person>(entityName: "Person")) {
        // The parent may have linked a person to a department that is to be deleted here. The save takes the link away.
        let department = person.department.flatMap { $0.isDeleted ? nil : $0 }
        let link = department?.title.flatMap { Int($0) }
        state.people[Int(person.name ?? "") ?? -1] = Values(age: Int(person.age), department: link)
      }
      for department in try context.fetch(NSFetchRequest<Department>(entityName: "Department")) {
        let number = Int(department.title ?? "") ?? -1
        state.departments.insert(number)
        let members = Set(department.people.filter { !$0.isDeleted }.compactMap { $0.name.flatMap { Int($0) } })
        let linked = Set(state.people.filter { $0.value.department == number }.keys)
        if !members.symmetricDifference(linked).isSubset(of: unsure) {
          state.torn.append("department \(number) has \(members.sorted())")
        }
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: "department == %@", department)
        let count = try context.count(for: request)
        if count != linked.count && unsure.isEmpty { state.torn.append("\(count) people have department \(number)") }
      }
      return state
    }
  }

  @Test(arguments: 0..<60)
  func everyLevelShowsItsChangesOverItsParent(seed: Int) throws {
    let walk = try Walk(seed: seed, levels: 2 + seed % 2)
    var done: [String] = []
    for _ in 0..<40 {
      let level = walk.dice.next(walk.contexts.count)
      done.append("\(level): \(try walk.contexts[level].performAndWait { try take(walk, level) })")
      walk.noteUnsure()
      for (level, context) in walk.contexts.enumerated() {
        let difference = try context.performAndWait {
          context.refreshAllObjects()
          if level > 0 { walk.forgetGone(level) }
          return try walk.shown(context).difference(from: walk.state(level), without: walk.unsure)
        }
        if let difference {
          return #expect(Bool(false), "\(done.joined(separator: "; ")): level \(level): \(difference)")
        }
      }
      let difference = try walk.company.run { try walk.shown($0) }.difference(from: walk.stored, without: walk.unsure)
      if let difference { return #expect(Bool(false), "\(done.joined(separator: "; ")): store: \(difference)") }
    }
  }

  /// One random operation on a level. Returns its name.
  private func take(_ walk: Walk, _ level: Int) throws -> String {
    let context = walk.contexts[level]
    let state = walk.state(level)
    switch walk.dice.next(13) {
    case 0, 1:
      let number = walk.newNumber()
      Person(context: context).name = "\(number)"
      walk.changes[level].newPeople.insert(number)
      return "insert person \(number)"
    case 2:
      let number = walk.newNumber()
      Department(context: context).title = "\(number)"
      walk.changes[level].newDepartments.insert(number)
      return "insert department \(number)"
    case 3, 4:
      guard let number = walk.some(state.people.keys) else { return "nothing" }
      let age = 1 + walk.dice.next(99)
      try #require(try walk.person(number, context)).age = Int16(age)
      walk.changes[level].ages[number] = age
      return "age of \(number)"
    case 5, 6, 7:
      guard let number = walk.some(state.people.keys) else { return "nothing" }
      let other = walk.dice.next(4) == 0 ? nil : walk.some(state.departments)
      let person = try #require(try walk.person(number, context))
      let department = try other.flatMap { try walk.department($0, context) }
      if let department, walk.dice.next(2) == 0 {
        department.people.insert(person)
      } else {
        person.department = department
      }
      if state.people[number]?.department != other { walk.changes[level].links[number] = .some(other) }
      return "department of \(number): \(other ?? 0)"
    case 8:
      guard let number = walk.some(state.people.keys) else { return "nothing" }
      context.delete(try #require(try walk.person(number, context)))
      context.processPendingChanges()
      walk.changes[level].deletedPeople.insert(number)
      return "delete person \(number)"
    case 9:
      guard let number = walk.some(state.departments) else { return "nothing" }
      context.delete(try #require(try walk.department(number, context)))
      context.processPendingChanges()
      for (person, values) in state.people where values.department == number {
        walk.changes[level].links[person] = .some(nil)
      }
      walk.changes[level].deletedDepartments.insert(number)
      return "delete department \(number)"
    case 10:
      context.rollback()
      walk.changes[level] = Changes()
      return "rollback"
    default: return try save(walk, level)
    }
  }

  private func save(_ walk: Walk, _ level: Int) throws -> String {
    do { try walk.contexts[level].save() } catch let error as CocoaError where error.code == .managedObjectMerge {
      // The parent has lost an object that this level has changed. It cannot be saved any more.
      walk.contexts[level].rollback()
      walk.changes[level] = Changes()
      return "failed save"
    }
    let changes = walk.changes[level]
    walk.changes[level] = Changes()
    if level == 0 {
      walk.stored = changes.applied(to: walk.stored)
    } else {
      merge(changes, into: &walk.changes[level - 1], walk.state(level - 1))
    }
    return "save"
  }

  /// What a save of a level does to the level above, which shows `state`.
  private func merge(_ changes: Changes, into above: inout Changes, _ state: State) {
    above.newPeople.formUnion(changes.newPeople)
    above.newDepartments.formUnion(changes.newDepartments)
    above.ages.merge(changes.ages) { $1 }
    above.links.merge(changes.links) { $1 }
    above.deletedPeople.formUnion(changes.deletedPeople)
    above.deletedDepartments.formUnion(changes.deletedDepartments)
    for (person, values) in state.people {
      if let link = values.department, changes.deletedDepartments.contains(link), changes.links[person] == nil {
        above.links[person] = .some(nil)
      }
    }
  }
}
