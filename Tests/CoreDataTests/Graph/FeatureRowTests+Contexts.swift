import CoreData
import Foundation
import TestSupport
import Testing

extension FeatureRowTests {
  /// 15.10: an unchanged object that only a to-one relationship leads to is not kept beyond the block.
  @Test func aDestinationIsHeldByItsUsersOnly() throws {
    let company = try CompanyStore()
    let context = company.context()
    let id = try context.performAndWait {
      let person = Person(context: context)
      person.department = Department(context: context)
      try context.save()
      return person.objectID
    }
    try context.performAndWait {
      context.reset()
      let person = try #require(try context.existingObject(with: id) as? Person)
      #expect(person.department?.isFault == true)
    }
    context.performAndWait { #expect(context.registeredObjects.isEmpty) }
    // Outside of blocks, at the end of an event.
    let main = NSManagedObjectContext(.mainQueue)
    main.persistentStoreCoordinator = company.coordinator
    try onMainQueue {
      do {
        let person = try #require(try main.existingObject(with: id) as? Person)
        #expect(person.department?.isFault == true)
      }
      main.processPendingChanges()
      #expect(main.registeredObjects.isEmpty)
    }
  }

  private func onMainQueue(_ body: () throws -> Void) throws {
    try NSManagedObjectContext(.mainQueue).performAndWait(body)
  }

  /// 16.3, 17.6: an object that was inserted and deleted again is no part of a save.
  @Test func anAnnihilatedObjectIsNotSaved() throws {
    try CompanyStore().run { context in
      let (kept, gone) = (Person(context: context), Person(context: context))
      context.delete(gone)
      context.processPendingChanges()
      #expect(context.deletedObjects.isEmpty && context.insertedObjects == [kept])
      try context.save()
      #expect(kept.saves == 1 && gone.saves == 0 && gone.managedObjectContext == nil)
    }
  }

  /// 16.13: such an object can be inserted again.
  @Test func anAnnihilatedObjectMayComeBack() throws {
    let company = try CompanyStore()
    try company.run { context in
      let person = Person(context: context)
      person.name = "Ada"
      context.delete(person)
      context.insert(person)
      #expect(context.insertedObjects == [person] && !person.isDeleted)
      try context.save()
    }
    let names = try company.run { try $0.all(Person.self).map(\.name) }
    #expect(names == ["Ada"])
  }

  /// 17.3: errors name the store that has failed, and the objects of conflicts.
  @Test(.ofRootContexts) func errorsNameStoresAndObjects() throws {
    let company = try CompanyStore()
    let (a, b) = (company.context(), company.context())
    let mine = try a.performAndWait {
      let person = Person(context: a)
      try a.save()
      return person
    }
    try b.performAndWait {
      let theirs = try #require(try b.existingObject(with: mine.objectID) as? Person)
      theirs.name = "theirs"
      try a.performAndWait {
        mine.name = "mine"
        try a.save()
      }
      let error = #expect(throws: CocoaError.self) { try b.save() }
      #expect(error?.affectedObjects as? [NSManagedObject] == [theirs])
    }
    let readOnly = NSPersistentStoreCoordinator(managedObjectModel: company.coordinator.managedObjectModel)
    let store = try readOnly.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: company.url,
      options: [NSReadOnlyPersistentStoreOption: true])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = readOnly
    context.performAndWait {
      _ = Person(context: context)
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.affectedStores as? [NSPersistentStore] == [store])
    }
  }

  /// 18.1: on Linux as on Apple's platforms, a context has no undo manager of its own.
  @Test func aContextHasNoUndoManager() {
    for type in [NSManagedObjectContext.ConcurrencyType.privateQueue, .mainQueue] {
      #expect(NSManagedObjectContext(type).undoManager == nil)
    }
  }

  /// 20.3: on request, a fault whose row is gone stops the program.
  @Test func anInaccessibleFaultMayStopTheProgram() async throws {
    let ending = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let company = try CompanyStore()
        let (context, other) = (company.context(), company.context())
        try context.performAndWait {
          context.shouldDeleteInaccessibleFaults = false
          let person = Person(context: context)
          try context.save()
          context.refresh(person, mergeChanges: false)
          try other.performAndWait {
            other.delete(try other.existingObject(with: person.objectID))
            try other.save()
          }
          _ = person.name
        }
      })
    #expect(String(decoding: ending.standardErrorContent, as: UTF8.self).contains("could not fulfill a fault"))
  }

  /// 21.6: each global variable is the policy of its name.
  @Test func theGlobalPoliciesHaveTheirTypes() throws {
    let policies: [(Any, NSMergePolicyType)] = [
      (NSErrorMergePolicy, .errorMergePolicyType),
      (NSMergeByPropertyStoreTrumpMergePolicy, .mergeByPropertyStoreTrumpMergePolicyType),
      (NSMergeByPropertyObjectTrumpMergePolicy, .mergeByPropertyObjectTrumpMergePolicyType),
      (NSOverwriteMergePolicy, .overwriteMergePolicyType), (NSRollbackMergePolicy, .rollbackMergePolicyType),
    ]
    for (policy, type) in policies { #expect((policy as? NSMergePolicy)?.mergeType == type) }
  }

  /// 22.5: the texts of the keys, which Apple's platforms have.
  @Test func theKeysOfNotificationsHaveTheirTexts() {
    let keys: [NSManagedObjectContext.NotificationKey] = [
      .sourceContext, .invalidatedAllObjects, .insertedObjects, .updatedObjects, .deletedObjects,
      .refreshedObjects, .invalidatedObjects, .insertedObjectIDs, .updatedObjectIDs, .deletedObjectIDs,
      .refreshedObjectIDs, .invalidatedObjectIDs,
    ]
    let texts = [
      "managedObjectContext", "invalidatedAll", "inserted", "updated", "deleted", "refreshed",
      "invalidated", "inserted_objectIDs", "updated_objectIDs", "deleted_objectIDs", "refreshed_objectIDs",
      "invalidated_objectIDs",
    ]
    #expect(keys.map(\.rawValue) == texts)
  }

  /// 23.5: `changedValues()` leaves a fault with primitive values a fault.
  @Test func changedValuesFireNoFault() throws {
    try CompanyStore().run { context in
      let person = Person(context: context)
      person.name = "Ada"
      try context.save()
      context.refresh(person, mergeChanges: false)
      person.setPrimitiveValue("Eve", forKey: "name")
      #expect(person.changedValues()["name"] as? String == "Eve" && person.isFault)
    }
  }

  /// 33.3: an index path outside of the results stops the program.
  @Test func anIndexPathWithoutAnObjectStopsTheProgram() async throws {
    let ending = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let company = try CompanyStore()
        let context = company.context()
        try context.performAndWait {
          _ = Person(context: context)
          let request = NSFetchRequest<Person>(entityName: "Person")
          request.sortDescriptors = []
          let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
          try controller.performFetch()
          _ = controller.object(at: IndexPath(item: 0, section: 0))
          _ = controller.object(at: IndexPath(item: 1, section: 0))
        }
      })
    #expect(String(decoding: ending.standardErrorContent, as: UTF8.self).contains("No object at index path"))
  }
}
