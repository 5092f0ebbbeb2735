import Dispatch
import Foundation
import StoreSchema

extension NSManagedObjectContext {
  /// Called when ``undoManager`` has changed.
  final func useUndoManager(insteadOf former: UndoManager?) {
    former?.removeAllActions(withTarget: self)
    core.undoRecording = undoManager.map { UndoRecording(of: $0, core) }
    if core.queue.confinement != .mainQueue { undoManager?.isOfOtherQueue = true }
    for object in core.changed { object.extras?.formerTransients = [:] }
  }

  /// Called when the context ends, on any thread. The manager of a main-queue context belongs to the main queue.
  final func forgetUndoActions() {
    guard let undoManager else { return }
    let id = ObjectIdentifier(self)
    if core.queue.confinement != .mainQueue || MainQueue.isCurrent { return undoManager.removeActions(of: id) }
    nonisolated(unsafe) let manager = undoManager
    DispatchQueue.main.async { manager.removeActions(of: id) }
  }
}

/// What a context with an undo manager keeps. It ends the event when the manager requires that; see
/// `NSUndoManagerCheckpoint`.
final class UndoRecording {
  /// A link that an undo could not set, because its destination is gone.
  typealias AwaitedLink = (owner: NSManagedObject, relationship: Relationship, destination: NSManagedObject)

  private let observer: any NSObjectProtocol
  var awaited: [AwaitedLink] = []

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

  func takeAwaited(_ destination: NSManagedObject) -> [AwaitedLink] {
    let found = awaited.filter { $0.destination === destination }
    if !found.isEmpty { awaited.removeAll { $0.destination === destination } }
    return found
  }
}
