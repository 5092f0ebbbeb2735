import Foundation

extension NSPersistentStoreCoordinator {
  /// Posted when the stores of a coordinator have changed, on the main queue.
  public struct StoresDidChangeMessage: NotificationCenter.MainActorMessage {
    public typealias Subject = NSPersistentStoreCoordinator
    public static var name: Notification.Name { .NSPersistentStoreCoordinatorStoresDidChange }
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    public let addedStores: [NSPersistentStore]
    public let removedStores: [NSPersistentStore]
    /// The store that was, and the one that has taken its place; nil where none has.
    public let uuidChangedStores: (oldValue: NSPersistentStore, newValue: NSPersistentStore)?
    private let movedIDs: [NSManagedObjectID]

    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      Self(MessageContent<NSPersistentStoreCoordinator>(notification, name))
    }

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
    public typealias Subject = NSPersistentStoreCoordinator
    public static var name: Notification.Name { .NSPersistentStoreCoordinatorStoresDidChange }
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    public let addedStores: [NSPersistentStore]
    public let removedStores: [NSPersistentStore]
    /// The store that was, and the one that has taken its place; nil where none has.
    public let uuidChangedStores: (oldValue: NSPersistentStore, newValue: NSPersistentStore)?
    private let movedIDs: [NSManagedObjectID]

    public static func makeMessage(_ notification: Notification) -> Self? {
      Self(MessageContent<NSPersistentStoreCoordinator>(notification, name))
    }

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
