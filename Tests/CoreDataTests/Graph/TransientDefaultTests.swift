import CoreData
import Foundation
import TestSupport
import Testing

/// Transient attributes with default values, of objects that were read: decision 068.
@Suite struct TransientDefaultTests {
  private static func context() throws -> NSManagedObjectContext {
    let attributes = [
      Describing.attribute("name"), Describing.attribute("note", default: "none"),
      Describing.attribute("count", .integer32, default: 3), Describing.attribute("plain"),
    ]
    for attribute in attributes.dropFirst() { attribute.isTransient = true }
    return try Describing.context(Describing.model([Describing.entity("A", attributes)]))
  }

  /// An object whose changes are saved, and which was read anew.
  private static func read(_ context: NSManagedObjectContext) throws -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
    object.setValue("set before the save", forKey: "note")
    try context.save()
    context.reset()
    return try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "A")).first)
  }

  @Test func theyHaveTheirDefaults() throws {
    let context = try Self.context()
    try context.performAndWait {
      let object = try Self.read(context)
      #expect(object.value(forKey: "note") as? String == "none" && object.value(forKey: "count") as? Int == 3)
      #expect(object.primitiveValue(forKey: "note") as? String == "none" && object.value(forKey: "plain") == nil)
      #expect(!context.hasChanges)
    }
  }

  @Test func settingOneLeavesTheOthersTheirDefaults() throws {
    let context = try Self.context()
    try context.performAndWait {
      let object = try Self.read(context)
      object.setValue("plain", forKey: "plain")
      object.setValue(nil, forKey: "note")
      #expect(object.value(forKey: "note") == nil && object.value(forKey: "count") as? Int == 3)
      try context.save()
      #expect(object.value(forKey: "note") == nil && object.value(forKey: "plain") as? String == "plain")
      context.refresh(object, mergeChanges: false)
      #expect(object.value(forKey: "note") as? String == "none" && object.value(forKey: "plain") == nil)
    }
  }

  @Test func anUndoGivesTheDefaultBack() throws {
    let context = try Self.context()
    try context.performAndWait {
      let object = try Self.read(context)
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      manager.beginUndoGrouping()
      object.setValue(4, forKey: "count")
      context.processPendingChanges()
      manager.endUndoGrouping()
      #expect(context.hasChanges)
      manager.undo()
      #expect(object.value(forKey: "count") as? Int == 3 && !context.hasChanges)
      manager.redo()
      #expect(object.value(forKey: "count") as? Int == 4 && context.hasChanges)
    }
  }
}
