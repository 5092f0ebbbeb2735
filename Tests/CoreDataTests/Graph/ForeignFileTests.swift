import CoreData
import Foundation
import TestSupport
import Testing

@testable import SQLiteBackend

/// Files that differ from those of this library: their content is found, used and kept.
@Suite struct ForeignFileTests {
  /// A store in a new folder, opened and closed for each piece of work.
  struct ForeignStore {
    let url: URL

    init() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "foreign-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      url = folder.appending(path: "store.sqlite")
    }

    func remove() { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }

    @discardableResult func use<R>(
      _ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil,
      _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      let result = try context.performAndWait { try body(context) }
      try coordinator.remove(store)
      return result
    }

    func execute(_ sql: String) throws { try SQLiteConnection(url.path, .readWrite, timeout: 1).execute(sql) }

    func rows(_ sql: String) throws -> [String] {
      let connection = try SQLiteConnection(url.path, .readOnly, timeout: 1)
      let statement = try connection.prepare(sql)
      var rows: [String] = []
      while try statement.step() { rows.append(statement.string(0) ?? "NULL") }
      withExtendedLifetime(connection) {}
      return rows
    }
  }

  /// `Shape` with the sub-entity `Circle`, and `Page`, whose shapes are ordered and whose favourite is any shape.
  private func model() -> NSManagedObjectModel {
    let shape = Describing.entity(
      "Shape", [Describing.attribute("name"), Describing.attribute("x", .double), Describing.attribute("y", .double)])
    let circle = Describing.entity("Circle", [Describing.attribute("radius", .double)])
    shape.subentities = [circle]
    let page = Describing.entity("Page", [Describing.attribute("title")])
    Describing.relate(page, "shapes", toMany: true, shape, "page", toManyBack: false)
    Describing.relate(page, "favourite", toMany: false, shape, "fans", toManyBack: true)
    Describing.relate(page, "tags", toMany: true, shape, "tagged", toManyBack: true)
    page.relationshipsByName["shapes"]?.isOrdered = true
    return Describing.model([shape, circle, page])
  }

  private func fill(_ context: NSManagedObjectContext) throws {
    let page = NSEntityDescription.insertNewObject(forEntityName: "Page", into: context)
    page.setValue("one", forKey: "title")
    let shapes = (0..<3).map { number in
      let shape = NSEntityDescription.insertNewObject(forEntityName: number == 1 ? "Circle" : "Shape", into: context)
      shape.setValue("s\(number)", forKey: "name")
      shape.setValue(Double(number), forKey: "x")
      shape.setValue(Double(number) * 2, forKey: "y")
      return shape
    }
    page.setValue(NSOrderedSet(array: shapes), forKey: "shapes")
    page.setValue(shapes[1], forKey: "favourite")
    page.setValue(NSSet(array: shapes), forKey: "tags")
    try context.save()
  }

  private func look(_ context: NSManagedObjectContext) throws {
    let page = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Page")).first)
    let shapes = try #require(page.value(forKey: "shapes") as? NSOrderedSet)
    let names = shapes.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
    #expect(names == ["s0", "s1", "s2"])
    #expect((page.value(forKey: "favourite") as? NSManagedObject)?.entity.name == "Circle")
    #expect((page.value(forKey: "tags") as? Set<NSManagedObject>)?.count == 3)
  }

  @Test func columnsWithAFormerEntityNumberAreFound() throws {
    let location = try ForeignStore()
    defer { location.remove() }
    try location.use(model(), fill)
    #expect(try location.rows("SELECT name FROM pragma_table_info('ZPAGE')").contains("Z2_FAVOURITE"))
    try location.execute("ALTER TABLE ZPAGE RENAME COLUMN Z2_FAVOURITE TO Z7_FAVOURITE")
    try location.use(model(), look)
    // If two columns could be the one, neither is used.
    try location.execute("ALTER TABLE ZPAGE ADD COLUMN Z8_FAVOURITE INTEGER")
    let error = #expect(throws: CocoaError.self) { try location.use(model(), look) }
    #expect(error?.localizedDescription.contains("Z2_FAVOURITE") == true)
  }

  @Test func formerNamesAreFound() throws {
    let location = try ForeignStore()
    defer { location.remove() }
    try location.use(model(), fill)
    try location.execute(
      """
      ALTER TABLE ZSHAPE RENAME TO ZFIGURE; ALTER TABLE ZPAGE RENAME COLUMN ZTITLE TO ZHEADING;
      UPDATE Z_PRIMARYKEY SET Z_NAME = 'Figure' WHERE Z_NAME = 'Shape'
      """)
    let renamed = model()
    renamed.entitiesByName["Shape"]?.renamingIdentifier = "Figure"
    renamed.entitiesByName["Page"]?.attributesByName["title"]?.renamingIdentifier = "heading"
    try location.use(renamed) { context in
      try look(context)
      let page = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Page")).first)
      #expect(page.value(forKey: "title") as? String == "one")
      page.setValue("two", forKey: "title")
      _ = NSEntityDescription.insertNewObject(forEntityName: "Circle", into: context)
      try context.save()
    }
    #expect(try location.rows("SELECT ZHEADING FROM ZPAGE") == ["two"])
    #expect(try location.rows("SELECT count(*) FROM ZFIGURE") == ["4"])
    #expect(throws: CocoaError.self) { try location.use(model(), look) }
  }

  @Test func aJoinTableIsFoundUnderEitherName() throws {
    let location = try ForeignStore()
    defer { location.remove() }
    try location.use(model(), fill)
    let name = try #require(
      try location.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'").first)
    try location.execute("ALTER TABLE \(name) RENAME TO \(name == "Z_1TAGS" ? "Z_2TAGGED" : "Z_1TAGS")")
    try location.use(model(), look)
  }

  @Test func whatTheModelDoesNotKnowStays() throws {
    let location = try ForeignStore()
    defer { location.remove() }
    try location.use(model()) { context in
      try fill(context)
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
      store.metadata["mine"] = ["a": 1, "b": Data([1, 2])]
      try context.save()
    }
    try location.execute(
      """
      CREATE TABLE OTHERS (A, B BLOB); INSERT INTO OTHERS VALUES (1.5, x'00ff'); ALTER TABLE ZPAGE ADD COLUMN ZLATER TEXT;
      UPDATE ZPAGE SET ZLATER = 'kept'; CREATE INDEX mine ON ZPAGE (ZLATER); DROP TABLE Z_MODELCACHE
      """)
    try location.use(model()) { context in
      let page = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Page")).first)
      page.setValue("changed", forKey: "title")
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
      store.metadata["other"] = "x"
      try context.save()
      #expect((store.metadata["mine"] as? [String: Any])?["b"] as? Data == Data([1, 2]))
    }
    #expect(try location.rows("SELECT ZLATER || ZTITLE FROM ZPAGE") == ["keptchanged"])
    #expect(try location.rows("SELECT hex(B) || A FROM OTHERS") == ["00FF1.5"])
    #expect(try location.rows("SELECT name FROM sqlite_master WHERE name = 'mine'") == ["mine"])
  }

  @Test func aRollbackJournalStaysUnlessSomethingElseIsRequested() throws {
    let location = try ForeignStore()
    defer { location.remove() }
    try location.use(model(), options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]], fill)
    func mode() throws -> [UInt8] { Array(try Data(contentsOf: location.url)[18..<20]) }
    #expect(try mode() == [1, 1])
    try location.use(model()) { context in
      try look(context)
      _ = NSEntityDescription.insertNewObject(forEntityName: "Circle", into: context)
      try context.save()
    }
    #expect(try mode() == [1, 1])
    try location.use(model(), options: [NSSQLitePragmasOption: ["journal_mode": "WAL"]], look)
    #expect(try mode() == [2, 2])
  }

  /// A file of another model, or of none, is not changed in any byte, whatever options it is opened with.
  @Test func whatCannotBeOpenedIsNotTouched() throws {
    let location = try ForeignStore()
    defer { location.remove() }
    try location.use(model(), fill)
    // The state that a killed process leaves: all rows are in the log.
    let left = location.url.deletingLastPathComponent().appending(path: "left")
    try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
    let writer = try SQLiteConnection(location.url.path, .readWrite, timeout: 1)
    try writer.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE ZPAGE SET ZTITLE = 'logged'")
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: location.url.path + suffix, toPath: left.appending(path: "store.sqlite" + suffix).path)
    }
    let before = try traces(of: left)
    let other = Describing.model([Describing.entity("Else", [Describing.attribute("name")])])
    for options: [AnyHashable: Any] in [
      [:], [NSReadOnlyPersistentStoreOption: true], [NSSQLiteManualVacuumOption: true],
      [NSPersistentHistoryTrackingKey: true], [NSSQLitePragmasOption: ["journal_mode": "DELETE"]],
    ] {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: other)
      let error = #expect(throws: CocoaError.self) {
        try coordinator.addPersistentStore(type: .sqlite, at: left.appending(path: "store.sqlite"), options: options)
      }
      #expect(error?.code == .persistentStoreIncompatibleVersionHash)
      #expect(try traces(of: left) == before)
    }
  }

  @Test func aReadOnlyStoreSeesWhatOthersSaveAndLeavesNoTrace() throws {
    let location = try ForeignStore()
    defer { location.remove() }
    try location.use(model(), fill)
    let before = try traces(of: location.url.deletingLastPathComponent())
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    try coordinator.addPersistentStore(
      type: .sqlite, at: location.url, options: [NSReadOnlyPersistentStoreOption: true])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let count = {
      try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Shape")) }
    }
    #expect(try count() == 3)
    #expect(try traces(of: location.url.deletingLastPathComponent()) == before)
    try location.use(model()) { context in
      _ = NSEntityDescription.insertNewObject(forEntityName: "Circle", into: context)
      try context.save()
      #expect(try count() == 4)
    }
    #expect(try count() == 4)
    #expect(throws: CocoaError.self) {
      try context.performAndWait {
        _ = NSEntityDescription.insertNewObject(forEntityName: "Circle", into: context)
        try context.save()
      }
    }
  }

  @Test func rTreesFollowTheirObjects() throws {
    let location = try ForeignStore()
    defer { location.remove() }
    let model = {
      let model = self.model()
      let shape = model.entitiesByName["Shape"] ?? NSEntityDescription()
      let elements = ["x", "y"].compactMap { name in
        shape.attributesByName[name].map { NSFetchIndexElementDescription(property: $0, collationType: .rTree) }
      }
      shape.indexes = [NSFetchIndexDescription(name: "place", elements: elements)]
      return model
    }
    let locations = "SELECT Z_PK || ' ' || ZX_MIN || ' ' || ZX_MAX || ' ' || ZY_MIN FROM Z_RT_Shape_place ORDER BY Z_PK"
    try location.use(model(), fill)
    #expect(try location.rows(locations) == ["1 0.0 0.0 0.0", "2 1.0 1.0 2.0", "3 2.0 2.0 4.0"])
    try location.use(model()) { context in
      try look(context)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Shape")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let shapes = try context.fetch(request)
      shapes[0].setValue(nil, forKey: "x")
      shapes[1].setValue(9.0, forKey: "y")
      context.delete(shapes[2])
      let page = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Page")).first)
      page.setValue("no shape", forKey: "title")
      try context.save()
    }
    #expect(try location.rows(locations) == ["2 1.0 1.0 9.0"])
    #expect(try location.rows("PRAGMA integrity_check") == ["ok"])
  }

  /// A journal with the first page of a database, as a crash leaves it: 512 bytes of header, then a page with its
  /// number and checksum ([the format](https://www.sqlite.org/fileformat.html#the_rollback_journal)).
  private func journal(_ page: Data, pages: UInt32) -> Data {
    func number(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }
    let magic = Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
    var data = magic + number(1) + number(7) + number(pages) + number(512) + number(UInt32(page.count))
    data += Data(count: 512 - data.count)
    let sum = stride(from: page.count - 200, to: 0, by: -200).reduce(UInt32(7)) { $0 &+ UInt32(page[$1]) }
    return data + number(1) + page + number(sum)
  }

  /// SQLite applies a journal beside a database when it opens the database. That must only restore the database's own
  /// pages.
  @Test func aJournalThatWasLeftBehindIsRolledBackWhereItIsTheStoresOwn() throws {
    let location = try ForeignStore()
    defer { location.remove() }
    try location.use(model(), options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]], fill)
    let path = URL(filePath: location.url.path + "-journal")
    let whole = try Data(contentsOf: location.url)
    let first = whole.prefix(4096)
    let pages = UInt32(whole.count / 4096)

    // A name in the header of the lost page shows whether the page was restored.
    var torn = whole
    torn.replaceSubrange(20..<100, with: Data(count: 80))
    try torn.write(to: location.url)
    try journal(first, pages: pages).write(to: path)
    let readOnly = [NSReadOnlyPersistentStoreOption: true]
    let count = try location.use(model(), options: readOnly) {
      try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Page"))
    }
    #expect(count > 0)
    #expect(try Data(contentsOf: location.url) == torn)

    let victim = location.url.deletingLastPathComponent().appending(path: "victim")
    let name = Data(victim.path.utf8)
    func number(_ value: Int) -> Data { withUnsafeBytes(of: UInt32(value).bigEndian) { Data($0) } }
    let foreign =
      number((1 << 30) / 4096 + 1) + name + number(name.count) + number(name.reduce(0) { $0 + Int($1) })
      + journal(first, pages: 1).prefix(8)
    var absurd = journal(first, pages: .max)
    absurd.replaceSubrange(24..<28, with: Data(repeating: 0xFF, count: 4))
    for bad in [journal(first, pages: pages) + foreign, journal(first, pages: .max), absurd] {
      try Data("mine".utf8).write(to: victim)
      try bad.write(to: path)
      for options in [nil, readOnly] {
        let error = #expect(throws: (any Error).self) { try location.use(model(), options: options) { _ in } }
        #expect("\(String(describing: error))".contains("rollback journal"))
      }
      #expect(try Data(contentsOf: location.url) == torn)
      #expect(try Data(contentsOf: path) == bad)
      #expect(try Data(contentsOf: victim) == Data("mine".utf8))
    }
  }

  /// SQLite copies into a database with another page size unless that database uses a write-ahead log.
  @Test func aStoreWithPagesOfAnotherSizeIsReplacedOrStays() throws {
    let (source, target) = (try ForeignStore(), try ForeignStore())
    defer { for location in [source, target] { location.remove() } }
    try source.use(model(), fill)
    try target.use(model()) { _ in }
    try target.execute("PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; PRAGMA journal_mode = WAL")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    func replace() throws {
      try coordinator.replacePersistentStore(at: target.url, withPersistentStoreFrom: source.url, type: .sqlite)
    }
    let bytes = try Data(contentsOf: target.url)
    let error = #expect(throws: (any Error).self) { try replace() }
    #expect("\(String(describing: error))".contains("pages of another size"))
    #expect(try Data(contentsOf: target.url) == bytes)
    try target.execute("PRAGMA journal_mode = DELETE")
    try replace()
    try target.use(model(), look)
  }
}
