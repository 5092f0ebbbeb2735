import CoreData
import Foundation
import Testing

/// Features 18.6 and 23.10: `awake(fromSnapshotEvents:)` is called when the values are back, with the event.
/// https://developer.apple.com/documentation/coredata/nsmanagedobject/awake(fromsnapshotevents:)
@Suite struct SnapshotEventTests {
  @Test func objectsAreAwakenedWithTheEvent() throws {
    try Leavers.with(1) { context, objects in
      let object = objects[0]
      object.setValue("changed", forKey: "name")
      context.rollback()
      #expect(object.events == [.rollback] && !context.hasChanges)
      object.setValue("changed", forKey: "name")
      context.refresh(object, mergeChanges: true)
      #expect(object.events == [.rollback, .refresh])
      // Another context changes the object first.
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = context.persistentStoreCoordinator
      try other.performAndWait {
        try other.existingObject(with: object.objectID).setValue("other", forKey: "name")
        try other.save()
      }
      object.setValue("mine", forKey: "name")
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
      #expect(object.events == [.rollback, .refresh, .mergePolicy])
      #expect(object.value(forKey: "name") as? String == "mine")
    }
  }
}
