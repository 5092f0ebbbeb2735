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
  /// Whether the four notifications below are posted only from the moment on that the process has asked for their name.
  /// False at first: they are posted whether or not anybody watches, as on Apple's platforms.
  ///
  /// True spares a process that does not watch them what they cost, about a tenth of the time of a large save. Who
  /// watches by a name written out as text, by the type of a message, or every notification of the process (a nil
  /// name), then gets only those that other code has asked for. Set it before the first context is made.
  public static var postsOnlyRequestedNotifications: Bool {
    get { WatchedNotification.postsOnlyRequested }
    set { WatchedNotification.postsOnlyRequested = newValue }
  }

  /// Objects changed in memory; posted at the end of each event with sets of objects.
  public static var didChangeObjectsNotification: Notification.Name { WatchedNotification.didChange.watchedName }
  public static var willSaveObjectsNotification: Notification.Name { WatchedNotification.willSave.watchedName }
  /// A save has reached the stores; with sets of objects of the saving context.
  public static var didSaveObjectsNotification: Notification.Name { WatchedNotification.didSave.watchedName }
  /// The same with sets of object IDs, which may go to any thread.
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
