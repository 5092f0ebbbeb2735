import Foundation

// The names by which messages are observed: `NotificationCenter.default.addObserver(of: context, for: .didSave) { … }`.
// The first use of a name starts the posting of messages: see MessagePosting.

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.ObjectsDidChangeMessage> {
  /// Observes changes of a main-queue context, on the main queue.
  public static var objectsDidChange:
    NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.ObjectsDidChangeMessage>
  {
    _ = WatchedNotification.didChange.watchedName
    return MessagePosting.requested(.init())
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.WillSaveMessage> {
  /// Observes saves of a main-queue context before they begin, on the main queue.
  public static var willSave: NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.WillSaveMessage> {
    _ = WatchedNotification.willSave.watchedName
    return MessagePosting.requested(.init())
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveMessage> {
  /// Observes saves of a main-queue context, on the main queue.
  public static var didSave: NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveMessage> {
    _ = WatchedNotification.didSave.watchedName
    return MessagePosting.requested(.init())
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsMessage> {
  /// Observes saves of a main-queue context, on the main queue, with IDs instead of objects.
  public static var didSaveObjectIDs:
    NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsMessage>
  {
    _ = WatchedNotification.didSaveIDs.watchedName
    return MessagePosting.requested(.init())
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsAsyncMessage> {
  /// Observes saves of a private-queue context, with IDs instead of objects.
  public static var didSaveObjectIDsAsync:
    NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsAsyncMessage>
  {
    _ = WatchedNotification.didSaveIDs.watchedName
    return MessagePosting.requested(.init())
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesMessage> {
  /// Observes merges into a main-queue context, on the main queue.
  public static var didMergeChanges:
    NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesMessage>
  {
    MessagePosting.requested(.init())
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesAsyncMessage> {
  /// Observes merges into a private-queue context.
  public static var didMergeChangesAsync:
    NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesAsyncMessage>
  {
    MessagePosting.requested(.init())
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeMessage> {
  /// Observes changes of a coordinator's stores that are made on the main queue.
  public static var storesDidChange:
    NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeMessage>
  {
    MessagePosting.requested(.init())
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage> {
  /// Observes changes of a coordinator's stores that are made on other queues.
  public static var storesDidChangeAsync:
    NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage>
  {
    MessagePosting.requested(.init())
  }
}
