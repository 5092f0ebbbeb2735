import Foundation
import RuntimeAccess
import StoreSchema

/// Finds the name of a managed object's property from its Swift key path.
///
/// The key path is applied to a probe: an object without a context that always stays a fault. Its accessors record the
/// key that they read, and to-one accessors return a probe of the destination.
enum KeyPathName {
  private final class Recorder {
    var names: [String] = []
    var keyPath: AnyKeyPath?
  }

  private static let key = "CoreData.KeyPathName"

  private static var recorder: Recorder {
    let storage = Thread.current.threadDictionary
    if let known = storage[key] as? Recorder { return known }
    let made = Recorder()
    storage[key] = made
    return made
  }

  /// The dotted path of keys; nil where the root is not a managed object class, or where a part of the path is not a
  /// modelled property.
  ///
  /// - For a class that no model in use has, each part must be an accessor that reads one key. A path with `!` has no
  ///   name: use `?`.
  /// - For a class in use, the parts after the last recorded property are checked only with `checksParts`: Swift takes
  ///   some microseconds for each part to describe a key path, and fetches use many key paths.
  static func name(of keyPath: AnyKeyPath, checksParts: Bool = false) -> String? {
    guard let root = type(of: keyPath).rootType as? NSManagedObject.Type else {
      return KeyPathText.storedNames(keyPath)
    }
    let entity = ModelRegistry.find(root)
    // Where the number of properties is not known, a path of such a class has no name.
    let isLooseChain = entity == nil && KeyPathText.propertyCount(keyPath).map { $0 > 1 } ?? true
    if isLooseChain && KeyPathText.isForced(keyPath) ?? true { return nil }
    let recorder = recorder
    recorder.names = []
    recorder.keyPath = keyPath
    defer { recorder.keyPath = nil }
    _ = (entity.map(probe) ?? KeyPathProbe.make(root))[keyPath: keyPath]
    if recorder.names.isEmpty { return KeyPathText.storedNames(keyPath) }
    // `\Song.title?.count` reads one key and goes through two properties.
    if isLooseChain || checksParts, recorder.names.count != KeyPathText.propertyCount(keyPath) { return nil }
    return recorder.names.joined(separator: ".")
  }

  /// Records a key that was read from a probe. Returns false where no name is being looked up: then the object is not a
  /// probe, and has lost its context.
  static func note(_ name: String) -> Bool {
    guard isLooking else { return false }
    recorder.names.append(name)
    return true
  }

  static var isLooking: Bool { recorder.keyPath != nil }

  /// The value of an accessor whose type has no empty value: zeros, which may only be discarded. So the property must
  /// be the last part of the key path.
  static func unread<Value>() -> Value {
    let recorder = recorder
    guard let keyPath = recorder.keyPath, KeyPathText.propertyCount(keyPath) == recorder.names.count else {
      misuse("\(recorder.names.joined(separator: ".")) is not optional: a key path that continues has no name.")
    }
    return withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { zeros in
      _ = UnsafeMutableRawBufferPointer(zeros).initializeMemory(as: UInt8.self, repeating: 0)
      return zeros.moveElement(from: 0)
    }
  }

  /// Does what ``note(_:)`` does. Where the object is not a probe, reports that its context is gone.
  @discardableResult
  static func record(_ name: String, _ object: NSManagedObject) -> Bool {
    if note(name) { return true }
    object.reportLostContext()
    return false
  }

  /// Records the key of a to-one relationship to objects of `type`, and returns a probe of its destination.
  static func recordToOne(_ name: String, _ object: NSManagedObject, _ type: NSManagedObject.Type) -> NSManagedObject? {
    guard record(name, object) else { return nil }
    return object.info === KeyPathProbe.info ? KeyPathProbe.make(type) : destination(name, object)
  }

  /// A probe of the destination of a to-one relationship; nil for other keys, and where the entity is unknown.
  static func destination(_ name: String, _ object: NSManagedObject) -> NSManagedObject? {
    guard case .relationship(let index)? = object.info.keys[name],
      !object.info.relationships[index].relationship.isToMany
    else { return nil }
    return object.info.relationships[index].description.destinationEntity.map(probe)
  }

  private static func probe(_ entity: NSEntityDescription) -> NSManagedObject {
    guard let info = entity.frozen else { misuse("The model of \(entity.name ?? "?") is not in use.") }
    let object = info.objectClass.make(entity)
    object.setFault(true)
    return object
  }
}

extension AnyKeyPath {
  /// The dotted path of keys of a managed object's properties, as key-value coding, predicates and sort descriptors use
  /// it: `"album.title"` for `\Song.album?.title`.
  ///
  /// Nil for a key path without such a name: one of another class or of a structure, and one with a part that is not a
  /// modelled property, such as `\Song.title?.count`. Any thread may use it. It replaces the standard library's
  /// property of this name, which on Apple's platforms is the name that `@objc` exposes, and on other platforms is
  /// always nil.
  public var _kvcKeyPathString: String? {
    type(of: self).rootType is NSManagedObject.Type ? KeyPathName.name(of: self, checksParts: true) : nil
  }
}
