import ClientStores
import CoreData
import Foundation
import Testing

/// Stores that clients implement.
@Suite(.serialized) struct CustomStoreTests {
  private func location(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "custom-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: ListStore.type)
    NSPersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, forStoreType: DictionaryStore.type)
    try body(folder.appending(path: "store"))
  }

  private func stack(_ type: String, _ url: URL) throws -> (NSManagedObjectContext, NSPersistentStore) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return (context, store)
  }

  @discardableResult
  private func fill(_ context: NSManagedObjectContext) throws -> [Person] {
    let entity = try #require(NSEntityDescription.entity(forEntityName: "Research", in: context))
    let research = Department(entity: entity, insertInto: context)
    research.title = "Physics"
    let people = ["Ada", "Emmy", "Lise"].enumerated().map { index, name in
      let person = Person(context: context)
      (person.name, person.age, person.department) = (name, Int16(30 + index), research)
      return person
    }
    let tag = Tag(context: context)
    (tag.label, tag.people) = ("t", Set(people.prefix(2)))
    research.ranking = [people[1], people[0]]
    try context.save()
    return people
  }

  @Test(arguments: [ListStore.type, DictionaryStore.type]) func objectsAreSavedAndReadAgain(_ type: String) throws {
    try location { url in
      let (context, store) = try stack(type, url)
      #expect(store.type == type && !store.identifier.isEmpty)
      let reader = NSManagedObjectContext(.privateQueue)
      let uri = try context.performAndWait {
        let people = try fill(context)
        people[0].age = 36
        context.delete(people[2])
        let new = Person(context: context)
        new.name = "Marie"
        try context.save()
        return new.objectID.uriRepresentation()
      }
      if type == ListStore.type {
        let (fresh, _) = try stack(type, url)
        reader.persistentStoreCoordinator = fresh.persistentStoreCoordinator
      } else {
        reader.persistentStoreCoordinator = context.persistentStoreCoordinator
      }
      try reader.performAndWait {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let people = try reader.fetch(request)
        #expect(people.map(\.name) == ["Ada", "Emmy", "Marie"])
        #expect(people.map(\.age) == [36, 31, 0])
        #expect(people.map { $0.department?.title } == ["Physics", "Physics", nil])
        #expect(people[0].department?.entity.name == "Research")
        #expect(people[0].department?.ranking.map(\.name) == ["Emmy", "Ada"])
        #expect(people[0].department?.people == [people[0], people[1]])
        #expect(people[0].tags.first?.people.count == 2)
        request.predicate = NSPredicate(format: "age > 30 AND department.title == 'Physics'")
        request.fetchLimit = 1
        #expect(try reader.fetch(request).map(\.name) == ["Ada"])
        request.fetchLimit = 0
        #expect(try reader.count(for: request) == 2)
        // The URI contains the client's name of the object, and is valid in another process too.
        let id = reader.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri)
        let found = try #require(id)
        #expect((try reader.existingObject(with: found) as? Person)?.name == "Marie")
        people[1].department = nil
        try reader.save()
      }
    }
  }

  @Test func anAtomicStoreIsCalledInApplesOrder() throws {
    try location { url in
      let (context, store) = try stack(ListStore.type, url)
      let list = try #require(store as? ListStore)
      try context.performAndWait {
        let person = Person(context: context)
        try context.save()
        #expect(list.calls == ["newReferenceObject", "newCacheNode", "save"])
        let other = Person(context: context)
        person.name = "A"
        try context.save()
        #expect(list.calls.dropFirst(3) == ["newReferenceObject", "newCacheNode", "updateCacheNode", "save"])
        context.delete(other)
        try context.save()
        #expect(list.calls.suffix(2) == ["willRemoveCacheNodes", "save"])
        #expect(list.cacheNodes().map(\.objectID) == [person.objectID])
        #expect(list.cacheNode(for: person.objectID)?.value(forKey: "name") as? String == "A")
      }
    }
  }

  @Test func aSaveThatFailsLeavesEverything() throws {
    try location { url in
      let (context, store) = try stack(ListStore.type, url)
      let list = try #require(store as? ListStore)
      try context.performAndWait {
        let person = try fill(context)[0]
        person.name = "changed"
        let new = Person(context: context)
        ListStore.failsNextSave = true
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .fileWriteOutOfSpace)
        #expect(list.cacheNode(for: person.objectID)?.value(forKey: "name") as? String == "Ada")
        #expect(list.cacheNodes().count == 5 && new.isInserted && person.hasChanges)
        try context.save()
      }
      let (fresh, _) = try stack(ListStore.type, url)
      let names = try fresh.performAndWait { try fresh.all(Person.self).map { $0.name ?? "" }.sorted() }
      #expect(names == ["", "Emmy", "Lise", "changed"])
    }
  }

  @Test func metadataIsTheClients() throws {
    try location { url in
      let (context, store) = try stack(ListStore.type, url)
      try context.performAndWait {
        store.metadata["mine"] = "kept"
        try context.save()
      }
      typealias Coordinator = NSPersistentStoreCoordinator
      var metadata = try Coordinator.metadataForPersistentStore(ofType: ListStore.type, at: url)
      #expect(metadata["mine"] as? String == "kept" && metadata[NSStoreUUIDKey] as? String == store.identifier)
      metadata[NSStoreTypeKey] = "Another"
      try Coordinator.setMetadata(metadata, forPersistentStoreOfType: ListStore.type, at: url)
      let error = #expect(throws: CocoaError.self) { try stack(ListStore.type, url) }
      #expect(error?.code == .persistentStoreTypeMismatch)
      metadata[NSStoreTypeKey] = ListStore.type
      metadata[NSStoreModelVersionHashesKey] = ["Person": Data(repeating: 1, count: 32)]
      try Coordinator.setMetadata(metadata, forPersistentStoreOfType: ListStore.type, at: url)
      let other = #expect(throws: CocoaError.self) { try stack(ListStore.type, url) }
      #expect(other?.code == .persistentStoreIncompatibleVersionHash)
    }
  }

  @Test func anIncrementalStoreIsRequestedWhatIsNeeded() throws {
    try location { url in
      let (context, store) = try stack(DictionaryStore.type, url)
      let dictionary = try #require(store as? DictionaryStore)
      try context.performAndWait { _ = try fill(context) }
      // Labels of tags are unique: a fetch looks for objects that have them first.
      #expect(dictionary.log == ["obtain 5", "fetch Tag ", "save 5 0 0"])
      // The request that Core Data passed is empty now.
      #expect(dictionary.lastSave?.insertedObjects?.isEmpty == true)
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = context.persistentStoreCoordinator
      try other.performAndWait {
        dictionary.log = []
        let people = try other.all(Person.self)
        #expect(dictionary.log == ["fetch Person "])
        // Saved rows are shared by all contexts of the coordinator; a refreshed object is read again.
        #expect(people.contains { $0.name == "Ada" } && dictionary.log.count == 1)
        let ada = try #require(people.first { $0.name == "Ada" })
        other.refresh(ada, mergeChanges: false)
        dictionary.log = []
        #expect(ada.age == 30)
        #expect(dictionary.log.first?.hasPrefix("values") == true && dictionary.log.contains("relationship department"))
        dictionary.log = []
        #expect(ada.tags.count == 1 && ada.tags.count == 1)
        #expect(dictionary.log == ["relationship tags"])
      }
    }
  }

  @Test func anAtomicStoreSavesToItsNewURL() throws {
    try location { url in
      let (context, store) = try stack(ListStore.type, url)
      try context.performAndWait {
        try fill(context)
        let (former, other) = (try Data(contentsOf: url), url.appendingPathExtension("new"))
        #expect(store.persistentStoreCoordinator?.setURL(other, for: store) == true)
        #expect(!FileManager.default.fileExists(atPath: other.path))
        Tag(context: context).label = "new"
        try context.save()
        #expect(try Data(contentsOf: url) == former && Data(contentsOf: other).count > former.count)
      }
      let (other, incremental) = try stack(DictionaryStore.type, url)
      #expect(other.persistentStoreCoordinator?.setURL(url, for: incremental) == false)
    }
  }

  /// FEATURES 11.11.
  @Test func theStoreKnowsWhichObjectsAreInUse() throws {
    try location { url in
      let (context, made) = try stack(DictionaryStore.type, url)
      let store = try #require(made as? DictionaryStore)
      try context.performAndWait {
        let people = try fill(context)
        #expect(store.uses.count == 5 && store.uses.values.allSatisfy { $0 == 1 })
        // No code holds the tag.
        context.processPendingChanges()
        #expect(store.uses.count == 4 && store.uses.values.allSatisfy { $0 == 1 })
        var other: NSManagedObjectContext? = NSManagedObjectContext(.privateQueue)
        other?.persistentStoreCoordinator = context.persistentStoreCoordinator
        try other?.performAndWait { [other] in
          let request = NSFetchRequest<Person>(entityName: "Person")
          let found = try #require(try other?.fetch(request))
          #expect(store.uses.values.sorted() == [1, 2, 2, 2])
          // The store is notified of the destination of a relationship when the block ends.
          _ = found[0].department?.title
        }
        other?.performAndWait {}
        // Released objects are out of use; the end of the context comes after all of them.
        other = nil
        #expect(store.uses.count == 4 && store.uses.values.allSatisfy { $0 == 1 })
        // Unsaved objects do not belong to the store.
        let new = Person(context: context)
        context.processPendingChanges()
        #expect(store.uses.count == 4)
        context.delete(people[2])
        context.delete(new)
        try context.save()
        #expect(store.uses.count == 3)
        // A save that fails: the object has a name but no row.
        let failed = Person(context: context)
        store.failure = CocoaError(.fileWriteNoPermission)
        #expect(throws: CocoaError.self) { try context.save() }
        context.rollback()
        withExtendedLifetime(failed) {}
        context.reset()
        #expect(store.uses.isEmpty)
      }
    }
  }

  @Test func aBatchIsAnnounced() throws {
    try location { url in
      let (context, store) = try stack(DictionaryStore.type, url)
      let dictionary = try #require(store as? DictionaryStore)
      try context.performAndWait {
        _ = try fill(context)
        context.refreshAllObjects()
        context.reset()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.fetchBatchSize = 2
        let people = try context.fetch(request)
        dictionary.log = []
        #expect(people[0].name == "Ada")
        #expect(dictionary.log.first == "fetch Person batch")
      }
    }
  }

  @Test func errorsOfTheClientComeAsTheyAre() throws {
    struct Own: Error {}
    try location { url in
      let (context, store) = try stack(DictionaryStore.type, url)
      let dictionary = try #require(store as? DictionaryStore)
      try context.performAndWait {
        let people = try fill(context)
        dictionary.failure = Own()
        #expect(throws: Own.self) { try context.all(Person.self) }
        dictionary.failure = Own()
        people[0].name = "B"
        #expect(throws: Own.self) { try context.save() }
        #expect(people[0].hasChanges)
        try context.save()
        #expect(!people[0].hasChanges)
      }
    }
  }

  @Test func conflictsBetweenContextsAreFound() throws {
    for type in [ListStore.type, DictionaryStore.type] {
      try location { url in
        let (context, store) = try stack(type, url)
        let other = NSManagedObjectContext(.privateQueue)
        other.persistentStoreCoordinator = store.persistentStoreCoordinator
        try context.performAndWait {
          let ada = try fill(context)[0]
          try other.performAndWait {
            let theirs = try #require(other.object(with: ada.objectID) as? Person)
            #expect(theirs.age == 30)
            ada.age = 31
            try context.save()
            theirs.age = 32
            let error = #expect(throws: CocoaError.self) { try other.save() }
            #expect(error?.code == .managedObjectMerge)
          }
        }
      }
    }
  }

  @Test func nothingIsCopiedIntoStoresOfClasses() throws {
    for type in [ListStore.type, DictionaryStore.type] {
      try location { url in
        let (context, store) = try stack(NSInMemoryStoreType, url)
        let coordinator = try #require(store.persistentStoreCoordinator)
        try context.performAndWait { _ = try fill(context) }
        let target = url.appendingPathExtension("copy")
        let error = #expect(throws: CocoaError.self) {
          try coordinator.migratePersistentStore(store, to: target, options: nil, withType: type)
        }
        #expect(error?.code == .persistentStoreUnsupportedRequestType)
        #expect(coordinator.persistentStores == [store])
        let names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
        #expect(!names.contains { $0.contains("copy") })
        try context.performAndWait {
          Tag(context: context).label = "later"
          try context.save()
        }
      }
    }
  }

  @Test func aListThatIsNoneIsNeitherRemovedNorReplaced() throws {
    try location { url in
      let other = url.appendingPathExtension("other")
      let (context, _) = try stack(ListStore.type, url)
      try context.performAndWait { _ = try fill(context) }
      try Data("no list".utf8).write(to: other)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
      let removing = #expect(throws: CocoaError.self) {
        try coordinator.destroyPersistentStore(at: other, ofType: ListStore.type)
      }
      #expect(removing?.code == .fileReadCorruptFile)
      #expect(throws: CocoaError.self) {
        try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: url, ofType: ListStore.type)
      }
      #expect(throws: CocoaError.self) {
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: other, ofType: ListStore.type)
      }
      #expect(try Data(contentsOf: other) == Data("no list".utf8))
      try coordinator.replacePersistentStore(
        at: other, destinationOptions: [NSPersistentStoreForceDestroyOption: true], withPersistentStoreFrom: url,
        ofType: ListStore.type)
      #expect(try Data(contentsOf: other) == Data(contentsOf: url))
      try coordinator.destroyPersistentStore(at: other, ofType: ListStore.type)
      #expect(!FileManager.default.fileExists(atPath: other.path))
    }
  }

  @Test func whereIncrementalStoresLieOnlyTheyKnow() throws {
    try location { url in
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
      try Data("a row".utf8).write(to: url)
      let error = #expect(throws: CocoaError.self) {
        try coordinator.destroyPersistentStore(at: url, ofType: DictionaryStore.type)
      }
      #expect(error?.code == .persistentStoreUnsupportedRequestType)
      #expect(try Data(contentsOf: url) == Data("a row".utf8))
    }
  }

  @Test func aTypeThatIsForgottenIsUnknown() throws {
    try location { url in
      NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: ListStore.type)
      let error = #expect(throws: CocoaError.self) { try stack(ListStore.type, url) }
      #expect(error?.code == .persistentStoreInvalidType)
    }
  }

  @Test func onlyFilesOfAStoreAreDestroyed() throws {
    try location { url in
      try Data("mine".utf8).write(to: url)
      let remote = try #require(URL(string: "https://example.org\(url.path)"))
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
      for options in [[:], [NSPersistentStoreForceDestroyOption: true]] {
        #expect(throws: CocoaError.self) {
          try coordinator.destroyPersistentStore(at: remote, ofType: ListStore.type, options: options)
        }
      }
      #expect(try Data(contentsOf: url) == Data("mine".utf8))
    }
  }
}
