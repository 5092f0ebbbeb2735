import Foundation
import StoreSchema
import TestSupport
import Testing

@testable import CoreData

/// Features of the SQLite store itself: derived attributes, history, foreign schema objects in the file.
@Suite struct StoreFeatureTests {
  private func folder() throws -> URL {
    let url = FileManager.default.temporaryDirectory.appending(path: "feature-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
  }

  private func derived(_ name: String, _ type: NSAttributeDescription.AttributeType, _ derivation: Derivation)
    -> NSDerivedAttributeDescription
  {
    let attribute = NSDerivedAttributeDescription()
    attribute.name = name
    attribute.type = type
    attribute.derivation = derivation
    return attribute
  }

  private func libraryModel() -> NSManagedObjectModel {
    let (author, book) = (NSEntityDescription(), NSEntityDescription())
    (author.name, book.name) = ("Author", "Book")
    let name = NSAttributeDescription()
    name.name = "name"
    name.type = .string
    let (books, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
    (books.name, owner.name) = ("books", "author")
    (books.destinationEntity, owner.destinationEntity) = (book, author)
    owner.maxCount = 1
    (books.inverseRelationship, owner.inverseRelationship) = (owner, books)
    author.properties = [
      name, books, derived("folded", .string, .function("canonical:", ["name"])), derived("savedAt", .date, .now),
      derived("bookCount", .integer64, .count(relationship: "books")),
    ]
    book.properties = [owner, derived("authorName", .string, .keyPath(["author", "name"]))]
    let model = NSManagedObjectModel()
    model.entities = [author, book]
    return model
  }

  private func context(_ model: NSManagedObjectModel, _ url: URL, _ options: [AnyHashable: Any] = [:]) throws
    -> NSManagedObjectContext
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Feature 3.18: it is read-only. Stopping the program, as for an unknown key, is a rule of this library.
  @Test func aDerivedAttributeCannotBeSet() async throws {
    let ending = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let library = Describing.library()
        let context = try Describing.context(library)
        context.performAndWait {
          let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
          book.setValue("x", forKey: "folded")
        }
      })
    #expect(String(decoding: ending.standardErrorContent, as: UTF8.self).contains("'folded' is a derived attribute"))
  }

  @Test func derivedAttributesFollowTheirSources() throws {
    let context = try context(libraryModel(), folder().appending(path: "library.sqlite"))
    try context.performAndWait {
      let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
      author.setValue("Émile", forKey: "name")
      let books = (0..<3).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Book", into: context) }
      for book in books { book.setValue(author, forKey: "author") }
      try context.save()
      #expect(author.value(forKey: "folded") as? String == "emile")
      #expect(author.value(forKey: "savedAt") is Date)
      #expect(author.value(forKey: "bookCount") as? Int64 == 3)
      #expect(books[0].value(forKey: "authorName") as? String == "Émile")
      context.delete(books[0])
      books[1].setValue(nil, forKey: "author")
      author.setValue("Zola", forKey: "name")
      try context.save()
      #expect(author.value(forKey: "bookCount") as? Int64 == 1)
      #expect(author.value(forKey: "folded") as? String == "zola")
      #expect(books[2].value(forKey: "authorName") as? String == "Zola")
      #expect(books[1].value(forKey: "authorName") == nil)
    }
  }

  private func sqlite(_ script: String, _ url: URL) throws -> String {
    let file = url.deletingLastPathComponent().appending(path: "script.py")
    try "import sqlite3,sys\ndb = sqlite3.connect(sys.argv[1])\n\(script)\ndb.commit()\n"
      .write(to: file, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", file.path, url.path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let text = pipe.text()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test func historyRecordsEverySaveOfAStoreThatHasIt() throws {
    let url = try folder().appending(path: "history.sqlite")
    let tracked = try context(Company.model(), url, [NSPersistentHistoryTrackingKey: true])
    try tracked.performAndWait {
      tracked.transactionAuthor = "me"
      let person = Person(context: tracked)
      person.name = "A"
      try tracked.save()
      person.name = "B"
      try tracked.save()
    }
    // If it is opened without the option, the store's history continues.
    let plain = try context(Company.model(), url)
    try plain.performAndWait {
      plain.delete(try #require(try plain.all(Person.self).first))
      try plain.save()
    }
    let found = try sqlite(
      """
      print(db.execute('SELECT count(*), count(DISTINCT ZTIMESTAMP) FROM ATRANSACTION').fetchone(),
            db.execute('SELECT ZCHANGETYPE, ZENTITYPK, ZTRANSACTIONID, hex(ZCOLUMNS) FROM ACHANGE').fetchall(),
            db.execute("SELECT ZNAME FROM ATRANSACTIONSTRING s JOIN ATRANSACTION t ON t.ZAUTHORTS = s.Z_PK LIMIT 1").fetchone(),
            db.execute('SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001').fetchone())
      """, url)
    // Person's properties by name: age, badge, department, name, rankedIn, salary, tags; name is the fourth bit.
    #expect(found == "(3, 3) [(0, 1, 1, ''), (1, 1, 2, '10'), (2, 1, 3, '')] ('me',) (3,)")
  }

  @Test func aFileWithAForeignTriggerIsReadOnly() throws {
    let url = try folder().appending(path: "foreign.sqlite")
    let first = try context(Company.model(), url)
    try first.performAndWait {
      Person(context: first).name = "A"
      try first.save()
    }
    _ = try sqlite(
      "db.execute('CREATE TRIGGER evil AFTER UPDATE ON ZPERSON BEGIN DELETE FROM ZPERSON; END')", url)
    let second = try context(Company.model(), url)
    try second.performAndWait {
      #expect(second.persistentStoreCoordinator?.persistentStores.first?.isReadOnly == true)
      let person = try #require(try second.all(Person.self).first)
      person.name = "B"
      let error = try #require(throws: CocoaError.self) { try second.save() }
      #expect(error.localizedDescription.contains("the trigger evil"))
    }
    #expect(try sqlite("print(db.execute('SELECT ZNAME FROM ZPERSON').fetchall())", url) == "[('A',)]")
  }

  /// "rebuild the store file": https://developer.apple.com/documentation/coredata/nssqlitemanualvacuumoption
  @Test(arguments: [false, true]) func aStoreIsRebuiltOnRequest(_ isRequested: Bool) throws {
    let url = try folder().appending(path: "store.sqlite")
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    func size() throws -> Int { try Data(contentsOf: url).count }
    func opened(_ options: [AnyHashable: Any], _ body: (NSManagedObjectContext) throws -> Void) throws {
      let context = try context(libraryModel(), url, options)
      try context.performAndWait { try body(context) }
      for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
        try context.persistentStoreCoordinator?.remove(store)
      }
    }
    try opened([:]) { (context) throws in
      for _ in 0..<500 {
        NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
          .setValue(String(repeating: "a", count: 500), forKey: "name")
      }
      try context.save()
      for author in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")) { context.delete(author) }
      try context.save()
    }
    let before = try size()
    try opened([NSSQLiteManualVacuumOption: isRequested]) { _ in }
    #expect(try (size() < before) == isRequested)
  }
}
