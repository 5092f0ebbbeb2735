import Foundation
import StoreSchema
import TestSupport
import Testing

@testable import CoreData

/// How objects return and accept values. Each rule has the page that states it; "clients" means a rule that the tests
/// of several client libraries require.
@Suite struct AppleObjectTests {
  /// Authors with books, ordered chapters of a book, and tags of books.
  private func library() throws -> NSManagedObjectContext {
    let author = Describing.entity("Author", [Describing.attribute("name"), Describing.attribute("age", .integer16)])
    let book = Describing.entity("Book", [Describing.attribute("title")])
    let chapter = Describing.entity("Chapter", [Describing.attribute("number", .integer32)])
    let tag = Describing.entity("Tag", [])
    Describing.relate(author, "books", toMany: true, book, "author", toManyBack: false)
    Describing.relate(book, "chapters", toMany: true, chapter, "book", toManyBack: false)
    book.relationshipsByName["chapters"]?.isOrdered = true
    Describing.relate(book, "tags", toMany: true, tag, "books", toManyBack: true)
    return try Describing.context(Describing.model([author, book, chapter, tag]))
  }

  private func insert(
    _ entity: String, _ context: NSManagedObjectContext, _ values: [String: Any] = [:]
  ) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  private func set(_ value: Any?) -> Set<NSManagedObject>? { value as? Set<NSManagedObject> }
  private func list(_ value: Any?) -> [NSManagedObject]? { (value as? NSOrderedSet)?.array as? [NSManagedObject] }

  // MARK: Changes of the event

  /// "whose values are the old value of the persistent properties":
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/1506472-changedvaluesforcurrentevent . The page
  /// of 2026 says "the new values", which `changedValues()` returns.
  @Test func changesOfAnEventAreReportedWithTheOldValues() throws {
    let context = try library()
    try context.performAndWait {
      let author = insert("Author", context, ["name": "a", "age": 1])
      #expect(author.changedValuesForCurrentEvent()["name"] is NSNull)
      try context.save()
      #expect(author.changedValuesForCurrentEvent().isEmpty)
      author.setValue("b", forKey: "name")
      author.setValue("c", forKey: "name")
      let first = author.changedValuesForCurrentEvent()
      #expect(first.count == 1 && first["name"] as? String == "a")
      #expect(author.changedValues()["name"] as? String == "c")
      context.processPendingChanges()
      #expect(author.changedValuesForCurrentEvent().isEmpty && author.hasChanges)
      // The value from before the event, not from before the save; and age, which no event has reported yet.
      author.setValue("d", forKey: "name")
      author.setValue(nil, forKey: "age")
      let second = author.changedValuesForCurrentEvent()
      #expect(second.count == 2 && second["name"] as? String == "c" && second["age"] as? Int == 1)
      context.processPendingChanges()
      author.setValue(5, forKey: "age")
      #expect(author.changedValuesForCurrentEvent()["age"] is NSNull)
      author.setValue(nil, forKey: "age")
      #expect(author.changedValuesForCurrentEvent().isEmpty)
    }
  }

  /// The same page: relationships are properties too.
  @Test func changesOfAnEventNameRelationships() throws {
    let context = try library()
    try context.performAndWait {
      let (ann, ben) = (insert("Author", context), insert("Author", context))
      let (one, two) = (insert("Book", context), insert("Book", context))
      one.setValue(ann, forKey: "author")
      try context.save()
      one.setValue(ben, forKey: "author")
      #expect(one.changedValuesForCurrentEvent()["author"] as? NSManagedObject == ann)
      #expect(set(ann.changedValuesForCurrentEvent()["books"]) == [one])
      #expect(set(ben.changedValuesForCurrentEvent()["books"]) == [])
      context.processPendingChanges()
      two.setValue(ben, forKey: "author")
      one.setValue(nil, forKey: "author")
      #expect(set(ben.changedValuesForCurrentEvent()["books"]) == [one])
      #expect(one.changedValuesForCurrentEvent()["author"] as? NSManagedObject == ben)
      #expect(two.changedValuesForCurrentEvent()["author"] is NSNull)
      #expect(ann.changedValuesForCurrentEvent().isEmpty)
    }
  }

  /// The same page. The former order is returned.
  @Test func changesOfAnEventTellTheOldOrder() throws {
    let context = try library()
    try context.performAndWait {
      let book = insert("Book", context)
      let chapters = (0..<4).map { insert("Chapter", context, ["number": $0]) }
      book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
      try context.save()
      context.refreshAllObjects()
      let order = [chapters[3], chapters[1], chapters[0]]
      book.setValue(NSOrderedSet(array: order), forKey: "chapters")
      #expect(list(book.changedValuesForCurrentEvent()["chapters"]) == chapters)
      #expect(list(book.committedValues(forKeys: ["chapters"])["chapters"]) == chapters)
      context.processPendingChanges()
      book.mutableOrderedSetValue(forKey: "chapters").exchangeObject(at: 0, withObjectAt: 1)
      #expect(list(book.changedValuesForCurrentEvent()["chapters"]) == order)
      #expect(list(book.committedValues(forKeys: ["chapters"])["chapters"]) == chapters)
    }
  }

  /// The same page, for a change by primitive accessors, and for what observers of the event see.
  @Test func changesByPrimitiveAccessorsHaveOldValues() throws {
    let context = try library()
    try context.performAndWait {
      let author = insert("Author", context, ["name": "a"])
      try context.save()
      author.setValue(3, forKey: "age")
      context.processPendingChanges()
      author.willChangeValue(forKey: "name")
      author.setPrimitiveValue("b", forKey: "name")
      author.didChangeValue(forKey: "name")
      let changes = author.changedValuesForCurrentEvent()
      #expect(changes.count == 1 && changes["name"] as? String == "a")
      context.rollback()
      #expect(author.changedValuesForCurrentEvent().isEmpty)
    }
  }

  // MARK: Primitive values

  /// "does not invoke the change notification methods", "you are also responsible for maintaining the inverse
  /// relationship": https://developer.apple.com/documentation/coredata/nsmanagedobject/setprimitivevalue(_:forkey:)
  @Test func aPrimitiveValueIsSetAndNothingElse() throws {
    let context = try library()
    try context.performAndWait {
      let (ann, ben) = (insert("Author", context, ["name": "a"]), insert("Author", context, ["name": "b"]))
      let (one, two) = (insert("Book", context, ["title": "1"]), insert("Book", context))
      one.setValue(ann, forKey: "author")
      try context.save()
      context.refreshAllObjects()

      ann.setPrimitiveValue("c", forKey: "name")
      #expect(ann.isFault && ann.primitiveValue(forKey: "name") as? String == "c" && !context.hasChanges)
      #expect(ann.primitiveValue(forKey: "age") == nil)
      #expect(ann.value(forKey: "name") as? String == "c" && !ann.isFault && !ann.hasChanges)

      one.setPrimitiveValue(ben, forKey: "author")
      #expect(one.isFault && one.primitiveValue(forKey: "author") as? NSManagedObject == ben)
      #expect(one.value(forKey: "title") as? String == "1" && one.value(forKey: "author") as? NSManagedObject == ben)
      #expect(set(ben.value(forKey: "books")) == [] && set(ann.value(forKey: "books")) == [one])

      ben.setPrimitiveValue(NSSet(array: [two]), forKey: "books")
      #expect(set(ben.value(forKey: "books")) == [two] && two.value(forKey: "author") == nil)
      #expect(!context.hasChanges && context.updatedObjects.isEmpty)

      // None of it is saved, and a refresh drops it.
      try context.save()
      context.refreshAllObjects()
      #expect(ann.value(forKey: "name") as? String == "a" && one.value(forKey: "author") as? NSManagedObject == ann)
      #expect(set(ben.value(forKey: "books")) == [])
    }
  }

  /// The same page and FEATURES 24.3: the announcement makes the value a change.
  @Test func anAnnouncedPrimitiveValueIsSaved() throws {
    let context = try library()
    try context.performAndWait {
      let (ann, ben) = (insert("Author", context, ["name": "a"]), insert("Author", context))
      let (one, two) = (insert("Book", context), insert("Book", context))
      let tag = insert("Tag", context)
      one.setValue(ann, forKey: "author")
      try context.save()
      context.refreshAllObjects()
      for (object, key, value) in [
        (ann, "name", "z" as Any), (ben, "books", NSSet(array: [one, two])), (two, "tags", NSSet(array: [tag])),
      ] {
        object.willChangeValue(forKey: key)
        object.setPrimitiveValue(value, forKey: key)
        object.didChangeValue(forKey: key)
      }
      #expect(one.value(forKey: "author") as? NSManagedObject == ben && set(ann.value(forKey: "books")) == [])
      try context.save()
      context.refreshAllObjects()
      #expect(ann.value(forKey: "name") as? String == "z")
      #expect(set(ben.value(forKey: "books")) == [one, two] && set(tag.value(forKey: "books")) == [two])
      // For a new object, whose members are known.
      let cat = insert("Author", context)
      cat.setValue(NSSet(array: [one]), forKey: "books")
      cat.willChangeValue(forKey: "books")
      cat.setPrimitiveValue(NSSet(array: [two]), forKey: "books")
      cat.didChangeValue(forKey: "books")
      #expect(one.value(forKey: "author") == nil && two.value(forKey: "author") as? NSManagedObject == cat)
    }
  }

  // MARK: IDs of a relationship

  /// "Returns the object IDs for all of the managed objects that are in the named relationship."
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/objectids(forrelationshipnamed:) ; clients
  /// require that no objects are made for it.
  @Test func theIDsOfARelationshipMakeNoObjects() throws {
    let context = try library()
    try context.performAndWait {
      let author = insert("Author", context)
      let books = (0..<4).map { _ in insert("Book", context) }
      author.setValue(NSSet(array: books), forKey: "books")
      let chapters = (0..<3).map { insert("Chapter", context, ["number": $0]) }
      books[0].setValue(NSOrderedSet(array: chapters), forKey: "chapters")
      try context.save()
      let (authorID, bookIDs, chapterIDs) = (author.objectID, books.map(\.objectID), chapters.map(\.objectID))

      let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      other.persistentStoreCoordinator = context.persistentStoreCoordinator
      try other.performAndWait {
        let author = other.object(with: authorID)
        #expect(Set(author.objectIDs(forRelationshipNamed: "books")) == Set(bookIDs))
        #expect(author.hasFault(forRelationshipNamed: "books") && other.registeredObjects == [author])
        let book = other.object(with: bookIDs[0])
        #expect(book.objectIDs(forRelationshipNamed: "chapters") == chapterIDs)
        #expect(book.objectIDs(forRelationshipNamed: "author") == [authorID])
        #expect(other.registeredObjects.count == 2)
        // With unsaved changes.
        other.delete(other.object(with: bookIDs[1]))
        other.object(with: bookIDs[2]).setValue(nil, forKey: "author")
        let new = NSEntityDescription.insertNewObject(forEntityName: "Book", into: other)
        new.setValue(author, forKey: "author")
        #expect(author.hasFault(forRelationshipNamed: "books"))
        #expect(
          Set(author.objectIDs(forRelationshipNamed: "books")) == [bookIDs[0], bookIDs[3], new.objectID])
        try other.save()
        #expect(author.objectIDs(forRelationshipNamed: "books").count == 3)
      }
    }
  }

  // MARK: Reset and refresh

  /// "All the receiver's managed objects are “forgotten.”":
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/reset() Clients require that they are
  /// faults then.
  @Test func afterAResetObjectsAreFaultsWithoutValues() throws {
    let context = try library()
    try context.performAndWait {
      let (saved, new) = (insert("Author", context, ["name": "a"]), insert("Author", context, ["name": "b"]))
      let book = insert("Book", context)
      book.setValue(saved, forKey: "author")
      context.delete(new)
      try context.save()
      saved.setValue("c", forKey: "name")
      let inserted = insert("Author", context, ["name": "d"])
      let (savedID, insertedID) = (saved.objectID, inserted.objectID)
      context.reset()
      for object in [saved, inserted, book] {
        #expect(object.isFault && !object.hasChanges && object.managedObjectContext == nil)
      }
      #expect(saved.value(forKey: "name") == nil && inserted.value(forKey: "name") == nil)
      #expect(book.value(forKey: "author") == nil && set(saved.value(forKey: "books")) == [])
      #expect(saved.objectID == savedID && inserted.objectID == insertedID)
      #expect(context.object(with: savedID).value(forKey: "name") as? String == "a")
    }
  }

  /// "If flag is false, the context discards pending changes and the managed object becomes a fault":
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/refresh(_:mergechanges:)
  @Test func aRefreshedNewObjectIsAFaultWithoutValues() throws {
    let context = try library()
    try context.performAndWait {
      let author = insert("Author", context, ["name": "a", "age": 4])
      let book = insert("Book", context, ["title": "t"])
      book.setValue(author, forKey: "author")
      context.refresh(author, mergeChanges: true)
      #expect(!author.isFault && author.value(forKey: "name") as? String == "a")
      context.refresh(author, mergeChanges: false)
      #expect(author.isFault && author.isInserted && context.insertedObjects.contains(author))
      #expect(author.value(forKey: "name") == nil && !author.isFault)
      try context.obtainPermanentIDs(for: [book])
      context.refresh(book, mergeChanges: false)
      #expect(book.value(forKey: "title") == nil && book.isInserted && !book.isFault)
      #expect(try context.existingObject(with: book.objectID) === book)
      context.refresh(book, mergeChanges: false)
      try context.save()
      context.refreshAllObjects()
      #expect(author.value(forKey: "age") == nil && book.value(forKey: "title") == nil)
      #expect(book.value(forKey: "author") == nil)
    }
  }

  /// The emptied object is validated like any other.
  @Test func aRefreshedNewObjectIsValidated() throws {
    let name = Describing.attribute("name")
    name.isOptional = false
    let context = try Describing.context(Describing.model([Describing.entity("A", [name])]))
    context.performAndWait {
      let object = insert("A", context, ["name": "x"])
      context.refresh(object, mergeChanges: false)
      #expect(throws: CocoaError.self) { try context.save() }
    }
  }

  // MARK: Conflicts

  /// "the merge conflict has a source object and a cached snapshot but no persisted snapshot", and "has a cached
  /// snapshot and a persisted snapshot. The source object is also provided as a convenience":
  /// https://developer.apple.com/documentation/coredata/nsmergeconflict
  @Test(.ofRootContexts) func aConflictIsWithTheCoordinatorsRowsOrWithTheStore() throws {
    let store = try CompanyStore()
    let other = try store.reopened()
    func conflict(_ writer: CompanyStore) throws -> NSMergeConflict {
      let context = store.context()
      return try context.performAndWait {
        let person = try #require(try context.all(Person.self).first)
        let name = person.name
        try writer.run { (context) throws in
          try context.all(Person.self).first?.name = "written"
          try context.save()
        }
        person.name = "mine"
        let error = try #require(throws: CocoaError.self) { try context.save() }
        let found = try #require((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first)
        #expect(found.sourceObject === person && name == "first")
        return found
      }
    }
    func rewrite() throws {
      try store.run { (context) throws in
        let person = try context.all(Person.self).first ?? Person(context: context)
        person.name = "first"
        try context.save()
      }
    }
    try rewrite()
    let within = try conflict(store)
    #expect(within.objectSnapshot?["name"] as? String == "first")
    #expect(within.cachedSnapshot?["name"] as? String == "written" && within.persistedSnapshot == nil)
    try rewrite()
    let outside = try conflict(other)
    #expect(outside.objectSnapshot?["name"] as? String == "mine")
    #expect(outside.cachedSnapshot?["name"] as? String == "first")
    #expect(outside.persistedSnapshot?["name"] as? String == "written")
    #expect(outside.newVersionNumber > outside.oldVersionNumber)
  }

  // MARK: Validation

  /// "iterates through all of the receiver's properties validating each in turn":
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/validateforupdate()
  @Test func anUpdateIsJudgedWholly() throws {
    let level = Describing.attribute("level", .integer32)
    level.setValidationPredicates([NSPredicate(format: "SELF >= 3")], withValidationWarnings: ["1670"])
    let size = Describing.attribute("size", .integer16)
    size.isOptional = false
    let entity = Describing.entity("A", [level, size, Describing.attribute("note")])
    let context = try Describing.context(Describing.model([entity]))
    try context.performAndWait {
      let object = insert("A", context, ["level": 3, "size": 1])
      try context.save()
      // As in a file that other software has written.
      let row = try #require(object.row)
      for (slot, value) in [("level", Value.int(2)), ("size", .null), ("size", .int(70000))] {
        let damaged = row.draft(version: row.version)
        let index = try #require(object.info.leaves.first { $0.key == slot }?.slot)
        #expect(damaged.patch(index, value))
        #expect(damaged.seal(key: row.key, version: row.version))
        object.row = damaged.sealedRow
        object.setValue("x", forKey: "note")
        #expect(throws: CocoaError.self, "\(slot) \(value)") { try context.save() }
        #expect(throws: CocoaError.self, "\(slot) \(value)") { try object.validateForUpdate() }
        context.rollback()
      }
      object.row = row
      object.setValue("x", forKey: "note")
      try context.save()
    }
  }

  /// "The last fetched or saved values of the receiver for the properties specified by keys":
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/committedvalues(forkeys:)
  @Test func committedValuesPassOverKeysThatAreNone() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let person = Person(context: context)
      (person.name, person.age) = ("A", 3)
      try context.save()
      person.name = "B"
      let values = person.committedValues(forKeys: ["none", "name", "neither", "age"])
      #expect(values["name"] as? String == "A" && values["age"] as? Int == 3)
    }
  }

  /// https://developer.apple.com/documentation/objectivec/nsobject/setvalue(_:forkeypath:)
  @Test func aKeyPathSetsTheValueOfTheLastObject() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let (person, badge) = (Person(context: context), Badge(context: context))
      person.department = Department(context: context)
      badge.owner = person
      badge.setValue("Research", forKeyPath: "owner.department.title")
      #expect(person.department?.title == "Research")
    }
  }
}
