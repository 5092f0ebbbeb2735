import Foundation

// The names by which messages are observed: `NotificationCenter.default.addObserver(of: context, for: .didSave) { … }`.

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.ObjectsDidChangeMessage> {
  public static var objectsDidChange:
    NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.ObjectsDidChangeMessage>
  {
    _ = WatchedNotification.didChange.watchedName
    return .init()
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.WillSaveMessage> {
  public static var willSave: NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.WillSaveMessage> {
    _ = WatchedNotification.willSave.watchedName
    return .init()
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveMessage> {
  public static var didSave: NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveMessage> {
    _ = WatchedNotification.didSave.watchedName
    return .init()
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsMessage> {
  public static var didSaveObjectIDs:
    NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsMessage>
  {
    _ = WatchedNotification.didSaveIDs.watchedName
    return .init()
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsAsyncMessage> {
  public static var didSaveObjectIDsAsync:
    NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsAsyncMessage>
  {
    _ = WatchedNotification.didSaveIDs.watchedName
    return .init()
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesMessage> {
  public static var didMergeChanges:
    NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesMessage>
  {
    .init()
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesAsyncMessage> {
  public static var didMergeChangesAsync:
    NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesAsyncMessage>
  {
    .init()
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeMessage> {
  public static var storesDidChange:
    NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeMessage>
  {
    .init()
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage> {
  public static var storesDidChangeAsync:
    NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage>
  {
    .init()
  }
}
