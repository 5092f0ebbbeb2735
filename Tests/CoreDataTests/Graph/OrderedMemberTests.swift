import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport
import Testing

@testable import CoreData

/// Two contexts add members to one ordered relationship, and one of them reads again what the other has saved.
@Suite struct OrderedMemberTests {
  fileprivate struct Ranking {
    let company: CompanyStore
    let (a, b): (NSManagedObjectContext, NSManagedObjectContext)
    let department: Department
    let id: NSManagedObjectID
    let p4: NSManagedObjectID

    /// A department that ranks p1 and p2; p3 and p4 are in none.
    init() throws {
      company = try CompanyStore()
      let (a, b) = (company.context(), company.context())
      (self.a, self.b) = (a, b)
      (department, id, p4) = try a.performAndWait {
        let department = Department(context: a)
        let people = (1...4).map { number in
          let person = Person(context: a)
          person.name = "p\(number)"
          return person
        }
        department.ranking = Array(people.prefix(2))
        try a.save()
        a.reset()
        let again = try #require(a.object(with: department.objectID) as? Department)
        return (again, department.objectID, people[3].objectID)
      }
    }

    func person(_ name: String, _ context: NSManagedObjectContext) throws -> Person {
      try #require(context.all(Person.self, "name == %@", name).first)
    }

    /// The members by key-value coding, which clients also use on faults.
    var members: NSOrderedSet { department.value(forKey: "ranking") as? NSOrderedSet ?? [] }

    /// The other context adds a member at the end.
    func addElsewhere(_ name: String) throws {
      try b.performAndWait {
        let other = try #require(try b.existingObject(with: id) as? Department)
        other.ranking.append(try person(name, b))
        try b.save()
      }
    }

    /// Checks the stored members, and the findings of the store's own inspection.
    func check(_ names: [String], _ location: SourceLocation = #_sourceLocation) throws {
      let stored = try company.run { context in
        (context.object(with: id) as? Department)?.ranking.map { $0.name ?? "" }
      }
      #expect(stored == names, sourceLocation: location)
      let engine = try #require(company.coordinator.persistentStores.first).requireEngine()
      let department = try #require(engine.schema.entity(named: "Department"))
      try Inspection(engine).objects(of: department.index) { object in
        for case .invalid(let problem) in object.relationships { Issue.record("\(problem)", sourceLocation: location) }
      }
    }
  }

  /// A fault's members are read again too.
  @Test func aRefreshedFaultForgetsItsMembers() throws {
    let ranking = try Ranking()
    ranking.a.performAndWait {
      #expect(ranking.department.isFault)
      #expect(ranking.members.count == 2)
    }
    try ranking.addElsewhere("p3")
    try ranking.a.performAndWait {
      ranking.a.refreshAllObjects()
      #expect(ranking.members.count == 3)
      ranking.department.ranking.append(try ranking.person("p4", ranking.a))
      try ranking.a.save()
    }
    try ranking.check(["p1", "p2", "p3", "p4"])
  }

  /// Members that were read before another context added one must not be the base of a change, whichever way they were
  /// read: the save has a conflict.
  @Test(.ofRootContexts) func membersAreNotNewerThanTheirOwner() throws {
    let ranking = try Ranking()
    ranking.a.performAndWait { #expect(ranking.members.count == 2) }
    try ranking.addElsewhere("p3")
    try ranking.a.performAndWait {
      ranking.department.title = "t"
      ranking.department.ranking.append(try ranking.person("p4", ranking.a))
      do {
        try ranking.a.save()
        Issue.record("what the other context saved is overwritten")
      } catch { #expect((error as NSError).code == NSManagedObjectMergeError) }
    }
    try ranking.check(["p1", "p2", "p3"])
  }

  /// How members are read whose owner another context has already read.
  enum Reading: CaseIterable { case whenUsed, prefetched, realized, inABatch }

  /// A row that another context has read meanwhile is newer than the view of this context's block. The members are read
  /// in a view as new as the row.
  @Test(arguments: Reading.allCases) func membersAreAsNewAsARowOfAnotherContext(_ reading: Reading) throws {
    let ranking = try Ranking()
    try ranking.company.run { context in
      Department(context: context).title = "another"
      try context.save()
    }
    let elsewhere = try ranking.company.reopened()
    try ranking.a.performAndWait {
      ranking.a.reset()
      // A view is kept from here on, but no fetch has read in it.
      try #require(ranking.company.coordinator.persistentStores.first).cache.removeAll()
      let p4 = try #require(ranking.a.object(with: ranking.p4) as? Person)
      #expect(p4.name == "p4")
      let request = NSFetchRequest<Department>(entityName: "Department")
      (request.fetchBatchSize, request.relationshipKeyPathsForPrefetching) = (10, ["ranking"])
      let batch = reading == .inABatch ? try ranking.a.fetch(request) : []
      try elsewhere.run { context in
        let other = try #require(
          elsewhere.coordinator.managedObjectID(forURIRepresentation: ranking.id.uriRepresentation()))
        let department = try #require(try context.existingObject(with: other) as? Department)
        department.ranking.append(try ranking.person("p3", context))
        try context.save()
      }
      // Now the coordinator's cache has the new row.
      let known = try ranking.b.performAndWait { try ranking.b.all(Department.self).count }
      #expect(known == 2)
      let department = try #require(ranking.a.object(with: ranking.id) as? Department)
      switch reading {
      case .whenUsed: break
      case .prefetched: try ranking.a.core.prefetch("ranking", [department])
      case .realized:
        let options = FetchBatches.Options(realizes: true, prefetchedKeyPaths: ["ranking"])
        try ranking.a.core.apply(options, [department], haveRows: false)
      case .inABatch:
        let another = try #require(batch.first { $0 != department })
        #expect(another.title == "another")
      }
      department.ranking.append(p4)
      try ranking.a.save()
    }
    try ranking.check(["p1", "p2", "p3", "p4"])
  }

  /// A row that another context has read, but that has not changed, needs no newer view: the reads of a block stay of
  /// one moment.
  @Test(.ofRootContexts) func anEqualRowOfAnotherContextKeepsTheMoment() throws {
    let ranking = try Ranking()
    let elsewhere = try ranking.company.reopened()
    try ranking.a.performAndWait {
      ranking.a.reset()
      try #require(ranking.company.coordinator.persistentStores.first).cache.removeAll()
      #expect(try #require(ranking.a.object(with: ranking.p4) as? Person).name == "p4")
      #expect(try ranking.b.performAndWait { try ranking.b.all(Department.self).count } == 1)
      try elsewhere.run { context in
        let department = try #require(context.all(Department.self).first)
        department.ranking.append(try ranking.person("p3", context))
        try context.save()
      }
      let department = try #require(ranking.a.object(with: ranking.id) as? Department)
      #expect(department.ranking.count == 2)
    }
  }

  /// How a context with unsaved changes reads an object again.
  enum Again: CaseIterable { case refresh, merge, move }

  /// Additions of this context are applied to the members that are stored now.
  @Test(arguments: Again.allCases)
  func additionsGoOnFromWhatIsStored(_ again: Again) throws {
    let ranking = try Ranking()
    try ranking.a.performAndWait { ranking.department.ranking.append(try ranking.person("p4", ranking.a)) }
    try ranking.reading(again) { try ranking.addElsewhere("p3") }
    try ranking.check(["p1", "p2", "p3", "p4"])
  }

  /// An order that was set here is kept; members that others have added come after it.
  @Test(arguments: Again.allCases)
  func anOrderStays(_ again: Again) throws {
    let ranking = try Ranking()
    try ranking.a.performAndWait {
      ranking.department.ranking.reverse()
      ranking.department.ranking.append(try ranking.person("p4", ranking.a))
    }
    try ranking.reading(again) { try ranking.addElsewhere("p3") }
    try ranking.check(["p2", "p1", "p4", "p3"])
  }

  /// A changed attribute is no reason to keep members that were read before.
  @Test(arguments: Again.allCases)
  func unchangedMembersAreReadAgain(_ again: Again) throws {
    let ranking = try Ranking()
    ranking.a.performAndWait {
      #expect(ranking.department.ranking.count == 2)
      ranking.department.title = "t"
    }
    try ranking.reading(again, thenAdding: "p4") { try ranking.addElsewhere("p3") }
    try ranking.check(["p1", "p2", "p3", "p4"])
  }

  /// The time at which members are ranked, one of which was reported as deleted.
  enum Ranks: CaseIterable { case before, meanwhile, afterASave, afterARollback }

  /// A deletion of a member or of the owner is reported that did not happen. Once it is read again, each member is
  /// ranked once, and the context shows what it has saved.
  @Test(arguments: [true, false], Ranks.allCases)
  func whatIsThereAgainIsRankedOnce(_ takesMember: Bool, _ ranks: Ranks) throws {
    let ranking = try Ranking()
    try ranking.a.performAndWait {
      let (context, department) = (ranking.a, ranking.department)
      let (p1, p4) = (try ranking.person("p1", context), try ranking.person("p4", context))
      let gone: NSManagedObject = takesMember ? p1 : department
      func rank() { department.ranking = [p4] + department.ranking.reversed() }
      if ranks == .before { rank() }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: [gone.objectID]], into: [context])
      #expect(gone.isDeleted)
      switch ranks {
      case .before: break
      case .meanwhile: rank()
      case .afterASave, .afterARollback:
        #expect(takesMember == !department.ranking.contains(p1))
        Department(context: context).title = "another"
        if ranks == .afterASave { try context.save() } else { context.rollback() }
      }
      #expect(try context.existingObject(with: gone.objectID) === gone && !gone.isDeleted)
      if ranks == .afterASave || ranks == .afterARollback {
        #expect(department.ranking.map(\.name) == ["p1", "p2"])
        rank()
      }
      try context.save()
      let names = department.ranking.map { $0.name ?? "" }
      #expect(Set(names).isSuperset(of: ["p1", "p2"]) && Set(names).count == names.count)
      try ranking.check(names)
    }
  }
}

extension OrderedMemberTests.Ranking {
  /// Makes the first context read the department again after `body`, adds a member, and saves.
  fileprivate func reading(
    _ again: OrderedMemberTests.Again, thenAdding name: String? = nil, _ body: () throws -> Void
  ) throws {
    try body()
    if case .move = again {
      let to = company.url.deletingLastPathComponent().appending(path: "moved")
      let store = try #require(company.coordinator.persistentStores.first)
      _ = try company.coordinator.migratePersistentStore(store, to: to, options: nil, withType: store.type)
    }
    try a.performAndWait {
      switch again {
      case .refresh: a.refresh(department, mergeChanges: true)
      case .merge: NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [a])
      case .move: break
      }
      if let name { department.ranking.append(try person(name, a)) }
      try a.save()
    }
  }

  /// A saved member that is removed and comes back is the last one, not in its saved position again.
  @Test func aMemberThatComesBackIsTheLastOne() throws {
    let company = try CompanyStore()
    try company.run { context in
      let (department, people) = (Department(context: context), (0..<4).map { _ in Person(context: context) })
      department.ranking = [people[0], people[1]]
      try context.save()
      department.ranking = []
      department.ranking = [people[2], people[1]]
      #expect(department.ranking == [people[2], people[1]])
      context.refresh(department, mergeChanges: true)
      #expect(department.ranking == [people[2], people[1]])
      department.ranking.removeAll { $0 === people[2] }
      department.ranking.append(people[3])
      department.ranking.append(people[2])
      try context.save()
      context.refreshAllObjects()
      #expect(department.ranking == [people[1], people[3], people[2]])
    }
  }

  enum TakenBack: CaseIterable { case rollback, insertion }

  /// A member whose deletion is undone has its former position.
  @Test(arguments: TakenBack.allCases) func aDeletionThatIsTakenBackKeepsTheOrder(_ way: TakenBack) throws {
    let company = try CompanyStore()
    try company.run { context in
      let (department, people) = (Department(context: context), (0..<3).map { _ in Person(context: context) })
      department.ranking = people
      try context.save()
      context.refreshAllObjects()
      context.delete(people[1])
      #expect(department.ranking == [people[0], people[2]])
      if way == .rollback { context.rollback() } else { context.insert(people[1]) }
      #expect(department.ranking == people)
      let last = Person(context: context)
      department.ranking.append(last)
      try context.save()
      context.refreshAllObjects()
      #expect(department.ranking == people + [last])
    }
  }

  /// A member that was removed before its deletion does not come back when the deletion is undone.
  @Test func aDeletionThatIsTakenBackLeavesTheFormerOwnerAlone() throws {
    let company = try CompanyStore()
    try company.run { context in
      let (a, b, person) = (Department(context: context), Department(context: context), Person(context: context))
      person.department = a
      try context.save()
      context.refreshAllObjects()
      person.department = b
      context.delete(person)
      #expect(a.people.isEmpty)
      context.insert(person)
      #expect(a.people.isEmpty && b.people == [person])
      try context.save()
      context.refreshAllObjects()
      #expect(a.people.isEmpty && b.people == [person])
    }
  }
}
