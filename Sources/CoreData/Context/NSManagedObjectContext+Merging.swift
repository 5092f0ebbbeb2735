import Foundation
import StoreSchema

extension NSManagedObjectContext {
  /// Brings in what another context has saved; called on this context's queue with its did-save notification.
  ///
  /// New objects become known here, those of this context that have changed are read again with unsaved changes on top,
  /// and deleted ones count as deleted. Fetched results and `ObjectsDidChange` say so. Both notifications of a save are
  /// understood, and those of contexts of another coordinator on the same store.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    core.merge(MergedChanges(notification.userInfo ?? [:], core))
  }

  /// Brings what was changed elsewhere (by another process or a batch request) into contexts, each on its own queue.
  ///
  /// The dictionary has object IDs or their URIs under `NSInsertedObjectsKey`, `NSUpdatedObjectsKey`, `NSDeletedObjectsKey`
  /// and the like, or under the keys of `didSaveObjectIDsNotification`.
  public class func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    for context in contexts {
      context.performAndWait { context.core.merge(MergedChanges(changeNotificationData, context.core)) }
    }
  }
}

/// Follows the saves of the other contexts of a coordinator, as long as it lives.
final class AutomaticMerging {
  private var observer: (any NSObjectProtocol)?

  init(into context: NSManagedObjectContext) {
    observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, queue: nil
    ) { [weak context] notification in
      guard let context, let source = notification.object as? NSManagedObjectContext, source !== context,
        let coordinator = context.core.coordinator, source.core.coordinator === coordinator
      else { return }
      nonisolated(unsafe) let userInfo = notification.userInfo ?? [:]
      context.perform { context.core.merge(MergedChanges(userInfo, context.core)) }
    }
  }

  deinit { observer.map(NotificationCenter.default.removeObserver) }
}

/// Changes made elsewhere, as references of one context.
struct MergedChanges {
  typealias Place = (reference: ObjectReference, store: UInt16)
  private(set) var inserted: [Place] = []
  private(set) var updated: [Place] = []
  private(set) var deleted: [Place] = []

  init(_ userInfo: [AnyHashable: Any], _ core: ContextCore) {
    func places(_ keys: String...) -> [Place] {
      keys.flatMap { key in Self.elements(userInfo[key]).compactMap { Self.place($0, core) } }
    }
    inserted = places(NSInsertedObjectsKey, NSInsertedObjectIDsKey)
    updated = places(
      NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey,
      NSInvalidatedObjectsKey, NSInvalidatedObjectIDsKey)
    deleted = places(NSDeletedObjectsKey, NSDeletedObjectIDsKey)
  }

  private static func elements(_ value: Any?) -> [Any] {
    switch value {
    case let set as NSSet: set.allObjects
    case let set as Set<AnyHashable>: set.map(\.base)
    case let set as Set<NSManagedObject>: Array(set)
    case let set as Set<NSManagedObjectID>: Array(set)
    case let array as [Any]: array
    default: []
    }
  }

  /// By entity name, as the ID may come from another coordinator's copy of the model.
  private static func place(_ element: Any, _ core: ContextCore) -> Place? {
    let id: NSManagedObjectID?
    switch element {
    case let object as NSManagedObject: id = object.objectID
    case let known as NSManagedObjectID: id = known
    case let uri as URL: id = core.coordinator?.managedObjectID(forURIRepresentation: uri)
    default: id = nil
    }
    guard let id, !id.isTemporaryID, let store = core.coordinator?.storeIndex(of: id),
      let entity = core.frozen?.schema.entity(named: id.info.entity.name)
    else { return nil }
    return (ObjectReference(entity: entity.index, key: id.key), store)
  }
}
