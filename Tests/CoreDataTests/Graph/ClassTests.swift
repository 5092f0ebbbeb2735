import Foundation
import Testing

@testable import CoreData

/// Tests of the run-time techniques by which classes are found and objects made. A failure here means that a toolchain
/// has changed something that `Sources/RuntimeAccess` or `NSManagedObject+Making.swift` relies on.
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

  /// A name with a module means the class of that module, even if another module has a class of that name.
  @Test func aClassOfAnotherModuleIsNotTaken() {
    let entity = NSEntityDescription()
    (entity.name, entity.managedObjectClassName) = ("Person", "Elsewhere.Person")
    #expect(ManagedObjectClass.resolve(entity) == NSManagedObject.self)
  }

  /// `String(reflecting:)` gives such names. Foundation's `NSClassFromString` takes none of them.
  @Test(arguments: [Outer.Inner.self, Outer.Middle.Inner.self, Outer.Middle.Deep.Inner.self, Hidden.self])
  func aClassWithinOtherTypesAndAPrivateOneAreFoundByTheirWholeNames(_ type: NSManagedObject.Type) {
    let entity = NSEntityDescription()
    (entity.name, entity.managedObjectClassName) = ("Inner", String(reflecting: type))
    #expect(ManagedObjectClass.resolve(entity) == type)
    #expect(ManagedObjectClass.only(String(reflecting: type)) == type)
  }

  @Test(arguments: ["None", ".Inner", "Deep", "Middle"].map { "CoreDataTests.Outer." + $0 })
  func aNameOfNoClassWithinOtherTypesIsOfNone(_ name: String) {
    #expect(ManagedObjectClass.only(name) == nil)
  }

  @Test func aClassIsFoundByItsNameInAModel() {
    #expect(
      ModelClasses.named("CoreDataTests.MassFormatter") == MassFormatter.self)
    #expect(ModelClasses.named("MassFormatter") == MassFormatter.self)
    #expect(ModelClasses.named("CoreDataTests.Outer.Inner") == Outer.Inner.self)
    #expect(ModelClasses.named("NSObject") == NSObject.self && ModelClasses.named("Foundation.Unit") == Unit.self)
    // Two classes have this name.
    #expect(ModelClasses.named("Inner") == nil && ModelClasses.named("Absent") == nil && ModelClasses.named("") == nil)
  }

  @Test(arguments: [Outer.Inner.self, Outer.Middle.Deep.Inner.self, Hidden.self, Person.self])
  func aClassIsFoundByTheNameThatItsModelHas(_ type: NSManagedObject.Type) {
    #expect(ModelClasses.named(ModelClasses.name(of: type)) == type)
  }

  @Test func classesOfFoundationAndGenericOnesHaveNames() {
    #expect(ModelClasses.name(of: NSObject.self) == "NSObject")
    #expect(ModelClasses.name(of: Person.self) == "CoreDataTests.Person")
    #expect(ModelClasses.name(of: NSFetchRequest<Person>.self) == "CoreData.NSFetchRequest<CoreDataTests.Person>")
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

  @Test func objectsAreEqualToThemselvesHoweverTheyAreBoxed() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let (person, other) = (Person(context: context), Person(context: context))
      #expect(person.isEqual(person) && person.isEqual(AnyHashable(person)) && person.isEqual(Optional(person) as Any))
      #expect(!person.isEqual(other) && !person.isEqual(nil) && !person.isEqual("text"))
      let id = person.objectID
      #expect(id.isEqual(AnyHashable(id)) && !id.isEqual(other.objectID) && !id.isEqual(person))
    }
  }

  @Test func aClassThatIsNowhereIsNamed() async throws {
    let ending = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let model = Company.model()
        model.entitiesByName["Tag"]?.managedObjectClassName = "Nowhere"
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
          let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
          precondition(type(of: tag) == NSManagedObject.self)
        }
        exit(0)
      })
    let text = String(decoding: ending.standardErrorContent, as: UTF8.self)
    #expect(text.contains("no class Nowhere for the entity Tag") && !text.contains("could be"))
  }

  @Test func keyPathsKnowTheirNames() throws {
    let company = try CompanyStore()
    #expect(KeyPathName.name(of: \Person.name) == "name")
    #expect(KeyPathName.name(of: \Person.department?.title) == "department.title")
    _ = company
  }

  /// Feature 1.17 and decision 016.
  @Test func ofSeveralModelsTheNewestIsTakenAndThatIsSaidOnce() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let models = [Company.model(), Company.model(), Company.model()]
      let one = NSPersistentStoreCoordinator(managedObjectModel: models[0])
      // A model that several coordinators use is still one model.
      let same = NSPersistentStoreCoordinator(managedObjectModel: models[0])
      precondition(Person.entity() === models[0].entitiesByName["Person"])
      let two = NSPersistentStoreCoordinator(managedObjectModel: models[1])
      precondition(Person.entity() === models[1].entitiesByName["Person"] && Person.entity().name == "Person")
      // Each context finds its own entity by the name in the request.
      try one.addPersistentStore(type: .sqlite, at: URL(filePath: "/dev/null"))
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = one
      try context.performAndWait {
        let person = Person(context: context)
        person.name = "P"
        try context.save()
        let found = try context.fetch(Person.fetchRequest())
        precondition(found.count == 1 && person.entity === models[0].entitiesByName["Person"])
      }
      withExtendedLifetime((same, two)) {}
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.components(separatedBy: "several models in use").count == 2)
  }
}

/// A class within an enumeration, a structure and a class, as `VersionedSchema` types have them.
enum Outer {
  final class Inner: NSManagedObject {}
  struct Middle {
    final class Inner: NSManagedObject {}
    class Deep {
      final class Inner: NSManagedObject {}
    }
  }
}

private final class Hidden: NSManagedObject {}

/// Foundation has a class of this name, too.
final class MassFormatter: NSManagedObject {}

private final class Counted: Department {
  var initialised = 0

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    initialised += 1
  }
}
