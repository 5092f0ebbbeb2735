import Foundation
import StoreSchema

extension NSManagedObjectContext {
  /// Brings in what another context has saved; called on this context's queue with its did-save notification.
  ///
  /// New objects become known here, those of this context that have changed are read again with unsaved changes on top,
  /// and deleted ones count as deleted. Fetched results and `ObjectsDidChange` say so. Both notifications of a save are
  /// understood, and those of contexts of another coordinator on the same store.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    core.merge(ChangesElsewhere(notification.userInfo ?? [:]))
  }

  /// Brings what was changed elsewhere (by another process or a batch request) into contexts, each on its own queue.
  ///
  /// The dictionary has object IDs or their URIs under `NSInsertedObjectsKey`, `NSUpdatedObjectsKey`, `NSDeletedObjectsKey`
  /// and the like, or under the keys of `didSaveObjectIDsNotification`.
  ///
  /// Waits for no queue. A context that another thread is using, and a main-queue context unless this is called on the
  /// main queue, brings the changes in at the next turn of its queue, or when it is used next, whichever is first.
  public class func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    let changes = ChangesElsewhere(changeNotificationData)
    for context in contexts { context.core.leave(.changes(changes)) }
  }
}

/// Follows the saves of the other contexts of a coordinator, as long as it lives.
final class AutomaticMerging {
  private var observer: (any NSObjectProtocol)?

  init(into context: NSManagedObjectContext) {
    // Not the context: who holds it last ends it, and its objects are used on its queue alone.
    let link = context.core.link
    observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, queue: nil
    ) { notification in
      guard let core = link.core, let source = notification.object as? NSManagedObjectContext, source.core !== core,
        let coordinator = core.coordinator, source.core.coordinator === coordinator
      else { return }
      core.leave(.changes(ChangesElsewhere(notification.userInfo ?? [:])), isLater: true)
    }
  }

  deinit { observer.map(NotificationCenter.default.removeObserver) }
}
