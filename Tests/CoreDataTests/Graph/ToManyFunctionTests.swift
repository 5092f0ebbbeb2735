import Foundation
import TestSupport
import Testing

@testable import CoreData

/// What generated and rewritten classes call: the functions of to-many relationships, primitive values, checked paths.
@Suite struct ToManyFunctionTests {
  private static let people = ManagedProperty<Any>("people")
  private static let ranking = ManagedProperty<Any>("ranking")
  private static let primitiveName = ManagedProperty<String?>("name")
  private static let primitiveAge = ManagedProperty<Int16>("age")

  /// A department and five people, p0 to p4.
  private func run(_ body: (Department, [Person]) throws -> Void) throws {
    let company = try CompanyStore()
    try company.run { context in
      let department = Department(context: context)
      let people = Person.numbered(5, in: context)
      try body(department, people)
      try context.save()
    }
  }

  @Test func functionsOfASet() throws {
    try run { department, people in
      department.add(contentsOf: NSSet(array: Array(people.prefix(3))), to: Self.people)
      #expect(department.people == Set(people.prefix(3)))
      #expect(people[0].department === department)
      department.add(contentsOf: [people[3]], to: Self.people)
      department.remove(contentsOf: Set(people.prefix(1)), from: Self.people)
      #expect(department.people == Set(people[1...3]))
      #expect(people[0].department == nil)
      department.intersect(Self.people, with: NSSet(array: [people[1], people[4]]))
      #expect(department.people == [people[1]])
      // Swift's set and Foundation's are equal arguments.
      department.add(contentsOf: NSOrderedSet(array: [people[2]]), to: Self.people)
      #expect(department.people == [people[1], people[2]])
    }
  }

  @Test func functionsOfAnOrderedRelationship() throws {
    try run { department, people in
      func names() -> [String] { department.ranking.map { $0.name ?? "" } }
      department.add(contentsOf: NSOrderedSet(array: [people[0], people[1]]), to: Self.ranking)
      department.insert(people[2], into: Self.ranking, at: 0)
      #expect(names() == ["p2", "p0", "p1"])
      department.insert(
        contentsOf: [people[3], people[4]], into: Self.ranking, at: NSIndexSet(indexesIn: NSRange(1...2)))
      #expect(names() == ["p2", "p3", "p4", "p0", "p1"])
      department.remove(at: 0, from: Self.ranking)
      department.remove(at: NSIndexSet(index: 1), from: Self.ranking)
      #expect(names() == ["p3", "p0", "p1"])
      department.replace(at: 0, in: Self.ranking, with: people[2])
      department.replace(at: NSIndexSet(index: 2), in: Self.ranking, withContentsOf: [people[4]])
      #expect(names() == ["p2", "p0", "p4"])
      department.remove(contentsOf: NSOrderedSet(array: [people[0]]), from: Self.ranking)
      department.insert(contentsOf: [people[1]], into: Self.ranking, at: IndexSet(integer: 1))
      department.remove(at: IndexSet(integer: 0), from: Self.ranking)
      #expect(names() == ["p1", "p4"])
    }
  }

  @Test func primitiveValuesByATypedKey() throws {
    try run { _, people in
      people[0].setPrimitiveValue("primitive", of: Self.primitiveName)
      #expect(people[0].name == "primitive")
      #expect(people[0].primitiveValue(of: Self.primitiveName) == "primitive")
      people[0].setPrimitiveValue(nil, of: Self.primitiveName)
      #expect(people[0].primitiveValue(of: Self.primitiveName) == nil)
      people[0].setPrimitiveValue(7, of: Self.primitiveAge)
      #expect(people[0].primitiveValue(of: Self.primitiveAge) == 7)
    }
  }

  @Test func aCheckedPathGoesThroughValuesOptionalsAndCollections() {
    #expect(checkedKeyPath("name", CheckedKeyPath(\Person.name)) == "name")
    #expect(checkedKeyPath("department.title", CheckedKeyPath(\Person.department).then(\.title)) == "department.title")
    #expect(checkedKeyPath("people.name", CheckedKeyPath(\Department.people).then(\.name)) == "people.name")
    let long = checkedKeyPath("ranking.name.count", CheckedKeyPath(\Department.ranking).then(\.name).then(\.count))
    #expect(long == "ranking.name.count")
    let literal: StaticString = checkedKeyPath("name", CheckedKeyPath(\Person.name))
    #expect(literal.description == "name")
    #expect(Selector(setterOf: "name").description == "setName:")
  }

  /// The resource folders are those beside the program, which is that of the tests here.
  @Test func resourcesOfPackagesAreFound() throws {
    let program = try #require(Bundle.main.executableURL).deletingLastPathComponent()
    let name = "zz-\(UUID())"
    let folder = program.appendingPathComponent(name + ".resources")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("x".utf8).write(to: folder.appendingPathComponent(name + ".txt"))
    #expect(PackageResources.url(forResource: name, withExtension: "txt")?.lastPathComponent == name + ".txt")
    #expect(PackageResources.url(forResource: name, withExtension: "other") == nil)
    #expect(Bundle.main.url(forResource: name, withExtension: "txt") == nil)
  }
}
