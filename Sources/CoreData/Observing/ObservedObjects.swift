import Foundation
import Observation
import StoreSchema

/// The objects of a context that have observers.
struct ObservedObjects {
  private var all: [ObjectIdentifier: WeakObject] = [:]
  private var limit = 64
  /// Objects that may have changed since their observers were last notified.
  private var touched: ContiguousArray<NSManagedObject> = []
  private var touchedNames: Set<ObjectIdentifier> = []
  /// Whether observers are being notified.
  var isTelling = false
  /// Whether reads of properties are tracked; see ``NSManagedObjectContext/tracksObservation``.
  var tracksReads = false
  private var paths: [String: KeyPath<NSManagedObject, Never?>] = [:]

  var isEmpty: Bool { all.isEmpty }
  var hasTouched: Bool { !touched.isEmpty }

  mutating func add(_ object: NSManagedObject) {
    if all.count >= limit {
      all = all.filter { $0.value.object != nil }
      limit = max(64, all.count * 2)
    }
    all[ObjectIdentifier(object)] = WeakObject(object)
  }

  mutating func touch(_ object: NSManagedObject) {
    if touchedNames.insert(ObjectIdentifier(object)).inserted { touched.append(object) }
  }

  /// Notes all objects, before something that may change any number of them ends.
  mutating func touchAll() {
    for object in all.values.compactMap(\.object) { touch(object) }
  }

  mutating func takeAll() -> [NSManagedObject] {
    defer { (all, touched, touchedNames) = ([:], [], []) }
    return all.values.compactMap(\.object)
  }

  mutating func takeTouched() -> ContiguousArray<NSManagedObject> {
    defer { (touched, touchedNames) = ([], []) }
    return touched
  }

  /// The key path that stands for a property of any object. It is never read.
  mutating func path(_ key: String) -> KeyPath<NSManagedObject, Never?> {
    if let known = paths[key] { return known }
    let made: KeyPath<NSManagedObject, Never?> = \NSManagedObject.[observed: key]
    paths[key] = made
    return made
  }
}

extension NSManagedObject: Observable {
  /// Stands for a property by its name, where `Observation` requires a key path.
  fileprivate subscript(observed key: String) -> Never? { nil }
}

extension NSManagedObject {
  /// Who observes the object; nil for nobody.
  final var observers: ObjectObservers? { extras?.observers }

  final func makeObservers() -> ObjectObservers {
    if let observers { return observers }
    let made = ObjectObservers()
    makeExtras().observers = made
    core?.observe(self)
    return made
  }

  /// Checks the queue of a read, and notes the property for `withObservationTracking`. Called for objects that have the
  /// flag `tracked`.
  final func trackRead(_ key: String) {
    guard let core else { return }
    core.checkQueue()
    if !core.observed.tracksReads { return }
    makeObservers().noteRead(key, of: self, core.observed.path(key))
  }

  /// Notes that the client has reported a change of a key that the entity does not have.
  final func announceUnmodelled(_ key: String) {
    guard let observers else { return }
    observers.announce(key)
    core?.observed.touch(self)
    tellObservers()
  }

  /// Notifies observers of changes. Called at the end of everything that sets a value.
  @inline(__always)
  final func tellObservers() {
    if withCore({ $0.observed.hasTouched }) == true { core?.tellObservers() }
  }
}

extension ContextCore {
  /// From now on, changes of the object are noted.
  func observe(_ object: NSManagedObject) {
    object.setObserved()
    observed.add(object)
  }

  /// Notifies the observers of the objects that may have changed. They may change more, which is notified here too, so
  /// calls do not nest.
  func tellObservers() {
    if !observed.hasTouched || observed.isTelling || !activity.isTracking { return }
    observed.isTelling = true
    defer { observed.isTelling = false }
    while observed.hasTouched {
      for object in observed.takeTouched() where object.core === self {
        object.observers?.tell(object) { observed.path($0) }
      }
    }
  }

  /// Ends all observations of the objects, when the context is reset or freed.
  func endObservations(of objects: [NSManagedObject]) {
    for object in objects { object.observers?.end(object) { observed.path($0) } }
  }

  /// Notifies the observers of all observed objects, after a change of any number of objects, such as a merge.
  func tellObserversOfAll() {
    if observed.isEmpty { return }
    observed.touchAll()
    tellObservers()
  }
}
