import Foundation

extension NSPersistentStoreCoordinator {
  /// Posted when the stores of a coordinator have changed, on the main queue.
  public struct StoresDidChangeMessage: NotificationCenter.MainActorMessage {
    /// The type of the observed object: a coordinator.
    public typealias Subject = NSPersistentStoreCoordinator
    /// The name of the notification with the same content, `NSPersistentStoreCoordinatorStoresDidChange`.
    public static var name: Notification.Name { .NSPersistentStoreCoordinatorStoresDidChange }
    /// The coordinator that posts the message.
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// The stores that were added; empty for none.
    public let addedStores: [NSPersistentStore]
    /// The stores that were removed; empty for none.
    public let removedStores: [NSPersistentStore]
    /// A store, and the store that has replaced it in the coordinator; nil where no store was replaced.
    public let uuidChangedStores: (oldValue: NSPersistentStore, newValue: NSPersistentStore)?
    private let movedIDs: [NSManagedObjectID]

    /// The message of a notification; nil for one of another name or without a coordinator.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      Self(MessageContent<NSPersistentStoreCoordinator>(notification, name))
    }

    /// The notification with the content of a message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      var info: [AnyHashable: Any] = [:]
      if !message.addedStores.isEmpty { info[NSAddedPersistentStoresKey] = message.addedStores }
      if !message.removedStores.isEmpty { info[NSRemovedPersistentStoresKey] = message.removedStores }
      if let (old, new) = message.uuidChangedStores {
        info[NSUUIDChangedPersistentStoresKey] = [old, new, message.movedIDs]
      }
      return Notification(name: name, object: message.persistentStoreCoordinator, userInfo: info)
    }

    init?(_ content: MessageContent<NSPersistentStoreCoordinator>?) {
      guard let content else { return nil }
      persistentStoreCoordinator = content.subject
      addedStores = content.info[NSAddedPersistentStoresKey] as? [NSPersistentStore] ?? []
      removedStores = content.info[NSRemovedPersistentStoresKey] as? [NSPersistentStore] ?? []
      let changed = content.info[NSUUIDChangedPersistentStoresKey] as? [Any] ?? []
      let stores = changed.prefix(2).compactMap { $0 as? NSPersistentStore }
      uuidChangedStores = stores.count == 2 ? (stores[0], stores[1]) : nil
      movedIDs = changed.dropFirst(2).first as? [NSManagedObjectID] ?? []
    }
  }

  /// Posted when the stores of a coordinator have changed, on another queue.
  public struct StoresDidChangeAsyncMessage: NotificationCenter.AsyncMessage {
    /// The type of the observed object: a coordinator.
    public typealias Subject = NSPersistentStoreCoordinator
    /// The name of the notification with the same content, `NSPersistentStoreCoordinatorStoresDidChange`.
    public static var name: Notification.Name { .NSPersistentStoreCoordinatorStoresDidChange }
    /// The coordinator that posts the message.
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// The stores that were added; empty for none.
    public let addedStores: [NSPersistentStore]
    /// The stores that were removed; empty for none.
    public let removedStores: [NSPersistentStore]
    /// A store, and the store that has replaced it in the coordinator; nil where no store was replaced.
    public let uuidChangedStores: (oldValue: NSPersistentStore, newValue: NSPersistentStore)?
    private let movedIDs: [NSManagedObjectID]

    /// The message of a notification; nil for one of another name or without a coordinator.
    public static func makeMessage(_ notification: Notification) -> Self? {
      Self(MessageContent<NSPersistentStoreCoordinator>(notification, name))
    }

    /// The notification with the content of a message.
    public static func makeNotification(_ message: Self) -> Notification {
      var info: [AnyHashable: Any] = [:]
      if !message.addedStores.isEmpty { info[NSAddedPersistentStoresKey] = message.addedStores }
      if !message.removedStores.isEmpty { info[NSRemovedPersistentStoresKey] = message.removedStores }
      if let (old, new) = message.uuidChangedStores {
        info[NSUUIDChangedPersistentStoresKey] = [old, new, message.movedIDs]
      }
      return Notification(name: name, object: message.persistentStoreCoordinator, userInfo: info)
    }

    init?(_ content: MessageContent<NSPersistentStoreCoordinator>?) {
      guard let content else { return nil }
      persistentStoreCoordinator = content.subject
      addedStores = content.info[NSAddedPersistentStoresKey] as? [NSPersistentStore] ?? []
      removedStores = content.info[NSRemovedPersistentStoresKey] as? [NSPersistentStore] ?? []
      let changed = content.info[NSUUIDChangedPersistentStoresKey] as? [Any] ?? []
      let stores = changed.prefix(2).compactMap { $0 as? NSPersistentStore }
      uuidChangedStores = stores.count == 2 ? (stores[0], stores[1]) : nil
      movedIDs = changed.dropFirst(2).first as? [NSManagedObjectID] ?? []
    }
  }
}
