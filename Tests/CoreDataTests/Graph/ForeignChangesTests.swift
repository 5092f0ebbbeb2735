import Foundation
import Testing

@testable import CoreData
@testable import SQLiteBackend

/// Deletions and saves by others while a context has changes of its own.
@Suite struct ForeignChangesTests {
  private final class Notes: @unchecked Sendable {
    var saved: [[AnyHashable: Any]] = []
    private var token: (any NSObjectProtocol)?

    init(_ context: NSManagedObjectContext) {
      token = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
      ) { [unowned self] in saved.append($0.userInfo ?? [:]) }
    }

    deinit { token.map(NotificationCenter.default.removeObserver) }
  }

  @Test func aSaveDoesNotAnnounceAnObjectThatAMergeTookOutOfIt() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      for name in ["Ada", "Bob"] { Person(context: context).name = name }
      try context.save()
    }
    let context = company.context()
    try context.performAndWait {
      let people = try context.all(Person.self)
      for person in people { person.age = 7 }
      context.processPendingChanges()
      let bob = try #require(people.first { $0.name == "Bob" })
      try company.run { (other) throws in
        other.delete(try other.existingObject(with: bob.objectID))
        try other.save()
      }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: [bob.objectID]], into: [context])
      let notes = Notes(context)
      try context.save()
      let updated = notes.saved.first?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
      #expect(updated.count == 1)
      #expect(!updated.contains(bob))
    }
  }

  /// A fetch sees the saves of others, also if a fault was read before in the same block.
  @Test(.enabled(if: CompanyStore.type == .sqlite)) func aFetchAfterAFaultSeesTheNewestState() throws {
    let company = try CompanyStore()
    let context = company.context()
    try context.performAndWait {
      let ada = Person(context: context)
      ada.name = "Ada"
      try context.save()
      context.refresh(ada, mergeChanges: false)
      #expect(ada.name == "Ada")
      // As another process does, without notice to this one.
      try SQLiteConnection(company.url.path, .readWrite, timeout: 1).execute(
        """
        INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME)
        SELECT 7, Z_ENT, 1, 'Bob' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'
        """)
      #expect(try context.all(Person.self).compactMap(\.name).sorted() == ["Ada", "Bob"])
    }
  }

  /// Prefetched members are read again where a fetch finds that others have changed their owner.
  @Test func prefetchedMembersOfAFaultAreThoseOfItsNewRow() throws {
    let company = try CompanyStore()
    let id = try company.run { (context) throws in
      let department = Department(context: context)
      for name in ["Ada", "Bob"] {
        let person = Person(context: context)
        (person.name, person.department) = (name, department)
      }
      try context.save()
      return department.objectID
    }
    let context = company.context()
    try context.performAndWait {
      let request = NSFetchRequest<Department>(entityName: "Department")
      request.relationshipKeyPathsForPrefetching = ["people"]
      let department = try #require(try context.fetch(request).first)
      #expect(department.isFault && department.toManys.contains { $0.members.count == 2 })
      try company.run { (other) throws in
        let department = try #require(try other.existingObject(with: id) as? Department)
        department.title = "Physics"
        Person(context: other).department = department
        try other.save()
      }
      #expect(try context.fetch(NSFetchRequest<Department>(entityName: "Department")) == [department])
      #expect(department.people.count == 3 && department.title == "Physics")
    }
  }

  /// Changes are reported before a fetch, whatever its result type.
  @Test func everyKindOfFetchEndsTheEvent() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      nonisolated(unsafe) var events = 0
      let token = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
      ) { _ in events += 1 }
      defer { NotificationCenter.default.removeObserver(token) }
      Person(context: context).name = "Ada"
      let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Person")
      dictionaries.resultType = .dictionaryResultType
      _ = try context.fetch(dictionaries)
      #expect(events == 1)
      Person(context: context).name = "Bob"
      _ = try context.count(for: NSFetchRequest<Person>(entityName: "Person"))
      #expect(events == 2)
      Person(context: context).name = "Cleo"
      _ = try context.all(Person.self)
      #expect(events == 3)
    }
  }

  @Test(.ofRootContexts) func aSaveAfterAnIncompleteOneAnnouncesOnlyTheRest() throws {
    let company = try CompanyStore()
    // A deferred constraint of the second store is checked by its COMMIT, which a rehearsal does not reach.
    let url = company.url.deletingLastPathComponent().appending(path: "second.sqlite")
    let making = try company.coordinator.addPersistentStore(type: .sqlite, at: url)
    try company.coordinator.remove(making)
    let file = try SQLiteConnection(url.path, .readWrite, timeout: 1)
    try file.execute(
      "ALTER TABLE ZTAG ADD COLUMN ZFOREIGN INTEGER DEFAULT 7 REFERENCES ZBADGE(Z_PK) DEFERRABLE INITIALLY DEFERRED")
    let second = try company.coordinator.addPersistentStore(
      type: .sqlite, at: url, options: [NSSQLitePragmasOption: ["foreign_keys": "ON"]])
    let context = company.context()
    try context.performAndWait {
      let person = Person(context: context)
      let mine = Tag(context: context)
      mine.label = "same"
      context.assign(mine, to: second)
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .persistentStoreIncompleteSave)
      #expect(error?.savedStores == company.coordinator.persistentStores.filter { $0 !== second })
      #expect(error?.affectedStores as? [NSPersistentStore] == [second])
      #expect(error?.localizedDescription.contains("Not saved: second.sqlite.") == true)
      #expect(!person.isInserted && person.saves == 1)
      #expect(mine.isInserted)
      try file.execute(
        "INSERT INTO ZBADGE (Z_PK, Z_ENT, Z_OPT) SELECT 7, Z_ENT, 1 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Badge'")
      let notes = Notes(context)
      try context.save()
      #expect(notes.saved.first?[NSInsertedObjectsKey] as? Set<NSManagedObject> == [mine])
      #expect(person.saves == 1)
    }
  }

  /// After an incomplete save, an unsaved update can be saved, even if nothing else has changed.
  @Test(.ofRootContexts) func aSaveAfterAnIncompleteOneWritesTheUpdatesThatAreLeft() throws {
    let company = try CompanyStore()
    let url = company.url.deletingLastPathComponent().appending(path: "second.sqlite")
    let second = try company.coordinator.addPersistentStore(
      type: .sqlite, at: url, options: [NSSQLitePragmasOption: ["foreign_keys": "ON"]])
    let context = company.context()
    let other = try SQLiteConnection(url.path, .readWrite, timeout: 1)
    try other.execute(
      "CREATE TABLE X (Y INTEGER REFERENCES ZBADGE(Z_PK) DEFERRABLE INITIALLY DEFERRED)")
    try context.performAndWait {
      let (here, there) = (Person(context: context), Person(context: context))
      context.assign(there, to: second)
      try context.save()
      (here.name, there.name) = ("here", "there")
      // Checked by COMMIT, which a rehearsal does not reach.
      try other.execute("CREATE TRIGGER T AFTER UPDATE ON ZPERSON BEGIN INSERT INTO X VALUES (7); END")
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .persistentStoreIncompleteSave)
      #expect(!here.hasChanges && there.isUpdated && context.hasChanges)
      try other.execute("DROP TRIGGER T")
      try context.save()
      #expect(!context.hasChanges)
      #expect(try other.integer("SELECT count(*) FROM ZPERSON WHERE ZNAME = 'there'") == 1)
    }
  }

  @Test func anObjectDeletedElsewhereAndInsertedAgainDoesNotHideOtherChanges() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Person(context: context).name = "Ada"
      try context.save()
    }
    let context = company.context()
    try context.performAndWait {
      let ada = try #require(try context.all(Person.self).first)
      try company.run { (other) throws in
        other.delete(try other.existingObject(with: ada.objectID))
        try other.save()
      }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: [ada.objectID]], into: [context])
      context.insert(ada)
      Person(context: context).name = "New"
      #expect(context.hasChanges)
      try context.save()
      let found = try company.run { try $0.all(Person.self, "name == 'New'").count }
      #expect(found == 1)
    }
  }

  @Test func aMemberDeletedElsewhereLeavesARelationshipWithUnsavedChanges() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      for name in ["Ada", "Bob"] {
        let person = Person(context: context)
        (person.name, person.department) = (name, department)
      }
      try context.save()
    }
    let context = company.context()
    try context.performAndWait {
      let department = try #require(try context.all(Department.self).first)
      let bob = try #require(department.people.first { $0.name == "Bob" })
      let new = Person(context: context)
      new.department = department
      try company.run { (other) throws in
        other.delete(try other.existingObject(with: bob.objectID))
        try other.save()
      }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: [bob.objectID]], into: [context])
      #expect(!department.people.contains(bob))
      #expect(department.people.count == 2)
    }
  }

  @Test func aReferenceToAnObjectDeletedElsewhereIsNotSaved() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Department(context: context).title = "d"
      try context.save()
    }
    let context = company.context()
    try context.performAndWait {
      let department = try #require(try context.all(Department.self).first)
      let person = Person(context: context)
      person.department = department
      try company.run { (other) throws in
        other.delete(try other.existingObject(with: department.objectID))
        try other.save()
      }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: [department.objectID]], into: [context])
      try context.save()
    }
    let found = try company.reopened().run { (context) throws in
      try context.all(Person.self, "department != nil").count
    }
    #expect(found == 0)
  }

  @Test func anObjectThatWasMissingIsFoundOnceItIsSaved() throws {
    let company = try CompanyStore()
    let (writer, reader) = (company.context(), company.context())
    let id = try writer.performAndWait {
      let ada = Person(context: writer)
      ada.name = "Ada"
      try writer.obtainPermanentIDs(for: [ada])
      return ada.objectID
    }
    _ = reader.performAndWait { #expect(throws: CocoaError.self) { try reader.existingObject(with: id) } }
    try writer.performAndWait { try writer.save() }
    let name = try reader.performAndWait { try reader.existingObject(with: id).value(forKey: "name") as? String }
    #expect(name == "Ada")
  }

  @Test func aRefreshFindsAnObjectThatWasMissing() throws {
    let company = try CompanyStore()
    let (writer, reader) = (company.context(), company.context())
    let id = try writer.performAndWait {
      let ada = Person(context: writer)
      ada.name = "Ada"
      try writer.obtainPermanentIDs(for: [ada])
      return ada.objectID
    }
    try reader.performAndWait {
      let ada = reader.object(with: id)
      #expect(ada.value(forKey: "name") == nil)
      try writer.performAndWait { try writer.save() }
      reader.refresh(ada, mergeChanges: false)
      #expect(ada.value(forKey: "name") as? String == "Ada")
      #expect(!ada.isDeleted)
    }
  }
}
