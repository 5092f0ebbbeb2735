import CoreData
import Foundation
import TestSupport
import Testing

/// An object that runs code when it is deleted or saved.
final class Leaver: NSManagedObject {
  var leaves: ((Leaver) -> Void)?
  var saves: ((Leaver) -> Void)?
  var wakes: ((Leaver) -> Void)?
  override func prepareForDeletion() { leaves?(self) }
  override func willSave() { saves?(self) }
  var events: [NSSnapshotEventType] = []
  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    events.append(flags)
    wakes?(self)
  }
}

enum Leavers {
  /// Runs `body` in a context with saved objects.
  static func with(
    _ count: Int, _ rule: NSDeleteRule = .nullifyDeleteRule,
    _ body: (NSManagedObjectContext, [Leaver]) throws -> Void
  ) throws {
    let leaver = Describing.entity("Leaver")
    leaver.managedObjectClassName = "CoreDataTests.Leaver"
    let name = NSAttributeDescription()
    (name.name, name.type) = ("name", .string)
    leaver.properties.append(name)
    Describing.relate(leaver, "reports", toMany: true, leaver, "boss", toManyBack: false)
    leaver.relationshipsByName["reports"]?.deleteRule = rule
    let context = try Describing.context(Describing.model([leaver]))
    try context.performAndWait {
      let objects = (0..<count).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Leaver", into: context) }
      try context.save()
      try body(context, objects.compactMap { $0 as? Leaver })
    }
  }

  static func stored(_ context: NSManagedObjectContext) throws -> Int {
    try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Leaver"))
  }
}

/// "You can implement this method to perform any operations required before the object is deleted, such as custom
/// propagation before relationships are torn down":
/// https://developer.apple.com/documentation/coredata/nsmanagedobject/preparefordeletion()
@Suite struct DeletionChangeTests {
  @Test(arguments: [true, false]) func anObjectMayChangeInPrepareForDeletion(_ changesBefore: Bool) throws {
    try Leavers.with(1) { context, objects in
      objects[0].leaves = {
        $0.setValue("left", forKey: "name")
        $0.setValue(nil, forKey: "boss")
      }
      if changesBefore { objects[0].setValue("before", forKey: "name") }
      context.delete(objects[0])
      #expect(context.hasChanges)
      try context.save()
      #expect(!context.hasChanges)
      context.reset()
      #expect(try Leavers.stored(context) == 0)
    }
  }

  /// The deletion is undone, or the context discards all changes.
  @Test(arguments: ["insert", "rollback", "reset"])
  func aDeletionMayBeTakenBackInPrepareForDeletion(_ way: String) throws {
    try Leavers.with(2) { context, objects in
      objects[1].setValue("changed", forKey: "name")
      objects[0].leaves = { object in
        switch way {
        case "insert": context.insert(object)
        case "rollback": context.rollback()
        default: context.reset()
        }
      }
      context.delete(objects[0])
      #expect(context.deletedObjects.isEmpty && !objects[0].isDeleted)
      #expect(context.updatedObjects.count == (way == "insert" ? 1 : 0))
      try context.save()
      #expect(!context.hasChanges)
      #expect(try Leavers.stored(context) == 2)
    }
  }

  /// Its relationships are unchanged, whatever else has been deleted.
  @Test func anObjectIsAMemberInPrepareForDeletion() throws {
    try Leavers.with(4) { context, objects in
      for object in objects.dropFirst() { object.setValue(objects[0], forKey: "boss") }
      try context.save()
      context.refreshAllObjects()
      context.delete(objects[3])
      context.processPendingChanges()
      var members: Set<NSManagedObject>?
      objects[1].setValue("changed", forKey: "name")
      for object in objects[1...2] {
        object.leaves = { members = ($0.value(forKey: "boss") as? NSManagedObject)?.value(forKey: "reports") as? Set }
      }
      context.delete(objects[1])
      #expect(members == [objects[1], objects[2]])
      context.processPendingChanges()
      context.refresh(objects[0], mergeChanges: false)
      context.delete(objects[2])
      #expect(members == [objects[2]])
      try context.save()
      #expect((objects[0].value(forKey: "reports") as? NSSet)?.count == 0)
    }
  }

  /// If `willSave` was called for an object and another object has then refreshed it, it is called again in the next
  /// save.
  @Test func anObjectIsValidatedInEachSave() throws {
    try Leavers.with(2) { context, objects in
      var requested = 0
      objects[0].setValue("a", forKey: "name")
      objects[1].setValue("b", forKey: "name")
      objects[0].saves = { _ in requested += 1 }
      objects[1].saves = { _ in context.refresh(objects[0], mergeChanges: false) }
      try context.save()
      objects[1].saves = nil
      let former = requested
      objects[0].setValue("c", forKey: "name")
      try context.save()
      #expect(former == 1 && requested == 2)
    }
  }
}
