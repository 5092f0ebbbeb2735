import CoreData
import Foundation
import Testing

/// Merges the saves of one context into another.
@Suite struct MergingTests {
  /// Calls `body` with a reader that knows Ada and the notification of a save that `change` made in another context.
  private func merge(
    _ change: (NSManagedObjectContext) throws -> Void, name: Notification.Name,
    _ body: (NSManagedObjectContext, Person, Notification) throws -> Void
  ) throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let ada = Person(context: context)
      (ada.name, ada.age) = ("Ada", 1)
      ada.department = Department(context: context)
      try context.save()
    }
    let reader = company.context()
    try reader.performAndWait {
      let ada = try #require(try reader.all(Person.self).first)
      _ = (ada.age, ada.department?.people.count)
      let writer = company.context()
      nonisolated(unsafe) var note: Notification?
      let observer = NotificationCenter.default.addObserver(forName: name, object: writer, queue: nil) { note = $0 }
      try writer.performAndWait {
        try change(writer)
        try writer.save()
      }
      NotificationCenter.default.removeObserver(observer)
      try body(reader, ada, try #require(note))
    }
  }

  @Test(arguments: [
    NSManagedObjectContext.didSaveObjectsNotification, NSManagedObjectContext.didSaveObjectIDsNotification,
  ])
  func updatesAreReadAgainUnderUnsavedChanges(name: Notification.Name) throws {
    try merge({ try $0.all(Person.self).first.map { ($0.age, $0.salary) = (2, 5) } }, name: name) {
      context, ada, note in
      ada.name = "Grace"
      #expect(ada.age == 1)
      context.mergeChanges(fromContextDidSave: note)
      #expect(ada.age == 2)
      #expect(ada.salary == 5)
      #expect(ada.name == "Grace")
      try context.save()
      #expect(try context.all(Person.self, "name == 'Grace' AND age == 2").count == 1)
    }
  }

  @Test func insertionsBecomeKnownAndReachToManyRelationships() throws {
    try merge(
      { context in
        let grace = Person(context: context)
        grace.name = "Grace"
        grace.department = try context.all(Department.self).first
      }, name: NSManagedObjectContext.didSaveObjectsNotification
    ) { context, ada, note in
      #expect(ada.department?.people.count == 1)
      context.mergeChanges(fromContextDidSave: note)
      #expect(ada.department?.people.count == 2)
      #expect(!context.hasChanges)
    }
  }

  @Test func deletionsCountAsDeletedAndNeedNoSave() throws {
    try merge(
      { context in for person in try context.all(Person.self) { context.delete(person) } },
      name: NSManagedObjectContext.didSaveObjectIDsNotification
    ) { context, ada, note in
      let department = ada.department
      ada.name = "changed here"
      context.mergeChanges(fromContextDidSave: note)
      #expect(ada.isDeleted)
      #expect(department?.people.isEmpty == true)
      #expect(try context.all(Person.self).isEmpty)
      try context.save()
    }
  }

  /// Clients: objects that were inserted elsewhere are reported, and not kept alive. Objects that were updated are
  /// reported as updated and refreshed.
  @Test func mergingIsAnnounced() throws {
    try merge(
      { context in
        try context.all(Person.self).first?.age = 9
        Tag(context: context).label = "new"
      }, name: NSManagedObjectContext.didSaveObjectsNotification
    ) { context, ada, note in
      nonisolated(unsafe) var sets: [AnyHashable: Any] = [:]
      let names = [
        NSManagedObjectContext.didChangeObjectsNotification,
        NSManagedObjectContext.didMergeChangesObjectIDsNotification,
      ]
      let observers = names.map {
        NotificationCenter.default.addObserver(forName: $0, object: context, queue: nil) {
          sets.merge($0.userInfo ?? [:]) { $1 }
        }
      }
      let registered = context.registeredObjects
      context.mergeChanges(fromContextDidSave: note)
      for observer in observers { NotificationCenter.default.removeObserver(observer) }
      #expect(sets[NSRefreshedObjectsKey] as? Set<NSManagedObject> == [ada])
      #expect((sets[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.first is Tag)
      for key in [NSUpdatedObjectIDsKey, NSRefreshedObjectIDsKey] { #expect(sets[key] as? Set == [ada.objectID]) }
      #expect((sets[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)?.count == 1)
      sets = [:]
      #expect(context.registeredObjects == registered)
    }
  }

  @Test func remoteChangesCarryIDsOrURIs() throws {
    let company = try CompanyStore()
    let id = try company.run { (context) throws in
      let ada = Person(context: context)
      ada.age = 1
      try context.save()
      return ada.objectID
    }
    let readers = [company.context(), company.context()]
    var held: [Person] = []
    for reader in readers {
      let found = try reader.performAndWait { try reader.all(Person.self) }
      reader.performAndWait { #expect(found.first?.age == 1) }
      held += found
    }
    // Another coordinator represents another process: only the file is shared.
    try company.reopened().run { (context) throws in
      try context.all(Person.self).first?.age = 2
      try context.save()
    }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: [id.uriRepresentation()]], into: readers)
    for (reader, ada) in zip(readers, held) { reader.performAndWait { #expect(ada.age == 2) } }
  }

  @Test(.ofRootContexts) func contextsFollowTheirCoordinatorOnRequest() async throws {
    let company = try CompanyStore()
    let (follower, other) = (company.context(), company.context())
    follower.automaticallyMergesChangesFromParent = true
    let id = try company.run { (context) throws in
      let ada = Person(context: context)
      ada.age = 1
      try context.save()
      return ada.objectID
    }
    func age(_ context: NSManagedObjectContext) async throws -> Int16? {
      try await context.perform(schedule: .enqueued) { (try context.existingObject(with: id) as? Person)?.age }
    }
    // Held, so that registered objects are not read again.
    let held = try [follower, other].map { context in
      try context.performAndWait { try context.existingObject(with: id) }
    }
    #expect(try await age(follower) == 1)
    try company.run { (context) throws in
      (try context.existingObject(with: id) as? Person)?.age = 7
      try context.save()
    }
    #expect(try await age(follower) == 7)
    #expect(try await age(other) == 1)
    follower.automaticallyMergesChangesFromParent = false
    try company.run { (context) throws in
      (try context.existingObject(with: id) as? Person)?.age = 8
      try context.save()
    }
    #expect(try await age(follower) == 7)
    withExtendedLifetime(held) {}
  }

  @Test func aFetchedResultsControllerSeesMergedSaves() throws {
    try merge(
      { context in
        try context.all(Person.self).first?.age = 9
        Person(context: context).name = "New"
      }, name: NSManagedObjectContext.didSaveObjectsNotification
    ) { context, ada, note in
      final class Counter: NSObject, NSFetchedResultsControllerDelegate {
        var types: [NSFetchedResultsChangeType] = []
        func controller(
          _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
          at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) { types.append(type) }
      }
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let counter = Counter()
      controller.delegate = counter
      try controller.performFetch()
      // The fetch itself shows the saved values; only the object that was known before is old.
      #expect(controller.fetchedObjects?.count == 2)
      context.mergeChanges(fromContextDidSave: note)
      #expect(counter.types == [.update, .update])
      #expect(ada.age == 9)
    }
  }
}
