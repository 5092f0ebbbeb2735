import Foundation
import StoreSchema

/// Merges what other contexts save into a context, as long as it exists.
///
/// A root context merges what other root contexts of its coordinator save. A child context merges what other children
/// save to its parent, and what the parent itself saves.
/// "whether the context automatically merges changes saved to its persistent store coordinator or parent context":
/// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/automaticallymergeschangesfromparent
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
        source.core.parent === core.parent || source.core === core.parent,
        let changes = notification.userInfo, !changes.isEmpty
      else { return }
      core.leave(.changes(ChangesElsewhere(changes)), isLater: true)
    }
  }

  deinit { observer.map(NotificationCenter.default.removeObserver) }
}
