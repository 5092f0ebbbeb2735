import Dispatch
import Foundation

extension NSManagedObjectContext {
  /// Called when ``undoManager`` has changed.
  final func useUndoManager(insteadOf former: UndoManager?) {
    former?.removeAllActions(withTarget: self)
    core.undoCheckpoints = undoManager.map { UndoCheckpoints(of: $0, core) }
    if core.queue.confinement != .mainQueue { undoManager?.isOfOtherQueue = true }
    for object in core.changed { object.extras?.formerTransients = [:] }
  }

  /// Called when the context ends, on any thread. The manager of a main-queue context belongs to the main queue.
  final func forgetUndoActions() {
    guard let undoManager else { return }
    let id = ObjectIdentifier(self)
    if core.queue.confinement != .mainQueue || MainQueue.isCurrent { return undoManager.removeActions(of: id) }
    nonisolated(unsafe) let manager = undoManager
    // A new context may have the same address by then.
    DispatchQueue.main.async { manager.removeActions(of: id, ifGone: true) }
  }
}

/// Ends the event of a context when its undo manager requires it; see `NSUndoManagerCheckpoint`.
final class UndoCheckpoints {
  private let observer: any NSObjectProtocol

  init(of manager: UndoManager, _ core: ContextCore) {
    let link = core.link
    observer = NotificationCenter.default.addObserver(forName: .NSUndoManagerCheckpoint, object: manager, queue: nil) {
      _ in
      // Another thread may use the manager for other contexts.
      guard let core = link.core, core.queue.isCurrent, !core.activity.isCallingOut else { return }
      core.processPendingChanges()
    }
  }

  deinit { NotificationCenter.default.removeObserver(observer) }
}
