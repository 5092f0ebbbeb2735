import Foundation

/// The operations of a context that are running. While they run, its objects and stores must not change.
struct ContextActivity {
  var isSaving = false
  /// Whether a save is writing its changes, to a store or to the parent. What changes meanwhile would be lost.
  var isWriting = false
  /// Objects of the running save whose store has committed before another one had a conflict or failed. They get their
  /// `didSave()` when the save ends.
  var savedEarly: [NSManagedObject] = []
  /// Whether a merge policy resolves conflicts. What changes meanwhile is not undone.
  var isMerging = false
  /// How many nested calls of client code are running in the middle of a change.
  fileprivate var callouts = 0
  /// How many nested calls of `awakeFromFetch` are running. Changes are not tracked meanwhile.
  fileprivate var awakenings = 0
  /// How many nested saves of children are being taken over. Meanwhile this context has a part of their changes.
  var takings = 0
  /// The objects that they have still to delete: those of the innermost save at the end, the next one last.
  var waitingDeletions: [(level: Int, object: NSManagedObject)] = []
  /// The objects that they have changed, without those that the client has deleted since. Delete rules end their links,
  /// and do not delete them.
  var kept: [ObjectIdentifier: NSManagedObject] = [:]
  /// The objects whose `awakeFromFetch` is called later; nil where it is called at once.
  var deferredAwakenings: [NSManagedObject]?
  /// How many nested runs of the delete rules there are. Meanwhile only a part of the effects of a deletion has been
  /// applied.
  fileprivate var followings = 0
  /// How many nested notifications are being posted.
  fileprivate var posts = 0
  /// The nested `ObjectsDidChange` notifications that are being posted, or prepared: their numbers and contents.
  fileprivate(set) var announcements: [(number: Int, userInfo: [AnyHashable: Any])] = []
  fileprivate var announced = 0

  var isTracking: Bool { awakenings == 0 }

  var isPropagatingDeletes: Bool { followings > 0 }

  /// Whether client code is called in the middle of a change. An object may be incomplete then.
  var isCallingOut: Bool { callouts > 0 || awakenings > 0 }

  var isBusy: Bool { isSaving || isCallingOut || posts > 0 }
}

extension ContextCore {
  /// Calls a function of a client's object in the middle of a change, such as `awakeFromInsert` or `willSave`.
  @inline(__always)
  func callOut(_ body: () -> Void) {
    activity.callouts += 1
    body()
    activity.callouts -= 1
  }

  /// Runs `body` with changes tracked, also where an `awakeFromFetch` has called this.
  func tracking<R>(_ body: () throws -> R) rethrows -> R {
    let awakenings = activity.awakenings
    activity.awakenings = 0
    defer { activity.awakenings = awakenings }
    return try body()
  }

  /// Calls `awakeFromFetch` of an object.
  @inline(__always)
  func awake(_ object: NSManagedObject) {
    if activity.deferredAwakenings != nil {
      activity.deferredAwakenings?.append(object)
      return
    }
    activity.awakenings += 1
    object.awakeFromFetch()
    activity.awakenings -= 1
  }

  func callDeferredAwakenings() {
    let objects = activity.deferredAwakenings ?? []
    activity.deferredAwakenings = nil
    for object in objects {
      // Those of the contexts above, which have read for this one, are awakened on their queues.
      guard let core = object.core else { continue }
      core.runForChild(takesUpMarks: false) { if object.core === core && !object.flags.isFault { core.awake(object) } }
    }
  }

  /// Notifies observers by `body`: by the `ObjectsDidChange` notification of `sets`, or of properties before it.
  /// Controllers learn from ``ContextActivity/announcements`` which objects have changed already.
  func announcing(_ sets: [AnyHashable: Any], _ body: () -> Void) {
    activity.announced += 1
    activity.announcements.append((activity.announced, sets))
    body()
    activity.announcements.removeLast()
  }

  /// Calls `body` with each object whose delete rules must be applied, until none is left. It uses a worklist, so the
  /// depth of the graph does not matter.
  ///
  /// Code that is notified of a deletion may end the event, and so call this function again. At a depth of 16 calls,
  /// the objects are left to the outer calls.
  func applyDeleteRules(_ body: (NSManagedObject) -> Void) {
    if activity.followings == 16 { return }
    activity.followings += 1
    while true {
      let batch = changes.takeUndeletedDependents()
      if batch.isEmpty { break }
      for object in batch where isStillDeleted(object) { body(object) }
    }
    activity.followings -= 1
  }

  func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
    // First, because observers may make changes, which are posted before this function ends.
    if name != WatchedNotification.didSaveIDs.name { tellStreams(name, userInfo) }
    activity.posts += 1
    if name == WatchedNotification.didChange.name {
      announcing(userInfo) { deliver(name, userInfo) }
    } else {
      deliver(name, userInfo)
    }
    activity.posts -= 1
  }

  private func deliver(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
    NotificationCenter.default.post(name: name, object: context, userInfo: userInfo.isEmpty ? nil : userInfo)
    postMessage(name, userInfo)
  }

  /// Called before every fetch, and before a refresh that keeps changes. It ends the event, so that both find the
  /// effects of the changes. Where an object is incomplete, observers are not notified; then only delete rules are
  /// applied.
  func endEventToRead() {
    checkQueue()
    takeUpIfIdle()
    if !activity.isCallingOut { return processPendingChanges() }
    // While `awakeFromFetch` runs, no change is tracked, so delete rules must not change objects.
    if activity.isTracking && (propagatesDeletesAtEndOfEvent || activity.isSaving) { propagateDeletes() }
  }
}
