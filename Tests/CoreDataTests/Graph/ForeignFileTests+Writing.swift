import CoreData
import Foundation
import TestSupport
import Testing

@testable import SQLiteBackend

/// The effects of a foreign file on writes, and what opening one reads.
extension ForeignFileTests {
  // MARK: Clauses for conflicts

  /// Changes the statement that a table was made with, as a program can do that uses SQLite's writable schema.
  private func change(_ location: ForeignStore, _ table: String, _ text: String, to other: String) throws {
    let connection = try SQLiteConnection(location.url.path, .readWrite, timeout: 1)
    try connection.readDamaged()
    try connection.execute("UPDATE sqlite_master SET sql = replace(sql, '\(text)', '\(other)') WHERE name = '\(table)'")
    #expect(connection.changedRows == 1)
  }

  private func item() -> NSManagedObjectModel {
    Describing.model([Describing.entity("Item", [Describing.attribute("name")])])
  }

  @Test(arguments: [
    "VARCHAR NOT NULL ON CONFLICT IGNORE", "VARCHAR UNIQUE ON CONFLICT REPLACE",
    "VARCHAR NOT NULL on  conflict Rollback",
    "VARCHAR CONSTRAINT c NOT NULL ON CONFLICT FAIL", "VARCHAR NOT NULL ON /* \" */ CONFLICT IGNORE",
    "VARCHAR -- \"\n NOT NULL ON CONFLICT IGNORE", "VARCHAR UNIQUE /*/ -- \"*/ ON CONFLICT REPLACE",
  ])
  func aTableThatSkipsOrReplacesRowsIsOnlyRead(_ clause: String) throws {
    let location = try ForeignStore()
    defer { location.remove() }
    try location.use(item()) { context in
      NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue("a", forKey: "name")
      try context.save()
    }
    // SQLite makes the index of UNIQUE with the table; a missing one would count as damage.
    if clause.contains("UNIQUE") {
      let connection = try SQLiteConnection(location.url.path, .readWrite, timeout: 1)
      try connection.execute(
        """
        CREATE TABLE other ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME \(clause) );
        INSERT INTO other SELECT * FROM ZITEM; DROP TABLE ZITEM; ALTER TABLE other RENAME TO ZITEM
        """)
    } else {
      try change(location, "ZITEM", "VARCHAR", to: clause)
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: item())
    let store = try coordinator.addPersistentStore(type: .sqlite, at: location.url)
    #expect(store.isReadOnly)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
      #expect(items.count == 1)
      _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.localizedDescription.contains("ON CONFLICT") == true)
    }
    try coordinator.remove(store)
  }

  @Test func conflictsThatFailAreNoMatter() throws {
    let location = try ForeignStore()
    defer { location.remove() }
    try location.use(item()) { _ in }
    try change(location, "ZITEM", "VARCHAR", to: "VARCHAR NOT NULL ON CONFLICT ABORT")
    try location.use(item()) { context in
      let object = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      object.setValue("a", forKey: "name")
      try context.save()
      #expect(object.objectID.persistentStore?.isReadOnly == false)
    }
  }

  /// A table gets such a clause while the store is open: the save fails, and nothing of it is kept.
  @Test(arguments: ["ZITEM", "ZBOX"]) func aRowThatTheDatabaseDoesNotWriteIsNoSave(_ table: String) throws {
    let location = try ForeignStore()
    defer { location.remove() }
    let item = Describing.entity("Item", [Describing.attribute("name")])
    let box = Describing.entity("Box", [Describing.attribute("name")])
    try location.use(Describing.model([item, box])) { context in
      func insert(_ entity: String, _ name: String?) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
      }
      let box = insert("Box", "b")
      try context.save()
      let other = try SQLiteConnection(location.url.path, .readWrite, timeout: 1)
      try other.execute(
        """
        CREATE TABLE other ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR NOT NULL ON CONFLICT IGNORE );
        INSERT INTO other SELECT * FROM \(table); DROP TABLE \(table); ALTER TABLE other RENAME TO \(table)
        """)
      _ = insert("Item", table == "ZITEM" ? nil : "c")
      if table == "ZBOX" { box.setValue(nil, forKey: "name") }
      #expect(throws: CocoaError.self) { try context.save() }
      #expect(try other.integer("SELECT count(*) FROM ZITEM") == 0)
      #expect(try other.text("SELECT ZNAME FROM ZBOX") == "b")
      context.rollback()
    }
  }

  /// A trigger that is made while the store is open makes SQLite skip a row without an error. Only the number of
  /// written rows shows it: the save fails, and nothing of it is kept.
  @Test(arguments: ["INSERT", "UPDATE", "DELETE"]) func aRowThatATriggerSkipsIsNoSave(_ event: String) throws {
    let location = try ForeignStore()
    defer { location.remove() }
    func insert(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      object.setValue(name, forKey: "name")
      return object
    }
    let names = "SELECT ZNAME FROM ZITEM ORDER BY Z_PK"
    try location.use(item()) { context in
      let first = insert("first", context)
      try context.save()
      try location.execute("CREATE TRIGGER skips BEFORE \(event) ON ZITEM BEGIN SELECT RAISE(IGNORE); END")
      switch event {
      case "INSERT": _ = insert("second", context)
      case "UPDATE": first.setValue("second", forKey: "name")
      default: context.delete(first)
      }
      #expect(throws: CocoaError.self) { try context.save() }
      #expect(context.hasChanges)
      #expect(try location.rows(names) == ["first"])
      // Nothing is left that blocks the next save.
      try location.execute("DROP TRIGGER skips")
      try context.save()
    }
    let saved = ["INSERT": ["first", "second"], "UPDATE": ["second"], "DELETE": []]
    #expect(try location.rows(names) == saved[event])
  }

  /// Keys of the history are counted from the number in the file.
  @Test(arguments: ["CHANGE", "TRANSACTION", "TRANSACTIONSTRING"], [Int64.max, Int64.max - 1, Int64(-5)])
  func aHistoryWithoutKeysIsNoEndOfTheProgram(_ name: String, _ highest: Int64) throws {
    let location = try ForeignStore()
    defer { location.remove() }
    let tracked: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
    try location.use(item(), options: tracked) { (context) throws in
      _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      try context.save()
    }
    try location.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(highest) WHERE Z_NAME = '\(name)'")
    if name == "TRANSACTIONSTRING" { try location.execute("UPDATE ATRANSACTIONSTRING SET ZNAME = ZNAME || 'x'") }
    try location.use(item(), options: tracked) { context in
      for _ in 0..<3 { _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context) }
      #expect(throws: CocoaError.self) { try context.save() }
      context.rollback()
    }
    #expect(try location.rows("SELECT count(*) FROM ZITEM") == ["1"])
  }

  // MARK: Files read by opening

  #if os(Linux)
    /// The stores of this test, in the folder of the process with this number.
    private static func left(by process: pid_t) -> [URL] {
      let folder = FileManager.default.temporaryDirectory.appending(path: "left-\(process)")
      return ["with-memory.sqlite", "without-memory.sqlite"].map { folder.appending(path: $0) }
    }

    /// A store that a killed process has left is not copied, whichever process opens it and whether its shared memory
    /// exists. With OPENCOREDATA_GIGABYTE=1 the store has a gigabyte. The bytes and the time of each opening are
    /// printed.
    @Test func openingAfterAKillReadsTheLogAndNotTheStore() async throws {
      let stores = Self.left(by: getpid())
      let folder = stores[0].deletingLastPathComponent()
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      defer { try? FileManager.default.removeItem(at: folder) }
      let company = try CompanyStore()
      try company.run { (context) throws in
        for _ in 0..<(ProcessInfo.processInfo.environment["OPENCOREDATA_GIGABYTE"] == "1" ? 27 : 1) {
          for _ in 0..<200 { Person(context: context).name = String(repeating: "n", count: 200_000) }
          try context.save()
          context.reset()
        }
        try SQLiteConnection(company.url.path, .readWrite, timeout: 1).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        Person(context: context).name = "last"
        try context.save()
      }
      for (store, suffixes) in zip(stores, [["", "-wal", "-shm"], ["", "-wal"]]) {
        for suffix in suffixes {
          try FileManager.default.copyItem(atPath: company.url.path + suffix, toPath: store.path + suffix)
        }
      }
      let bytes = try FileManager.default.attributesOfItem(atPath: stores[0].path)[.size] as? NSNumber
      #expect(bytes?.intValue ?? 0 > 40_000_000)
      // In a separate process, which counts the bytes that it reads.
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
        func bytesRead() throws -> Int {
          let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
          let line = text.split(separator: "\n").first { $0.hasPrefix("rchar:") }
          return line.flatMap { Int($0.dropFirst(7)) } ?? 0
        }
        for url in ForeignFileTests.left(by: getppid()) {
          let before = try bytesRead()
          let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
          let start = ContinuousClock.now
          let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
          let time = ContinuousClock.now - start
          let read = try bytesRead() - before
          print("opening \(url.lastPathComponent) after a kill: \(read) bytes read, \(time)")
          precondition(read > 0 && read < 4_000_000, "opening \(url.lastPathComponent) read \(read) bytes")
          precondition(!store.isReadOnly)
          let context = NSManagedObjectContext(.privateQueue)
          context.persistentStoreCoordinator = coordinator
          try context.performAndWait {
            let found = try context.all(Person.self, "name == 'last'")
            precondition(found.count == 1)
            Person(context: context).name = "saved"
            try context.save()
          }
          try coordinator.remove(store)
        }
      }
      if let result {
        print("\(bytes?.intValue ?? 0) bytes; \(String(decoding: result.standardOutputContent, as: UTF8.self))")
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      #expect(names == ["with-memory.sqlite", "without-memory.sqlite"])
    }
  #endif
}
