import CoreData
import Foundation
import Testing

/// What a client does while its objects are told that they are deleted or rolled back, and what must not come of it:
/// half a deletion, an object that is listed twice, counts that add up to nothing.
@Suite struct InterruptedDeletionTests {
  /// A save by an object that is being told of its deletion saves all else; the deletion is for the next save, with its
  /// rules.
  @Test(arguments: [true, false]) func aSaveLeavesADeletionWhole(_ changesItself: Bool) throws {
    try Leavers.with(3, .cascadeDeleteRule) { context, objects in
      objects[1].setValue(objects[0], forKey: "boss")
      try context.save()
      objects[2].setValue("other", forKey: "name")
      objects[0].leaves = { object in
        if changesItself { object.setValue("left", forKey: "name") }
        do { try context.save() } catch { Issue.record(error) }
        #expect(!context.hasChanges)
      }
      context.delete(objects[0])
      #expect(context.deletedObjects == [objects[0]])
      #expect(try Leavers.stored(context) == 1)
      try context.save()
      context.reset()
      #expect(try Leavers.stored(context) == 1)
    }
  }

  /// Before all that a rule deletes is deleted, nothing of it is saved.
  @Test func aSaveInTheMiddleOfDeleteRulesIsRefused() throws {
    try Leavers.with(3, .cascadeDeleteRule) { context, objects in
      for object in objects[1...] { object.setValue(objects[0], forKey: "boss") }
      try context.save()
      var errors: [String] = []
      for object in objects[1...] {
        object.leaves = { _ in do { try context.save() } catch { errors.append(error.localizedDescription) } }
      }
      context.delete(objects[0])
      try context.save()
      #expect(errors.count == 2 && errors.allSatisfy { $0.contains("prepareForDeletion") }, "\(errors)")
      #expect(try Leavers.stored(context) == 0)
    }
  }

  /// A cascade ends where its first object is not deleted any more.
  @Test(arguments: ["rollback", "reset", "insert"]) func aCascadeIsTakenBack(_ way: String) throws {
    try Leavers.with(4, .cascadeDeleteRule) { context, objects in
      for object in objects[1...] { object.setValue(objects[0], forKey: "boss") }
      try context.save()
      var told = 0
      for object in objects[1...] {
        object.leaves = { _ in
          told += 1
          switch way {
          case "rollback": context.rollback()
          case "reset": context.reset()
          default: context.insert(objects[0])
          }
        }
      }
      context.delete(objects[0])
      context.processPendingChanges()
      #expect(told == 1)
      #expect(context.deletedObjects.count == (way == "insert" ? 1 : 0))
      try context.save()
      #expect(try Leavers.stored(context) == (way == "insert" ? 3 : 4))
      let request = NSFetchRequest<NSManagedObject>(entityName: "Leaver")
      request.predicate = NSPredicate(format: "boss != nil")
      #expect(try context.count(for: request) == (way == "insert" ? 2 : 3))
    }
  }

  /// An object that does something when it is rolled back finds the others rolled back, too.
  @Test(arguments: ["delete", "insert", "change"]) func aRollbackIsDoneBeforeAnybodyIsTold(_ way: String) throws {
    try Leavers.with(2) { context, objects in
      objects[0].setValue("a", forKey: "name")
      let new = try #require(
        NSEntityDescription.insertNewObject(forEntityName: "Leaver", into: context) as? Leaver)
      if way == "insert" { context.delete(objects[1]) } else { objects[1].setValue("b", forKey: "name") }
      context.processPendingChanges()
      objects[0].wakes = { _ in
        #expect(!context.hasChanges && new.managedObjectContext == nil && !objects[1].isDeleted)
        switch way {
        case "delete": context.delete(objects[1])
        case "insert": context.insert(objects[1])
        default: objects[1].setValue("c", forKey: "name")
        }
      }
      context.rollback()
      #expect(context.hasChanges == (way != "insert"))
      _ = NSEntityDescription.insertNewObject(forEntityName: "Leaver", into: context)
      #expect(context.hasChanges && context.insertedObjects.count == 1)
      try context.save()
      context.refreshAllObjects()
      #expect(try Leavers.stored(context) == (way == "delete" ? 2 : 3))
      if way == "change" { #expect(objects[1].value(forKey: "name") as? String == "c") }
    }
  }

  /// An object whose row is gone stays deleted.
  @Test func aRollbackBringsNoRowBack() throws {
    try Leavers.with(1) { context, objects in
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = context.persistentStoreCoordinator
      context.refresh(objects[0], mergeChanges: false)
      try other.performAndWait {
        other.delete(other.object(with: objects[0].objectID))
        try other.save()
      }
      #expect(objects[0].value(forKey: "name") == nil && objects[0].isDeleted)
      objects[0].leaves = { _ in context.rollback() }
      context.delete(objects[0])
      #expect(objects[0].isDeleted && !context.hasChanges)
    }
  }

  /// Refreshing an object takes its changes back, not the deletion that it is being told of.
  @Test(arguments: [true, false]) func aRefreshLeavesADeletion(_ changesBefore: Bool) throws {
    try Leavers.with(1) { context, objects in
      if changesBefore { objects[0].setValue("a", forKey: "name") }
      objects[0].leaves = { context.refresh($0, mergeChanges: false) }
      context.delete(objects[0])
      #expect(context.deletedObjects == [objects[0]])
      try context.save()
      #expect(try Leavers.stored(context) == 0)
    }
  }

  /// The IDs of members are those of the members, also while one is told of its deletion.
  @Test func anObjectIsAMemberByItsID() throws {
    try Leavers.with(2) { context, objects in
      objects[1].setValue(objects[0], forKey: "boss")
      try context.save()
      context.refresh(objects[0], mergeChanges: false)
      var ids: [NSManagedObjectID] = []
      objects[1].leaves = { _ in ids = objects[0].objectIDs(forRelationshipNamed: "reports") }
      context.delete(objects[1])
      #expect(ids == [objects[1].objectID])
      #expect(objects[0].objectIDs(forRelationshipNamed: "reports") == [])
    }
  }

  /// Who takes another object off the list in `willSave()` keeps nobody else from being asked.
  @Test func everybodyIsAskedBeforeASave() throws {
    try Leavers.with(3) { context, objects in
      for object in objects { object.setValue("a", forKey: "name") }
      context.processPendingChanges()
      var asked = 0
      objects[1].saves = { _ in context.refresh(objects[0], mergeChanges: false) }
      objects[2].saves = { _ in asked += 1 }
      try context.save()
      #expect(asked == 1)
    }
  }
}
