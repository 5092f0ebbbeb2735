import Foundation

/// What of a context's own work is under way. Meanwhile its objects and stores must not change under it.
struct ContextActivity {
  var isSaving = false
  /// How deep the context is in functions of the client's objects that are told in the middle of a change.
  fileprivate var callouts = 0
  /// How deep it is in `awakeFromFetch`. Changes are not tracked meanwhile.
  fileprivate var awakenings = 0
  /// How deep it is in following delete rules. What is deleted has a part of its effects only.
  fileprivate var followings = 0
  /// How deep it is in posting notifications.
  fileprivate var posts = 0

  var isTracking: Bool { awakenings == 0 }

  var isFollowingDeleteRules: Bool { followings > 0 }

  /// Whether an object is being told in the middle of a change: it may be half made.
  var isCallingOut: Bool { callouts > 0 || awakenings > 0 }

  var isBusy: Bool { isSaving || isCallingOut || posts > 0 }
}

extension ContextCore {
  /// Calls a function of a client's object that is told in the middle of a change: `awakeFromInsert`, `willSave`.
  @inline(__always)
  func callOut(_ body: () -> Void) {
    activity.callouts += 1
    body()
    activity.callouts -= 1
  }

  /// Calls `awakeFromFetch` of an object.
  @inline(__always)
  func awake(_ object: NSManagedObject) {
    activity.awakenings += 1
    object.awakeFromFetch()
    activity.awakenings -= 1
  }

  /// Calls `body` with the objects whose delete rules are to be followed, until there are no more: a worklist, so that
  /// the depth of the graph does not matter.
  ///
  /// Who is told of a deletion may end the event, and so come here again. Where that goes deep, what is to be done is
  /// left to the calls that are under way.
  func followDeleteRules(_ body: (NSManagedObject) -> Void) {
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
    activity.posts += 1
    NotificationCenter.default.post(name: name, object: context, userInfo: userInfo.isEmpty ? nil : userInfo)
    postMessage(name, userInfo)
    activity.posts -= 1
  }

  /// Called before every fetch. The event ends, so that the fetch finds what belongs to its changes; but not where an
  /// object is half made: nobody is told of it before it is done.
  func prepareToFetch() {
    checkQueue()
    takeUpIfIdle()
    if !activity.isCallingOut { return processPendingChanges() }
    // While a fault is being read no change is noted, and so none is made.
    if activity.isTracking && (propagatesDeletesAtEndOfEvent || activity.isSaving) { propagateDeletes() }
  }
}
