import CoreData
import Foundation
import TestSupport
import Testing

@Suite struct RelationshipTests {
  @Test func inversesFollow() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let (a, b) = (Department(context: context), Department(context: context))
      let person = Person(context: context)
      person.department = a
      #expect(a.people == [person])
      b.people = [person]
      #expect(person.department === b && a.people.isEmpty)
      let (first, second) = (Badge(context: context), Badge(context: context))
      person.badge = first
      second.owner = person
      #expect(person.badge === second && first.owner == nil)
      let tag = Tag(context: context)
      tag.label = "t"
      tag.add(person, to: Tag.people)
      #expect(person.tags == [tag])
      try context.save()
      let other = Person(context: context)
      other.tags = [tag]
      #expect(tag.people == [person, other])
      try context.save()
    }
    try company.reopened().run { (context) throws in
      let tag = try #require(try context.all(Tag.self).first)
      #expect(tag.people.count == 2)
      let person = try #require(tag.people.first { $0.department != nil })
      tag.remove(person, from: Tag.people)
      #expect(person.tags.isEmpty)
      try context.save()
    }
    try company.run { (context) throws in #expect(try context.all(Tag.self).first?.people.count == 1) }
  }

  @Test func anUnreadRelationshipTakesChangesWithoutBeingRead() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      for _ in 0..<3 { Person(context: context).department = department }
      try context.save()
    }
    try company.run { (context) throws in
      let department = try #require(try context.all(Department.self).first)
      let new = Person(context: context)
      new.department = department
      #expect(department.hasFault(forRelationshipNamed: "people"))
      #expect(department.people.count == 4)
      try context.save()
    }
    #expect(try company.run { try $0.all(Department.self).first?.people.count } == 4)
  }

  @Test func orderIsKept() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      let people = (0..<5).map { index in
        let person = Person(context: context)
        person.name = "\(index)"
        return person
      }
      department.ranking = people
      try context.save()
      department.ranking = [people[4], people[0], people[1], people[3]]
      #expect(people[2].value(forKey: "rankedIn") == nil)
      try context.save()
      let ordered = department.mutableOrderedSetValue(forKey: "ranking")
      ordered.insert(people[2], at: 1)
      try context.save()
    }
    try company.reopened().run { (context) throws in
      #expect(try context.all(Department.self).first?.ranking.map(\.name) == ["4", "2", "0", "1", "3"])
    }
  }

  @Test func aToOneMayLeadToASubentity() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let research = NSEntityDescription.insertNewObject(forEntityName: "Research", into: context)
      research.setValue("R", forKey: "title")
      let person = Person(context: context)
      person.setValue(research, forKey: "department")
      try context.save()
    }
    try company.reopened().run { (context) throws in
      let person = try #require(try context.all(Person.self).first)
      #expect(person.department?.entity.name == "Research" && person.department?.title == "R")
      #expect(try context.all(Department.self).count == 1)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
      request.includesSubentities = false
      #expect(try context.count(for: request) == 0)
    }
  }

  /// The message is Apple's. Apple raises an exception; this library stops the program.
  @Test func anObjectOfAnotherEntityStopsTheProgram() async throws {
    let ending = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let company = try CompanyStore()
        try company.run { context in
          Person(context: context).setValue(Tag(context: context), forKey: "department")
        }
      })
    #expect(
      String(decoding: ending.standardErrorContent, as: UTF8.self).contains(
        "Unacceptable type of value for to-one or to-many relationship 'department': it takes Department, not Tag."))
  }

  /// Features 24.11. Apple's message, which Apple raises as an exception.
  @Test func collectionsOfTheWrongKindStopTheProgram() async throws {
    func wants(_ type: String, _ given: String, _ ending: ExitTest.Result?) {
      let text = String(decoding: ending?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("for to-many relationship: ") && text.contains("desired type = \(type); given \(given)."))
    }
    wants(
      "NSSet", "NSArray",
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try CompanyStore().run { Person(context: $0).setValue(NSArray(), forKey: "tags") }
      })
    wants(
      "NSSet", "NSOrderedSet",
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try CompanyStore().run { Person(context: $0).setValue(NSOrderedSet(), forKey: "tags") }
      })
    wants(
      "NSSet", "Tag",
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try CompanyStore().run { Person(context: $0).setValue(Tag(context: $0), forKey: "tags") }
      })
    wants(
      "NSOrderedSet", "NSSet",
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try UndoStack().event { UndoStack.insert("a", $0).setValue(NSSet(), forKey: "queue") }
      })
  }

  @Test func deleteRulesAreFollowed() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      let tag = Tag(context: context)
      tag.label = "t"
      for _ in 0..<3 {
        let person = Person(context: context)
        person.department = department
        person.tags = [tag]
        person.badge = Badge(context: context)
      }
      try context.save()
      #expect(tag.people.count == 3)
      let person = try #require(department.people.first)
      context.delete(person)
      context.processPendingChanges()
      #expect(department.people.count == 2 && tag.people.count == 2 && context.deletedObjects.count == 2)
      try context.save()
      context.delete(department)
      try context.save()
      #expect(try context.all(Person.self, "department == nil").count == 2)
      #expect(try context.all(Badge.self).count == 2)
    }
    try company.reopened().run { (context) throws in
      #expect(try context.all(Tag.self).first?.people.count == 2)
      #expect(try context.all(Department.self).isEmpty)
    }
  }

  @Test func keyPathsAndLiveSets() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      department.title = "D"
      for age in [20, 30, 40] {
        let person = Person(context: context)
        person.age = Int16(age)
        department.mutableSetValue(forKey: "people").add(person)
      }
      let person = try #require(department.people.first)
      #expect(person.value(forKeyPath: "department.title") as? String == "D")
      #expect(department.value(forKeyPath: "people.@count") as? Int == 3)
      #expect(department.value(forKeyPath: "people.@avg.age") as? Double == 30)
      #expect(department.value(forKeyPath: "people.@max.age") as? Int16 == 40)
      department.mutableSetValue(forKey: "people").remove(person)
      #expect(person.department == nil && (department.value(forKey: "people") as? NSSet)?.count == 2)
    }
  }

  /// A store of links, each of which refers to the next.
  private func withChain(_ count: Int, _ body: (NSManagedObjectContext, _ first: NSManagedObject) throws -> Void) throws
  {
    let entity = NSEntityDescription()
    entity.name = "Link"
    let next = NSRelationshipDescription()
    next.name = "next"
    next.destinationEntity = entity
    next.maxCount = 1
    next.deleteRule = .cascadeDeleteRule
    let previous = NSRelationshipDescription()
    previous.name = "previous"
    previous.destinationEntity = entity
    previous.maxCount = 1
    next.inverseRelationship = previous
    previous.inverseRelationship = next
    entity.properties = [next, previous]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      var last: NSManagedObject?
      var first: NSManagedObject?
      for _ in 0..<count {
        let link = NSEntityDescription.insertNewObject(forEntityName: "Link", into: context)
        last?.setValue(link, forKey: "next")
        last = link
        first = first ?? link
      }
      try context.save()
      try body(context, try #require(first))
    }
  }

  @Test func aLongChainIsDeletedWithoutRecursion() throws {
    try withChain(20_000) { context, first in
      context.delete(first)
      try context.save()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Link")) == 0)
    }
  }

  /// Each batch leads to the next one, whose objects are read in the same way.
  @Test func batchesOfALongChainAreReadWithoutRecursion() throws {
    try withChain(20_000) { context, first in
      context.reset()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Link")
      request.sortDescriptors = []
      request.fetchBatchSize = 1
      request.relationshipKeyPathsForPrefetching = ["next.next.next"]
      let links = try context.fetch(request)
      #expect(links.count == 20_000)
      #expect(links[0].value(forKey: "next") != nil)
    }
  }

  /// An object that is its own member is removed from itself on both sides.
  @Test func anObjectIsRemovedFromItself() throws {
    let person = Describing.entity("Employee")
    Describing.relate(person, "reports", toMany: true, person, "boss", toManyBack: false)
    let context = try Describing.context(Describing.model([person]))
    try context.performAndWait {
      let employee = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
      employee.setValue(employee, forKey: "boss")
      try context.save()
      employee.mutableSetValue(forKey: "reports").remove(employee)
      #expect(employee.value(forKey: "boss") == nil)
      try context.save()
      context.refreshAllObjects()
      #expect(employee.value(forKey: "boss") == nil && (employee.value(forKey: "reports") as? NSSet)?.count == 0)
    }
  }

  /// A member was added without reading the others, and the owner is deleted.
  @Test func aDeletedObjectLeavesThoseThatItHasJustJoined() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Tag(context: context).label = "a"
      Person(context: context).name = "Ada"
      try context.save()
    }
    let context = company.context()
    try context.performAndWait {
      let (tag, person) = (try context.all(Tag.self)[0], try context.all(Person.self)[0])
      person.add(tag, to: Person.tags)
      context.delete(person)
      context.processPendingChanges()
      #expect(tag.people.isEmpty)
      try context.save()
      context.refreshAllObjects()
      #expect(tag.people.isEmpty)
    }
  }

  /// The store removes the pairs with the row. If no object has read its members, none need be read.
  @Test func aDeletionReadsNoPairs() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let tag = Tag(context: context)
      tag.label = "t"
      Person(context: context).add(tag, to: Person.tags)
      try context.save()
    }
    let context = company.context()
    try context.performAndWait {
      let person = try context.all(Person.self)[0]
      context.delete(person)
      context.processPendingChanges()
      #expect(person.hasFault(forRelationshipNamed: "tags"))
      try context.save()
      #expect(try context.all(Tag.self)[0].people.isEmpty)
    }
  }

  @Test func aKeyPathThroughASetGivesASet() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      for name in ["Ada", "Bea"] {
        let person = Person(context: context)
        (person.name, person.department) = (name, department)
        department.ranking.append(person)
      }
      #expect(department.value(forKeyPath: "people.name") as? NSSet == NSSet(array: ["Ada", "Bea"]))
      #expect((department.value(forKeyPath: "ranking.name") as? NSOrderedSet)?.array as? [String] == ["Ada", "Bea"])
    }
  }

  /// The last saved members are in their saved order, however the present order was made.
  @Test(arguments: [false, true]) func theOrderOfTheLastSaveIsKnown(_ isMoved: Bool) throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      let people = (0..<3).map { _ in Person(context: context) }
      department.ranking = people
      try context.save()
      if isMoved {
        department.mutableOrderedSetValue(forKey: "ranking").moveObjects(at: [2], to: 0)
      } else {
        department.ranking = [people[2], people[0], people[1]]
      }
      #expect(department.ranking == [people[2], people[0], people[1]])
      let committed = department.committedValues(forKeys: ["ranking"])["ranking"] as? NSOrderedSet
      #expect(committed?.array as? [Person] == people)
      context.rollback()
      #expect(department.ranking == people)
    }
  }
}
