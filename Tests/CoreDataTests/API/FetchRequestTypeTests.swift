import CoreData
import Foundation
import Testing

/// Requests with several result types, as in generic code.
@Suite struct FetchRequestTypeTests {
  private func company() throws -> CompanyStore {
    let company = try CompanyStore()
    try company.run { (context) throws in
      for age in 0..<4 { Person(context: context).age = Int16(age) }
      try context.save()
    }
    return company
  }

  private func fetched<T: NSManagedObject>(_ type: T.Type, _ context: NSManagedObjectContext) throws -> [T] {
    let erased = NSFetchRequest<any NSFetchRequestResult>(entityName: "\(type)")
    erased.predicate = NSPredicate(format: "age > 1")
    return try context.fetch(erased.retyped(as: T.self))
  }

  @Test func aRetypedRequestFetchesAsItsNewType() throws {
    try company().run { (context) throws in
      let typed = NSFetchRequest<Person>(entityName: "Person")
      let erased: NSFetchRequest<any NSFetchRequestResult> = typed.retyped()
      #expect(try context.fetch(erased).count == 4)
      #expect(try context.fetch(erased).allSatisfy { ($0 as Any) is Person })
      #expect(try context.fetch(erased.retyped(as: Person.self)).map(\.age).sorted() == [0, 1, 2, 3])
      #expect(try fetched(Person.self, context).map(\.age).sorted() == [2, 3])
      #expect(try erased.retyped(as: NSManagedObject.self).execute().count == 4)
    }
  }

  @Test func retypedRequestsAreOneRequest() throws {
    let typed = NSFetchRequest<Person>(entityName: "Person")
    let erased = typed.retyped(as: (any NSFetchRequestResult).self)
    erased.fetchLimit = 3
    typed.predicate = NSPredicate(format: "age > 1")
    #expect(typed.fetchLimit == 3)
    #expect(erased.predicate == typed.predicate)
    #expect(erased.retyped(as: (any NSFetchRequestResult).self) === erased)
    let copied = typed.copy() as? NSFetchRequest<Person>
    let copy = try #require(copied)
    copy.fetchLimit = 5
    #expect(typed.fetchLimit == 3)
    #expect(copy.predicate == typed.predicate)
  }

  /// Swift's generic classes cannot be cast to each other. If a future toolchain can do it, `retyped` may become a
  /// cast.
  @Test func castsBetweenResultTypesFail() {
    let typed: Any = NSFetchRequest<Person>(entityName: "Person")
    #expect(!(typed is NSFetchRequest<any NSFetchRequestResult>))
    #expect(!(typed is NSFetchRequest<NSManagedObject>))
  }

  @Test func aResultOfAnotherTypeIsAnError() throws {
    try company().run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person").retyped(as: Department.self)
      #expect(throws: CocoaError.self) { try context.fetch(request) }
    }
  }

  @Test func genericCodeMakesObjectsOfItsTypeParameter() throws {
    func make<T: NSManagedObject>(_ type: T.Type, _ context: NSManagedObjectContext) -> T { T(context: context) }
    func insert<T: NSManagedObject>(_ entity: NSEntityDescription, _ context: NSManagedObjectContext) -> T {
      T(entity: entity, insertInto: context)
    }
    try company().run { (context) throws in
      let person = make(Person.self, context)
      #expect(type(of: person) == Person.self)
      #expect(person.isInserted)
      let entity = try #require(NSEntityDescription.entity(forEntityName: "Research", in: context))
      let department: Department = insert(entity, context)
      #expect(type(of: department) == Department.self)
      #expect(department.entity.name == "Research")
      #expect(department.insertCount == 1)
    }
  }

  @Test func comparatorsOfSortDescriptorsSeeTheValuesOfTheirKey() throws {
    try company().run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      let byDistance = NSSortDescriptor(key: "age", ascending: true) { a, b in
        let (x, y) = (abs((a as? Int16 ?? 0) - 2), abs((b as? Int16 ?? 0) - 2))
        return x < y ? .orderedAscending : (x > y ? .orderedDescending : .orderedSame)
      }
      #expect(byDistance.key == "age")
      request.sortDescriptors = [byDistance, NSSortDescriptor(key: "age", ascending: false)]
      #expect(try context.fetch(request).map(\.age) == [2, 3, 1, 0])
    }
  }

  @Test func sortDescriptorsAreEqualByKeyAndDirection() {
    let byAge = NSSortDescriptor(key: "age", ascending: true)
    #expect(byAge == NSSortDescriptor(key: "age", ascending: true))
    #expect(byAge.hash == NSSortDescriptor(key: "age", ascending: true).hash)
    #expect(byAge != NSSortDescriptor(key: "age", ascending: false))
    #expect(byAge != NSSortDescriptor(key: "name", ascending: true))
    let block = NSSortDescriptor(key: "age", ascending: true) { _, _ in .orderedSame }
    #expect(byAge != block)
    #expect("\(byAge)" == "(age, ascending)")
  }
}
