import Foundation
import StoreSchema

/// A probe for the property names of a class that no model in use has, for example while a model is being built from
/// key paths.
enum KeyPathProbe {
  // Immutable after initialization.
  nonisolated(unsafe) private static let entity: NSEntityDescription = {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.type) = ("any", .string)
    let entity = NSEntityDescription()
    entity.name = "KeyPathProbe"
    entity.properties = [attribute]
    model.entities = [entity]
    do { _ = try model.freeze() } catch { misuse("\(error)") }
    return entity
  }()
  private static let model = NSManagedObjectModel()

  /// The entity of such probes. Accessors that look up a slot in it get an empty one.
  static let info: EntityInfo? = entity.frozen
  static let slot = 0

  /// A fault of the class, without a context.
  static func make(_ type: NSManagedObject.Type) -> NSManagedObject {
    let object = type.make(entity)
    object.setFault(true)
    return object
  }

  /// The names of stored properties, which Swift knows itself; nil where a property is computed.
  static func storedNames(_ keyPath: AnyKeyPath) -> String? {
    // `\Person.name`, `\Person.next?.name`
    let parts = keyPath.debugDescription.split(separator: ".", maxSplits: 1)
    guard parts.count == 2, !parts[1].contains("<"), !parts[1].contains(" ") else { return nil }
    return parts[1].filter { $0 != "?" && $0 != "!" }
  }

  /// Whether a key path goes through an object to one of its properties.
  static func isChain(_ keyPath: AnyKeyPath) -> Bool { propertyCount(keyPath) > 1 }

  /// Whether the key path unwraps by `!`. Applying it stops the program where the probe gives nil.
  static func isForced(_ keyPath: AnyKeyPath) -> Bool { marks(keyPath).contains("!") }

  /// The number of properties in the key path.
  static func propertyCount(_ keyPath: AnyKeyPath) -> Int { marks(keyPath).count { $0 == "." } }

  /// The characters between the properties in Swift's description of a key path, such as `.?.` in `\Song.<computed
  /// 0x1234 (Optional<Album>)>?.<computed 0x5678 (Optional<String>)>`. Types stand in parentheses.
  private static func marks(_ keyPath: AnyKeyPath) -> [Character] {
    var depth = 0
    return keyPath.debugDescription.filter { character in
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      return depth == 0 && ".?!".contains(character)
    }.map(\.self)
  }
}
