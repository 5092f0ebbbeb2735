import Foundation
import StoreSchema

/// A probe for the property names of a class that no model in use has, for example while a model is being built from
/// key paths.
enum KeyPathProbe {
  private static let model = NSManagedObjectModel()

  /// The entity of such probes. Accessors that look up a slot in it get an empty one.
  static let info: EntityInfo? = {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.type) = ("any", .string)
    let entity = NSEntityDescription()
    entity.name = "KeyPathProbe"
    entity.properties = [attribute]
    model.entities = [entity]
    do { _ = try model.freeze() } catch { misuse("\(error)") }
    return entity.frozen
  }()
  static let slot = 0

  /// A fault of the class, without a context.
  static func make(_ type: NSManagedObject.Type) -> NSManagedObject {
    guard let info else { misuse("The internal entity of key path probes does not exist.") }
    let object = type.make(info.description)
    object.setFault(true)
    return object
  }
}
