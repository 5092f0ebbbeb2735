import Foundation

// Keys and raw names are Apple's.
/// The key of `userInfo` for the objects that were inserted: a `Set<NSManagedObject>`.
public let NSInsertedObjectsKey = "inserted"
/// The key of `userInfo` for the objects that were changed: a `Set<NSManagedObject>`.
public let NSUpdatedObjectsKey = "updated"
/// The key of `userInfo` for the objects that were deleted: a `Set<NSManagedObject>`.
public let NSDeletedObjectsKey = "deleted"
/// The key of `userInfo` for the objects that were refreshed: a `Set<NSManagedObject>`.
public let NSRefreshedObjectsKey = "refreshed"
/// The key of `userInfo` for the objects that became invalid: a `Set<NSManagedObject>`. The library posts none.
public let NSInvalidatedObjectsKey = "invalidated"
/// The key of `userInfo` for the IDs of all objects that a ``NSManagedObjectContext/reset()`` forgot:
/// `[NSManagedObjectID]`.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// The key of `userInfo` for the IDs of inserted objects: a `Set<NSManagedObjectID>`.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// The key of `userInfo` for the IDs of changed objects: a `Set<NSManagedObjectID>`.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// The key of `userInfo` for the IDs of deleted objects: a `Set<NSManagedObjectID>`.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// The key of `userInfo` for the IDs of refreshed objects: a `Set<NSManagedObjectID>`.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// The key of `userInfo` for the IDs of objects that became invalid: a `Set<NSManagedObjectID>`. The library posts
/// none.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
/// The key of `userInfo` for a query generation. No notification here has such an entry.
public let NSManagedObjectContextQueryGenerationKey = "queryGeneration"

extension NSManagedObjectContext {
  /// Whether the four notifications below are posted only once the process has used their name property here. False
  /// unless set: they are always posted, as on Apple's platforms.
  ///
  /// True saves a process that does not observe them about a tenth of the time of a large save. The library then does
  /// not notice observers that write a name as text, observe the type of a message, or observe all notifications (a nil
  /// name). They get only notifications whose property other code has used. Set it before the first context is made.
  public static var postsOnlyRequestedNotifications: Bool {
    get { WatchedNotification.postsOnlyRequested }
    set { WatchedNotification.postsOnlyRequested = newValue }
  }

  /// Objects have changed in memory. Posted at the end of each event, with sets of objects, on the context's queue.
  public static var didChangeObjectsNotification: Notification.Name { WatchedNotification.didChange.watchedName }
  /// A save begins; posted before ``NSManagedObject/willSave()`` is called, without entries. What an observer changes
  /// is saved too.
  public static var willSaveObjectsNotification: Notification.Name { WatchedNotification.willSave.watchedName }
  /// A save has ended: the stores, or the parent of a child context, have the changes. Posted on the context's queue,
  /// with sets of objects of the saving context.
  public static var didSaveObjectsNotification: Notification.Name { WatchedNotification.didSave.watchedName }
  /// A save has ended: the stores, or the parent of a child context, have the changes. Posted on the context's queue,
  /// with sets of object IDs, which any thread may use.
  public static var didSaveObjectIDsNotification: Notification.Name { WatchedNotification.didSaveIDs.watchedName }
  /// A context has merged changes of others; with sets of object IDs, posted on the context's queue.
  public static let didMergeChangesObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidMergeChangesObjectIDsNotification")

  /// The keys of `userInfo` of the context's notifications.
  public enum NotificationKey: String, Sendable {
    /// The context of the notification.
    case sourceContext = "managedObjectContext"
    /// A query generation. No notification here has such an entry.
    case queryGeneration
    /// The IDs of all objects that a reset forgot; ``NSInvalidatedAllObjectsKey``.
    case invalidatedAllObjects = "invalidatedAll"
    /// The objects that were inserted; ``NSInsertedObjectsKey``.
    case insertedObjects = "inserted"
    /// The objects that were changed; ``NSUpdatedObjectsKey``.
    case updatedObjects = "updated"
    /// The objects that were deleted; ``NSDeletedObjectsKey``.
    case deletedObjects = "deleted"
    /// The objects that were refreshed; ``NSRefreshedObjectsKey``.
    case refreshedObjects = "refreshed"
    /// The objects that became invalid; ``NSInvalidatedObjectsKey``. The library posts none.
    case invalidatedObjects = "invalidated"
    /// The IDs of inserted objects; ``NSInsertedObjectIDsKey``.
    case insertedObjectIDs = "inserted_objectIDs"
    /// The IDs of changed objects; ``NSUpdatedObjectIDsKey``.
    case updatedObjectIDs = "updated_objectIDs"
    /// The IDs of deleted objects; ``NSDeletedObjectIDsKey``.
    case deletedObjectIDs = "deleted_objectIDs"
    /// The IDs of refreshed objects; ``NSRefreshedObjectIDsKey``.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// The IDs of objects that became invalid; ``NSInvalidatedObjectIDsKey``. The library posts none.
    case invalidatedObjectIDs = "invalidated_objectIDs"
  }
}

extension Notification.Name {
  /// The older name of ``NSManagedObjectContext/didChangeObjectsNotification``.
  public static var NSManagedObjectContextObjectsDidChange: Self { NSManagedObjectContext.didChangeObjectsNotification }
  /// The older name of ``NSManagedObjectContext/willSaveObjectsNotification``.
  public static var NSManagedObjectContextWillSave: Self { NSManagedObjectContext.willSaveObjectsNotification }
  /// The older name of ``NSManagedObjectContext/didSaveObjectsNotification``.
  public static var NSManagedObjectContextDidSave: Self { NSManagedObjectContext.didSaveObjectsNotification }
  /// The older name of ``NSManagedObjectContext/didSaveObjectIDsNotification``.
  public static var NSManagedObjectContextDidSaveObjectIDs: Self { NSManagedObjectContext.didSaveObjectIDsNotification }
  /// The older name of ``NSManagedObjectContext/didMergeChangesObjectIDsNotification``.
  public static let NSManagedObjectContextDidMergeChangesObjectIDs =
    NSManagedObjectContext.didMergeChangesObjectIDsNotification
}
