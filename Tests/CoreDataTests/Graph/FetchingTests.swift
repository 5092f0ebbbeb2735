import Foundation
import Testing

@testable import CoreData

@Suite struct FetchingTests {
  /// Ten people: ages 0 to 9, every third without a name, two departments.
  private func company() throws -> CompanyStore {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let departments = ["Éclair", "beta"].map { title in
        let department = Department(context: context)
        department.title = title
        return department
      }
      for age in 0..<10 {
        let person = Person(context: context)
        person.age = Int16(age)
        person.name = age % 3 == 0 ? nil : "Person \(age)"
        person.department = age < 8 ? departments[age % 2] : nil
      }
      try context.save()
    }
    return company
  }

  @Test func predicatesMeanTheSameInTheStoreAndInMemory() throws {
    let company = try company()
    func expect(_ format: String, _ arguments: Any?..., is expected: [Int]) throws {
      let found = try company.run { (context) throws in
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        let count = try context.count(for: request)
        let stored = try context.fetch(request)
        #expect(count == stored.count)
        let memory = try context.all(Person.self).filter { request.predicate?.evaluate(with: $0) ?? true }
        #expect(Set(memory) == Set(stored), "\(format)")
        return stored.map { Int($0.age) }
      }
      #expect(found == expected, "\(format)")
    }
    try expect("age > 6", is: [7, 8, 9])
    try expect("NOT age > 6 AND age != %@", NSNumber(value: 3), is: [0, 1, 2, 4, 5, 6])
    try expect("name == nil", is: [0, 3, 6, 9])
    try expect("name != %@", "Person 1", is: [0, 2, 3, 4, 5, 6, 7, 8, 9])
    try expect("NOT (name == %@)", "Person 1", is: [0, 2, 3, 4, 5, 6, 7, 8, 9])
    try expect("NOT (name > %@)", "Person 4", is: [0, 1, 2, 3, 4, 6, 9])
    try expect("name BEGINSWITH %@", "Person", is: [1, 2, 4, 5, 7, 8])
    try expect("NOT name BEGINSWITH[c] 'person'", is: [0, 3, 6, 9])
    try expect("name ENDSWITH '7' OR name CONTAINS 'n 8'", is: [7, 8])
    try expect("name LIKE 'P*1' OR name LIKE[c] 'person ?' AND age = 2", is: [1, 2])
    try expect("name MATCHES 'Person [45]'", is: [4, 5])
    try expect("age IN %@", [1, 5, 99], is: [1, 5])
    try expect("NOT name IN %@", ["Person 1", "Person 2"], is: [0, 3, 4, 5, 6, 7, 8, 9])
    try expect("age BETWEEN {3, 5}", is: [3, 4, 5])
    try expect("NOT age BETWEEN %@", [1, 8], is: [0, 9])
    try expect("department.title ==[cd] 'eclair'", is: [0, 2, 4, 6])
    try expect("department.title != 'beta'", is: [0, 2, 4, 6, 8, 9])
    try expect("department == nil AND name != nil", is: [8])
    try expect("%K == %@ AND TRUEPREDICATE", "age", 4, is: [4])
    try expect("FALSEPREDICATE", is: [])
    let department = try company.run { try #require(try $0.all(Department.self, "title == 'beta'").first).objectID }
    try expect("department == %@", department, is: [1, 3, 5, 7])
    try expect("department IN %@", [department], is: [1, 3, 5, 7])
    // NaN equals nothing, and SQLite would treat it as NULL.
    try expect("salary == %@", Double.nan, is: [])
    try expect("salary != %@", Double.nan, is: Array(0..<10))
    try expect("salary < %@ OR salary >= %@", Double.nan, Double.nan, is: [])
    // More than one statement can hold: alone, and combined with a short condition.
    let many = Array(repeating: "age == 3", count: 1500).joined(separator: " OR ")
    try expect(many, is: [3])
    try expect("(\(many)) AND name == nil", is: [3])
    try expect(Array(repeating: "age > 7", count: 1500).joined(separator: " AND "), is: [8, 9])
    try expect("age IN %@", Array(8..<40_000), is: [8, 9])
  }

  @Test func pagesAreStableAndCut() throws {
    let company = try company()
    try company.run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [
        NSSortDescriptor(keyPath: \Person.department?.title, ascending: false),
        NSSortDescriptor(key: "age", ascending: true),
      ]
      #expect(try context.fetch(request).map(\.age) == [0, 2, 4, 6, 1, 3, 5, 7, 8, 9])
      request.fetchOffset = 3
      request.fetchLimit = 4
      #expect(try context.fetch(request).map(\.age) == [6, 1, 3, 5])
      #expect(try context.count(for: request) == 4)
      request.fetchOffset = 9
      #expect(try context.fetch(request).map(\.age) == [9])
    }
  }

  @Test func pendingChangesAreLaidOver() throws {
    let company = try company()
    try company.run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.predicate = NSPredicate(format: "age < 4")
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      let people = try context.fetch(request)
      people[0].age = 50
      context.delete(people[1])
      let new = Person(context: context)
      new.age = 2
      let other = try #require(try context.all(Person.self, "age == 9").first)
      other.age = 1
      #expect(try context.fetch(request).map(\.age) == [1, 2, 2, 3])
      request.fetchLimit = 2
      request.fetchOffset = 1
      #expect(try context.fetch(request).map(\.age) == [2, 2])
      request.includesPendingChanges = false
      request.fetchLimit = 0
      request.fetchOffset = 0
      #expect(try context.count(for: request) == 4)
    }
  }

  /// A change two relationships away from the fetched objects counts.
  @Test func pendingChangesAreFoundOverTwoRelationships() throws {
    let company = try company()
    try company.run { (context) throws in
      let department = try #require(context.all(Department.self, "title == %@", "beta").first)
      let ranked = try #require(context.all(Person.self, "age == 9").first)
      department.ranking = [ranked]
      try context.save()
      ranked.name = "changed"
      let found = try context.all(Person.self, "ANY department.ranking.name == %@", "changed")
      #expect(Set(found) == department.people && found.count == 4)
      ranked.name = "Person 9"
      department.ranking = []
      #expect(try context.all(Person.self, "ANY department.ranking.age == 9").isEmpty)
    }
  }

  @Test func identifiersAndCounts() throws {
    let company = try company()
    try company.run { (context) throws in
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
      request.resultType = .managedObjectIDResultType
      request.predicate = NSPredicate(format: "age == 5")
      let ids = try context.fetch(request)
      #expect(ids.count == 1)
      // No code has used the object.
      #expect(context.registeredObject(for: ids[0]) == nil)
      #expect((try context.existingObject(with: ids[0]) as? Person)?.age == 5)
      let count = NSFetchRequest<NSNumber>(entityName: "Person")
      count.resultType = .countResultType
      #expect(try context.fetch(count) == [10])
      let erased = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
      #expect(try context.fetch(erased).count == 10)
    }
  }

  @Test func anUnknownKeyIsAnErrorWithTheReason() throws {
    let company = try company()
    try company.run { (context) throws in
      let error = try #require(throws: CocoaError.self) { try context.all(Person.self, "nothing == 1") }
      #expect(error.localizedDescription.contains("no stored property nothing"))
    }
  }

  @Test func whatIsBesideABlockIsRequestedOfTheStore() throws {
    let company = try company()
    try company.run { (context) throws in
      let isEven = NSPredicate { object, _ in ((object as? Person)?.age ?? 0) % 2 == 0 }
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.predicate = NSCompoundPredicate(
        andPredicateWithSubpredicates: [isEven, NSPredicate(format: "age > 3")])
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      request.fetchLimit = 2
      #expect(try context.fetch(request).map(\.age) == [4, 6])
      #expect(try context.count(for: request) == 2)
      request.predicate = NSCompoundPredicate(
        andPredicateWithSubpredicates: [isEven, NSPredicate(format: "nothing == 3")])
      #expect(throws: CocoaError.self) { try context.fetch(request) }
    }
  }

  @Test func blocksAndComparatorsAreAppliedInMemory() throws {
    let company = try company()
    try company.run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.predicate = NSPredicate { object, _ in ((object as? Person)?.age ?? 0) % 4 == 0 }
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
      #expect(try context.fetch(request).map(\.age) == [8, 4, 0])
    }
  }

  @Test(.enabled(if: CompanyStore.type == .sqlite, "it looks at the file")) func aBatchIsReadWhenOneOfItsObjectsIsUsed()
    throws
  {
    let company = try company()
    let other = try company.reopened()
    try other.run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      request.fetchBatchSize = 4
      let people = try context.fetch(request)
      #expect(people.count == 10 && people.allSatisfy(\.isFault))
      func cached() -> [Bool] { people.map { isCached($0, other) } }
      #expect(cached().allSatisfy { !$0 })
      #expect(people[5].age == 5)
      #expect(cached() == [false, false, false, false, true, true, true, true, false, false])
      #expect(people[9].age == 9 && people.map(\.age) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    }
  }

  /// A fetch without values makes no batches: a used object is read by itself.
  @Test(.enabled(if: CompanyStore.type == .sqlite, "it looks at the file"))
  func withoutValuesThereAreNoBatches() throws {
    let company = try company()
    let other = try company.reopened()
    try other.run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      (request.fetchBatchSize, request.includesPropertyValues) = (4, false)
      let people = try context.fetch(request)
      #expect(people[5].age == 5)
      #expect(people.filter { isCached($0, other) }.map(\.age) == [5])
    }
  }

  /// In a block whose fetches have brought rows, the rows of a batch belong to the moment at which it was read.
  @Test(.enabled(if: CompanyStore.type != .inMemory, "the rows are in the cache, and no batch is read"))
  func theRowsOfABatchAreOfOneMoment() throws {
    let company = try company()
    let (reading, writing) = (try company.reopened().context(), company.context())
    try reading.performAndWait {
      #expect(try reading.all(Department.self).count == 2)
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      request.fetchBatchSize = 4
      let people = try reading.fetch(request)
      #expect(people[0].age == 0)
      try writing.performAndWait {
        try writing.all(Person.self, "age == 1").first?.age = 50
        try writing.save()
      }
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = reading.persistentStoreCoordinator
      #expect(try other.performAndWait { try other.all(Person.self, "age == 50").count } == 1)
      #expect(people[1].age == 1)
    }
  }

  private func isCached(_ person: Person, _ company: CompanyStore) -> Bool {
    company.store.cache.row(person.info.root, person.key) != nil
  }

  /// A fetch that reads its objects keeps their rows as of one moment. Faults that are used later have the newest known
  /// rows.
  @Test(arguments: [true, false]) func faultsHaveTheNewestRowAfterAFetch(_ readsObjects: Bool) throws {
    let company = try company()
    let (reading, writing) = (company.context(), company.context())
    let person = try reading.performAndWait {
      let person = try #require(reading.all(Person.self, "name == %@", "Person 1").first)
      #expect(person.isFault)
      let request = NSFetchRequest<Department>(entityName: "Department")
      request.returnsObjectsAsFaults = !readsObjects
      _ = try reading.fetch(request)
      return person
    }
    try writing.performAndWait {
      try #require(writing.all(Person.self, "name == %@", "Person 1").first).name = "new"
      try writing.save()
    }
    reading.performAndWait { #expect(person.name == "new") }
  }

  /// Outside of blocks each read uses a new view.
  @MainActor
  @Test(.enabled(if: CompanyStore.type == .sqlite, "another coordinator writes while a context reads"))
  func readsOutsideOfBlocksShareNoView() throws {
    let company = try company()
    let elsewhere = try company.reopened()
    let context = NSManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = elsewhere.coordinator
    let request = NSFetchRequest<Person>(entityName: "Person")
    (request.includesPropertyValues, request.sortDescriptors) = (false, [NSSortDescriptor(key: "age", ascending: true)])
    let people = try context.fetch(request)
    #expect(people[1].name == "Person 1")
    try company.run { (context) throws in
      try context.all(Person.self, "age == 8").first?.name = "new"
      try context.save()
    }
    #expect(people[8].name == "new")
  }

  @Test func prefetchedRelationshipsAreRead() throws {
    let company = try company()
    try company.run { (context) throws in
      let request = NSFetchRequest<Department>(entityName: "Department")
      request.relationshipKeyPathsForPrefetching = ["people"]
      let departments = try context.fetch(request)
      #expect(departments.allSatisfy { !$0.hasFault(forRelationshipNamed: "people") })
      #expect(departments.map(\.people.count) == [4, 4])
    }
  }
}
