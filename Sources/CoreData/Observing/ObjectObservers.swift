import Foundation
import Observation

/// Who observes an object: closures, and the readers that `withObservationTracking` tracks.
final class ObjectObservers {
  private struct Watch {
    /// When the observers were last notified.
    var value: WatchedValue
    var observers: [PropertyObserver] = []
    var isTracked = false
  }

  private var watches: [String: Watch] = [:]
  /// Keys that the entity does not have, and that the client has reported as changed.
  private var announced: Set<String> = []
  private var registrar: ObservationRegistrar?
  private var streams: [AsyncStream<ManagedObjectChange>.Continuation] = []
  /// The keys of a change that is announced when it is saved; nil for none.
  private var savedKeys: Set<String>?

  deinit { for stream in streams { stream.finish() } }

  func add(_ observer: PropertyObserver, _ key: String, of object: NSManagedObject) {
    let value = object.watchedValue(key) ?? .none
    watches[key, default: Watch(value: value)].observers.append(observer)
  }

  func remove(_ observer: PropertyObserver, _ key: String) { forget(key) { $0 === observer } }

  /// Forgets observers of a key, and those that have ended. They are released last, because that may run code of the
  /// client, which may come back here.
  private func forget(_ key: String, _ isGone: (PropertyObserver) -> Bool) {
    guard let former = watches[key] else { return }
    var watch = former
    watch.observers = former.observers.filter { $0.isValid && !isGone($0) }
    watches[key] = watch.observers.isEmpty && !watch.isTracked ? nil : watch
    withExtendedLifetime(former) {}
  }

  func add(_ stream: AsyncStream<ManagedObjectChange>.Continuation) { streams.append(stream) }

  /// Keeps the keys that have changed in the event, until ``takeChangedKeys(of:)``. Called before they are saved.
  func keepChangedKeys(of object: NSManagedObject) {
    if !streams.isEmpty { savedKeys = object.changedKeysOfEvent() }
  }

  func takeChangedKeys(of object: NSManagedObject) -> Set<String> {
    defer { savedKeys = nil }
    return object.changedKeysOfEvent().union(savedKeys ?? [])
  }

  /// Passes a change on to the streams. Those that nobody reads any more are forgotten.
  func yield(_ change: () -> ManagedObjectChange) {
    if streams.isEmpty { return }
    let change = change()
    streams.removeAll { if case .terminated = $0.yield(change) { true } else { false } }
  }

  /// Notes that a property is being read.
  func noteRead(_ key: String, of object: NSManagedObject, _ path: KeyPath<NSManagedObject, Never?>) {
    if watches[key]?.isTracked != true {
      let value = object.watchedValue(key, isBeingRead: true) ?? .none
      watches[key, default: Watch(value: value)].isTracked = true
    }
    let registrar = registrar ?? ObservationRegistrar()
    self.registrar = registrar
    registrar.access(object, keyPath: path)
  }

  func announce(_ key: String) { if watches[key] != nil { announced.insert(key) } }

  /// Ends all observations, because the object has left its context. Readers are notified.
  func end(_ object: NSManagedObject, _ path: (String) -> KeyPath<NSManagedObject, Never?>) {
    let tracked = watches.filter { $0.value.isTracked }.keys
    let former = watches
    watches = [:]
    for observer in former.values.flatMap(\.observers) { observer.unsubscribe() }
    yield { .invalidated }
    for stream in streams { stream.finish() }
    streams = []
    for key in tracked { registrar?.willSet(object, keyPath: path(key)) }
    for key in tracked { registrar?.didSet(object, keyPath: path(key)) }
  }

  /// Notifies the observers of the properties that have changed. All values are compared before the first is notified,
  /// because observers may change the object.
  func tell(_ object: NSManagedObject, _ path: (String) -> KeyPath<NSManagedObject, Never?>) {
    var observers: [Int: PropertyObserver] = [:]
    var tracked: [String] = []
    for key in Array(watches.keys) {
      guard let value = object.watchedValue(key), let former = watches[key] else { continue }
      let isChanged = !former.value.isEqual(value) || announced.remove(key) != nil
      // An equal value may have another form, as one that a save has put into a file.
      watches[key]?.value = value
      if isChanged {
        for observer in former.observers { observers[observer.number] = observer }
        if former.isTracked { tracked.append(key) }
        // Readers are notified once, as `withObservationTracking` does. The next read tracks the property again.
        watches[key]?.isTracked = false
      }
      forget(key) { _ in false }
      withExtendedLifetime(former) {}
    }
    for key in tracked { registrar?.willSet(object, keyPath: path(key)) }
    for key in tracked { registrar?.didSet(object, keyPath: path(key)) }
    for (_, observer) in observers.sorted(by: { $0.key < $1.key }) { observer.call() }
  }
}
