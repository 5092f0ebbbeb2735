import Foundation
import StoreSchema

/// Merges the saves of the coordinator's other contexts into a context, as long as it exists.
final class AutomaticMerging {
  private var observer: (any NSObjectProtocol)?

  init(into context: NSManagedObjectContext) {
    // The closure does not hold the context: the last owner releases it, and its objects are used only on its queue.
    let link = context.core.link
    observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, queue: nil
    ) { notification in
      guard let core = link.core, let source = notification.object as? NSManagedObjectContext, source.core !== core,
        let coordinator = core.coordinator, source.core.coordinator === coordinator,
        let changes = notification.userInfo, !changes.isEmpty
      else { return }
      core.leave(.changes(ChangesElsewhere(changes)), isLater: true)
    }
  }

  deinit { observer.map(NotificationCenter.default.removeObserver) }
}
