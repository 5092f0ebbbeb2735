import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Conflicts of objects with large values, which the objects do not hold while a save is running.
@Suite struct LargeConflictTests {
  private static let photo = Data(repeating: 7, count: 300_000)
  private static let text = String(repeating: "x", count: 2 << 20)

  private static func coordinator(_ url: URL) throws -> NSPersistentStoreCoordinator {
    let photo = Describing.attribute("photo", .binaryData)
    photo.allowsExternalBinaryDataStorage = true
    let entity = Describing.entity(
      "A", [photo, Describing.attribute("text"), Describing.attribute("number", .integer64)])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Describing.model([entity]))
    _ = try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: url)
    return coordinator
  }

  private static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Another coordinator has changed the object. The error contains the value that the save tried to write, and the
  /// object still has it.
  @Test func aConflictHasTheUnsavedValues() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "store")
    let context = Self.context(try Self.coordinator(url))
    let id = try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      try context.save()
      return object.objectID
    }
    try context.performAndWait {
      let object = try context.existingObject(with: id)
      object.setValue(Self.photo, forKey: "photo")
      object.setValue(Self.text, forKey: "text")
      let other = Self.context(try Self.coordinator(url))
      try other.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "A")
        try other.fetch(request).first?.setValue(1, forKey: "number")
        try other.save()
      }
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.code == .managedObjectMerge)
      let conflicts = error.userInfo["conflictList"] as? [NSMergeConflict]
      let snapshot = try #require(conflicts?.first?.objectSnapshot)
      #expect(snapshot["photo"] as? Data == Self.photo && snapshot["text"] as? String == Self.text)
      #expect(object.value(forKey: "photo") as? Data == Self.photo)
      #expect(object.value(forKey: "text") as? String == Self.text)
    }
  }
}
