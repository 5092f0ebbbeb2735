import Foundation
import Testing

@testable import CoreData

/// States that a merge must leave correct; each was wrong once.
@Suite struct MergeRegressionTests {
  /// A person and their department, known to two contexts.
  private struct Pair {
    let company: CompanyStore
    let (a, b): (NSManagedObjectContext, NSManagedObjectContext)
    let (mine, theirs): (Person, Person)

    init(_ change: (Person) -> Void = { _ in }) throws {
      company = try CompanyStore()
      let (a, b) = (company.context(), company.context())
      let made = try a.performAndWait {
        let person = Person(context: a)
        person.name = "p"
        change(person)
        try a.save()
        return person
      }
      theirs = try b.performAndWait {
        let person = try #require(try b.existingObject(with: made.objectID) as? Person)
        _ = person.name
        return person
      }
      (self.a, self.b, mine) = (a, b, made)
    }

    func name() throws -> String? {
      try company.run { ($0.object(with: mine.objectID) as? Person)?.name }
    }
  }

  /// If an object was deleted both here and elsewhere, its delete rule is not applied here any more: its destinations
  /// may have been kept there.
  @Test func noDeleteRuleIsFollowedOfWhatWasDeletedElsewhere() throws {
    let pair = try Pair { person in
      guard let context = person.managedObjectContext else { return }
      (person.badge, Department(context: context).title) = (Badge(context: context), "old")
    }
    pair.a.performAndWait {
      pair.a.propagatesDeletesAtEndOfEvent = false
      #expect(pair.mine.badge != nil)
      pair.a.delete(pair.mine)
    }
    try pair.b.performAndWait {
      pair.theirs.badge = nil
      pair.b.delete(pair.theirs)
      try pair.b.save()
    }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSDeletedObjectsKey: [pair.mine.objectID]], into: [pair.a])
    try pair.a.performAndWait {
      // One other change, which must be counted.
      try pair.a.all(Department.self).first?.title = "new"
      try pair.a.save()
    }
    #expect(try pair.company.run { try $0.count(for: NSFetchRequest<Badge>(entityName: "Badge")) } == 1)
    #expect(try pair.company.run { try $0.all(Department.self).map(\.title) } == ["new"])
  }

  /// A value that was set back is no change: a refresh that keeps changes, and a merge, replace it.
  @Test(arguments: [false, true]) func aValueThatWasSetBackIsReplaced(merges: Bool) throws {
    let pair = try Pair()
    pair.a.performAndWait {
      (pair.mine.name, pair.mine.name) = ("q", "p")
      pair.mine.age = 7
    }
    let saved = try pair.b.performAndWait {
      (pair.theirs.name, pair.theirs.age) = ("theirs", 3)
      try pair.b.save()
      return [NSUpdatedObjectsKey: [pair.theirs.objectID]]
    }
    if merges {
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: saved, into: [pair.a])
    } else {
      pair.a.performAndWait { pair.a.refresh(pair.mine, mergeChanges: true) }
    }
    pair.a.performAndWait {
      #expect(pair.mine.name == "theirs")
      #expect(pair.mine.age == 7)
      #expect(Set(pair.mine.changedValues().keys) == ["age"])
    }
  }

  /// The same for a link, on both sides.
  @Test(arguments: [false, true]) func aLinkThatWasSetBackIsReplaced(merges: Bool) throws {
    let pair = try Pair { person in
      guard let context = person.managedObjectContext else { return }
      person.department = Department(context: context)
      person.department?.title = "a"
    }
    pair.a.performAndWait {
      let own = pair.mine.department
      pair.mine.department = Department(context: pair.a)
      pair.mine.department = own
      pair.mine.age = 7
    }
    let saved = try pair.b.performAndWait {
      let other = Department(context: pair.b)
      (other.title, pair.theirs.department) = ("c", other)
      try pair.b.save()
      return [
        NSUpdatedObjectsKey: [pair.theirs.objectID, pair.mine.committedValues(forKeys: ["department"])["department"]]
          .compactMap { $0 as? NSManagedObjectID ?? ($0 as? NSManagedObject)?.objectID },
        NSInsertedObjectsKey: [other.objectID],
      ]
    }
    if merges {
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: saved, into: [pair.a])
    } else {
      pair.a.performAndWait { pair.a.refreshAllObjects() }
    }
    try pair.a.performAndWait {
      #expect(pair.mine.department?.title == "c" && pair.mine.department?.people == [pair.mine])
      #expect(Set(pair.mine.changedValues().keys) == ["age"])
      for department in try pair.a.all(Department.self) where department.title == "a" {
        #expect(department.people.isEmpty)
      }
      try pair.a.save()
    }
    #expect(try pair.company.run { ($0.object(with: pair.mine.objectID) as? Person)?.department?.title } == "c")
  }

  /// An object that is found to be gone while it is changed has no effect on the count of changes.
  @Test func anOwnerThatIsGoneWhenItIsReadHidesNoChange() throws {
    let pair = try Pair { person in
      guard let context = person.managedObjectContext else { return }
      person.department = Department(context: context)
    }
    let id = try #require(pair.a.performAndWait { pair.mine.department?.objectID })
    pair.a.performAndWait { pair.a.refreshAllObjects() }
    try pair.b.performAndWait {
      pair.b.delete(try pair.b.existingObject(with: id))
      try pair.b.save()
    }
    pair.a.performAndWait {
      pair.a.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      pair.mine.name = "changed"
      pair.mine.department = nil
    }
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [id]], into: [pair.a])
    try pair.a.performAndWait {
      #expect(pair.a.hasChanges)
      try pair.a.save()
    }
    #expect(try pair.name() == "changed")
  }

  /// A check applies to one save.
  @Test func whatOneSaveHasCheckedTheNextDoesNot() throws {
    let pair = try Pair()
    try pair.a.performAndWait {
      pair.a.detectConflicts(for: pair.mine)
      Department(context: pair.a).title = "first"
      try pair.a.save()
    }
    try pair.b.performAndWait {
      pair.theirs.name = "theirs"
      try pair.b.save()
    }
    try pair.a.performAndWait {
      Department(context: pair.a).title = "second"
      try pair.a.save()
    }
    #expect(try pair.company.run { try $0.all(Department.self).count } == 2)
  }

  /// Another context changes a member that is changed here too, and moves it to a department that is deleted here.
  @Test(.ofRootContexts) func aPendingMemberThatIsChangedHereIsAConflict() throws {
    let pair = try Pair()
    let department = try pair.a.performAndWait {
      let department = Department(context: pair.a)
      try pair.a.save()
      return department
    }
    try pair.b.performAndWait {
      pair.theirs.name = "b"
      pair.b.delete(try pair.b.existingObject(with: department.objectID))
      pair.b.processPendingChanges()
    }
    try pair.a.performAndWait {
      pair.mine.name = "a"
      pair.mine.department = department
      try pair.a.save()
    }
    pair.b.performAndWait {
      do {
        try pair.b.save()
        Issue.record("what the other context saved is overwritten")
      } catch { #expect((error as NSError).code == NSManagedObjectMergeError) }
    }
    #expect(try pair.name() == "a")
  }

  /// The merge of one side of a one-to-one relationship does not hide a change of the other side.
  @Test(.ofRootContexts, arguments: [false, true])
  func bothPartnersAreMergedByThemselves(isOtherFirst: Bool) throws {
    let pair = try Pair()
    let badges = try pair.a.performAndWait {
      let badges = [Badge(context: pair.a), Badge(context: pair.a)]
      badges[0].owner = pair.mine
      let other = Person(context: pair.a)
      other.name = "q"
      badges[1].owner = other
      try pair.a.save()
      return badges
    }
    let ids = try pair.a.performAndWait { try #require(badges[1].owner).objectID }
    let other = try pair.b.performAndWait {
      pair.b.refreshAllObjects()
      let other = try #require(try pair.b.existingObject(with: ids) as? Person)
      for person in isOtherFirst ? [other, pair.theirs] : [pair.theirs, other] {
        _ = person.badge?.owner
        person.name = "b"
        person.age = 5
      }
      return other
    }
    try pair.a.performAndWait {
      let theirs = try #require(badges[1].owner)
      (badges[0].owner, badges[1].owner) = (theirs, pair.mine)
      (theirs.name, pair.mine.name) = ("a", "a")
      try pair.a.save()
    }
    try pair.b.performAndWait {
      pair.b.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      try pair.b.save()
      #expect([pair.theirs.name, other.name] == ["a", "a"])
      #expect([pair.theirs.age, other.age] == [5, 5])
      #expect(pair.theirs.badge?.objectID == badges[1].objectID && other.badge?.objectID == badges[0].objectID)
      #expect(pair.theirs.badge?.owner === pair.theirs)
    }
  }

  /// For an object that a merge has removed from this save, `willSave` is called in the next save.
  @Test(.ofRootContexts) func anObjectThatWasRolledBackIsCalledAgain() throws {
    let pair = try Pair()
    try pair.a.performAndWait {
      pair.mine.name = "a"
      try pair.a.save()
    }
    try pair.b.performAndWait {
      pair.b.mergePolicy = NSMergePolicy.rollback
      pair.theirs.name = "b"
      try pair.b.save()
      #expect(pair.theirs.name == "a" && !pair.theirs.hasChanges)
      #expect(!pair.theirs.flags.contains(.willSaveCalled))
    }
  }

  /// A subclass that changes the stored object's value has resolved the conflict.
  @Test func aStoredObjectThatGivesItsValueUpStays() throws {
    final class Renaming: NSMergePolicy, @unchecked Sendable {
      override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        for conflict in list { conflict.databaseObject?.setValue("old", forKey: "label") }
        try super.resolve(constraintConflicts: list)
      }
    }
    let company = try CompanyStore()
    try company.run { (context) throws in
      context.mergePolicy = Renaming(merge: .mergeByPropertyObjectTrumpMergePolicyType)
      for _ in 0..<2 {
        Tag(context: context).label = "new"
        try context.save()
      }
      #expect(try context.all(Tag.self).map(\.label).sorted() == ["new", "old"])
    }
  }

  /// A policy that undoes in one attempt what it did in another does not make the save (and this test) run forever.
  @Test(.ofRootContexts) func aPolicyThatGoesInCirclesEndsTheSave() throws {
    final class Circling: NSMergePolicy, @unchecked Sendable {
      override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        for object in list.flatMap(\.conflictingObjects) {
          object.setValue(object.value(forKey: "label") as? String == "a" ? "b" : "a", forKey: "label")
        }
      }
    }
    let company = try CompanyStore()
    try company.run { (context) throws in
      for label in ["a", "b"] { Tag(context: context).label = label }
      try context.save()
      context.mergePolicy = Circling(merge: .overwriteMergePolicyType)
      let tag = Tag(context: context)
      tag.label = "a"
      do {
        try context.save()
        Issue.record("there are two tags of one label")
      } catch { #expect((error as NSError).code == NSManagedObjectConstraintMergeError) }
      #expect(tag.isInserted)
    }
  }

  /// Permanent IDs that were requested before the save do not reverse the order of new objects.
  @Test(.ofRootContexts) func theOlderOfTwoNewObjectsRemains() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      let tags = (0..<3).map { _ in Tag(context: context) }
      for tag in tags { tag.label = "same" }
      try context.obtainPermanentIDs(for: Array(tags[0...1]))
      try context.save()
      #expect(tags.map { $0.managedObjectContext != nil && !$0.isDeleted } == [true, false, false])
    }
  }

  /// If a policy of the error type has no conflict left, the save succeeds.
  @Test(.ofRootContexts) func nothingLeftToRefuseIsNoError() throws {
    final class Refreshing: NSMergePolicy, @unchecked Sendable {
      override func resolve(mergeConflicts list: [Any]) throws {
        for conflict in list.compactMap({ $0 as? NSMergeConflict }) {
          let object = conflict.sourceObject
          object.managedObjectContext?.refresh(object, mergeChanges: true)
        }
        try super.resolve(mergeConflicts: [])
      }
    }
    let pair = try Pair()
    try pair.a.performAndWait {
      pair.mine.name = "a"
      try pair.a.save()
    }
    try pair.b.performAndWait {
      pair.b.mergePolicy = Refreshing(merge: .errorMergePolicyType)
      pair.theirs.age = 3
      try pair.b.save()
      #expect(pair.theirs.name == "a" && pair.theirs.age == 3)
    }
  }

  /// A member of an ordered relationship whose deletion is undone has its former position.
  @Test(.ofRootContexts) func aMemberThatComesBackHasItsIndex() throws {
    let pair = try Pair()
    let department = try pair.a.performAndWait {
      let department = Department(context: pair.a)
      department.ranking = [pair.mine, Person(context: pair.a), Person(context: pair.a)]
      try pair.a.save()
      return department
    }
    try pair.b.performAndWait {
      pair.b.refreshAllObjects()
      let theirs = try #require(try pair.b.existingObject(with: department.objectID) as? Department)
      let expected = theirs.ranking.map(\.objectID)
      _ = pair.theirs.name
      pair.b.delete(pair.theirs)
      pair.b.processPendingChanges()
      #expect(theirs.ranking.count == 2)
      try pair.a.performAndWait {
        pair.mine.name = "a"
        try pair.a.save()
      }
      pair.b.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      try pair.b.save()
      #expect(theirs.ranking.map(\.objectID) == expected)
      #expect(!pair.b.hasChanges)
    }
  }

  /// Other objects link to many objects, which a store may check together: those that have changed are reported, and no
  /// others.
  @Test(.ofRootContexts) func ofManyCheckedObjectsThoseThatChangedAreConflicts() throws {
    let pair = try Pair()
    let departments = try pair.a.performAndWait {
      let departments = (0..<120).map { _ in Department(context: pair.a) }
      try pair.a.save()
      return departments
    }
    try pair.b.performAndWait {
      for index in [3, 60, 117] {
        let theirs = try pair.b.existingObject(with: departments[index].objectID) as? Department
        theirs?.title = "theirs"
      }
      try pair.b.save()
    }
    pair.a.performAndWait {
      for department in departments { Person(context: pair.a).department = department }
      do {
        try pair.a.save()
        Issue.record("nobody has noticed that three departments have changed")
      } catch {
        let conflicts = (error as? CocoaError)?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
        #expect(Set(conflicts?.map(\.sourceObject) ?? []) == Set([3, 60, 117].map { departments[$0] }))
      }
      for index in [3, 60, 117] { pair.a.refresh(departments[index], mergeChanges: true) }
      #expect(throws: Never.self) { try pair.a.save() }
    }
    #expect(try pair.company.run { try $0.count(for: NSFetchRequest<Person>(entityName: "Person")) } == 121)
  }
}
