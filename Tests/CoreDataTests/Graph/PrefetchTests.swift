import Foundation
import Testing

@testable import CoreData

/// What is read together with a fetch.
@Suite struct PrefetchTests {
  /// 600 people of one ranking: their department stands 600 times among the owners of the second step.
  @Test func prefetchingOverAToOneReadsEachOwnerOnce() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      for index in 0..<600 {
        let person = Person(context: context)
        person.age = index < 590 ? 1 : 2
        person.setValue(department, forKey: "rankedIn")
      }
      try context.save()
    }
    try company.run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.predicate = NSPredicate(format: "age == 1")
      request.relationshipKeyPathsForPrefetching = ["rankedIn.ranking"]
      let people = try context.fetch(request)
      let department = try #require(people.first?.value(forKey: "rankedIn") as? Department)
      #expect(department.ranking.count == 600)
      #expect(Set(department.ranking.map(ObjectIdentifier.init)).count == 600)
      let others = department.ranking.filter { $0.age == 2 }
      #expect(Set(others.map(ObjectIdentifier.init)).count == Set(others.map(\.objectID)).count)
    }
  }

  @Test func aKeyPathForPrefetchingThatNoEntityHasIsAnError() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      _ = Person(context: context)
      try context.save()
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.relationshipKeyPathsForPrefetching = ["departmnt"]
      #expect(throws: (any Error).self) { try context.fetch(request) }
    }
  }

  @Test func prefetchingLeavesTheFetchedObjectsFaults() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Person(context: context).department = Department(context: context)
      try context.save()
    }
    try company.run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.relationshipKeyPathsForPrefetching = ["department"]
      #expect(try context.fetch(request).first?.isFault == true)
    }
  }

  @Test(arguments: [false, true])
  func aRelationshipReadAfterADeletionLacksTheDeletedObject(isPrefetched: Bool) throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      for name in ["Ada", "Bob"] {
        let person = Person(context: context)
        (person.name, person.department) = (name, department)
      }
      try context.save()
    }
    try company.run { (context) throws in
      context.delete(try #require(try context.all(Person.self, "name == 'Bob'").first))
      context.processPendingChanges()
      let request = NSFetchRequest<Department>(entityName: "Department")
      if isPrefetched { request.relationshipKeyPathsForPrefetching = ["people"] }
      let department = try #require(try context.fetch(request).first)
      #expect(department.people.map(\.name) == ["Ada"])
      try context.save()
      #expect(department.people.map(\.name) == ["Ada"])
    }
  }
}
