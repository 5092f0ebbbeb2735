import Foundation
import Synchronization

/// Messages are posted from the first time that the process uses one of their names, such as `.didSave`.
///
/// Foundation 6.3 stops the program where a message is posted while an observer observes every notification (with a nil
/// name). This rule protects programs that do not observe messages. A program that observes messages only by type must
/// use one of the names once.
enum MessagePosting {
  private static let isRequested = Atomic<Bool>(false)

  static var isOn: Bool { isRequested.load(ordering: .relaxed) }

  static func requested<Identifier>(_ identifier: Identifier) -> Identifier {
    isRequested.store(true, ordering: .relaxed)
    return identifier
  }
}

/// Notifies the observers of messages; see ContextMessages.
extension ContextCore {
  func postMessage(_ name: Notification.Name, _ info: [AnyHashable: Any]) {
    guard MessagePosting.isOn, let context else { return }
    let content = MessageContent(context, info)
    if queue.confinement != .mainQueue {
      switch name {
      case WatchedNotification.didSaveIDs.name: post(NSManagedObjectContext.DidSaveObjectIDsAsyncMessage(content))
      case NSManagedObjectContext.didMergeChangesObjectIDsNotification:
        post(NSManagedObjectContext.DidMergeChangesAsyncMessage(content))
      default: return
      }
    } else if MainQueue.isCurrent {
      nonisolated(unsafe) let content = content
      MainActor.assumeIsolated {
        switch name {
        case WatchedNotification.didChange.name: post(NSManagedObjectContext.ObjectsDidChangeMessage(content))
        case WatchedNotification.willSave.name: post(NSManagedObjectContext.WillSaveMessage(content))
        case WatchedNotification.didSave.name: post(NSManagedObjectContext.DidSaveMessage(content))
        case WatchedNotification.didSaveIDs.name: post(NSManagedObjectContext.DidSaveObjectIDsMessage(content))
        case NSManagedObjectContext.didMergeChangesObjectIDsNotification:
          post(NSManagedObjectContext.DidMergeChangesMessage(content))
        default: return
        }
      }
    }
  }

  private func post<Message: NotificationCenter.AsyncMessage>(_ message: Message?)
  where Message.Subject == NSManagedObjectContext {
    if let message, let context { NotificationCenter.default.post(message, subject: context) }
  }

  @MainActor private func post<Message: NotificationCenter.MainActorMessage>(_ message: Message?)
  where Message.Subject == NSManagedObjectContext {
    if let message, let context { NotificationCenter.default.post(message, subject: context) }
  }
}

extension NSPersistentStoreCoordinator {
  func postMessage(_ name: Notification.Name, _ info: [AnyHashable: Any]) {
    guard MessagePosting.isOn, name == .NSPersistentStoreCoordinatorStoresDidChange else { return }
    let content = MessageContent(self, info)
    if !MainQueue.isCurrent {
      if let message = StoresDidChangeAsyncMessage(content) { NotificationCenter.default.post(message, subject: self) }
      return
    }
    nonisolated(unsafe) let main = content
    MainActor.assumeIsolated {
      if let message = StoresDidChangeMessage(main) { NotificationCenter.default.post(message, subject: self) }
    }
  }
}
