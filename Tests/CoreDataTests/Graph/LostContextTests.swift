import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Objects whose context is gone, or was reset.
@Suite struct LostContextTests {
  /// The objects that a context leaves: a fault, an object that was read, and one that was never saved.
  private struct Orphans {
    let fault: Person
    let read: Person
    let new: Person
    let values: NSManagedObject

    init(_ company: CompanyStore) throws {
      let context = company.context()
      (fault, read, new, values) = try context.performAndWait {
        let department = Department(context: context)
        department.title = "Physics"
        for name in ["Ada", "Emmy"] {
          let person = Person(context: context)
          (person.name, person.age, person.department) = (name, 36, department)
        }
        let values = NSEntityDescription.insertNewObject(forEntityName: "Everything", into: context)
        values.setValue(Data(repeating: 7, count: 300_000), forKey: "blob")
        try context.save()
        context.reset()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let people = try context.fetch(request)
        _ = people[1].name
        let new = Person(context: context)
        new.name = "Lise"
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Everything"))
        _ = found[0].value(forKey: "int16")
        return (people[0], people[1], new, found[0])
      }
    }
  }

  @Test func faultsAreNilHoweverTheyAreRead() async {
    await #expect(processExitsWith: .success) {
      let company = try CompanyStore()
      let orphans = try Orphans(company)
      let fault = orphans.fault
      #expect(fault.managedObjectContext == nil && fault.isFault)
      // By typed property, by key and by key path.
      #expect(fault.name == nil && fault.age == 0 && fault.salary == 0)
      #expect(fault.department == nil && fault.tags.isEmpty && fault.badge == nil)
      for key in ["name", "age", "department"] {
        #expect(fault.value(forKey: key) == nil && fault.primitiveValue(forKey: key) == nil)
      }
      #expect((fault.value(forKey: "tags") as? NSSet)?.count == 0)
      #expect(fault.value(forKeyPath: "department.title") == nil)
      #expect(fault.mutableSetValue(forKey: "tags").count == 0)
      #expect(fault.committedValues(forKeys: ["name"])["name"] is NSNull && fault.changedValues().isEmpty)
      #expect(fault.objectIDs(forRelationshipNamed: "tags").isEmpty)
      try fault.validateForUpdate()
      exit(0)
    }
  }

  @Test func whatWasReadStaysAndTheRestIsNil() async {
    await #expect(processExitsWith: .success) {
      let company = try CompanyStore()
      let orphans = try Orphans(company)
      let (read, new) = (orphans.read, orphans.new)
      #expect(read.name == "Emmy" && read.age == 36 && read.value(forKey: "name") as? String == "Emmy")
      #expect(read.department == nil && read.value(forKey: "department") == nil && read.tags.isEmpty)
      #expect(orphans.values.value(forKey: "blob") == nil)
      #expect(new.name == "Lise" && new.department == nil)
      // Setting relationships has no effect, and does not stop the program.
      read.department = nil
      read.tags = []
      new.mutableSetValue(forKey: "tags").removeAllObjects()
      read.name = "Marie"
      let context = company.context()
      context.performAndWait {
        new.department = Department(context: context)
        read.setValue(Set([Tag(context: context)]), forKey: "tags")
      }
      #expect(new.department == nil && read.tags.isEmpty)
      exit(0)
    }
  }

  @Test func itIsSaidOnceWithEntityAndID() async throws {
    let ending = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let company = try CompanyStore()
        let orphans = try Orphans(company)
        for _ in 0..<3 { _ = (orphans.fault.name, orphans.fault.value(forKey: "age"), orphans.read.department) }
        exit(0)
      })
    let lines = String(decoding: ending.standardErrorContent, as: UTF8.self).split(separator: "\n")
    let said = lines.filter { $0.contains("after its context is gone") }
    #expect(said.count == 1)
    #expect(said.first?.contains("the entity Person, x-coredata://") == true)
  }

  /// A large value is read when it is used, although the row is in memory.
  @Test(.enabled(if: CompanyStore.type == .sqlite, "other stores may have the value at hand"))
  func itIsSaidOfALargeValue() async throws {
    let ending = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let values = try Orphans(CompanyStore()).values
        #expect(values.value(forKey: "blob") == nil)
        exit(0)
      })
    let said = String(decoding: ending.standardErrorContent, as: UTF8.self)
    #expect(said.contains("the entity Everything, x-coredata://"))
  }

  @Test func nothingIsSaidOfAnObjectThatNeverHadAContext() async throws {
    let ending = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let company = try CompanyStore()
        guard let entity = company.coordinator.managedObjectModel.entitiesByName["Person"] else { exit(1) }
        let person = Person(entity: entity, insertInto: nil)
        #expect(person.department == nil && person.tags.isEmpty && person.value(forKey: "department") == nil)
        // The same for the probes that find the names of key paths.
        for path in [\Person.name, \Person.age, \Person.tags, \Person.department?.title] as [AnyKeyPath] {
          #expect(KeyPathName.name(of: path) != nil)
        }
        person.department = nil
        let library = Describing.library()
        guard let book = library.entitiesByName["Book"] else { exit(1) }
        #expect((NSManagedObject(entity: book, insertInto: nil).value(forKey: "namesakes") as? [Any])?.isEmpty == true)
        exit(0)
      })
    #expect(!String(decoding: ending.standardErrorContent, as: UTF8.self).contains("after its context is gone"))
  }
}
