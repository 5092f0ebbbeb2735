import Foundation
import StoreSchema

/// What an observation of a property gets with each change.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  /// The new value.
  public static let new = NSKeyValueObservingOptions(rawValue: 1)
  /// The value before the change.
  public static let old = NSKeyValueObservingOptions(rawValue: 2)
  /// A first call when the observation begins. It has the present value only together with ``new``.
  public static let initial = NSKeyValueObservingOptions(rawValue: 4)
}

/// How an observed property has changed.
public enum NSKeyValueChange: UInt, Sendable {
  /// The property has another value. Here this is the only kind, also where members of a relationship changed.
  case setting = 1
  /// Members were added.
  case insertion = 2
  /// Members were removed.
  case removal = 3
  /// Members were replaced.
  case replacement = 4
}

/// One change of an observed property.
public struct NSKeyValueObservedChange<Value> {
  /// Apple's name of the kinds of change.
  public typealias Kind = NSKeyValueChange
  /// Always ``NSKeyValueChange/setting``.
  public let kind: Kind
  /// The present value; nil without ``NSKeyValueObservingOptions/new``, and where a relationship of the key path has no
  /// destination.
  public let newValue: Value?
  /// The value before the change; nil without ``NSKeyValueObservingOptions/old``, and in a first call.
  public let oldValue: Value?
  /// Always nil: values are whole, also those of relationships.
  public let indexes: IndexSet?
  /// Always false: calls follow the change.
  public let isPrior: Bool

  init(_ options: NSKeyValueObservingOptions, old: Any?, new: Any) {
    kind = .setting
    newValue = options.contains(.new) ? new as? Value : nil
    oldValue = options.contains(.old) ? old.flatMap { $0 as? Value } : nil
    (indexes, isPrior) = (nil, false)
  }
}

/// An observation of a property. It ends with this object, with ``invalidate()``, with the observed object, and when
/// the context of that object is reset or freed.
///
/// Sendable, unchecked: a class that is not final cannot be checked. Any thread may end an observation; the rest is
/// used on the queue of the object's context.
public class NSKeyValueObservation: NSObject, @unchecked Sendable {
  private let observer: PropertyObserver

  init(_ observer: PropertyObserver) { self.observer = observer }

  /// Ends the observation. Any thread may call it. Away from the queue of the context, a call that has begun already
  /// may still be running.
  public func invalidate() { observer.end() }

  deinit { observer.end() }
}

extension NSManagedObject {
  /// Whether each to-one relationship among the keys has a destination.
  fileprivate final func hasDestinations(_ keys: ArraySlice<String>) -> Bool {
    var object = self
    for key in keys {
      guard case .relationship(let index)? = object.info.keys[key] else { return true }
      let relationship = object.info.relationships[index].relationship
      if relationship.isToMany { return true }
      guard let next = object.toOne(relationship) else { return false }
      object = next
    }
    return true
  }
}

/// Managed objects of each class, so that `observe(_:options:changeHandler:)` knows the class.
public protocol KeyValueObservable: NSManagedObject {}

extension NSManagedObject: KeyValueObservable {}

extension KeyValueObservable {
  /// Calls `changeHandler` whenever the value at a key path has changed, as key-value observing does on Apple's
  /// platforms.
  ///
  /// - The call comes at the end of the accessor that changed the value; for changes by relationships of other objects,
  ///   delete rules, refreshes, merges, rollbacks, undo and saves, at the end of these. A value that is equal to the
  ///   former one is no change. Nor is what a client changes within a value, such as a mutable array.
  /// - The object, and those in the key path, are read now, and again when they have become faults. The object must be
  ///   in a context. Those in the key path are kept alive.
  /// - The key path consists of modelled properties; all but the last are to-one relationships, whose changes count as
  ///   well. Fetched properties are not observed. For a computed property, use the function that takes a text.
  ///
  /// The observation ends with the returned object. The changed values must be used on the context's queue.
  /// https://developer.apple.com/documentation/swift/using-key-value-observing-in-swift
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    guard let name = keyPath._kvcKeyPathString else {
      misuse("\(keyPath) does not consist of modelled properties; observe it by the text of its keys.")
    }
    let keys = name.split(separator: ".").map(String.init)
    let optional = Value.self as? any OptionalType.Type
    let observer = PropertyObserver(self, name, options) { object in
      // An accessor of a type that is not optional stops the program where there is no destination.
      guard let object = object as? Self, object.hasDestinations(optional == nil ? keys[...] : keys.dropLast()) else {
        return optional?.nothing ?? NSNull()
      }
      return object[keyPath: keyPath]
    } tell: { object, old, new in
      if let object = object as? Self { changeHandler(object, NSKeyValueObservedChange(options, old: old, new: new)) }
    }
    observer.begin()
    return NSKeyValueObservation(observer)
  }

  /// The same for the keys of a dotted text. A key that the entity does not have must be one of a custom accessor in
  /// ``NSManagedObject/keyValueMethods``; ``NSManagedObject/keyPathsForValuesAffectingValue(forKey:)`` says which
  /// properties it depends on, and ``NSManagedObject/didChangeValue(forKey:)`` says that it has changed.
  public func observe(
    _ keyPath: String, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Any>) -> Void
  ) -> NSKeyValueObservation {
    let observer = PropertyObserver(self, keyPath, options) { object in
      object.value(forKeyPath: keyPath) ?? NSNull()
    } tell: { object, old, new in
      if let object = object as? Self { changeHandler(object, NSKeyValueObservedChange(options, old: old, new: new)) }
    }
    observer.begin()
    return NSKeyValueObservation(observer)
  }
}
