import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Encodes and decodes the values of transformable attributes. A store that keeps objects keeps the values unchanged.
enum TransformableCoding {
  /// Stands in a changed slot for bytes that are encoded at save.
  static let pending = Value.data(Data())

  /// Foundation's classes of values, by their names in models.
  private static let foundationClasses: [String: AnyClass] = [
    "NSString": NSString.self, "NSNumber": NSNumber.self, "NSDecimalNumber": NSDecimalNumber.self,
    "NSArray": NSArray.self, "NSDictionary": NSDictionary.self, "NSSet": NSSet.self, "NSDate": NSDate.self,
    "NSData": NSData.self, "NSURL": NSURL.self, "NSUUID": NSUUID.self,
  ]

  /// The class that the model names for an attribute's values: a class of Foundation, or of the application, with its
  /// module or without. Nil where the process has no such class, or several.
  static func valueClass(_ attribute: NSAttributeDescription) -> AnyClass? {
    attribute.attributeValueClassName.flatMap { foundationClasses[$0] ?? ManagedObjectClass.only($0) }
  }

  /// Whether the value class of its attribute allows a value.
  static func accepts(_ value: Any, _ info: AttributeInfo) -> Bool {
    guard let required = info.valueClass else { return true }
    if SecureArchive.allows(value, [required]) { return true }
    var mirror: Mirror? = Mirror(reflecting: value)
    while let current = mirror {
      if current.subjectType == required { return true }
      mirror = current.superclassMirror
    }
    return false
  }

  /// The value of a slot's bytes.
  static func decode(_ data: Data, _ attribute: NSAttributeDescription) -> Any? {
    RowObjects.object(data) ?? ValueTransformer.forAttribute(attribute)?.reverse(data)
  }

  /// Encodes the objects of a store that keeps objects, for a store that does not.
  static func encoding(_ frozen: FrozenModel) -> StoreCopy.Encoding {
    { (entity, slot, object) throws(StoreError) in
      let info = frozen.infos[entity].attributes.first { $0.attribute.slot == slot }
      if let info, let data = encode(object, info.description) { return data }
      throw StoreError(
        .invalidArgument,
        "A value of a transformable attribute cannot be encoded; register its transformer and check its class.",
        context: ["attribute": "\(frozen.infos[entity].entity.name).\(info?.attribute.name ?? "")"])
    }
  }

  /// The bytes to store; nil where the transformer rejects the value or is not registered.
  static func encode(_ value: Any, _ attribute: NSAttributeDescription) -> Data? {
    ValueTransformer.forAttribute(attribute)?.forward(value)
  }
}
