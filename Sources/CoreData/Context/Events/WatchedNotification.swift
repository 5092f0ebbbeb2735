import Foundation
import Synchronization

/// The notifications of events and saves.
///
/// Making the sets of objects costs as much as writing the objects. Posting a notification that nobody observes costs a
/// tenth of the instructions of a small save. A program that observes few of them can switch the others off:
/// ``NSManagedObjectContext/postsOnlyRequestedNotifications`` (decision 017).
enum WatchedNotification: UInt8 {
  case didChange = 1
  case didSave = 2
  case didSaveIDs = 4
  case willSave = 8

  /// Bits of the notifications whose names were requested, and the bit for posting only those.
  private static let requested = Atomic<UInt8>(0)
  private static let onlyRequested: UInt8 = 128

  static var postsOnlyRequested: Bool {
    get { requested.load(ordering: .relaxed) & onlyRequested != 0 }
    set {
      if newValue {
        requested.bitwiseOr(onlyRequested, ordering: .relaxed)
      } else {
        requested.bitwiseAnd(~onlyRequested, ordering: .relaxed)
      }
    }
  }

  /// Whether anybody can be observing the notification.
  var isWatched: Bool {
    let requested = Self.requested.load(ordering: .relaxed)
    return requested & Self.onlyRequested == 0 || requested & rawValue != 0
  }

  /// The name of the notification. From now on it counts as observed.
  var watchedName: Notification.Name {
    if Self.requested.load(ordering: .relaxed) & rawValue == 0 {
      Self.requested.bitwiseOr(rawValue, ordering: .relaxed)
    }
    return name
  }

  var name: Notification.Name {
    switch self {
    case .didChange: Self.didChangeName
    case .didSave: Self.didSaveName
    case .didSaveIDs: Self.didSaveIDsName
    case .willSave: Self.willSaveName
    }
  }

  private static let didChangeName = Notification.Name("NSObjectsChangedInManagingContextNotification")
  private static let didSaveName = Notification.Name("NSManagingContextDidSaveChangesNotification")
  private static let willSaveName = Notification.Name("NSManagingContextWillSaveChangesNotification")
  private static let didSaveIDsName = Notification.Name("NSManagedObjectContextDidSaveObjectIDsNotification")
}

extension ContextCore {
  /// Posts a notification if anybody can be observing it; otherwise `userInfo` is not called.
  func post(_ notification: WatchedNotification, _ userInfo: () -> [AnyHashable: Any]) {
    if notification.isWatched { post(notification.name, userInfo()) }
  }
}
