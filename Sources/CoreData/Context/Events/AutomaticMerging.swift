import Foundation
import StoreSchema

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
        let coordinator = core.coordinator, source.core.coordinator === coordinator,
        let changes = notification.userInfo, !changes.isEmpty
      else { return }
      core.leave(.changes(ChangesElsewhere(changes)), isLater: true)
    }
  }

  deinit { observer.map(NotificationCenter.default.removeObserver) }
}
