import Foundation
import Testing

@testable import CoreData

/// Random changes by two contexts that get no notifications of each other; each save merges. A failure reports its seed
/// and policy.
@Suite struct MergeWalkTests {
  private static let policies: [NSMergePolicy] = [
    .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]

  /// After each save the context has no changes, both sides of each relationship agree, and the store has no link to a
  /// deleted object and no badge with two owners.
  @Test(arguments: 0..<100)
  func savesAlwaysSucceedAndStaySymmetric(seed: Int) throws {
    var dice = Dice(state: UInt64(seed) &* 7919 &+ 3)
    let company = try CompanyStore()
    let contexts = [company.context(), company.context()]
    for round in 0..<14 {
      let location = "seed \(seed) round \(round)"
      for context in contexts {
        context.performAndWait {
          context.mergePolicy = Self.policies[dice.next(4)]
          for _ in 0..<(1 + dice.next(6)) { step(&dice, context, "\(round)") }
        }
      }
      for context in contexts.shuffled(&dice) {
        context.performAndWait {
          do { try context.save() } catch {
            Issue.record("\(location): \((context.mergePolicy as? NSMergePolicy)?.mergeType.rawValue ?? 9) \(error)")
            context.rollback()
          }
          #expect(!context.hasChanges, "\(location)")
          if dice.next(3) == 0 { context.refreshAllObjects() }
        }
        try check(company, location)
      }
    }
  }

  private func step(_ dice: inout Dice, _ context: NSManagedObjectContext, _ round: String) {
    func some<T: NSManagedObject>(_ type: T.Type) -> T? {
      let known = context.registeredObjects.compactMap { $0 as? T }.filter { !$0.isDeleted }
      let all = known.isEmpty || dice.next(2) == 0 ? (try? context.all(type)) ?? [] : known
      let sorted = all.sorted { $0.objectID.description < $1.objectID.description }
      return sorted.isEmpty ? nil : sorted[dice.next(sorted.count)]
    }
    switch dice.next(17) {
    case 0, 1:
      let person = Person(context: context)
      person.name = "N\(round)"
      person.department = some(Department.self)
    case 2: Department(context: context).title = "D\(round)"
    case 3: Tag(context: context).label = "T\(dice.next(6))"
    case 4: some(Person.self)?.name = "M\(round)"
    case 5: some(Person.self)?.age = Int16(dice.next(90))
    case 6, 7: some(Person.self)?.department = some(Department.self)
    case 8: some(Person.self)?.badge = dice.next(2) == 0 ? Badge(context: context) : some(Badge.self)
    case 9: some(Badge.self)?.owner = some(Person.self)
    case 10: if let tag = some(Tag.self) { some(Person.self)?.tags.insert(tag) }
    case 11: if let person = some(Person.self), let tag = person.tags.first { person.tags.remove(tag) }
    case 12:
      guard let department = some(Department.self), let person = some(Person.self) else { return }
      if !department.ranking.contains(person) { department.ranking.insert(person, at: 0) }
    case 13: if let department = some(Department.self) { department.ranking.reverse() }
    case 14: if let person = some(Person.self) { context.delete(person) }
    case 15: if let tag = some(Tag.self) { context.delete(tag) }
    default:
      if dice.next(3) == 0, let department = some(Department.self) { context.delete(department) }
    }
  }

  private func check(_ company: CompanyStore, _ location: String) throws {
    try company.run { (context) throws in
      for person in try context.all(Person.self) {
        if let department = person.department { #expect(department.people.contains(person), "\(location)") }
        if let badge = person.badge { #expect(badge.owner === person, "\(location): badge of another") }
        for tag in person.tags { #expect(tag.people.contains(person), "\(location)") }
      }
      for badge in try context.all(Badge.self) {
        if let owner = badge.owner { #expect(owner.badge === badge, "\(location): owner of another badge") }
      }
      for department in try context.all(Department.self) {
        for person in department.people { #expect(person.department === department, "\(location)") }
        #expect(Set(department.ranking).count == department.ranking.count, "\(location): ranked twice")
      }
      let labels = try context.all(Tag.self).map(\.label)
      #expect(Set(labels).count == labels.count, "\(location): two tags of one label")
    }
  }
}

extension Array {
  fileprivate func shuffled(_ dice: inout Dice) -> [Element] { dice.next(2) == 0 ? self : reversed() }
}
