import CoreData
import Foundation
import Testing

/// Actions of a client while its objects are notified of a deletion or rollback. They must not lead to half a deletion,
/// an object that is listed twice, or wrong counts.
@Suite struct InterruptedDeletionTests {
  /// A save by an object in its `prepareForDeletion` is rejected; the next save includes the deletion and all other
  /// changes.
  @Test(arguments: [true, false]) func aSaveByWhoIsDeletedIsRefused(_ changesItself: Bool) throws {
    try Leavers.with(3, .cascadeDeleteRule) { context, objects in
      objects[1].setValue(objects[0], forKey: "boss")
      try context.save()
      objects[2].setValue("other", forKey: "name")
      objects[0].leaves = { object in
        if changesItself { object.setValue("left", forKey: "name") }
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .coreData && error?.localizedDescription.contains("prepareForDeletion") == true)
      }
      context.delete(objects[0])
      #expect(context.deletedObjects == [objects[0]] && context.updatedObjects == [objects[2]])
      try context.save()
      context.reset()
      #expect(try Leavers.stored(context) == 1)
    }
  }

  /// Until all objects that a rule deletes are deleted, none of them is saved.
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

  /// A cascade ends when its first object is not deleted any more.
  @Test(arguments: ["rollback", "reset", "insert"]) func aCascadeIsTakenBack(_ way: String) throws {
    try Leavers.with(4, .cascadeDeleteRule) { context, objects in
      for object in objects[1...] { object.setValue(objects[0], forKey: "boss") }
      try context.save()
      var reported = 0
      for object in objects[1...] {
        object.leaves = { _ in
          reported += 1
          switch way {
          case "rollback": context.rollback()
          case "reset": context.reset()
          default: context.insert(objects[0])
          }
        }
      }
      context.delete(objects[0])
      context.processPendingChanges()
      #expect(reported == 1)
      #expect(context.deletedObjects.count == (way == "insert" ? 1 : 0))
      try context.save()
      #expect(try Leavers.stored(context) == (way == "insert" ? 3 : 4))
      let request = NSFetchRequest<NSManagedObject>(entityName: "Leaver")
      request.predicate = NSPredicate(format: "boss != nil")
      #expect(try context.count(for: request) == (way == "insert" ? 2 : 3))
    }
  }

  /// An object that acts in its rollback notification finds the others rolled back too.
  @Test(arguments: ["delete", "insert", "change"]) func aRollbackIsDoneBeforeAnyNotification(_ way: String) throws {
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

  /// A cascade continues with the objects that are still in the context, also if its first object is deleted again
  /// meanwhile.
  @Test func aCascadeLeavesOutWhatARollbackTookAway() throws {
    try Leavers.with(2, .cascadeDeleteRule) { context, objects in
      objects[1].setValue(objects[0], forKey: "boss")
      try context.save()
      let new = try #require(NSEntityDescription.insertNewObject(forEntityName: "Leaver", into: context) as? Leaver)
      new.setValue(objects[0], forKey: "boss")
      for object in [objects[1], new] {
        object.leaves = { object in
          object.leaves = nil
          context.rollback()
          context.delete(objects[0])
        }
      }
      context.delete(objects[0])
      try context.save()
      #expect(try Leavers.stored(context) == 0 && new.managedObjectContext == nil)
    }
  }

  /// An object that is inserted while a rollback notifies others is not rolled back.
  @Test func whoIsInsertedDuringARollbackIsNotNotified() throws {
    try Leavers.with(1) { context, objects in
      objects[0].setValue("a", forKey: "name")
      let new = try #require(NSEntityDescription.insertNewObject(forEntityName: "Leaver", into: context) as? Leaver)
      new.wakes = { _ in Issue.record("told of a rollback") }
      objects[0].wakes = { _ in context.insert(new) }
      context.rollback()
      #expect(context.insertedObjects == [new])
    }
  }

  /// An object whose row is gone stays deleted, and is not reported as inserted again: where that was known, where it
  /// is found in `prepareForDeletion`, and where it is found afterwards.
  @Test(arguments: ["before", "told", "after"]) func aRollbackBringsNoRowBack(_ moment: String) throws {
    try Leavers.with(1) { context, objects in
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = context.persistentStoreCoordinator
      let object = objects[0]
      context.refresh(object, mergeChanges: false)
      func read() { #expect(object.value(forKey: "name") == nil && object.isDeleted) }
      func deleteElsewhere() throws {
        try other.performAndWait {
          other.delete(other.object(with: object.objectID))
          try other.save()
        }
      }
      if moment == "after" {
        context.delete(object)
        context.processPendingChanges()
        try deleteElsewhere()
        context.refresh(object, mergeChanges: true)
        #expect(context.deletedObjects == [object])
        let watcher = NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { #expect($0.userInfo?[NSInsertedObjectsKey] == nil) }
        context.rollback()
        NotificationCenter.default.removeObserver(watcher)
      } else {
        try deleteElsewhere()
        if moment == "before" { read() }
        object.leaves = { _ in
          if moment == "told" { read() }
          context.rollback()
        }
        context.delete(object)
      }
      #expect(object.isDeleted && !context.hasChanges && context.deletedObjects.isEmpty)
    }
  }

  /// Refreshing an object in its `prepareForDeletion` undoes its changes, but not the deletion.
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

  /// The IDs of members are those of the members, also while `prepareForDeletion` of one is running.
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

  /// An object that takes another one off the list in `willSave()` does not prevent calls for the others, even if one
  /// is added.
  @Test(arguments: [true, false]) func everyObjectIsCalledBeforeASave(_ addsOne: Bool) throws {
    try Leavers.with(4) { context, objects in
      for object in objects[..<3] { object.setValue("a", forKey: "name") }
      context.processPendingChanges()
      var requested = 0
      objects[1].saves = { _ in
        context.refresh(objects[0], mergeChanges: false)
        if addsOne { objects[3].setValue("a", forKey: "name") }
        context.processPendingChanges()
      }
      objects[2].saves = { _ in requested += 1 }
      try context.save()
      #expect(requested == 1)
    }
  }

  /// A rollback in `willSave()` begins a new list; `willSave()` is called for its objects too.
  @Test func whoComesAfterARollbackIsCalledBeforeTheSave() throws {
    try Leavers.with(2) { context, objects in
      for object in objects { object.setValue("a", forKey: "name") }
      var requested = 0
      objects[1].saves = { object in
        object.saves = nil
        context.rollback()
        let new = NSEntityDescription.insertNewObject(forEntityName: "Leaver", into: context) as? Leaver
        new?.saves = { _ in requested += 1 }
        context.processPendingChanges()
      }
      try context.save()
      #expect(requested == 1)
      #expect(try Leavers.stored(context) == 3)
    }
  }

  /// While `prepareForDeletion` is running, no deletion has been reported; so a rollback reports the object's old
  /// values.
  @Test func aRollbackBringsNobodyBackWhoWasNotDeleted() throws {
    try Leavers.with(1) { context, objects in
      objects[0].setValue("a", forKey: "name")
      nonisolated(unsafe) var reported: [Set<NSManagedObject>?] = []
      objects[0].leaves = { _ in
        let watcher = NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { note in
          reported = [NSInsertedObjectsKey, NSRefreshedObjectsKey].map { note.userInfo?[$0] as? Set<NSManagedObject> }
        }
        context.rollback()
        NotificationCenter.default.removeObserver(watcher)
      }
      context.delete(objects[0])
      #expect(reported == [nil, [objects[0]]])
    }
  }

  /// The objects that a cascade deletes are read again if its first object is deleted again after a rollback.
  @Test func aCascadeBeginsAnewAfterARollback() throws {
    try Leavers.with(12, .cascadeDeleteRule) { context, objects in
      for object in objects[1..<6] { object.setValue(objects[0], forKey: "boss") }
      try context.save()
      for object in objects[6...] { object.setValue(objects[0], forKey: "boss") }
      var isDone = false
      for object in objects[1...] {
        object.leaves = { _ in
          if isDone { return }
          isDone = true
          context.rollback()
          context.delete(objects[0])
        }
      }
      context.delete(objects[0])
      try context.save()
      // Objects without a boss after the rollback stay.
      #expect(try Leavers.stored(context) == 6)
    }
  }
}
