import Foundation

// Keys and raw names are Apple's.
public let NSInsertedObjectsKey = "inserted"
public let NSUpdatedObjectsKey = "updated"
public let NSDeletedObjectsKey = "deleted"
public let NSRefreshedObjectsKey = "refreshed"
public let NSInvalidatedObjectsKey = "invalidated"
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
public let NSManagedObjectContextQueryGenerationKey = "queryGeneration"

extension NSManagedObjectContext {
  /// Objects changed in memory; posted at the end of each event with sets of objects. See ``WatchedNotification``.
  public static var didChangeObjectsNotification: Notification.Name { WatchedNotification.didChange.watchedName }
  public static var willSaveObjectsNotification: Notification.Name { WatchedNotification.willSave.watchedName }
  /// A save has reached the stores; with sets of objects of the saving context. See ``WatchedNotification``.
  public static var didSaveObjectsNotification: Notification.Name { WatchedNotification.didSave.watchedName }
  /// The same with sets of object IDs, which may go to any thread. See ``WatchedNotification``.
  public static var didSaveObjectIDsNotification: Notification.Name { WatchedNotification.didSaveIDs.watchedName }
  public static let didMergeChangesObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidMergeChangesObjectIDsNotification")

  /// The keys of the notifications' user info.
  public enum NotificationKey: String, Sendable {
    case sourceContext = "managedObjectContext"
    case queryGeneration
    case invalidatedAllObjects = "invalidatedAll"
    case insertedObjects = "inserted"
    case updatedObjects = "updated"
    case deletedObjects = "deleted"
    case refreshedObjects = "refreshed"
    case invalidatedObjects = "invalidated"
    case insertedObjectIDs = "inserted_objectIDs"
    case updatedObjectIDs = "updated_objectIDs"
    case deletedObjectIDs = "deleted_objectIDs"
    case refreshedObjectIDs = "refreshed_objectIDs"
    case invalidatedObjectIDs = "invalidated_objectIDs"
  }
}

extension Notification.Name {
  public static var NSManagedObjectContextObjectsDidChange: Self { NSManagedObjectContext.didChangeObjectsNotification }
  public static var NSManagedObjectContextWillSave: Self { NSManagedObjectContext.willSaveObjectsNotification }
  public static var NSManagedObjectContextDidSave: Self { NSManagedObjectContext.didSaveObjectsNotification }
  public static var NSManagedObjectContextDidSaveObjectIDs: Self { NSManagedObjectContext.didSaveObjectIDsNotification }
  public static let NSManagedObjectContextDidMergeChangesObjectIDs =
    NSManagedObjectContext.didMergeChangesObjectIDsNotification
}
