import CoreData
import Foundation
import StoreProtocol
import Testing

@testable import SQLiteBackend

/// SQLite stores that are open while their file is removed, or replaced by another store.
@Suite struct ReplacedStoreTests {
  /// A folder with stores, each opened by a separate coordinator.
  private final class World {
    let folder: URL
    var url: URL { folder.appending(path: "store.sqlite") }

    init() throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "replaced-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func file(_ name: String) -> URL { folder.appending(path: name) }
    var names: [String] {
      get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    /// Makes a store at another URL, with the same UUID or a new one, and with one person.
    func make(_ name: String, _ person: String) throws -> URL {
      let opened = try Opened(file(name))
      try opened.save(person)
      try opened.close()
      return file(name)
    }
  }

  private final class Opened {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let context = NSManagedObjectContext(.privateQueue)
    let store: NSPersistentStore

    init(_ url: URL, journal: String? = nil) throws {
      let options = journal.map { [NSSQLitePragmasOption: ["journal_mode": $0]] as [AnyHashable: Any] }
      store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
      context.persistentStoreCoordinator = coordinator
    }

    func save(_ name: String) throws {
      try context.performAndWait {
        Person(context: context).name = name
        try context.save()
      }
    }

    var names: [String] {
      get throws {
        try context.performAndWait {
          context.reset()
          return try context.all(Person.self).compactMap(\.name).sorted()
        }
      }
    }

    func close() throws { try coordinator.remove(store) }

    /// Checks that neither reading nor saving is possible, and that both errors say why.
    func expectReplaced(_ what: Comment) {
      for error in [
        #expect(throws: CocoaError.self, what) { try save("lost") },
        #expect(throws: CocoaError.self, what) { _ = try names },
      ] {
        #expect(error?.code == .persistentStoreOperation, what)
        let cause = error?.userInfo[NSUnderlyingErrorKey] as? StoreError
        #expect(cause?.code == .replaced && cause?.outcome == .notSaved, what)
        #expect(error?.localizedDescription.contains("Remove the store from its coordinator") == true, what)
      }
    }
  }

  private let other = NSPersistentStoreCoordinator(managedObjectModel: Company.model())

  private func expectContent(_ url: URL, _ names: [String], _ what: Comment) throws {
    let opened = try Opened(url)
    #expect(try opened.names == names, what)
    try opened.close()
  }

  @Test(arguments: ["WAL", "DELETE"]) func aStoreThatIsDestroyedWhileItIsOpenSavesNothing(_ journal: String) throws {
    let world = try World()
    let opened = try Opened(world.url, journal: journal)
    try opened.save("a")
    #expect(try opened.names == ["a"])
    try other.destroyPersistentStore(at: world.url, type: .sqlite)
    #expect(try world.names == ["store.sqlite"] && Data(contentsOf: world.url).isEmpty)
    opened.expectReplaced("destroyed")
    // Another store at the same URL does not affect the first one.
    let next = try Opened(world.url)
    try next.save("next")
    opened.expectReplaced("made anew")
    try opened.close()
    #expect(try next.names == ["next"])
    try next.save("later")
    try next.close()
    try expectContent(world.url, ["later", "next"], "at the end")
    #expect(try world.names == ["store.sqlite"])
  }

  /// The copy has the same UUID as the store, or another one.
  @Test(arguments: [true, false]) func aStoreThatIsReplacedWhileItIsOpenSavesNothing(_ isSame: Bool) throws {
    let world = try World()
    let opened = try Opened(world.url)
    try opened.save("a")
    let source = world.file("source.sqlite")
    if isSame {
      try other.replacePersistentStore(at: source, withPersistentStoreFrom: world.url, type: .sqlite)
    } else {
      _ = try world.make("source.sqlite", "a")
    }
    try opened.save("b")
    let twin = try Opened(world.url)
    #expect(try twin.names == ["a", "b"])
    try other.replacePersistentStore(at: world.url, withPersistentStoreFrom: source, type: .sqlite)
    opened.expectReplaced("replaced")
    twin.expectReplaced("replaced, another coordinator")
    try opened.close()
    try expectContent(world.url, ["a"], "while the twin is open")
    try twin.close()
    try expectContent(world.url, ["a"], "at the end")
    try other.destroyPersistentStore(at: source, type: .sqlite)
    #expect(try world.names == ["source.sqlite", "store.sqlite"] && Data(contentsOf: source).isEmpty)
  }

  /// A view that is held does not prevent the replacement, and still shows its state.
  @Test(arguments: [true, false]) func viewsAreNotInTheWay(_ isKilled: Bool) throws {
    let world = try World()
    let opened = try Opened(world.url)
    try opened.save("a")
    let source = try world.make("source.sqlite", "new")
    let reader = try SQLiteConnection(world.url.path, .readWrite, timeout: 1)
    try reader.execute("BEGIN")
    #expect(try reader.text("SELECT ZNAME FROM ZPERSON") == "a")
    let begun = Date()
    try other.replacePersistentStore(at: world.url, withPersistentStoreFrom: source, type: .sqlite)
    #expect(Date().timeIntervalSince(begun) < 20)
    #expect(try reader.text("SELECT ZNAME FROM ZPERSON") == "a")
    opened.expectReplaced("replaced")
    if isKilled {
      // The files as a killed process leaves them: the copied content is only in the log.
      let left = world.file("left.sqlite")
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: world.url.path + suffix, toPath: left.path + suffix)
      }
      try expectContent(left, ["new"], "left by a killed process")
    }
    try reader.execute("COMMIT")
    try opened.close()
    try expectContent(world.url, ["new"], "at the end")
  }

  /// A file is moved over the store's file: an earlier copy of it, with the same UUID.
  @Test(arguments: [true, false]) func aFileThatIsMovedOverAnOpenStoreStaysAsItIs(_ isOpenedBefore: Bool) throws {
    let world = try World()
    let opened = try Opened(world.url)
    try opened.save("a")
    let backup = world.file("backup.sqlite")
    try other.replacePersistentStore(at: backup, withPersistentStoreFrom: world.url, type: .sqlite)
    try opened.save("b")
    #expect(rename(backup.path, world.url.path) == 0)
    opened.expectReplaced("moved over")
    if isOpenedBefore {
      let next = try Opened(world.url)
      #expect(try next.names == ["a"])
      try next.save("c")
      try opened.close()
      try next.save("d")
      try next.close()
      try expectContent(world.url, ["a", "c", "d"], "at the end")
    } else {
      try opened.close()
      #expect(try world.names == ["store.sqlite"], "no log of the former file is left")
      try expectContent(world.url, ["a"], "at the end")
    }
    #expect(try world.names == ["store.sqlite"])
  }

  @Test func aFileThatIsRemovedByHandIsNotMadeAgain() throws {
    let world = try World()
    let opened = try Opened(world.url)
    try opened.save("a")
    try FileManager.default.removeItem(at: world.url)
    opened.expectReplaced("removed")
    try opened.close()
    #expect(try world.names == [])
  }

  /// As another process does that replaces the store in place.
  @Test func anotherUUIDInTheSameFileIsAnotherStore() throws {
    let world = try World()
    let opened = try Opened(world.url)
    try opened.save("a")
    #expect(try opened.names == ["a"])
    let other = try SQLiteConnection(world.url.path, .readWrite, timeout: 1)
    try other.execute("UPDATE Z_METADATA SET Z_UUID = '\(UUID().uuidString)'")
    opened.expectReplaced("another UUID")
    try opened.close()
    try expectContent(world.url, ["a"], "at the end")
  }

  /// Only a running commit makes a removal or a replacement wait.
  @Test(arguments: ["WAL", "DELETE"]) func aRunningCommitIsWaitedFor(_ journal: String) throws {
    let world = try World()
    let opened = try Opened(world.url, journal: journal)
    try opened.save("a")
    let source = try world.make("source.sqlite", "new")
    let writer = try SQLiteConnection(world.url.path, .readWrite, timeout: 1)
    try writer.execute("BEGIN IMMEDIATE; UPDATE ZPERSON SET ZNAME = 'b'")
    let options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.1]
    let refusals = [
      #expect(throws: CocoaError.self) {
        try other.destroyPersistentStore(at: world.url, type: .sqlite, options: options)
      },
      #expect(throws: CocoaError.self) {
        try other.replacePersistentStore(
          at: world.url, destinationOptions: options, withPersistentStoreFrom: source, type: .sqlite)
      },
    ]
    for error in refusals {
      #expect((error?.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == .busy)
    }
    try writer.execute("COMMIT")
    #expect(try opened.names == ["b"])
    try opened.save("c")
    try other.destroyPersistentStore(at: world.url, type: .sqlite, options: options)
    opened.expectReplaced("destroyed")
  }
}
