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

  /// Small data is in the row, large data has a file of its own.
  @Test(arguments: [1, 300_000]) func theFormerValueIsTheData(count: Int) throws {
    let stack = try UndoStack()
    let (data, item) = (Data(repeating: 9, count: count), try stack.savedItems("a")[0])
    stack.event { _ in item["photo"] = data }
    try stack.saveAll()
    stack.context.performAndWait {
      #expect(item.committedValues(forKeys: ["photo"])["photo"] as? Data == data)
      item["photo"] = nil
      #expect(item.committedValues(forKeys: ["photo"])["photo"] as? Data == data)
      #expect(item.changedValuesForCurrentEvent()["photo"] as? Data == data)
    }
  }

  /// The file of a former value is lost. The object gets another value, of which observers and streams are notified.
  @Test func aLostFormerValueDoesNotPreventASave() throws {
    let stack = try UndoStack()
    let item = try stack.savedItems("a")[0]
    stack.context.performAndWait { stack.context.undoManager = nil }
    stack.event { _ in item["photo"] = Data(repeating: 9, count: 300_000) }
    try stack.saveAll()
    stack.event { $0.refresh(item, mergeChanges: false) }
    try stack.removeLargeValues()
    let changes = stack.context.performAndWait { item.changes() }
    stack.event { _ in
      item["photo"] = Data([7])
      #expect(item.changedValuesForCurrentEvent()["photo"] is NSNull)
      #expect(item.committedValues(forKeys: ["photo"])["photo"] is NSNull)
    }
    try stack.saveAll()
    let photo = try stack.elsewhere { try UndoStack.named("a", $0)["photo"] as? Data }
    #expect(photo == Data([7]))
    withExtendedLifetime(changes) {}
  }

  /// An element of a composite may have its data in a file too. The whole composite is read and set again.
  @Test(arguments: [1, 300_000]) func anElementOfACompositeKeepsItsData(count: Int) throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    let composite = try #require(model.entities[0].attributesByName["address"] as? NSCompositeAttributeDescription)
    let plan = NSAttributeDescription()
    (plan.name, plan.type, plan.allowsExternalBinaryDataStorage) = ("plan", .binaryData, true)
    composite.elements.append(plan)
    let stack = try UndoStack(model: model)
    let (data, item) = (Data(repeating: 9, count: count), try stack.savedItems("a")[0])
    func address(_ values: [String: Any]) -> NSDictionary? {
      (values["address"] as? [String: Any]).map { NSDictionary(dictionary: $0) }
    }
    stack.event { _ in item["address"] = ["city": "c", "plan": data] }
    stack.context.performAndWait { #expect((item["address"] as? [String: Any])?["plan"] as? Data == data) }
    try stack.saveAll()
    for city in ["d", "e"] {
      try stack.context.performAndWait {
        var values = try #require(item["address"] as? [String: Any])
        let former = NSDictionary(dictionary: values)
        #expect(values["plan"] as? Data == data)
        values["city"] = city
        item["address"] = values
        #expect(address(item.committedValues(forKeys: ["address"])) == former)
        #expect(address(item.changedValuesForCurrentEvent()) == former)
        try stack.context.save()
        stack.context.refresh(item, mergeChanges: false)
      }
    }
    let saved = try stack.elsewhere { try UndoStack.named("a", $0)["address"] as? [String: Any] }
    #expect(saved?["plan"] as? Data == data && saved?["city"] as? String == "e")
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
