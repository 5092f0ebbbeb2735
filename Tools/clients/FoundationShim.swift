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

/// Objective-C's associated objects. Those of an object that is gone are removed when another one gets its first.
public enum objc_AssociationPolicy: Sendable {
  case OBJC_ASSOCIATION_ASSIGN, OBJC_ASSOCIATION_RETAIN_NONATOMIC, OBJC_ASSOCIATION_COPY_NONATOMIC
  case OBJC_ASSOCIATION_RETAIN, OBJC_ASSOCIATION_COPY
}

private final class Associations: @unchecked Sendable {
  private struct Entry {
    weak var owner: AnyObject?
    var values: [UnsafeRawPointer: Any] = [:]
  }

  static let all = Associations()
  private let lock = NSRecursiveLock()
  private var entries: [ObjectIdentifier: Entry] = [:]

  func value(_ owner: AnyObject, _ key: UnsafeRawPointer) -> Any? {
    lock.withLock {
      guard let entry = entries[ObjectIdentifier(owner)], entry.owner === owner else { return nil }
      return entry.values[key]
    }
  }

  func set(_ owner: AnyObject, _ key: UnsafeRawPointer, _ value: Any?) {
    lock.withLock {
      let identifier = ObjectIdentifier(owner)
      if entries[identifier]?.owner !== owner {
        entries = entries.filter { $0.value.owner != nil }
        entries[identifier] = Entry(owner: owner)
      }
      entries[identifier]?.values[key] = value
    }
  }
}

public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
  Associations.all.value(object as AnyObject, key)
}

public func objc_setAssociatedObject(
  _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) {
  Associations.all.set(object as AnyObject, key, value)
}

/// CloudKit's container and its options: nothing is synchronised.
open class NSPersistentCloudKitContainer: NSPersistentContainer {}

public final class NSPersistentCloudKitContainerOptions: NSObject {
  public let containerIdentifier: String
  public init(containerIdentifier: String) { self.containerIdentifier = containerIdentifier }
}

extension NSPersistentStoreDescription {
  public var cloudKitContainerOptions: NSPersistentCloudKitContainerOptions? {
    get { nil }
    set {}
  }
}

/// An observer of the main run loop that is told when the loop is about to wait. Where the main queue is served without
/// a run loop, it is told when the main queue has done what was waiting in it, and again each millisecond.
public final class CFRunLoopObserver: @unchecked Sendable {
  let repeats: Bool
  let handler: (CFRunLoopObserver?, CFRunLoopActivity) -> Void
  var isValid = true

  init(_ repeats: Bool, _ handler: @escaping (CFRunLoopObserver?, CFRunLoopActivity) -> Void) {
    (self.repeats, self.handler) = (repeats, handler)
  }

  func schedule() { DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(1), execute: fire) }

  private func fire() {
    guard isValid else { return }
    handler(self, .beforeWaiting)
    if repeats { schedule() } else { isValid = false }
  }
}

public struct CFRunLoopActivity: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let beforeWaiting = CFRunLoopActivity(rawValue: 1 << 5)
}

public struct CFRunLoopMode: Sendable { public static let commonModes = CFRunLoopMode() }
public struct CFRunLoop: Sendable {}
public struct CFAllocator: Sendable {}
public let kCFAllocatorDefault: CFAllocator? = nil
public func CFRunLoopGetMain() -> CFRunLoop { CFRunLoop() }

public func CFRunLoopObserverCreateWithHandler(
  _ allocator: CFAllocator?, _ activities: UInt, _ repeats: Bool, _ order: Int,
  _ handler: @escaping (CFRunLoopObserver?, CFRunLoopActivity) -> Void
) -> CFRunLoopObserver? { CFRunLoopObserver(repeats, handler) }

public func CFRunLoopAddObserver(_ loop: CFRunLoop, _ observer: CFRunLoopObserver?, _ mode: CFRunLoopMode) {
  observer?.schedule()
}

public func CFRunLoopObserverInvalidate(_ observer: CFRunLoopObserver) { observer.isValid = false }
