import CoreData
import Foundation
import Testing

/// Foundation's collections filtered by predicates of this library.
@Suite struct FilteredTests {
  private let isLong = NSPredicate(format: "length(name) > 2 AND age IN %@", [1, 2])
  private let rows: [NSDictionary] = [
    ["name": "abc", "age": 1], ["name": "ab", "age": 1], ["name": "abcd", "age": 3], ["age": 2],
    ["name": "xyz", "age": 2],
  ]

  private func names(_ found: [Any]) -> [String] {
    found.compactMap { ($0 as? NSDictionary)?["name"] as? String }.sorted()
  }

  @Test func arrays() {
    let array = NSArray(array: rows)
    #expect(names(array.filtered(using: isLong)) == ["abc", "xyz"])
    let mutable = NSMutableArray(array: rows)
    mutable.filter(using: isLong)
    #expect(names(mutable.map { $0 }) == ["abc", "xyz"])
  }

  /// Foundation's own `filtered(using:)` of a set stops at elements that are not Hashable in Swift, such as
  /// dictionaries.
  @Test func sets() {
    let isLarge = NSPredicate(format: "SELF > 2 AND SELF != 4")
    let set = NSSet(array: [1, 2, 3, 4, 5])
    #expect(set.filtered(using: isLarge) as? Set<Int> == [3, 5])
    let mutable = NSMutableSet(array: [1, 2, 3, 4, 5])
    mutable.filter(using: isLarge)
    #expect(mutable == NSSet(array: [3, 5]))
  }

  @Test func orderedSets() {
    let set = NSOrderedSet(array: rows)
    #expect(names(set.filtered(using: isLong).array) == ["abc", "xyz"])
    let mutable = NSMutableOrderedSet(array: rows)
    mutable.filter(using: isLong)
    #expect(names(mutable.array) == ["abc", "xyz"])
  }

  @Test func collectionsOfSwift() {
    #expect(names(rows.filter { isLong.evaluate(with: $0) }) == ["abc", "xyz"])
  }

  @Test func collectionsOfManagedObjects() throws {
    try CompanyStore().run { (context) throws in
      let department = Department(context: context)
      for age in 0..<6 {
        let person = Person(context: context)
        (person.name, person.age) = ("p\(age)", Int16(age))
        if age % 2 == 0 { person.department = department }
      }
      let people = try context.fetch(NSFetchRequest<Person>(entityName: "Person"))
      let isOld = NSPredicate(format: "department == %@ AND age > 1", department)
      func ages(_ found: some Sequence) -> [Int16] { found.compactMap { ($0 as? Person)?.age }.sorted() }
      #expect(ages((people as NSArray).filtered(using: isOld)) == [2, 4])
      #expect(ages(NSSet(array: people).filtered(using: isOld)) == [2, 4])
      #expect(ages(NSOrderedSet(array: people).filtered(using: isOld).array) == [2, 4])
      #expect(ages(people.filter(isOld.evaluate)) == [2, 4])
      #expect(ages(department.people.filter(isOld.evaluate)) == [2, 4])
      let mutable = NSMutableSet(array: people)
      mutable.filter(using: isOld)
      #expect(ages(mutable.allObjects) == [2, 4])
      try context.save()
      #expect(ages(department.people.filter(isOld.evaluate)) == [2, 4])
    }
  }
}
