import Foundation
import StoreProtocol
import StoreSchema
import Testing

@testable import CoreData

/// Objects with more bytes than a row can hold.
struct LargeValueTests {
  /// The offsets and lengths of a row have 31 bits. A program that gives an object more bytes must get an error, not be
  /// stopped (goal G16 of the specification's reliability). The limit is lowered here, so that no test needs 2 GiB.
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
