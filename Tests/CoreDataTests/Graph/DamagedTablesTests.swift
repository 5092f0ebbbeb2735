import CoreData
import Foundation
import StoreProtocol
import StoreSupport
import TestSupport
import Testing

@testable import SQLiteBackend

/// What is salvaged from an SQLite store with missing or wrong tables.
@Suite struct DamagedTablesTests {
  private static func model() -> NSManagedObjectModel {
    let note = Describing.entity("Note", [Describing.attribute("name"), Describing.attribute("x", .double)])
    return Describing.model([note, Describing.entity("Other", [Describing.attribute("name")])])
  }

  /// A table with endless rows.
  private static let endless = "AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"

  @Test(arguments: [
    ("ALTER TABLE ZNOTE RENAME COLUMN ZNAME TO ZNAMX", "nil:3 0.5:3", "ZNAME"),
    ("ALTER TABLE ZNOTE RENAME TO X; CREATE VIEW ZNOTE \(endless) SELECT x AS Z_PK, 1 AS Z_ENT FROM c", "", "ZNOTE"),
    (
      "ALTER TABLE Z_METADATA RENAME TO X; CREATE VIEW Z_METADATA \(endless) SELECT x AS Z_VERSION FROM c",
      "name:3 0.5:3", "Z_METADATA"
    ),
    (
      "ALTER TABLE Z_PRIMARYKEY RENAME TO X; CREATE VIEW Z_PRIMARYKEY \(endless) SELECT x AS Z_ENT, x AS Z_NAME FROM c",
      "name:3 0.5:3", "Z_PRIMARYKEY"
    ),
    ("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Othar' WHERE Z_NAME = 'Other'", "name:3 0.5:3", "Other"),
    ("DROP TABLE ZOTHER", "name:3 0.5:3", "ZOTHER"),
    ("UPDATE ZNOTE SET ZNAME = zeroblob(100)", "nil:3 0.5:3", "ZNAME"),
  ])
  func whatIsMissingIsReportedAndTheRestIsThere(_ damage: String, _ expected: String, _ reported: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "damaged-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (url, copy) = (folder.appending(path: "store.sqlite"), folder.appending(path: "copy.xml"))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for _ in 0..<3 {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValue("name", forKey: "name")
        note.setValue(0.5, forKey: "x")
      }
      try context.save()
    }
    try coordinator.remove(store)
    let connection = try SQLiteConnection(url.path, .readWrite, timeout: 1)
    try connection.execute(damage)

    var losses: [StoreFinding] = []
    _ = try coordinator.writeSalvage(
      ofStoreAt: url, ofType: NSSQLiteStoreType, to: copy, ofType: NSXMLStoreType, lost: { losses.append($0) },
      progress: {})
    #expect(losses.contains { "\($0.text) \($0.property ?? "") \($0.entity ?? "")".contains(reported) }, "\(losses)")
    try coordinator.addPersistentStore(type: .xml, at: copy)
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = coordinator
    try other.performAndWait {
      let notes = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
      let names = Dictionary(grouping: notes) { $0.value(forKey: "name") as? String ?? "nil" }
      let numbers = Dictionary(grouping: notes) { "\($0.value(forKey: "x") ?? "nil")" }
      let found = (names.mapValues(\.count).map { "\($0):\($1)" } + numbers.mapValues(\.count).map { "\($0):\($1)" })
      #expect(found.joined(separator: " ") == expected)
    }
  }

  /// The identifier is in the URI of each object, by which the object is found again.
  @Test(arguments: ["a b", "%41", "ü/é?#", "[x]", "", "char(1)", "char(0)", "x'01FF'"])
  func anIdentifierMayBeAnyText(_ identifier: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "identified-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "store.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    try coordinator.remove(try coordinator.addPersistentStore(type: .sqlite, at: url))
    let text = identifier.contains("'") || identifier.contains("(") ? identifier : "'\(identifier)'"
    try SQLiteConnection(url.path, .readWrite, timeout: 1).execute("UPDATE Z_METADATA SET Z_UUID = \(text)")
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let notes = (0..<2).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Note", into: context) }
      try context.save()
      for note in notes {
        let uri = note.objectID.uriRepresentation()
        #expect(coordinator.managedObjectID(forURIRepresentation: uri) == note.objectID, "\(uri)")
      }
    }
  }
}
