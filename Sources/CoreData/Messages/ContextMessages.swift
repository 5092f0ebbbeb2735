import Foundation

// The notifications of contexts and coordinators as typed messages, as Apple declares them from version 27 of its
// systems on: https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/objectsdidchangemessage and
// similar pages.
//
// Foundation here does not deliver a message to observers of its name, nor a notification to observers of its message.
// So both are posted, the notification first. MessagePosting says when messages are posted.

extension NSManagedObjectContext {
  /// Posted when objects of a main-queue context have changed, at the end of the event.
  public struct ObjectsDidChangeMessage: NotificationCenter.MainActorMessage {
    /// The type of the observed object: a context.
    public typealias Subject = NSManagedObjectContext
    /// The name of the notification with the same content, `NSManagedObjectContext.didChangeObjectsNotification`.
    public static var name: Notification.Name { WatchedNotification.didChange.name }
    /// The context that posts the message.
    public let context: NSManagedObjectContext
    private let info: [AnyHashable: Any]
    /// The objects that were inserted; empty for none.
    public var inserted: Set<NSManagedObject> { info.set(NSInsertedObjectsKey) }
    /// The objects that were changed; empty for none.
    public var updated: Set<NSManagedObject> { info.set(NSUpdatedObjectsKey) }
    /// The objects that were deleted; empty for none.
    public var deleted: Set<NSManagedObject> { info.set(NSDeletedObjectsKey) }
    /// The objects that were refreshed; empty for none.
    public var refreshed: Set<NSManagedObject> { info.set(NSRefreshedObjectsKey) }
    /// The objects that became invalid; empty for none.
    public var invalidated: Set<NSManagedObject> { info.set(NSInvalidatedObjectsKey) }
    /// True where the context was reset; nil otherwise.
    public let invalidatedAll: Bool?

    /// The message of a notification; nil for one of another name or without a context.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      Self(MessageContent<NSManagedObjectContext>(notification, name))
    }

    /// The notification with the content of a message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      Notification(name: name, object: message.context, userInfo: message.info)
    }

    init?(_ content: MessageContent<NSManagedObjectContext>?) {
      guard let content else { return nil }
      (context, info) = (content.subject, content.info)
      invalidatedAll = info[NSInvalidatedAllObjectsKey].map { _ in true }
    }
  }

  /// Posted before a main-queue context saves.
  public struct WillSaveMessage: NotificationCenter.MainActorMessage {
    /// The type of the observed object: a context.
    public typealias Subject = NSManagedObjectContext
    /// The name of the notification with the same content, `NSManagedObjectContext.willSaveObjectsNotification`.
    public static var name: Notification.Name { WatchedNotification.willSave.name }
    /// The context that posts the message.
    public let context: NSManagedObjectContext

    /// The message of a notification; nil for one of another name or without a context.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      Self(MessageContent<NSManagedObjectContext>(notification, name))
    }

    /// The notification with the content of a message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      Notification(name: name, object: message.context)
    }

    init?(_ content: MessageContent<NSManagedObjectContext>?) {
      guard let content else { return nil }
      context = content.subject
    }
  }

  /// Posted after a main-queue context has saved.
  public struct DidSaveMessage: NotificationCenter.MainActorMessage {
    /// The type of the observed object: a context.
    public typealias Subject = NSManagedObjectContext
    /// The name of the notification with the same content, `NSManagedObjectContext.didSaveObjectsNotification`.
    public static var name: Notification.Name { WatchedNotification.didSave.name }
    /// The context that posts the message.
    public let context: NSManagedObjectContext
    private let info: [AnyHashable: Any]
    /// The objects that were inserted; empty for none.
    public var inserted: Set<NSManagedObject> { info.set(NSInsertedObjectsKey) }
    /// The objects that were changed; empty for none.
    public var updated: Set<NSManagedObject> { info.set(NSUpdatedObjectsKey) }
    /// The objects that were deleted; empty for none.
    public var deleted: Set<NSManagedObject> { info.set(NSDeletedObjectsKey) }
    /// Nil: no tokens are handed out yet.
    public let historyToken: NSPersistentHistoryToken?
    /// Nil: contexts are not pinned.
    public let queryGeneration: NSQueryGenerationToken?

    /// The message of a notification; nil for one of another name or without a context.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      Self(MessageContent<NSManagedObjectContext>(notification, name))
    }

    /// The notification with the content of a message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      Notification(name: name, object: message.context, userInfo: message.info)
    }

    init?(_ content: MessageContent<NSManagedObjectContext>?) {
      guard let content else { return nil }
      (context, info) = (content.subject, content.info)
      historyToken = info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
      queryGeneration = info[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken
    }
  }

  /// Posted after a main-queue context has saved, with IDs.
  public struct DidSaveObjectIDsMessage: NotificationCenter.MainActorMessage {
    /// The type of the observed object: a context.
    public typealias Subject = NSManagedObjectContext
    /// The name of the notification with the same content, `NSManagedObjectContext.didSaveObjectIDsNotification`.
    public static var name: Notification.Name { WatchedNotification.didSaveIDs.name }
    /// The context that posts the message.
    public let context: NSManagedObjectContext
    /// The IDs of the objects that were inserted; empty for none.
    public let insertedIDs: Set<NSManagedObjectID>
    /// The IDs of the objects that were changed; empty for none.
    public let updatedIDs: Set<NSManagedObjectID>
    /// The IDs of the objects that were deleted; empty for none.
    public let deletedIDs: Set<NSManagedObjectID>
    /// Nil: no tokens are handed out yet.
    public let historyToken: NSPersistentHistoryToken?

    /// The message of a notification; nil for one of another name or without a context.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      Self(MessageContent<NSManagedObjectContext>(notification, name))
    }

    /// The notification with the content of a message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      let sets = [
        NSInsertedObjectIDsKey: message.insertedIDs, NSUpdatedObjectIDsKey: message.updatedIDs,
        NSDeletedObjectIDsKey: message.deletedIDs,
      ]
      return Notification(name: name, object: message.context, userInfo: sets.filter { !$1.isEmpty })
    }

    init?(_ content: MessageContent<NSManagedObjectContext>?) {
      guard let content else { return nil }
      context = content.subject
      insertedIDs = content.info.set(NSInsertedObjectIDsKey)
      updatedIDs = content.info.set(NSUpdatedObjectIDsKey)
      deletedIDs = content.info.set(NSDeletedObjectIDsKey)
      historyToken = content.info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
    }
  }

  /// Posted after a private-queue context has saved, with IDs.
  public struct DidSaveObjectIDsAsyncMessage: NotificationCenter.AsyncMessage {
    /// The type of the observed object: a context.
    public typealias Subject = NSManagedObjectContext
    /// The name of the notification with the same content, `NSManagedObjectContext.didSaveObjectIDsNotification`.
    public static var name: Notification.Name { WatchedNotification.didSaveIDs.name }
    /// The context that posts the message.
    public let context: NSManagedObjectContext
    /// The IDs of the objects that were inserted; empty for none.
    public let insertedIDs: Set<NSManagedObjectID>
    /// The IDs of the objects that were changed; empty for none.
    public let updatedIDs: Set<NSManagedObjectID>
    /// The IDs of the objects that were deleted; empty for none.
    public let deletedIDs: Set<NSManagedObjectID>
    /// Nil: no tokens are handed out yet.
    public let historyToken: NSPersistentHistoryToken?

    /// The message of a notification; nil for one of another name or without a context.
    public static func makeMessage(_ notification: Notification) -> Self? {
      Self(MessageContent<NSManagedObjectContext>(notification, name))
    }

    /// The notification with the content of a message.
    public static func makeNotification(_ message: Self) -> Notification {
      let sets = [
        NSInsertedObjectIDsKey: message.insertedIDs, NSUpdatedObjectIDsKey: message.updatedIDs,
        NSDeletedObjectIDsKey: message.deletedIDs,
      ]
      return Notification(name: name, object: message.context, userInfo: sets.filter { !$1.isEmpty })
    }

    init?(_ content: MessageContent<NSManagedObjectContext>?) {
      guard let content else { return nil }
      context = content.subject
      insertedIDs = content.info.set(NSInsertedObjectIDsKey)
      updatedIDs = content.info.set(NSUpdatedObjectIDsKey)
      deletedIDs = content.info.set(NSDeletedObjectIDsKey)
      historyToken = content.info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
    }
  }

  /// Posted after a main-queue context has merged the changes of others, with IDs.
  public struct DidMergeChangesMessage: NotificationCenter.MainActorMessage {
    /// The type of the observed object: a context.
    public typealias Subject = NSManagedObjectContext
    /// The name of the notification with the same content,
    /// `NSManagedObjectContext.didMergeChangesObjectIDsNotification`.
    public static var name: Notification.Name { NSManagedObjectContext.didMergeChangesObjectIDsNotification }
    /// The context that posts the message.
    public let context: NSManagedObjectContext
    /// The IDs of the objects that were inserted; empty for none.
    public let insertedIDs: Set<NSManagedObjectID>
    /// The IDs of the objects that were changed; empty for none.
    public let updatedIDs: Set<NSManagedObjectID>
    /// The IDs of the objects that were deleted; empty for none.
    public let deletedIDs: Set<NSManagedObjectID>
    /// The IDs of the objects that were refreshed; empty for none.
    public let refreshedIDs: Set<NSManagedObjectID>
    /// The IDs of the objects that became invalid; empty for none.
    public let invalidatedIDs: Set<NSManagedObjectID>
    /// Nil: no tokens are handed out yet.
    public let historyToken: NSPersistentHistoryToken?
    /// Nil: contexts are not pinned.
    public let queryGeneration: NSQueryGenerationToken?

    /// The message of a notification; nil for one of another name or without a context.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      Self(MessageContent<NSManagedObjectContext>(notification, name))
    }

    /// The notification with the content of a message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      let sets = [
        NSInsertedObjectIDsKey: message.insertedIDs, NSUpdatedObjectIDsKey: message.updatedIDs,
        NSDeletedObjectIDsKey: message.deletedIDs, NSRefreshedObjectIDsKey: message.refreshedIDs,
        NSInvalidatedObjectIDsKey: message.invalidatedIDs,
      ]
      return Notification(name: name, object: message.context, userInfo: sets.filter { !$1.isEmpty })
    }

    init?(_ content: MessageContent<NSManagedObjectContext>?) {
      guard let content else { return nil }
      context = content.subject
      insertedIDs = content.info.set(NSInsertedObjectIDsKey)
      updatedIDs = content.info.set(NSUpdatedObjectIDsKey)
      deletedIDs = content.info.set(NSDeletedObjectIDsKey)
      refreshedIDs = content.info.set(NSRefreshedObjectIDsKey)
      invalidatedIDs = content.info.set(NSInvalidatedObjectIDsKey)
      historyToken = content.info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
      queryGeneration = content.info[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken
    }
  }

  /// Posted after a private-queue context has merged the changes of others, with IDs.
  public struct DidMergeChangesAsyncMessage: NotificationCenter.AsyncMessage {
    /// The type of the observed object: a context.
    public typealias Subject = NSManagedObjectContext
    /// The name of the notification with the same content,
    /// `NSManagedObjectContext.didMergeChangesObjectIDsNotification`.
    public static var name: Notification.Name { NSManagedObjectContext.didMergeChangesObjectIDsNotification }
    /// The context that posts the message.
    public let context: NSManagedObjectContext
    /// The IDs of the objects that were inserted; empty for none.
    public let insertedIDs: Set<NSManagedObjectID>
    /// The IDs of the objects that were changed; empty for none.
    public let updatedIDs: Set<NSManagedObjectID>
    /// The IDs of the objects that were deleted; empty for none.
    public let deletedIDs: Set<NSManagedObjectID>
    /// The IDs of the objects that were refreshed; empty for none.
    public let refreshedIDs: Set<NSManagedObjectID>
    /// The IDs of the objects that became invalid; empty for none.
    public let invalidatedIDs: Set<NSManagedObjectID>
    /// Nil: no tokens are handed out yet.
    public let historyToken: NSPersistentHistoryToken?
    /// Nil: contexts are not pinned.
    public let queryGeneration: NSQueryGenerationToken?

    /// The message of a notification; nil for one of another name or without a context.
    public static func makeMessage(_ notification: Notification) -> Self? {
      Self(MessageContent<NSManagedObjectContext>(notification, name))
    }

    /// The notification with the content of a message.
    public static func makeNotification(_ message: Self) -> Notification {
      let sets = [
        NSInsertedObjectIDsKey: message.insertedIDs, NSUpdatedObjectIDsKey: message.updatedIDs,
        NSDeletedObjectIDsKey: message.deletedIDs, NSRefreshedObjectIDsKey: message.refreshedIDs,
        NSInvalidatedObjectIDsKey: message.invalidatedIDs,
      ]
      return Notification(name: name, object: message.context, userInfo: sets.filter { !$1.isEmpty })
    }

    init?(_ content: MessageContent<NSManagedObjectContext>?) {
      guard let content else { return nil }
      context = content.subject
      insertedIDs = content.info.set(NSInsertedObjectIDsKey)
      updatedIDs = content.info.set(NSUpdatedObjectIDsKey)
      deletedIDs = content.info.set(NSDeletedObjectIDsKey)
      refreshedIDs = content.info.set(NSRefreshedObjectIDsKey)
      invalidatedIDs = content.info.set(NSInvalidatedObjectIDsKey)
      historyToken = content.info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
      queryGeneration = content.info[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken
    }
  }
}

/// The content of a notification for a message of its name; nil for a notification with another name or without its
/// subject.
struct MessageContent<Subject> {
  let subject: Subject
  let info: [AnyHashable: Any]

  init?(_ notification: Notification, _ name: Notification.Name) {
    guard notification.name == name, let subject = notification.object as? Subject else { return nil }
    (self.subject, info) = (subject, notification.userInfo ?? [:])
  }

  init(_ subject: Subject, _ info: [AnyHashable: Any]) { (self.subject, self.info) = (subject, info) }
}

extension [AnyHashable: Any] {
  fileprivate func set<Element>(_ key: String) -> Set<Element> { self[key] as? Set<Element> ?? [] }
}
