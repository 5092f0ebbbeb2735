import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Reads that come together with a fetch.
@Suite struct PrefetchTests {
  /// 600 people of one ranking: their department occurs 600 times among the owners of the second step.
  @Test func prefetchingOverAToOneReadsEachOwnerOnce() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      for index in 0..<600 {
        let person = Person(context: context)
        person.age = index < 590 ? 1 : 2
        person.setValue(department, forKey: "rankedIn")
      }
      try context.save()
    }
    try company.run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.predicate = NSPredicate(format: "age == 1")
      request.relationshipKeyPathsForPrefetching = ["rankedIn.ranking"]
      let people = try context.fetch(request)
      let department = try #require(people.first?.value(forKey: "rankedIn") as? Department)
      #expect(department.ranking.count == 600)
      #expect(Set(department.ranking.map(ObjectIdentifier.init)).count == 600)
      let others = department.ranking.filter { $0.age == 2 }
      #expect(Set(others.map(ObjectIdentifier.init)).count == Set(others.map(\.objectID)).count)
    }
  }

  @Test func aKeyPathForPrefetchingThatNoEntityHasIsAnError() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      _ = Person(context: context)
      try context.save()
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.relationshipKeyPathsForPrefetching = ["departmnt"]
      #expect(throws: (any Error).self) { try context.fetch(request) }
    }
  }

  @Test func prefetchingLeavesTheFetchedObjectsFaults() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Person(context: context).department = Department(context: context)
      try context.save()
    }
    try company.run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.relationshipKeyPathsForPrefetching = ["department"]
      #expect(try context.fetch(request).first?.isFault == true)
    }
  }

  @Test(arguments: [false, true])
  func aRelationshipReadAfterADeletionLacksTheDeletedObject(isPrefetched: Bool) throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      for name in ["Ada", "Bob"] {
        let person = Person(context: context)
        (person.name, person.department) = (name, department)
      }
      try context.save()
    }
    try company.run { (context) throws in
      context.delete(try #require(try context.all(Person.self, "name == 'Bob'").first))
      context.processPendingChanges()
      let request = NSFetchRequest<Department>(entityName: "Department")
      if isPrefetched { request.relationshipKeyPathsForPrefetching = ["people"] }
      let department = try #require(try context.fetch(request).first)
      #expect(department.people.map(\.name) == ["Ada"])
      try context.save()
      #expect(department.people.map(\.name) == ["Ada"])
    }
  }

  /// Objects whose keys alone a fetch has read are read together before any of them awakes: a save while they awake
  /// changes none of them.
  @Test func rowsAreReadBeforeTheirObjectsAwake() throws {
    let note = Describing.entity("Note", [Describing.attribute("text")])
    note.managedObjectClassName = "CoreDataTests.AwakingNote"
    let model = Describing.model([note])
    let url = FileManager.default.temporaryDirectory.appending(path: "awaking-\(UUID())/store")
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    // The first coordinator's cache has the rows, the second one's has none.
    let contexts = try (0..<3).map { _ in
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try context.persistentStoreCoordinator?.addPersistentStore(type: .sqlite, at: url)
      return context
    }
    let (writer, reader, other) = (contexts[0], contexts[1], contexts[2])
    other.persistentStoreCoordinator = reader.persistentStoreCoordinator
    try writer.performAndWait {
      for _ in 0..<3 { AwakingNote(context: writer).setValue("old", forKey: "text") }
      try writer.save()
    }
    let request = NSFetchRequest<AwakingNote>(entityName: "Note")
    request.includesPropertyValues = false
    request.returnsObjectsAsFaults = false
    try reader.performAndWait {
      var isFirst = true
      AwakingNote.whenRead = { note in
        guard note.managedObjectContext === reader, isFirst else { return }
        isFirst = false
        do {
          try other.performAndWait {
            for note in try other.fetch(request) { note.setValue("new", forKey: "text") }
            try other.save()
          }
        } catch { Issue.record(error) }
      }
      defer { AwakingNote.whenRead = nil }
      let notes = try reader.fetch(request)
      #expect(!isFirst && notes.allSatisfy { !$0.isFault })
      #expect(notes.map { $0.value(forKey: "text") as? String } == ["old", "old", "old"])
    }
  }
}

/// An object that runs code of the client when it has been read.
final class AwakingNote: NSManagedObject {
  /// By thread, because tests run in parallel.
  static var whenRead: ((AwakingNote) -> Void)? {
    get { Thread.current.threadDictionary["whenRead"] as? (AwakingNote) -> Void }
    set { Thread.current.threadDictionary["whenRead"] = newValue }
  }

  override func awakeFromFetch() { Self.whenRead?(self) }
}
