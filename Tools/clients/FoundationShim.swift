// What client libraries use of Apple's Foundation, Combine and key-value observing, and Foundation does not have on
// Linux: so that the rest of a file compiles. Observing an object that is no
// managed object reports nothing.
import CoreData
import Dispatch

extension FileManager {
  /// There are no application groups: a folder of the user's, by the group's name.
  public func containerURL(forSecurityApplicationGroupIdentifier identifier: String) -> URL? {
    urls(for: .documentDirectory, in: .userDomainMask).first?.deletingLastPathComponent()
      .appendingPathComponent(identifier)
  }
}

extension NSObject {
  /// Apple's NSObject has this method of classes; Foundation's has the property only.
  public class func classForCoder() -> AnyClass { self }
}

/// The locks of Objective-C objects: one for all, which a thread can take again.
private let objectLock = NSRecursiveLock()

@discardableResult public func objc_sync_enter(_ object: Any) -> Int32 {
  objectLock.lock()
  return 0
}

@discardableResult public func objc_sync_exit(_ object: Any) -> Int32 {
  objectLock.unlock()
  return 0
}

/// The observation of an object that is no managed object.
public final class FoundationObservation: @unchecked Sendable {
  public func invalidate() {}
}

public protocol FoundationObserving {}
extension Progress: FoundationObserving {}
extension NSMigrationManager: FoundationObserving {}

extension FoundationObserving {
  public func observe<Value>(
    _ path: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> FoundationObservation { FoundationObservation() }
}

/// Combine's publisher of notifications, as far as it is used.
public struct NotificationPublisher<Output> {
  let center: NotificationCenter
  let name: Notification.Name
  let object: AnyObject?
  let transform: (Notification) -> Output

  public func map<T>(_ transform: @escaping (Output) -> T) -> NotificationPublisher<T> {
    let before = self.transform
    return NotificationPublisher<T>(center: center, name: name, object: object) { transform(before($0)) }
  }

  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    let transform = self.transform
    nonisolated(unsafe) let receive: (Notification) -> Void = { receiveValue(transform($0)) }
    let token = center.addObserver(forName: name, object: object, queue: nil) { receive($0) }
    return AnyCancellable { [center] in center.removeObserver(token) }
  }
}

extension NotificationCenter {
  public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> NotificationPublisher<Notification> {
    NotificationPublisher(center: self, name: name, object: object) { $0 }
  }
}

public final class AnyCancellable {
  private var action: (() -> Void)?
  init(_ action: @escaping () -> Void) { self.action = action }
  public func cancel() {
    action?()
    action = nil
  }
  public func store(in list: inout [AnyCancellable]) { list.append(self) }
  deinit { cancel() }
}
