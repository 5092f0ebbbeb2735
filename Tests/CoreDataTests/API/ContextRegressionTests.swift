import Foundation
import Testing

@testable import CoreData

/// Former defects of contexts and their requests, one test each.
@Suite struct ContextRegressionTests {
  @Test func theLargestFetchLimitIsNoLimit() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      _ = Person(context: context)
      try context.save()
      _ = Person(context: context)
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.fetchLimit = .max
      #expect(try context.fetch(request).count == 2)
      request.fetchOffset = 1
      #expect(try context.fetch(request).count == 1)
      request.fetchOffset = .max
      #expect(try context.fetch(request).isEmpty)
    }
  }

  // MARK: Retained objects

  @Test func retainedRegisteredObjectsStay() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      for _ in 0..<3 { _ = Person(context: context) }
      try context.save()
    }
    try company.run { (context) throws in
      context.retainsRegisteredObjects = true
      #expect(try context.all(Person.self).count == 3)
      #expect(context.registeredObjects.count == 3)
      context.retainsRegisteredObjects = false
      #expect(context.registeredObjects.isEmpty)
    }
  }

  @Test func objectsRegisteredBeforeAreRetainedToo() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      var people = (0..<3).map { _ in Person(context: context) }
      context.retainsRegisteredObjects = true
      try context.save()
      context.delete(people[0])
      people = []
      try context.save()
      #expect(context.registeredObjects.count == 2)
      context.reset()
      #expect(context.registeredObjects.isEmpty)
      #expect(context.retainsRegisteredObjects)
      #expect(try context.all(Person.self).count == 2)
      #expect(context.registeredObjects.count == 2)
    }
  }

  @Test func aContextThatRetainsItsObjectsIsFreedWithThem() throws {
    let company = try CompanyStore()
    weak var context: NSManagedObjectContext?
    weak var person: Person?
    do {
      let made = company.context()
      context = made
      try made.performAndWait {
        made.retainsRegisteredObjects = true
        let new = Person(context: made)
        person = new
        try made.save()
        #expect(person != nil)
      }
    }
    #expect(context == nil)
    #expect(person == nil)
  }

  // MARK: Inaccessible faults

  private final class Asking: NSManagedObjectContext, @unchecked Sendable {
    var requested: [NSManagedObjectID] = []
    override func shouldHandleInaccessibleFault(
      _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
      requested.append(oid)
      return true
    }
  }

  @Test func anOverrideOfShouldHandleInaccessibleFaultIsCalled() throws {
    let company = try CompanyStore()
    let id = try company.run { (context) throws in
      let person = Person(context: context)
      try context.save()
      context.delete(person)
      try context.save()
      return person.objectID
    }
    let context = Asking(.privateQueue)
    context.persistentStoreCoordinator = company.coordinator
    context.shouldDeleteInaccessibleFaults = false
    context.performAndWait {
      #expect(context.object(with: id).value(forKey: "name") == nil)
      #expect(context.requested == [id])
    }
  }

  // MARK: Asynchronous fetches

  @Test func anAsynchronousFetchIsCancelledFromAnyThread() async throws {
    let company = try CompanyStore()
    let context = company.context()
    let request = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<Person>(entityName: "Person"))
    let result = try context.performAndWait {
      let result = try context.execute(request) as? NSAsynchronousFetchResult<Person>
      nonisolated(unsafe) let cancelled = result
      DispatchQueue.concurrentPerform(iterations: 4) { _ in cancelled?.cancel() }
      return result
    }
    await context.perform {}
    #expect((result?.operationError as? CocoaError)?.code == .userCancelled)
    #expect(result?.finalResult == nil)
  }

  /// "This notification posts only when there are changes to the context's registered managed objects":
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/didchangeobjectsnotification
  @Test func anEventWithoutChangesPostsNothing() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let posts = Count()
      let observer = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
      ) { _ in posts.value += 1 }
      defer { NotificationCenter.default.removeObserver(observer) }
      context.processPendingChanges()
      let persons = try context.fetch(NSFetchRequest<Person>(entityName: "Person"))
      context.processPendingChanges()
      #expect(posts.value == 0 && persons.allSatisfy { !$0.hasChanges })
      _ = Person(context: context)
      context.processPendingChanges()
      #expect(posts.value == 1)
    }
  }

  /// Objects are held weakly unless the context is set otherwise, and a reset does not change that:
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/retainsregisteredobjects
  @Test func aResetDoesNotMakeAContextRetainItsObjects() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      _ = Person(context: context)
      try context.save()
      context.reset()
      #expect(try context.all(Person.self).count == 1)
      #expect(context.registeredObjects.isEmpty)
    }
  }

  /// Clients. "This notification posts … each time its context completes a successful save operation":
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/didsaveobjectsnotification
  @Test func aSaveWithoutChangesTellsItsObservers() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      nonisolated(unsafe) var reported: [String] = []
      nonisolated(unsafe) var makesPerson = false
      let names = [
        NSManagedObjectContext.willSaveObjectsNotification, NSManagedObjectContext.didSaveObjectsNotification,
        NSManagedObjectContext.didSaveObjectIDsNotification, NSManagedObjectContext.didChangeObjectsNotification,
      ]
      let observers = names.map { name in
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
          reported.append("\(names.firstIndex(of: name) ?? -1) \(note.userInfo?.count ?? 0)")
          if makesPerson && name == names[0] { _ = Person(context: context) }
        }
      }
      defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
      try context.save()
      #expect(reported == ["0 0", "1 0", "2 0"])
      (reported, makesPerson) = ([], true)
      try context.save()
      #expect(reported == ["0 0", "3 1", "1 1", "2 1"] && !context.hasChanges)
      makesPerson = false
      #expect(try context.all(Person.self).count == 1)
    }
  }

  private final class Count: @unchecked Sendable { var value = 0 }
}
