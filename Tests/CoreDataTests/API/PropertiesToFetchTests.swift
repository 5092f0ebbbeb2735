import CoreData
import Foundation
import Testing

/// Feature 27.13: `propertiesToFetch` where the results are not dictionaries.
@Suite struct PropertiesToFetchTests {
  private func inCompany(_ body: (NSManagedObjectContext, NSFetchRequest<Person>) throws -> Void) throws {
    try CompanyStore().run { (context) throws in
      let person = Person(context: context)
      (person.name, person.age) = ("Ada", 36)
      try context.save()
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      try body(context, request)
    }
  }

  private func expectError(_ words: String, _ body: () throws -> Void) {
    let error = #expect(throws: CocoaError.self) { try body() }
    #expect(error?.code.rawValue == 134060 && error?.localizedDescription.contains(words) == true, "\(error as Any)")
  }

  @Test func unknownNamesAreAnErrorForObjectsAsForDictionaries() throws {
    try inCompany { (context, request) throws in
      request.propertiesToFetch = ["name", "nothing"]
      expectError("nothing") { _ = try context.fetch(request) }
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      expectError("nothing") { try controller.performFetch() }
      for property in ["tags", 42, NSFetchedPropertyDescription(), NSExpressionDescription()] as [Any] {
        request.propertiesToFetch = [property]
        expectError("The fetch cannot be run") { _ = try context.fetch(request) }
      }
    }
  }

  @Test func objectsHaveTheirOtherValuesToo() throws {
    try inCompany { (context, request) throws in
      let age = try #require(NSEntityDescription.entity(forEntityName: "Person", in: context)?.attributesByName["age"])
      request.propertiesToFetch = ["name", "department.title", age]
      context.reset()
      #expect(try context.fetch(request).map(\.age) == [36])
      request.propertiesToFetch = []
      #expect(try context.fetch(request).map(\.name) == ["Ada"])
    }
  }

  /// Neither IDs nor counts have values.
  @Test func namesDoNotCountForIDsAndCounts() throws {
    try inCompany { (context, request) throws in
      request.propertiesToFetch = ["nothing"]
      #expect(try context.count(for: request) == 1)
      let ids = request.retyped(as: NSManagedObjectID.self)
      ids.resultType = .managedObjectIDResultType
      #expect(try context.fetch(ids).count == 1)
    }
  }
}
