import Foundation

/// Finds the name of a managed object's property from its Swift key path.
///
/// The key path is applied to a probe: an object without a context that is a fault for ever. Its accessors note the key
/// they were asked for, and to-one accessors give a probe of the destination.
enum KeyPathName {
  private final class Recorder {
    var names: [String] = []
    var isOn = false
  }

  private static let key = "CoreData.KeyPathName"

  private static var recorder: Recorder {
    let storage = Thread.current.threadDictionary
    if let known = storage[key] as? Recorder { return known }
    let made = Recorder()
    storage[key] = made
    return made
  }

  /// The dotted path of keys, nil where the root is no managed object class or nothing was read.
  ///
  /// Of a class that no model in use knows, only paths of one property have a name: what they lead to is not known.
  static func name(of keyPath: AnyKeyPath) -> String? {
    guard let root = type(of: keyPath).rootType as? NSManagedObject.Type else {
      return LooseProbe.storedNames(keyPath)
    }
    let recorder = recorder
    recorder.names = []
    recorder.isOn = true
    defer { recorder.isOn = false }
    let entity = ModelRegistry.find(root)
    if entity == nil && LooseProbe.isChain(keyPath) { return nil }
    _ = (entity.map(probe) ?? LooseProbe.make(root))[keyPath: keyPath]
    return recorder.names.isEmpty ? LooseProbe.storedNames(keyPath) : recorder.names.joined(separator: ".")
  }

  /// Gives false where no name is being looked for: the object is no probe, but one whose context is gone.
  @discardableResult
  static func record(_ name: String, _ object: NSManagedObject) -> Bool {
    guard recorder.isOn else {
      object.reportLostContext()
      return false
    }
    recorder.names.append(name)
    return true
  }

  static func recordToOne(_ name: String, _ object: NSManagedObject) -> NSManagedObject? {
    guard record(name, object) else { return nil }
    guard case .relationship(let index)? = object.info.keys[name] else { return nil }
    return object.info.relationships[index].description.destinationEntity.map(probe)
  }

  private static func probe(_ entity: NSEntityDescription) -> NSManagedObject {
    guard let info = entity.frozen else { misuse("The model of \(entity.name ?? "?") is not in use.") }
    let object = info.objectClass.make(entity)
    object.flags = .fault
    return object
  }
}
