import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Members that primitive accessors set, combined with changes of other kinds.
///
/// "you are also responsible for maintaining the inverse relationship":
/// https://developer.apple.com/documentation/coredata/nsmanagedobject/setprimitivevalue(_:forkey:)
@Suite struct PrimitiveMemberTests {
  private func announce(_ object: NSManagedObject, _ key: String, _ body: () -> Void) {
    object.willChangeValue(forKey: key)
    body()
    object.didChangeValue(forKey: key)
  }

  private func members(_ object: NSManagedObject, _ key: String) -> NSMutableSet? {
    object.primitiveValue(forKey: key) as? NSMutableSet
  }

  /// A change without an announcement is not the base of a later announcement: other changes have come meanwhile.
  @Test(arguments: [true, false]) func changesInBetweenAreKept(_ saves: Bool) throws {
    let company = try CompanyStore()
    try company.run { context in
      let (department, person) = (Department(context: context), Person(context: context))
      department.setPrimitiveValue(NSSet(), forKey: "people")
      person.department = department
      if saves { try context.save() }
      announce(department, "people") { members(department, "people")?.remove(person) }
      #expect(person.department == nil && department.people.isEmpty)
      try context.save()
      context.refreshAllObjects()
      #expect(department.people.isEmpty && person.department == nil)
    }
  }

  enum Both: CaseIterable { case owner, member, ordinary }

  /// If a client updates the inverse itself, with primitive or ordinary accessors, each link exists once.
  @Test(arguments: Both.allCases, [true, false]) func aLinkOfBothSidesIsOne(_ both: Both, _ isSaved: Bool) throws {
    let company = try CompanyStore()
    let tagID = try company.run { context in
      let (person, tag) = (Person(context: context), Tag(context: context))
      tag.label = "t"
      if isSaved { try context.save() }
      let (owner, key, other, back): (NSManagedObject, String, NSManagedObject, String) =
        both == .member ? (person, "tags", tag, "people") : (tag, "people", person, "tags")
      func link() {
        owner.setPrimitiveValue(NSSet(object: other), forKey: key)
        if both == .ordinary {
          other.mutableSetValue(forKey: back).add(owner)
        } else {
          announce(other, back) { other.setPrimitiveValue(NSSet(object: owner), forKey: back) }
        }
      }
      announce(owner, key, link)
      #expect(person.mutableSetValue(forKey: "tags").count == 1 && tag.mutableSetValue(forKey: "people").count == 1)
      tag.people = []
      #expect(person.tags.isEmpty && tag.people.isEmpty)
      try context.save()
      context.refreshAllObjects()
      #expect(person.tags.isEmpty && tag.people.isEmpty)
      announce(owner, key, link)
      try context.save()
      return tag.objectID
    }
    try company.run { context in
      let tag = try #require(try context.existingObject(with: tagID) as? Tag)
      #expect(tag.people.count == 1 && tag.people.first?.tags == [tag])
    }
  }

  @Test func aMemberOfBothSidesIsListedOnce() throws {
    let company = try CompanyStore()
    try company.run { context in
      let (department, person) = (Department(context: context), Person(context: context))
      try context.save()
      #expect(department.people.isEmpty)
      announce(department, "people") {
        department.setPrimitiveValue(NSSet(object: person), forKey: "people")
        person.department = department
      }
      person.department = nil
      context.refresh(department, mergeChanges: true)
      #expect(department.people.isEmpty)
    }
  }

  /// Each kind of change by index, with the members after it.
  @Test(arguments: [
    (NSKeyValueChange.insertion, [1], [0, 2, 1]), (.removal, [0], [1]), (.replacement, [1], [0, 2]),
    (.setting, [0, 1], [2, 0]),
  ])
  func membersAreChangedByTheirIndexes(kind: NSKeyValueChange, indexes: [Int], members: [Int]) throws {
    let company = try CompanyStore()
    try company.run { context in
      let department = Department(context: context)
      let people = (0..<3).map { _ in Person(context: context) }
      department.ranking = [people[0], people[1]]
      try context.save()
      department.willChange(kind, valuesAt: IndexSet(indexes), forKey: "ranking")
      department.setPrimitiveValue(NSOrderedSet(array: members.map { people[$0] }), forKey: "ranking")
      department.didChange(kind, valuesAt: IndexSet(indexes), forKey: "ranking")
      func check() {
        #expect(department.ranking == members.map { people[$0] })
        for (index, person) in people.enumerated() {
          #expect((person.value(forKey: "rankedIn") != nil) == members.contains(index))
        }
      }
      check()
      try context.save()
      context.refreshAllObjects()
      check()
    }
  }

  enum Way: CaseIterable { case set, setter, inverse }

  /// The order that a client gives its members is kept, whatever else the change contains.
  @Test(arguments: Way.allCases) func theOrderOfAPrimitiveSetIsKept(_ way: Way) throws {
    let company = try CompanyStore()
    try company.run { context in
      let department = Department(context: context)
      let (a, b, c) = (Person(context: context), Person(context: context), Person(context: context))
      department.ranking = [a, b]
      try context.save()
      announce(department, "ranking") {
        let set = department.primitiveValue(forKey: "ranking") as? NSMutableOrderedSet
        set?.insert(c, at: 0)
        switch way {
        case .set: break
        case .setter: department.setPrimitiveValue(set, forKey: "ranking")
        case .inverse: c.setValue(department, forKey: "rankedIn")
        }
      }
      #expect(department.ranking == [c, a, b] && c.value(forKey: "rankedIn") as? Department === department)
      try context.save()
      context.refreshAllObjects()
      #expect(department.ranking == [c, a, b])
      // As accessors of ordered relationships announce it.
      do {
        department.willChange(.removal, valuesAt: [1], forKey: "ranking")
        defer { department.didChange(.removal, valuesAt: [1], forKey: "ranking") }
        department.setPrimitiveValue(NSOrderedSet(array: [b, c]), forKey: "ranking")
      }
      #expect(a.value(forKey: "rankedIn") == nil)
      let former = department.committedValues(forKeys: ["ranking"])["ranking"] as? NSOrderedSet
      #expect(former?.array as? [Person] == [c, a, b])
      try context.save()
      context.refreshAllObjects()
      #expect(department.ranking == [b, c])
    }
  }

  /// The set is returned again during a change: the changes in it stay.
  @Test func nothingIsLostWhenTheSetIsRequestedAgain() throws {
    let company = try CompanyStore()
    try company.run { context in
      let department = Department(context: context)
      let people = (0..<3).map { _ in Person(context: context) }
      announce(department, "people") {
        members(department, "people")?.add(people[0])
        people[1].department = department
        members(department, "people")?.add(people[2])
      }
      #expect(department.people == Set(people) && people.allSatisfy { $0.department === department })
    }
  }

  /// An announcement alone, around an ordinary setter, changes nothing.
  @Test(arguments: [true, false]) func anAnnouncementAroundASetterIsNone(_ isRead: Bool) throws {
    let company = try CompanyStore()
    try company.run { context in
      let (a, b, person) = (Department(context: context), Department(context: context), Person(context: context))
      try context.save()
      context.refreshAllObjects()
      if isRead { #expect(a.people.isEmpty && b.people.isEmpty) }
      person.department = a
      announce(person, "department") { person.setValue(b, forKey: "department") }
      person.department = a
      #expect(a.people == [person] && b.people.isEmpty)
      try context.save()
      #expect(a.people == [person] && b.people.isEmpty)
      announce(a, "people") { a.mutableSetValue(forKey: "people").remove(person) }
      #expect(person.department == nil)
      announce(person, "department") {
        person.setPrimitiveValue(b, forKey: "department")
        person.department = a
      }
      #expect(a.people == [person] && b.people.isEmpty)
    }
  }

  /// The former destination of a to-one relationship may be in another store, with the same keys.
  @Test func theFormerDestinationMayBeOfAnotherStore() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "former-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let stores = try ["a", "b"].map { name in
      try coordinator.addPersistentStore(type: .sqlite, at: folder.appending(path: name + ".sqlite"))
    }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let (one, two, person) = (Department(context: context), Department(context: context), Person(context: context))
      context.assign(one, to: stores[0])
      context.assign(person, to: stores[0])
      context.assign(two, to: stores[1])
      try context.save()
      #expect(one.objectID.uriRepresentation().lastPathComponent == two.objectID.uriRepresentation().lastPathComponent)
      person.department = two
      announce(person, "department") { person.setPrimitiveValue(nil, forKey: "department") }
      #expect(two.people.isEmpty && !one.hasChanges)
    }
  }

  /// A change is begun, and a save comes before it ends.
  @Test func whatHappensWithinAnAnnouncementIsKept() throws {
    let company = try CompanyStore()
    try company.run { context in
      let department = Department(context: context)
      let people = (0..<3).map { _ in Person(context: context) }
      try context.save()
      department.willChangeValue(forKey: "people")
      department.setPrimitiveValue(NSSet(array: [people[0]]), forKey: "people")
      people[1].department = department
      try context.save()
      members(department, "people")?.add(people[2])
      department.didChangeValue(forKey: "people")
      #expect(people[2].department === department)
      try context.save()
      context.refreshAllObjects()
      #expect(department.people == Set(people) && people[0].department === department)
    }
  }

  /// Apple's accessors for one object at a time must read only that object.
  @Test func manyMembersAreAddedOneByOne() throws {
    let company = try CompanyStore()
    try company.run { context in
      let department = Department(context: context)
      let people = (0..<20_000).map { _ in Person(context: context) }
      func change(_ kind: NSKeyValueSetMutationKind, _ person: Person) {
        department.willChangeValue(forKey: "people", withSetMutation: kind, using: [person])
        let set = members(department, "people")
        if kind == .union { set?.add(person) } else { set?.remove(person) }
        department.didChangeValue(forKey: "people", withSetMutation: kind, using: [person])
      }
      let start = threadTime()
      for person in people { change(.union, person) }
      // About a second in a debug build; if each addition read all members, minutes.
      #expect(threadTime() - start < .seconds(20))
      #expect(department.people.count == people.count && people.allSatisfy { $0.department === department })
      for person in people.suffix(5000) { change(.minus, person) }
      #expect(threadTime() - start < .seconds(40))
      for person in people.suffix(5000) { change(.union, person) }
      change(.minus, people[5])
      #expect(department.people.count == people.count - 1 && people[5].department == nil)
      // One object more than the client announces.
      department.willChangeValue(forKey: "people", withSetMutation: .minus, using: [people[6]])
      members(department, "people")?.remove(people[6])
      members(department, "people")?.remove(people[7])
      department.didChangeValue(forKey: "people", withSetMutation: .minus, using: [people[6]])
      #expect(department.people.count == people.count - 3 && people[6].department == nil && people[7].department == nil)
      try context.save()
      context.refreshAllObjects()
      #expect(department.people.count == people.count - 3)
    }
  }

  /// An accessor of the client announces a change that another one has announced.
  @Test func announcementsMayBeNested() throws {
    let company = try CompanyStore()
    try company.run { context in
      let department = Department(context: context)
      let people = (0..<3).map { _ in Person(context: context) }
      try context.save()
      announce(department, "people") {
        announce(department, "people") { members(department, "people")?.add(people[0]) }
        department.setPrimitiveValue(NSSet(array: [people[1], people[2]]), forKey: "people")
      }
      #expect(
        department.people == [people[1], people[2]] && people.map(\.department) == [nil, department, department])
      announce(people[0], "department") {
        announce(people[0], "department") {}
        people[0].setPrimitiveValue(department, forKey: "department")
      }
      #expect(department.people == Set(people))
      try context.save()
      context.refreshAllObjects()
      #expect(department.people == Set(people))
    }
  }

  /// Setting a value replaces changes that were made in a set before.
  @Test func aValueThatIsSetReplacesAChangedSet() throws {
    let company = try CompanyStore()
    try company.run { context in
      let department = Department(context: context)
      let (a, b, c) = (Person(context: context), Person(context: context), Person(context: context))
      department.people = [a, c]
      try context.save()
      announce(department, "people") {
        members(department, "people")?.removeAllObjects()
        department.setPrimitiveValue(NSSet(array: [a, b]), forKey: "people")
      }
      #expect(department.people == [a, b] && a.department === department && c.department == nil)
      let permanent = Department(context: context)
      announce(c, "department") {
        c.setPrimitiveValue(permanent, forKey: "department")
        #expect(throws: Never.self) { try context.obtainPermanentIDs(for: [permanent]) }
      }
      #expect(permanent.people == [c])
      let other = NSKeyValueSetMutationKind.union
      try context.save()
      department.didChangeValue(forKey: "no property", withSetMutation: other, using: [])
      #expect(!context.hasChanges)
    }
  }

  /// The order before the event is the stored one, whichever change came first.
  @Test func theFormerOrderIsTheStoredOne() throws {
    let company = try CompanyStore()
    try company.run { context in
      let (department, a, b) = (Department(context: context), Person(context: context), Person(context: context))
      department.ranking = [a, b]
      try context.save()
      announce(department, "ranking") {
        department.setPrimitiveValue(NSOrderedSet(array: [b, a]), forKey: "ranking")
        a.setValue(nil, forKey: "rankedIn")
      }
      #expect(department.ranking == [b])
      let former = department.committedValues(forKeys: ["ranking"])["ranking"] as? NSOrderedSet
      #expect(former?.array as? [Person] == [a, b])
    }
  }

  /// Only the order differs.
  @Test func anOrderAloneIsAChange() throws {
    let company = try CompanyStore()
    try company.run { context in
      let (department, a, b) = (Department(context: context), Person(context: context), Person(context: context))
      department.ranking = [a, b]
      try context.save()
      announce(department, "ranking") {
        department.setPrimitiveValue(NSOrderedSet(array: [b, a]), forKey: "ranking")
      }
      #expect(department.hasChanges && department.changedValues().keys.sorted() == ["ranking"])
      try context.save()
      context.refreshAllObjects()
      #expect(department.ranking == [b, a])
    }
  }

  /// If a removal was not saved and a primitive accessor adds the member again, it was never removed.
  @Test(arguments: [true, false]) func aRemovalIsTakenBack(_ ownerIsTag: Bool) throws {
    let company = try CompanyStore()
    try company.run { context in
      let (people, tags) = ((0..<2).map { _ in Person(context: context) }, (0..<2).map { _ in Tag(context: context) })
      for (index, tag) in tags.enumerated() { tag.label = "\(index)" }
      let (owner, key, members): (NSManagedObject, String, [NSManagedObject]) =
        ownerIsTag ? (tags[0], "people", people) : (people[0], "tags", tags)
      owner.mutableSetValue(forKey: key).addObjects(from: members)
      try context.save()
      owner.mutableSetValue(forKey: key).remove(members[0])
      announce(owner, key) { owner.setPrimitiveValue(NSSet(array: members), forKey: key) }
      #expect(owner.mutableSetValue(forKey: key).count == 2)
      try context.save()
      context.refreshAllObjects()
      #expect(owner.mutableSetValue(forKey: key).count == 2)
      owner.mutableSetValue(forKey: key).remove(members[0])
      try context.save()
      context.refreshAllObjects()
      #expect(owner.mutableSetValue(forKey: key).count == 1)
    }
  }
}
