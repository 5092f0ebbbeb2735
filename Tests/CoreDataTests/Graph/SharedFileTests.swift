import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import SQLiteBackend

/// Files that several coordinators or processes use.
@Suite struct SharedFileTests {
  #if os(Linux)

    /// Closing a descriptor that was opened beside SQLite releases all locks of the process on the file.
    @Test func nothingTakesAwayTheLocksOfAnOpenStore() throws {
      let company = try CompanyStore()
      try company.run { (context) throws in
        Person(context: context).name = "Ada"
        try context.save()
      }
      let held = try ProcessLocks.on(company.url).count
      #expect(held > 0)
      _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: company.url)
      #expect(try ProcessLocks.on(company.url).count == held)
      let copy = company.url.deletingLastPathComponent().appending(path: "copy.sqlite")
      try company.coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: company.url, type: .sqlite)
      #expect(try ProcessLocks.on(company.url).count == held)
      let second = try company.reopened()
      try second.coordinator.remove(second.store)
      #expect(try ProcessLocks.on(company.url).count == held)
      // Makes the mistake itself, to prove that this test notices it.
      _ = try Data(contentsOf: company.url)
      #expect(try ProcessLocks.on(company.url).count == 0)
    }

    @Test func metadataReadThroughASymbolicLinkLeavesTheLocks() throws {
      let company = try CompanyStore()
      try company.run { (context) throws in
        Person(context: context).name = "Ada"
        try context.save()
      }
      let link = company.url.deletingLastPathComponent().appending(path: "link.sqlite")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: company.url)
      let held = try ProcessLocks.on(company.url).count
      #expect(held > 0)
      _ = try? NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: link)
      #expect(try ProcessLocks.on(company.url).count == held)
    }
  #endif

  /// Whether another process can begin to write to a database.
  private func anotherProcessCanWrite(_ url: URL) throws -> Bool {
    let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
    let run = try ToolRun(["python3", "-c", script, url.path], program: URL(filePath: "/usr/bin/env"))
    #expect(run.status == 0 || run.errors.contains("database is locked"), "\(run.errors)")
    return run.status == 0
  }

  /// In rollback mode all locks are on the database file itself.
  @Test(arguments: ["DELETE", "WAL"]) func anotherProcessCannotWriteBesideAnOpenTransaction(_ mode: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "two-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "store.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: url, options: [NSSQLitePragmasOption: ["journal_mode": mode]])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      Person(context: context).name = "Ada"
      try context.save()
    }
    let writer = try SQLiteConnection(url.path, .readWrite, timeout: 0)
    try writer.execute("BEGIN IMMEDIATE")
    #expect(try !anotherProcessCanWrite(url))
    // All functions that read the file beside SQLite.
    _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
    _ = try NSPersistentStoreCoordinator.cachedModel(forPersistentStoreAt: url)
    _ = try NSPersistentStoreCoordinator.inferredModel(forPersistentStoreAt: url)
    let copy = folder.appending(path: "copy.sqlite")
    try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: url, type: .sqlite)
    let second = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    try second.remove(
      try second.addPersistentStore(type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true]))
    #expect(try !anotherProcessCanWrite(url))
    // Makes the mistake itself, to prove that this test notices it.
    if mode == "DELETE" {
      _ = try Data(contentsOf: url)
      #expect(try anotherProcessCanWrite(url))
    }
    try writer.execute("ROLLBACK")
    try coordinator.remove(store)
  }

  @Test func storesOpenedForTheFirstTimeAtOnceAreOne() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "first-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for round in 0..<5 {
      let url = folder.appending(path: "\(round).sqlite")
      let identifiers = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<6 {
          group.addTask {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
            let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
            defer { try? coordinator.remove(store) }
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
              Person(context: context).name = "Ada"
              try context.save()
            }
            return store.identifier
          }
        }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(identifiers.count == 1)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
      let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      #expect(try context.performAndWait { try context.count(for: NSFetchRequest<Person>(entityName: "Person")) } == 6)
      try coordinator.remove(store)
    }
  }

  @Test func aLogThatWasLeftBehindIsReadWithoutATrace() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Person(context: context).name = "Ada"
      try context.save()
    }
    // The files that a killed process leaves: the log contains the rows, and there is no shared memory.
    let left = company.url.deletingLastPathComponent().appending(path: "left.sqlite")
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: company.url.path + suffix, toPath: left.path + suffix)
    }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: left)
    #expect(metadata[NSStoreUUIDKey] as? String == company.store.identifier)
    #expect(!FileManager.default.fileExists(atPath: left.path + "-shm"))
    let restored = company.url.deletingLastPathComponent().appending(path: "restored.sqlite")
    try company.coordinator.replacePersistentStore(at: restored, withPersistentStoreFrom: left, type: .sqlite)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    try coordinator.addPersistentStore(type: .sqlite, at: restored)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    #expect(try context.performAndWait { try context.all(Person.self).map(\.name) } == ["Ada"])
  }

  /// A database that is not in WAL mode has no shared memory to show that another process has it open.
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3")))
  func aCopyDoesNotReadWhatAnotherProcessHasNotCommitted() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "review-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (url, copy) = (folder.appending(path: "a.sqlite"), folder.appending(path: "copy.sqlite"))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: url, options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for index in 0..<3000 { Person(context: context).name = "old \(index)" }
      try context.save()
    }
    try coordinator.remove(store)

    let other = Process()
    other.executableURL = URL(filePath: "/usr/bin/sqlite3")
    other.arguments = ["-batch", url.path]
    let (input, output) = (Pipe(), Pipe())
    (other.standardInput, other.standardOutput) = (input, output)
    try other.run()
    defer {
      try? input.fileHandleForWriting.close()
      other.waitUntilExit()
    }
    let commands = """
      PRAGMA journal_mode = MEMORY; PRAGMA cache_size = 5;
      BEGIN EXCLUSIVE; UPDATE ZPERSON SET ZNAME = 'uncommitted'; SELECT 'ready';

      """
    try input.fileHandleForWriting.write(contentsOf: Data(commands.utf8))
    #expect(output.text { $0.contains("ready") }.contains("ready"))
    var count = 0
    do {
      try coordinator.replacePersistentStore(
        at: copy, destinationOptions: [NSPersistentStoreTimeoutOption: 0.2], withPersistentStoreFrom: url, type: .sqlite
      )
      let reader = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
      try reader.addPersistentStore(type: .sqlite, at: copy)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = reader
      count = try context.performAndWait { try context.all(Person.self, "name == 'uncommitted'").count }
    } catch { /* Refusing to copy is right. */  }
    #expect(count == 0)
  }

  @Test func aCopyThroughASymbolicLinkHasWhatIsInTheLog() throws {
    let company = try CompanyStore()
    let folder = company.url.deletingLastPathComponent()
    let (link, copy) = (folder.appending(path: "link.sqlite"), folder.appending(path: "copy.sqlite"))
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: company.url)
    try company.run { (context) throws in
      Person(context: context).name = "Ada"
      try context.save()
    }
    try company.coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: link, type: .sqlite)
    let other = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    try other.addPersistentStore(type: .sqlite, at: copy)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = other
    let count = try context.performAndWait { try context.all(Person.self).count }
    #expect(count == 1)
  }
}
