import CoreData
import Foundation
import Testing

/// `#Predicate` as predicates for fetches and in memory.
@Suite struct SwiftPredicateTests {
  private let store: CompanyStore

  init() throws { store = try CompanyStore() }

  /// Ada 36, in Engines, red and blue; Bob 20, in Engines, red; Cy 41, in no department, no tags; one without a name,
  /// 20, in Sales, blue.
  private func people(_ body: (NSManagedObjectContext) throws -> Void) throws {
    try store.run { context in
      let (engines, sales) = (Department(context: context), Department(context: context))
      (engines.title, sales.title) = ("Engines", "Sales")
      let (red, blue) = (Tag(context: context), Tag(context: context))
      (red.label, blue.label) = ("red", "blue")
      for (name, age, salary, department, tags) in [
        ("Ada", 36, 4.5, engines, [red, blue]), ("Bob", 20, 3, engines, [red]), ("Cy", 41, 0, nil, []),
        (nil, 20, 8, sales, [blue]),
      ] as [(String?, Int16, Double, Department?, Set<Tag>)] {
        let person = Person(context: context)
        (person.name, person.age, person.salary, person.department, person.tags) = (name, age, salary, department, tags)
      }
      try context.save()
      try body(context)
    }
  }

  private static let questions: [(Predicate<Person>, format: String, names: [String])] = {
    let (limit, names, range) = (Int16(30), ["Ada", "Cy"], Int16(20)..<36)
    return [
      (#Predicate { $0.age > limit }, "age > 30", ["Ada", "Cy"]),
      (#Predicate { $0.age == 20 && $0.name != nil }, "age == 20 AND name != nil", ["Bob"]),
      (#Predicate { !($0.age < 41) || $0.name == "Ada" }, "NOT age < 41 OR name == \"Ada\"", ["Ada", "Cy"]),
      (#Predicate { range.contains($0.age) }, "age >= 20 AND age < 36", ["", "Bob"]),
      (#Predicate { ($0.name ?? "none") == "none" }, "TERNARY(name == nil, \"none\", name) == \"none\"", [""]),
      (#Predicate { $0.name?.contains("b") ?? false }, "name != nil AND name CONTAINS \"b\"", ["Bob"]),
      (#Predicate { $0.name?.starts(with: "A") == true }, "name BEGINSWITH \"A\"", ["Ada"]),
      (#Predicate { $0.department?.title == "Engines" }, "department.title == \"Engines\"", ["Ada", "Bob"]),
      (#Predicate { $0.department == nil }, "department == nil", ["Cy"]),
      (
        #Predicate { $0.tags.contains { $0.label == "red" } }, "SUBQUERY(tags, $t, $t.label == \"red\").@count > 0",
        ["Ada", "Bob"]
      ),
      (#Predicate { $0.tags.allSatisfy { $0.label == "red" } }, "ALL tags.label == \"red\"", ["Bob", "Cy"]),
      (#Predicate { $0.tags.count == 2 }, "tags.@count == 2", ["Ada"]),
      (#Predicate { $0.tags.isEmpty }, "tags == nil", ["Cy"]),
      (#Predicate { $0.tags.filter { $0.label == "blue" }.count == 1 }, "ANY tags.label == \"blue\"", ["", "Ada"]),
      (#Predicate { $0.age + 5 == 25 }, "age + 5 == 25", ["", "Bob"]),
      (#Predicate { $0.age % 2 == 1 }, "modulus:by:(age, 2) == 1", ["Cy"]),
      (#Predicate { $0.salary / 2 >= 2.25 }, "salary / 2 >= 2.25", ["", "Ada"]),
      (#Predicate { -$0.salary < -4 }, "salary > 4", ["", "Ada"]),
      (
        #Predicate { $0.name.flatMap { names.contains($0) } ?? true }, "name == nil OR name IN {\"Ada\", \"Cy\"}",
        ["", "Ada", "Cy"]
      ),
      (
        #Predicate { $0.age > 30 ? $0.salary > 1 : $0.salary > 5 }, "TERNARY(age > 30, salary - 1, salary - 5) > 0",
        ["", "Ada"]
      ),
      (#Predicate { _ in true }, "TRUEPREDICATE", ["", "Ada", "Bob", "Cy"]),
    ]
  }()

  /// Captured ranges, subscripts and expressions, and parts that use only captured values.
  private static let ofCapturedValues: [(Predicate<Person>, format: String, names: [String])] = {
    let (names, ages) = (["Ada", "Cy"], ["young": Int16(20), "old": 41])
    let (closed, from, upTo, through) = (Int16(20)...36, Int16(36)..., ..<Int16(36), ...Int16(36))
    return [
      (#Predicate { closed.contains($0.age) }, "age BETWEEN {20, 36}", ["", "Ada", "Bob"]),
      (#Predicate { $0.department?.people.count == 1 }, "department != nil AND department.people.@count == 1", [""]),
      (#Predicate { $0.department?.people.count == 0 }, "department != nil AND department.people.@count == 0", []),
      (
        #Predicate { ($0.name.flatMap { $0 == "Ada" ? "a" : "b" } ?? "n") == "n" }, "name == nil", [""]
      ),
      (#Predicate { ($0.age...40).contains(36) }, "36 BETWEEN {age, 40}", ["", "Ada", "Bob"]),
      (#Predicate { from.contains($0.age) }, "age >= 36", ["Ada", "Cy"]),
      (#Predicate { upTo.contains($0.age) }, "age < 36", ["", "Bob"]),
      (#Predicate { through.contains($0.age) }, "age <= 36", ["", "Ada", "Bob"]),
      (#Predicate { $0.name == names[1] }, "name == \"Cy\"", ["Cy"]),
      (#Predicate { names[0..<1].contains($0.name ?? "") }, "name IN {\"Ada\"}", ["Ada"]),
      (#Predicate { $0.age == ages["old"]! }, "age == 41", ["Cy"]),
      (#Predicate { $0.age == ages["none", default: 36] }, "age == 36", ["Ada"]),
    ]
  }()

  private static let ofTexts: [(Predicate<Person>, format: String, names: [String])] = {
    let (same, before) = (ComparisonResult.orderedSame, ComparisonResult.orderedAscending)
    return [
      (#Predicate { $0.name?.localizedStandardContains("ÁD") == true }, "name CONTAINS[cdl] \"ad\"", ["Ada"]),
      (
        #Predicate { $0.name?.localizedStandardContains("y") ?? true }, "name == nil OR name CONTAINS[cdl] \"y\"",
        ["", "Cy"]
      ),
      (
        #Predicate { $0.name.flatMap { $0.caseInsensitiveCompare("BOB") == same } ?? false }, "name ==[c] \"bob\"",
        ["Bob"]
      ),
      (
        #Predicate { $0.name?.localizedCompare("b") == before }, "name <[l] \"b\" AND name != nil", ["Ada"]
      ),
    ]
  }()

  @Test func predicatesOfTheMacroSelectWhatFormatsSelect() throws {
    try people { context in
      let all = try context.fetch(NSFetchRequest<Person>(entityName: "Person"))
      for (predicate, format, names) in Self.questions + Self.ofCapturedValues + Self.ofTexts {
        let converted = try #require(NSPredicate(predicate), "\(format)")
        func fetched(_ predicate: NSPredicate) throws -> [String] {
          let request = NSFetchRequest<Person>(entityName: "Person")
          request.predicate = predicate
          return try context.fetch(request).map { $0.name ?? "" }.sorted()
        }
        #expect(try fetched(converted) == names, "\(format): \(converted)")
        #expect(try fetched(NSPredicate(format: format)) == names, "\(format)")
        #expect(
          all.filter(converted.evaluate).map { $0.name ?? "" }.sorted() == names, "\(format) in memory: \(converted)")
      }
    }
  }

  @Test func whatHasNoCounterpartIsNil() throws {
    let checked = #Predicate<Person> { ($0.name as Any) is String }
    #expect(NSPredicate(checked) == nil)
    let simple = #Predicate<Person> { $0.age == 3 }
    let converted = try #require(NSPredicate(simple))
    #expect(converted == NSPredicate(format: "age == 3"))
    #expect("\(converted)" == "age == 3")
  }
  /// In the form that swift-foundation's conversion produces.
  @Test func convertedPredicatesPrintAsApples() throws {
    func format(_ predicate: Predicate<Person>) -> String? { NSPredicate(predicate)?.predicateFormat }
    #expect(format(#Predicate { -$0.salary < 1 }) == "salary * -1 < 1.0")
    #expect(format(#Predicate { ($0.name ?? "a") == "b" }) == "TERNARY(name != nil, name, \"a\") == \"b\"")
    #expect(
      format(#Predicate { $0.tags.allSatisfy { $0.label == "a" } })
        == "SUBQUERY(tags, $_local_1, NOT $_local_1.label == \"a\").@count == 0")
  }
}
