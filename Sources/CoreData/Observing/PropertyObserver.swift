import Foundation
import Synchronization

/// A closure that is called when the value at a key path has changed.
///
/// It subscribes to the keys of each object that the value depends on: those in the key path, and those that
/// `keyPathsForValuesAffectingValue(forKey:)` names. It keeps these objects alive, except for the first: an object
/// that was made anew would have no observers.
///
/// Sendable, unchecked: any thread may end it; the rest is used on the queue of the object's context.
final class PropertyObserver: @unchecked Sendable {
  private weak var root: NSManagedObject?
  private let keys: [String]
  private let options: NSKeyValueObservingOptions
  private let read: (NSManagedObject) -> Any
  private let tell: (NSManagedObject, _ old: Any?, _ new: Any) -> Void
  private let link: ContextLink?
  private let isEnded = Atomic<Bool>(false)
  private var last: Any?
  private var subscriptions: [Subscription: WeakObject] = [:]
  private var held: [NSManagedObject] = []
  /// Observers are called in the order in which they began.
  let number: Int
  private static let made = Atomic<Int>(0)

  private struct Subscription: Hashable {
    let object: ObjectIdentifier
    let key: String
  }

  /// A part of a key path that begins at an object.
  private struct Step: Hashable {
    let object: ObjectIdentifier
    let keys: ArraySlice<String>
  }

  init(
    _ root: NSManagedObject, _ keyPath: String, _ options: NSKeyValueObservingOptions,
    read: @escaping (NSManagedObject) -> Any,
    tell: @escaping (NSManagedObject, _ old: Any?, _ new: Any) -> Void
  ) {
    (self.root, keys, link) = (root, keyPath.split(separator: ".").map(String.init), root.core?.link)
    (self.options, self.read, self.tell) = (options, read, tell)
    number = Self.made.add(1, ordering: .relaxed).newValue
  }

  var isValid: Bool { !isEnded.load(ordering: .relaxed) && root != nil }

  func begin() {
    guard let root else { return }
    root.core?.checkQueue()
    subscribe(root)
    if options.contains(.old) { last = read(root) }
    if options.contains(.initial) { tell(root, nil, options.contains(.new) ? read(root) : ()) }
  }

  /// Calls the closure, after a change of one of the keys. Without the options `old` and `new` the value is not read:
  /// an accessor of a type that is not optional may stop the program for nil.
  func call() {
    guard isValid, let root, root.core != nil else { return }
    subscribe(root)
    let (old, new) = (last, options.isDisjoint(with: [.old, .new]) ? () : read(root))
    if options.contains(.old) { last = new }
    tell(root, old, new)
  }

  /// Any thread may call it. On the queue of the context, the objects release the closure at once; else at a turn of
  /// the queue, or when the context is used next.
  func end() {
    if isEnded.exchange(true, ordering: .relaxed) { return }
    guard let core = link?.core else { return }
    // Of a context without a queue it is not known which thread uses it.
    let isOnQueue = core.queue.confinement != .client && core.queue.isCurrent
    if isOnQueue { unsubscribe() } else { core.leave(.ended(self), isLater: true) }
  }

  /// Makes the objects release the closure.
  func unsubscribe() {
    let former = (subscriptions, held)
    (subscriptions, held) = ([:], [])
    for (subscription, object) in former.0 { object.object?.observers?.remove(self, subscription.key) }
    withExtendedLifetime(former) {}
  }

  /// Subscribes to the keys that the value depends on now, and to no others.
  private func subscribe(_ root: NSManagedObject) {
    var found: [Subscription: WeakObject] = [:]
    var seen: Set<Step> = []
    var waiting: [(NSManagedObject, ArraySlice<String>)] = [(root, keys[...])]
    while let (object, keys) = waiting.popLast() {
      guard let key = keys.first else { continue }
      let subscription = Subscription(object: ObjectIdentifier(object), key: key)
      if !seen.insert(Step(object: subscription.object, keys: keys)).inserted { continue }
      if found.updateValue(WeakObject(object), forKey: subscription) == nil, subscriptions[subscription]?.object == nil
      {
        object.makeObservers().add(self, key, of: object)
      }
      for path in type(of: object).keyPathsForValuesAffectingValue(forKey: key) {
        waiting.append((object, path.split(separator: ".").map(String.init)[...]))
      }
      if keys.count > 1, let next = object.value(forKey: key) as? NSManagedObject {
        waiting.append((next, keys.dropFirst()))
      }
    }
    for (subscription, object) in subscriptions where found[subscription] == nil {
      object.object?.observers?.remove(self, subscription.key)
    }
    let former = held
    subscriptions = found
    held = found.values.compactMap(\.object).filter { $0 !== root }
    withExtendedLifetime(former) {}
  }
}

struct WeakObject {
  weak var object: NSManagedObject?
  init(_ object: NSManagedObject) { self.object = object }
}
