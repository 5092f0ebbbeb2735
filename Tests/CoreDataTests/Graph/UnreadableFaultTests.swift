import Foundation
import Testing

@testable import CoreData
@testable import SQLiteBackend

/// Faults whose rows cannot be read. Feature 20.3: where Apple's framework stops the program by an exception, every
/// save throws an error until the changes are rolled back (decision 004).
@Suite(.enabled(if: CompanyStore.type == .sqlite, "it damages the file")) struct UnreadableFaultTests {
  /// A department with one person, in a coordinator that has read neither.
  private struct World {
    let company: CompanyStore
    let context: NSManagedObjectContext
    let other: SQLiteConnection

    init() throws {
      let made = try CompanyStore()
      try made.run { (context) throws in
        let person = Person(context: context)
        (person.name, person.department) = ("Ada", Department(context: context))
        try context.save()
      }
      company = try made.reopened()
      context = company.context()
      other = try SQLiteConnection(made.url.path, .readWrite, timeout: 1)
    }

    func hideNames() throws { try other.execute("ALTER TABLE ZPERSON RENAME COLUMN ZNAME TO ZHIDDEN") }
    func showNames() throws { try other.execute("ALTER TABLE ZPERSON RENAME COLUMN ZHIDDEN TO ZNAME") }

    /// Faults of the person and of the department. The reads are in a separate block: the next block reads the present
    /// content of the file.
    func faults() throws -> (person: Person, department: Department) {
      try context.performAndWait {
        let found = try (#require(context.all(Person.self).first), #require(context.all(Department.self).first))
        context.refreshAllObjects()
        company.store.cache.removeAll()
        return found
      }
    }
  }

  /// A value that cannot be read is no change of it.
  @Test func whatCannotBeReadIsNoChange() throws {
    let world = try World()
    let context = world.context
    let (person, _) = try world.faults()
    var names: [String?] = []
    let observation = context.performAndWait {
      person.observe(\.name, options: .new) { names.append($1.newValue ?? nil) }
    }
    try withExtendedLifetime(observation) {
      context.performAndWait { #expect(person.name == "Ada") }
      world.company.store.cache.removeAll()
      try world.hideNames()
      context.performAndWait { context.refresh(person, mergeChanges: false) }
      #expect(names == [])
      try world.showNames()
      context.performAndWait { context.refresh(person, mergeChanges: false) }
      #expect(names == [])
    }
  }

  /// A property that cannot be read keeps no observer of another one from being called.
  @Test func oneUnreadablePropertyHidesNoOther() throws {
    let world = try World()
    let context = world.context
    let (person, _) = try world.faults()
    var changed: [String] = []
    let observations = context.performAndWait {
      ["tags", "name", "age", "salary"].map { key in person.observe(key) { _, _ in changed.append(key) } }
    }
    try withExtendedLifetime(observations) {
      let table = try #require(
        try world.other.text("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'"))
      context.performAndWait { context.refreshAllObjects() }
      try world.other.execute("ALTER TABLE \(table) RENAME TO HIDDEN")
      context.performAndWait {
        person.willChangeValue(forKey: "name")
        person.setPrimitiveValue("Grace", forKey: "name")
        person.setPrimitiveValue(7, forKey: "age")
        person.setPrimitiveValue(8.0, forKey: "salary")
        person.didChangeValue(forKey: "name")
      }
      #expect(Set(changed) == ["name", "age", "salary"])
      try world.other.execute("ALTER TABLE HIDDEN RENAME TO \(table)")
    }
  }

  enum Reading: CaseIterable { case row, members }

  @Test(arguments: Reading.allCases) func noSaveBuildsOnWhatCouldNotBeRead(_ reading: Reading) throws {
    let world = try World()
    let context = world.context
    let (person, department) = try world.faults()
    try world.hideNames()
    context.performAndWait {
      switch reading {
      case .row: #expect(person.name == nil)
      case .members: #expect(department.people.isEmpty)
      }
      Tag(context: context).label = "t"
      for _ in 0..<2 {
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(context.hasChanges)
      }
    }
    // A later successful read does not repair changes that depend on the failed one.
    try world.showNames()
    try context.performAndWait {
      #expect(throws: CocoaError.self) { try context.save() }
      context.rollback()
      #expect(person.name == "Ada" && department.people == [person])
      Tag(context: context).label = "t"
      try context.save()
    }
  }

  /// If the caller can get the error, it is the caller's, and no save is prevented by it.
  @Test func whoAsksForAnObjectHasTheError() throws {
    let world = try World()
    let context = world.context
    let person = try world.faults().person
    try world.hideNames()
    try context.performAndWait {
      #expect(throws: CocoaError.self) { try context.existingObject(with: person.objectID) }
      Tag(context: context).label = "t"
      try context.save()
    }
    try world.showNames()
    try context.performAndWait {
      let found = try context.existingObject(with: person.objectID)
      #expect(found === person && person.name == "Ada")
    }
  }

  @Test func standardErrorHasTheReason() async throws {
    let ending = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let world = try World()
        let person = try world.faults().person
        try world.hideNames()
        world.context.performAndWait { #expect(person.name == nil) }
      })
    #expect(String(decoding: ending.standardErrorContent, as: UTF8.self).contains("a fault could not be read"))
  }

  /// Merging changes of others is no read by the client: only a client's read of the object reports the error.
  @Test func whatAMergeCouldNotReadIsNoErrorOfTheSave() throws {
    let world = try World()
    let context = world.context
    let person = try world.faults().person.objectID
    try context.performAndWait {
      context.reset()
      try world.hideNames()
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSInsertedObjectsKey: [person.uriRepresentation()]], into: [context])
      context.processPendingChanges()
      Tag(context: context).label = "t"
      try context.save()
      #expect(throws: CocoaError.self) { try context.existingObject(with: person) }
    }
    try world.showNames()
    try context.performAndWait {
      let again = try context.existingObject(with: person) as? Person
      #expect(again?.name == "Ada")
    }
  }

  /// If a missing row stops the program "when it is read", a call of `existingObject(with:)` does not.
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/shoulddeleteinaccessiblefaults
  @Test func aRequestForAGoneObjectThrows() throws {
    let world = try World()
    let context = world.context
    let person = try world.faults().person.objectID
    try context.performAndWait {
      context.reset()
      try world.other.execute("DELETE FROM ZPERSON")
      world.company.store.cache.removeAll()
      context.shouldDeleteInaccessibleFaults = false
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSInsertedObjectsKey: [person.uriRepresentation()]], into: [context])
      context.processPendingChanges()
      #expect(throws: CocoaError.self) { try context.existingObject(with: person) }
    }
  }
}
