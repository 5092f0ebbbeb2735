import Foundation
import Testing

@testable import CoreData

/// Relationships that primitive accessors change, with announcements. Such announcements exist "to fire faults, to
/// maintain inverse relationships, and so on".
/// https://developer.apple.com/documentation/coredata/nsmanagedobject/didaccessvalue(forkey:)
@Suite struct PrimitiveLinkTests {
  /// The setter of a to-one relationship in Apple's guide.
  private func set(_ object: NSManagedObject, _ key: String, _ value: NSManagedObject?) {
    object.willChangeValue(forKey: key)
    object.setPrimitiveValue(value, forKey: key)
    object.didChangeValue(forKey: key)
  }

  enum State: CaseIterable { case new, saved, faults }

  @Test(arguments: State.allCases) func anAnnouncedDestinationHasItsInverse(_ state: State) throws {
    let company = try CompanyStore()
    let id = try company.run { context in
      let (a, b, person) = (Department(context: context), Department(context: context), Person(context: context))
      if state != .new { try context.save() }
      if state == .faults { context.refreshAllObjects() }
      set(person, "department", a)
      #expect(person.department === a && a.people == [person])
      #expect(person.hasChanges && a.hasChanges)
      set(person, "department", b)
      #expect(person.department === b && a.people.isEmpty && b.people == [person])
      set(person, "department", nil)
      #expect(person.department == nil && b.people.isEmpty)
      set(person, "department", b)
      try context.save()
      return b.objectID
    }
    try company.run { context in
      let b = try #require(try context.existingObject(with: id) as? Department)
      #expect(b.people.count == 1)
    }
  }

  /// A one-to-one relationship with its delete rule.
  @Test func whatWasLinkedSoIsReachedByDeleteRules() throws {
    let company = try CompanyStore()
    try company.run { context in
      let (person, other, badge) = (Person(context: context), Person(context: context), Badge(context: context))
      try context.save()
      set(badge, "owner", person)
      #expect(person.badge === badge)
      set(other, "badge", badge)
      #expect(person.badge == nil && badge.value(forKey: "owner") as? Person === other)
      set(person, "badge", Badge(context: context))
      context.delete(other)
      context.delete(person)
      try context.save()
      #expect(try context.all(Badge.self).isEmpty)
    }
  }

  /// A change without an announcement updates no inverse, and a save or a rollback drops it.
  @Test(arguments: [true, false]) func withoutAnAnnouncementNothingFollows(_ saves: Bool) throws {
    let company = try CompanyStore()
    try company.run { context in
      let (a, b, person) = (Department(context: context), Department(context: context), Person(context: context))
      try context.save()
      person.setPrimitiveValue(a, forKey: "department")
      #expect(a.people.isEmpty && !person.hasChanges)
      person.name = "changed"
      if saves { try context.save() } else { context.rollback() }
      set(person, "department", b)
      #expect(b.people == [person] && person.department === b)
      try context.save()
    }
  }

  /// The accessors of a to-many relationship in Apple's guide: the primitive value is a mutable set.
  @Test(arguments: State.allCases) func thePrimitiveSetIsChangedAndAnnounced(_ state: State) throws {
    let company = try CompanyStore()
    try company.run { context in
      let department = Department(context: context)
      let people = (0..<3).map { _ in Person(context: context) }
      if state != .new { try context.save() }
      if state == .faults { context.refreshAllObjects() }
      func change(_ key: String, _ kind: NSKeyValueSetMutationKind, _ objects: [Person], _ body: (NSObject?) -> Void) {
        department.willChangeValue(forKey: key, withSetMutation: kind, using: Set(objects))
        body(department.primitiveValue(forKey: key) as? NSObject)
        department.didChangeValue(forKey: key, withSetMutation: kind, using: Set(objects))
      }
      change("people", .union, people) { ($0 as? NSMutableSet)?.union(Set(people)) }
      #expect(department.people == Set(people) && people.allSatisfy { $0.department === department })
      change("people", .minus, [people[0]]) { ($0 as? NSMutableSet)?.remove(people[0]) }
      #expect(department.people == Set(people.dropFirst()) && people[0].department == nil)
      change("people", .intersect, [people[1]]) { ($0 as? NSMutableSet)?.intersect([people[1]]) }
      #expect(department.people == [people[1]] && people[2].department == nil)
      change("people", .union, [people[2]]) { ($0 as? NSMutableSet)?.add(people[2]) }
      change("ranking", .set, people) { ($0 as? NSMutableOrderedSet)?.addObjects(from: people) }
      #expect(department.ranking == people)
      change("ranking", .set, people) { ($0 as? NSMutableOrderedSet)?.exchangeObject(at: 0, withObjectAt: 2) }
      #expect(department.ranking == people.reversed())
      #expect(department.primitiveValue(forKey: "people") as? Set<Person> == department.people)
      try context.save()
      context.refreshAllObjects()
      #expect(department.people.count == 2 && department.ranking == people.reversed())
    }
  }

  /// Foundation's ordered set contains an object in `array` as often as it was given.
  @Test func anObjectThatIsGivenTwiceIsAMemberOnce() throws {
    let company = try CompanyStore()
    try company.run { context in
      let (department, a, b) = (Department(context: context), Person(context: context), Person(context: context))
      department.setValue(NSOrderedSet(array: [a, a, b]), forKey: "ranking")
      #expect(department.ranking == [a, b] && department.value(forKeyPath: "ranking.@count") as? Int == 2)
      try context.save()
    }
  }

  /// A client may have updated the inverse itself.
  @Test(arguments: State.allCases) func anInverseThatIsThereAlreadyIsNotMadeAgain(_ state: State) throws {
    let company = try CompanyStore()
    try company.run { context in
      let (a, b, person) = (Department(context: context), Department(context: context), Person(context: context))
      if state != .new { try context.save() }
      if state == .faults { context.refreshAllObjects() }
      for (former, next) in [(nil, a), (a, b)] as [(Department?, Department)] {
        person.willChangeValue(forKey: "department")
        person.setPrimitiveValue(next, forKey: "department")
        former?.mutableSetValue(forKey: "people").remove(person)
        next.mutableSetValue(forKey: "people").add(person)
        person.didChangeValue(forKey: "department")
        #expect(next.mutableSetValue(forKey: "people").count == 1 && next.people == [person])
        #expect(former?.people.isEmpty != false && person.department === next)
      }
      try context.save()
      person.department = nil
      #expect(b.people.isEmpty)
      person.department = a
      try context.save()
      context.refreshAllObjects()
      #expect(a.people == [person] && b.people.isEmpty)
    }
  }

  /// Values that `awakeFromInsert()` sets are not the base of later announcements.
  @Test func anotherChangeInBetweenIsKnown() throws {
    let company = try CompanyStore()
    try company.run { context in
      let (one, two, badge) = (Person(context: context), Person(context: context), Badge(context: context))
      badge.setPrimitiveValue(nil, forKey: "owner")
      badge.setValue(one, forKey: "owner")
      set(badge, "owner", two)
      #expect(one.badge == nil && two.badge === badge)
      try context.save()
      #expect(one.badge == nil && two.badge === badge)
    }
  }

  /// The set stays the same while a client keeps it, and changes by others meanwhile are kept.
  @Test func aPrimitiveSetThatIsKeptGoesOn() throws {
    let company = try CompanyStore()
    try company.run { context in
      let department = Department(context: context)
      let people = (0..<6).map { _ in Person(context: context) }
      let set = try #require(department.primitiveValue(forKey: "people") as? NSMutableSet)
      for person in people.prefix(3) {
        department.willChangeValue(forKey: "people")
        set.add(person)
        department.didChangeValue(forKey: "people")
      }
      #expect(department.people == Set(people.prefix(3)))
      department.willChangeValue(forKey: "people")
      set.add(people[3])
      set.remove(people[0])
      department.mutableSetValue(forKey: "people").add(people[4])
      department.mutableSetValue(forKey: "people").remove(people[1])
      department.didChangeValue(forKey: "people")
      #expect(department.people == Set(people[2...4]))
      #expect(people.filter { $0.department === department } == Array(people[2...4]))
      #expect(department.primitiveValue(forKey: "people") as? NSSet == NSSet(array: Array(people[2...4])))

      department.willChangeValue(forKey: "people")
      department.setPrimitiveValue(NSSet(object: people[0]), forKey: "people")
      (department.primitiveValue(forKey: "people") as? NSMutableSet)?.add(people[5])
      department.didChangeValue(forKey: "people")
      #expect(department.people == [people[0], people[5]] && people[0].department === department)
      try context.save()
      context.refreshAllObjects()
      #expect(department.people == [people[0], people[5]])
    }
  }
}
