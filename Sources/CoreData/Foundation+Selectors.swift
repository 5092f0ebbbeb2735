import Foundation
import Synchronization

/// Observers of notifications by a selector. Foundation has them on Apple's platforms only.
extension NotificationCenter {
  /// Calls a method of an object for each notification of a name and of an object; nil for all names or all objects.
  ///
  /// The selector must have a method: see ``Selector``. It is called on the thread that posts, with the notification if
  /// it has a parameter. The center keeps neither object alive: when the observer is gone, it is no longer called.
  public func addObserver(
    _ observer: Any, selector aSelector: Selector, name aName: NSNotification.Name?, object anObject: Any?
  ) {
    guard aSelector.isCallable else {
      misuse(
        "The selector \(aSelector) has no method that could be called; write Selector(\"\(aSelector)\", Type.method).")
    }
    let observation = SelectorObservation(observer as AnyObject, aSelector, name: aName, sender: anObject)
    let token = addObserver(forName: aName, object: nil, queue: nil) { observation.post($0) }
    SelectorObservers.add(observation, token, to: self)
  }

  /// Ends all observations of an observer: those by selectors, and the one whose token it is.
  public func removeObserver(_ observer: AnyObject) { removeObserver(observer, name: nil, object: nil) }

  /// Ends the observations of an observer for a name and an object; nil for all names or all objects.
  public func removeObserver(_ observer: AnyObject, name aName: NSNotification.Name?, object anObject: Any?) {
    SelectorObservers.remove(observer, name: aName, sender: anObject, from: self)
    removeObserver(observer as Any, name: aName, object: anObject)
  }
}

/// One call of `addObserver(_:selector:name:object:)`.
private final class SelectorObservation: @unchecked Sendable {
  private(set) weak var observer: AnyObject?
  private let selector: Selector
  let name: NSNotification.Name?
  /// The object whose notifications are meant, if it is one of a class; `isOfSender` says whether there is one.
  private(set) weak var sender: AnyObject?
  private let isOfSender: Bool
  /// Whether the observation was removed: a notification that is being posted does not reach it any more.
  private let isEnded = Mutex(false)

  init(_ observer: AnyObject, _ selector: Selector, name: NSNotification.Name?, sender: Any?) {
    (self.observer, self.selector, self.name) = (observer, selector, name)
    self.sender = sender.map { $0 as AnyObject }
    isOfSender = sender != nil
  }

  func end() { isEnded.withLock { $0 = true } }

  func post(_ notification: Notification) {
    if isEnded.withLock({ $0 }) { return }
    if isOfSender {
      guard let sender, let object = notification.object, object as AnyObject === sender else { return }
    }
    if let observer { selector.perform(on: observer, with: notification) }
  }

  func fits(_ name: NSNotification.Name?, _ sender: Any?) -> Bool {
    (name == nil || name == self.name) && (sender == nil || sender.map { $0 as AnyObject } === self.sender)
  }
}

/// The observations of all objects.
private enum SelectorObservers {
  private struct Entry {
    let observation: SelectorObservation
    let token: any NSObjectProtocol
    let center: NotificationCenter
  }

  private static let lock = NSLock()
  nonisolated(unsafe) private static var entries: [ObjectIdentifier: [Entry]] = [:]
  /// The number of observers at which those that are gone are looked for.
  nonisolated(unsafe) private static var limit = 64

  static func add(_ observation: SelectorObservation, _ token: any NSObjectProtocol, to center: NotificationCenter) {
    guard let observer = observation.observer else { return }
    let key = ObjectIdentifier(observer)
    var gone: [Entry] = []
    // An observer that is released while the lock is held would need the lock.
    var kept: [AnyObject] = []
    lock.withLock {
      let keys = entries.count >= limit ? Array(entries.keys) : [key]
      for key in keys {
        var rest: [Entry] = []
        // Another object may have had the address.
        for entry in entries[key] ?? [] {
          if let observer = entry.observation.observer {
            kept.append(observer)
            rest.append(entry)
          } else {
            gone.append(entry)
          }
        }
        entries[key] = rest.isEmpty ? nil : rest
      }
      entries[key, default: []].append(Entry(observation: observation, token: token, center: center))
      if keys.count > 1 { limit = max(64, entries.count * 2) }
    }
    end(gone)
    withExtendedLifetime(kept) {}
  }

  static func remove(
    _ observer: AnyObject, name: NSNotification.Name?, sender: Any?, from center: NotificationCenter
  ) {
    let key = ObjectIdentifier(observer)
    // A sender that is released while the lock is held could need the lock.
    var senders: [AnyObject] = []
    let ended = lock.withLock {
      var (ended, rest): ([Entry], [Entry]) = ([], [])
      for entry in entries[key] ?? [] {
        if let sender = entry.observation.sender { senders.append(sender) }
        let isEnded = entry.center === center && entry.observation.fits(name, sender)
        if isEnded { ended.append(entry) } else { rest.append(entry) }
      }
      entries[key] = rest.isEmpty ? nil : rest
      return ended
    }
    for entry in ended { entry.observation.end() }
    end(ended)
    withExtendedLifetime(senders) {}
  }

  private static func end(_ entries: [Entry]) {
    for entry in entries { entry.center.removeObserver(entry.token as Any, name: nil, object: nil) }
  }
}
