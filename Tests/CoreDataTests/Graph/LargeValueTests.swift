import CSQLite
import CoreData
import Foundation
import StoreProtocol
import SQLEngine
import StoreSchema
import Testing

@testable import CoreData
@testable import SQLiteBackend

/// What SQLite does not take for a parameter is an error, and no NULL.
struct LargeValueTests {
  @Test func aValueThatIsTooLongIsRefused() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "large-\(UUID().uuidString)").path
    defer { for end in ["", "-journal"] { try? FileManager.default.removeItem(atPath: path + end) } }
    let connection = try SQLiteConnection(path, .readWriteCreate, timeout: 1)
    try connection.execute("CREATE TABLE t (x)")
    sqlite3_limit(connection.database, SQLITE_LIMIT_LENGTH, 1000)
    let insert = try connection.prepare("INSERT INTO t VALUES (?)")
    let builder = RowBuilder()
    for value in [Value.data(Data(repeating: 7, count: 1001)), .string(String(repeating: "x", count: 1001))] {
      insert.bind(value, at: 1)
      let error = #expect(throws: StoreError.self) { try insert.run() }
      #expect(error?.code == .invalidArgument)
      builder.begin(slots: 1)
      builder.set(0, value)
      let row = builder.finish(key: 1, entity: 0, version: 1)
      let kind: SlotKind = if case .data = value { .data } else { .string }
      insert.bind(row, [BoundColumn(slot: 0, kind: kind, column: 0)], from: 1, EntityNumbers([1]))
      #expect(throws: StoreError.self) { try insert.run() }
    }
    insert.bind(.string("y"), at: 1)
    try insert.run()
    #expect(try connection.integer("SELECT count(*) FROM t") == 1)
  }

  /// The offsets and lengths of a row have 31 bits. A program that gives an object more must be told, not ended
  /// (goal G16 of the specification's reliability). The limit is lowered here, so that no test needs 2 GiB.
  @Test func anObjectWithMoreBytesThanARowHasIsRefused() throws {
    let context = try Self.contextOfPhotos()
    try context.performAndWait {
      let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
      photo.setValue(Data(count: 2000), forKey: "bytes")
      context.core.builder = RowBuilder(limit: 1000)
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .coreData)
      #expect((error?.userInfo[NSUnderlyingErrorKey] as? StoreError)?.context["entity"] == "Photo")
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Photo")) == 1)
      photo.setValue(Data(count: 20), forKey: "bytes")
      try context.save()
      #expect(photo.value(forKey: "bytes") as? Data == Data(count: 20))
    }
  }

  /// The same of a file, which says how large its values are.
  @Test func aRowIsCheckedBeforeItEnds() throws {
    let schema = try Schema([EntityDefinition(name: "Photo")])
    let builder = RowBuilder(limit: 1000)
    builder.begin(slots: 1)
    builder.setString(0, String(repeating: "x", count: 1000))
    #expect(builder.isTooLarge)
    let error = #expect(throws: StoreError.self) {
      try builder.finishChecked(key: 1, entity: schema.entities[0], version: 1)
    }
    #expect(error?.code == .invalidArgument)
    builder.begin(slots: 1)
    builder.setString(0, "short")
    #expect(try builder.finishChecked(key: 1, entity: schema.entities[0], version: 1).string(0) == "short")
  }

  /// Bytes beyond what the builder keeps become the row where they are. Rows before and after have their own.
  @Test func rowsOfManyBytesHaveWhatWasSet() {
    let builder = RowBuilder()
    let sizes = [[10, 20], [1 << 20, 1], [3 << 20, 2 << 20, 6 << 20], [5, (1 << 20) + 1], [7], [9 << 20]]
    let values = sizes.enumerated().map { row, sizes in
      sizes.enumerated().map { Data(repeating: UInt8(row * 8 + $0.offset), count: $0.element) }
    }
    let rows = values.enumerated().map { number, values in
      // One that never ends.
      builder.begin(slots: 70)
      builder.set(0, .data(Data(repeating: 0xFF, count: number << 20)))
      builder.begin(slots: values.count + 1)
      for (slot, value) in values.enumerated() { builder.set(slot, .data(value)) }
      return builder.finish(key: Int64(number), entity: number, version: 1)
    }
    for (number, row) in rows.enumerated() {
      #expect(row.key == Int64(number) && row.entity == number && row.isNull(values[number].count))
      for (slot, value) in values[number].enumerated() { #expect(row.withBytes(slot) { $0.elementsEqual(value) }) }
    }
  }

  private static func contextOfPhotos() throws -> NSManagedObjectContext {
    let (entity, bytes, model) = (NSEntityDescription(), NSAttributeDescription(), NSManagedObjectModel())
    (bytes.name, bytes.type, bytes.isOptional) = ("bytes", .binaryData, true)
    (entity.name, entity.properties) = ("Photo", [bytes])
    model.entities = [entity]
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try context.persistentStoreCoordinator?.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
    return context
  }
}
