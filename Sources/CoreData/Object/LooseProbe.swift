import Foundation
import StoreSchema

/// A probe for the property names of a class that no model in use knows, as where a model is being made of key paths.
enum LooseProbe {
  // Immutable once made.
  nonisolated(unsafe) private static let entity: NSEntityDescription = {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.type) = ("any", .string)
    let entity = NSEntityDescription()
    entity.name = "LooseProbe"
    entity.properties = [attribute]
    model.entities = [entity]
    do { _ = try model.freeze() } catch { misuse("\(error)") }
    return entity
  }()
  private static let model = NSManagedObjectModel()

  /// Stands for every entity: accessors that ask it for a slot get one that is empty.
  static let info: EntityInfo? = entity.frozen
  static let slot = 0

  /// A fault of the class, without a context.
  static func make(_ type: NSManagedObject.Type) -> NSManagedObject {
    let object = type.make(entity)
    object.setFault(true)
    return object
  }

  /// The names of stored properties, which Swift itself knows; nil where one is computed.
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

  /// How many properties the key path goes through.
  static func propertyCount(_ keyPath: AnyKeyPath) -> Int { marks(keyPath).count { $0 == "." } }

  /// What stands between the properties in Swift's description of a key path:
  /// `.?.` of `\Song.<computed 0x1234 (Optional<Album>)>?.<computed 0x5678 (Optional<String>)>`. Types stand in
  /// parentheses.
  private static func marks(_ keyPath: AnyKeyPath) -> [Character] {
    var depth = 0
    return keyPath.debugDescription.filter { character in
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      return depth == 0 && ".?!".contains(character)
    }.map(\.self)
  }
}
