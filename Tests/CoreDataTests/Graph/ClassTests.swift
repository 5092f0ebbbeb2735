import Foundation
import Testing

@testable import CoreData

/// Canaries for the run-time means by which classes are found and made. A failure here means that a toolchain has changed
/// something that `Sources/CRuntime` or `NSManagedObject+Making.swift` relies on.
@Suite struct ClassTests {
  @Test func classesAreFoundByTheirBareName() {
    #expect(ManagedObjectClass.classes(named: "Person").map { String(reflecting: $0) } == ["CoreDataTests.Person"])
    #expect(ManagedObjectClass.classes(named: "NoSuchClass").isEmpty)
  }

  @Test(arguments: ["Person", ".Person", "CoreDataTests.Person"])
  func aModelMayNameAClassWithOrWithoutItsModule(_ name: String) throws {
    let entity = NSEntityDescription()
    entity.name = "Person"
    entity.managedObjectClassName = name
    #expect(ManagedObjectClass.resolve(entity) == Person.self)
  }

  @Test func objectsAreMadeOfTheirClassWithoutARequiredInitialiser() throws {
    let model = Company.model()
    _ = try model.freeze()
    let entity = try #require(model.entitiesByName["Department"])
    let made = Department.make(entity)
    #expect(type(of: made) == Department.self)
    #expect(type(of: NSManagedObject.make(entity)) == NSManagedObject.self)
  }

  @Test func anOverriddenInitialiserIsCalled() throws {
    let model = Company.model()
    _ = try model.freeze()
    let made = Counted.make(try #require(model.entitiesByName["Department"]))
    #expect((made as? Counted)?.initialised == 1)
  }

  @Test func keyPathsKnowTheirNames() throws {
    let company = try CompanyStore()
    #expect(KeyPathName.name(of: \Person.name) == "name")
    #expect(KeyPathName.name(of: \Person.department?.title) == "department.title")
    _ = company
  }
}

private final class Counted: Department {
  var initialised = 0

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    initialised += 1
  }
}
