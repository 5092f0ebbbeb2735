import CoreData
import Foundation
import TestSupport
import Testing

/// Small rules, each with the page that states it, or the client that relies on it. A rule without either comes from
/// step 6's list of behaviours that clients' own tests require.
@Suite struct AppleMeaningTests {
  private func notes() throws -> NSManagedObjectContext {
    try Describing.context(
      Describing.model([
        Describing.entity("Note", [Describing.attribute("text"), Describing.attribute("length", .integer32)])
      ]))
  }

  /// "the array contains a third object (at index 2) that is an array containing the new objectIDs for all the migrated
  /// objects": https://developer.apple.com/documentation/coredata/nsuuidchangedpersistentstoreskey
  /// Clients: the former ID of each object stands before the new one. Here both are equal, because an ID belongs to the
  /// successor of its store.
  @Test func aMigrationNamesTheObjectsThatItMoves() throws {
    let context = try notes()
    let coordinator = try #require(context.persistentStoreCoordinator)
    nonisolated(unsafe) var reported: [Any]?
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
    ) { reported = $0.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any] }
    defer { NotificationCenter.default.removeObserver(observer) }
    let moved = try context.performAndWait {
      let moved = [insert("a", context), insert("b", context)]
      try context.save()
      return moved
    }
    let old = try #require(coordinator.persistentStores.first)
    let new = try coordinator.migratePersistentStore(
      old, to: URL(fileURLWithPath: "/dev/null"), options: nil, withType: NSInMemoryStoreType)
    #expect(
      reported?.count == 3 && reported?[0] as? NSPersistentStore === old && reported?[1] as? NSPersistentStore === new)
    let ids = try #require(reported?.last as? [NSManagedObjectID])
    #expect(ids.count == 4 && ids.allSatisfy { $0.persistentStore === new })
    #expect(ids[0] == ids[1] && ids[2] == ids[3])
    context.performAndWait { #expect(Set(ids) == Set(moved.map(\.objectID))) }
  }

  private func insert(_ text: String, _ context: NSManagedObjectContext) -> NSManagedObject {
    let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
    note.setValue(text, forKey: "text")
    note.setValue(text.count, forKey: "length")
    return note
  }

  /// Feature 12.13; CoreDataPlus/InMemoryTestCase: "it's the same URL we get by default when we create a description".
  /// Each such store is separate from all others.
  @Test func aDescriptionWithoutAURLIsOfAStoreThatLeavesNothing() throws {
    #expect(NSPersistentStoreDescription().url == URL(fileURLWithPath: "/dev/null"))
    let container = NSPersistentContainer(name: "Notes", managedObjectModel: Describing.model([]))
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(), NSPersistentStoreDescription()]
    var errors: [any Error] = []
    container.loadPersistentStores { if let error = $1 { errors.append(error) } }
    #expect(errors.isEmpty && container.persistentStoreCoordinator.persistentStores.count == 2)
  }

  /// "the last fetched or saved values": a new object has none yet.
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/committedvalues(forkeys:)
  @Test func anObjectThatWasNeverSavedHasNoCommittedValues() throws {
    let context = try notes()
    try context.performAndWait {
      let note = insert("a", context)
      #expect(note.committedValues(forKeys: nil).isEmpty && note.committedValues(forKeys: ["text"]).isEmpty)
      try context.save()
      #expect(note.committedValues(forKeys: ["text"])["text"] as? String == "a")
    }
  }

  /// An array of the IDs of all objects: https://developer.apple.com/documentation/coredata/nsinvalidatedallobjectskey
  @Test func aResetNamesTheObjectsThatItInvalidates() throws {
    let context = try notes()
    try context.performAndWait {
      let notes = [insert("a", context), insert("b", context)]
      try context.save()
      let ids = Set(notes.map(\.objectID))
      nonisolated(unsafe) var reported: [NSManagedObjectID]?
      let observer = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
      ) { reported = $0.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID] }
      context.reset()
      NotificationCenter.default.removeObserver(observer)
      #expect(reported.map(Set.init) == ids && reported?.count == 2)
    }
  }

  /// "The fetch request used to do the fetching.", and "nil if performFetch hasn't been called":
  /// https://developer.apple.com/documentation/coredata/nsfetchedresultscontroller/fetchrequest and …/fetchedobjects
  @Test func aControllerHasTheRequestItWasMadeWith() throws {
    let context = try notes()
    context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      #expect(controller.fetchRequest == request && controller.fetchRequest === request)
      #expect(controller.fetchedObjects == nil)
    }
  }

  /// CoreDataPlus/NotificationMerge_Tests makes a controller whose request has an empty list of sort descriptors. Nil
  /// is rejected.
  @Test func aControllerTakesARequestWithoutAnOrder() async throws {
    final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
      var positions: [IndexPath?] = []
      func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
      ) { positions.append(newIndexPath) }
    }
    let context = try notes()
    try context.performAndWait {
      for text in ["c", "a", "b"] { _ = insert(text, context) }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      request.sortDescriptors = []
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let delegate = Delegate()
      controller.delegate = delegate
      try controller.performFetch()
      let texts = { controller.fetchedObjects?.compactMap { $0.value(forKey: "text") as? String } }
      #expect(texts() == ["c", "a", "b"])
      _ = insert("0", context)
      context.processPendingChanges()
      #expect(texts() == ["c", "a", "b", "0"] && delegate.positions == [[0, 3]])
    }
    await #expect(processExitsWith: .failure) {
      let context = try Describing.context(Describing.model([Describing.entity("Note", [])]))
      _ = NSFetchedResultsController(
        fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Note"), managedObjectContext: context,
        sectionNameKeyPath: nil, cacheName: nil)
    }
  }

  /// The page excludes no kind of result from sorting; the single row has no order:
  /// https://developer.apple.com/documentation/coredata/nsfetchrequest/sortdescriptors
  @Test func anAggregateOfAllObjectsMayHaveASort() throws {
    let context = try notes()
    try context.performAndWait {
      for text in ["a", "bb"] { _ = insert(text, context) }
      try context.save()
      let sum = NSExpressionDescription()
      sum.name = "sum"
      sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "length")])
      sum.expressionResultType = .integer64AttributeType
      let request = NSFetchRequest<NSDictionary>(entityName: "Note")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = [sum]
      request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
      #expect(try context.fetch(request).map { $0["sum"] as? Int } == [3])
    }
  }

  final class Homeless: NSManagedObject {}

  /// CoreDataPlus/NSEntityDescriptionUtils_Tests: "Car.entity().name can be nil while running tests". A request of such
  /// a class reports what is missing.
  @Test func aClassWithoutAnEntityHasAnEmptyDescription() throws {
    #expect(Homeless.entity().name == nil && Homeless.entity().properties.isEmpty)
    let context = try notes()
    context.performAndWait {
      let error = #expect(throws: CocoaError.self) { try context.fetch(Homeless.fetchRequest()) }
      #expect(error?.localizedDescription.contains("managedObjectClassName") == true)
    }
  }

  /// CoreDataKit/CoreDataStack+Importing uses `entity.userInfo!` of every entity.
  @Test func userInfoStartsEmpty() throws {
    #expect(NSEntityDescription().userInfo?.isEmpty == true && NSAttributeDescription().userInfo?.isEmpty == true)
    #expect(NSRelationshipDescription().userInfo?.isEmpty == true)
    let model = Describing.model([Describing.entity("A", [Describing.attribute("x")])])
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(copy.entitiesByName["A"]?.userInfo?.isEmpty == true)
    #expect(copy.entitiesByName["A"]?.attributesByName["x"]?.userInfo?.isEmpty == true)
    let bare = try #require(model.copy() as? NSManagedObjectModel)
    bare.entitiesByName["A"]?.userInfo = nil
    #expect(bare.entityVersionHashesByName == model.entityVersionHashesByName)
  }

  /// The variable of a subquery is bound, "and will shadow any instances of variable in the bindings dictionary":
  ///
  /// https://developer.apple.com/documentation/foundation/nsexpression/init(forsubquery:usingiteratorvariable:predicate:)
  /// A key path given as text may begin with the variable: from the list of step 6.
  @Test func aKeyPathMayBeginWithTheVariableOfASubquery() throws {
    let path = NSExpression(forKeyPath: "$x.name")
    #expect(path.expressionType == .keyPath && path.keyPath == "$x.name")
    #expect(NSExpression(forKeyPath: "$x").keyPath == "$x")
    func subquery(_ left: NSExpression) -> NSExpression {
      NSExpression(
        forSubquery: NSExpression(forKeyPath: "people"), usingIteratorVariable: "x",
        predicate: NSComparisonPredicate(
          leftExpression: left, rightExpression: NSExpression(forConstantValue: "a"), modifier: .direct,
          type: .equalTo, options: []))
    }
    #expect("\(subquery(path))" == "\(subquery(NSExpression(format: "$x.name")))")
    let found = NSExpression(forFunction: "count:", arguments: [subquery(path)])
    let group = ["people": [["name": "a"], ["name": "b"], ["name": "a"]]] as NSDictionary
    #expect(found.expressionValue(with: group, context: nil) as? Int == 2)
    let person = Describing.entity("Person", [Describing.attribute("name")])
    let team = Describing.entity("Group")
    Describing.relate(team, "people", toMany: true, person, "group", toManyBack: false)
    let context = try Describing.context(Describing.model([team, person]))
    try context.performAndWait {
      for names in [["a", "b"], ["b"]] {
        let team = NSEntityDescription.insertNewObject(forEntityName: "Group", into: context)
        for name in names {
          let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
          person.setValue(name, forKey: "name")
          person.setValue(team, forKey: "group")
        }
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Group")
      request.predicate = NSComparisonPredicate(
        leftExpression: found, rightExpression: NSExpression(forConstantValue: 0), modifier: .direct,
        type: .greaterThan, options: [])
      #expect(try context.count(for: request) == 1)
    }
  }

  /// Feature 16.3. A call of `delete(_:)` from the method itself does not call the method again.
  @Test func everyDeletionIsAnnounced() throws {
    let entity = Describing.entity("Counting")
    entity.managedObjectClassName = "CoreDataTests.CountingObject"
    let context = try Describing.context(Describing.model([entity]))
    try context.performAndWait {
      let object = try #require(
        NSEntityDescription.insertNewObject(forEntityName: "Counting", into: context) as? CountingObject)
      try context.save()
      context.delete(object)
      #expect(object.reported == 1)
      context.delete(object)
      #expect(object.reported == 2)
      context.processPendingChanges()
      context.delete(object)
      #expect(object.reported == 3)
    }
  }

  /// The method is called again for an object that is deleted already, also while another object is being deleted.
  @Test func aDeletionWithinAnotherIsAnnounced() throws {
    let entity = Describing.entity("Counting")
    entity.managedObjectClassName = "CoreDataTests.CountingObject"
    let context = try Describing.context(Describing.model([entity]))
    try context.performAndWait {
      let objects = try (0..<2).map { _ in
        try #require(
          NSEntityDescription.insertNewObject(forEntityName: "Counting", into: context) as? CountingObject)
      }
      try context.save()
      context.delete(objects[0])
      objects[1].other = objects[0]
      context.delete(objects[1])
      #expect(objects.map(\.reported) == [2, 1])
    }
  }

  /// The effects that the options should have:
  /// https://developer.apple.com/documentation/coredata/nsmigratepersistentstoresautomaticallyoption The message that
  /// they have none is a rule of this library.
  @Test func optionsWithoutAnEffectAreNamedOnce() async throws {
    let ending = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "later-options-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func open(_ attribute: String, posts: Bool) throws {
          let model = Describing.model([Describing.entity("A", [Describing.attribute(attribute)])])
          let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
          let description = NSPersistentStoreDescription(url: folder.appending(path: "store"))
          description.setOption(
            NSNumber(value: posts), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
          var failure: (any Error)?
          coordinator.addPersistentStore(with: description) { failure = $1 }
          for store in coordinator.persistentStores { try coordinator.remove(store) }
          if let failure { throw failure }
        }
        try open("x", posts: false)
        for _ in 0..<2 { try open("x", posts: true) }
        for _ in 0..<2 { #expect(throws: CocoaError.self) { try open("y", posts: true) } }
        // Warnings of copies.
        let coordinator = NSPersistentStoreCoordinator(
          managedObjectModel: Describing.model([Describing.entity("A", [Describing.attribute("x")])]))
        let source = folder.appending(path: "store")
        let store = try coordinator.addPersistentStore(type: .sqlite, at: source)
        try coordinator.migratePersistentStore(
          store, to: folder.appending(path: "moved"),
          options: [NSPersistentStoreStagedMigrationManagerOptionKey: "a manager"], withType: NSSQLiteStoreType)
        try coordinator.replacePersistentStore(
          at: folder.appending(path: "copy"), withPersistentStoreFrom: source,
          sourceOptions: [NSPersistentStoreDeferredLightweightMigrationOptionKey: true], ofType: NSSQLiteStoreType)
      })
    let lines = String(decoding: ending.standardErrorContent, as: UTF8.self).split(separator: "\n")
    let consequences = [
      NSPersistentStoreRemoteChangeNotificationPostOptionKey: "no notification reports the saves of other processes",
      NSMigratePersistentStoresAutomaticallyOption: "the store of another model was not migrated and stays as it was",
      NSInferMappingModelAutomaticallyOption: "the store of another model was not migrated and stays as it was",
      NSPersistentStoreStagedMigrationManagerOptionKey: "the store is not migrated in stages",
      NSPersistentStoreDeferredLightweightMigrationOptionKey: "no part of a migration is deferred",
    ]
    for (option, consequence) in consequences {
      let found = lines.filter { $0.contains(option) }
      #expect(found.count == 1 && found.first?.hasSuffix("\(option) has no effect: \(consequence).") == true)
    }
    #expect(lines.filter { $0.contains("has no effect") }.count == 5)
  }
}

final class CountingObject: NSManagedObject {
  var reported = 0
  var other: CountingObject?
  override func prepareForDeletion() {
    reported += 1
    managedObjectContext?.delete(self)
    if let other { managedObjectContext?.delete(other) }
  }
}
