import Foundation
import StoreSchema

/// Encodes and decodes the values of transformable attributes.
enum TransformableCoding {
  /// Stands in a changed slot for bytes that are made at save.
  static let pending = Value.data(Data())

  /// Foundation's classes of values, by the names that models give.
  private static let foundationClasses: [String: AnyClass] = [
    "NSString": NSString.self, "NSNumber": NSNumber.self, "NSDecimalNumber": NSDecimalNumber.self,
    "NSArray": NSArray.self, "NSDictionary": NSDictionary.self, "NSSet": NSSet.self, "NSDate": NSDate.self,
    "NSData": NSData.self, "NSURL": NSURL.self, "NSUUID": NSUUID.self,
  ]

  /// The class that the model names for an attribute's values: Foundation's, or the application's, with its module or
  /// without. Nil where the process has no such class, or several.
  static func valueClass(_ attribute: NSAttributeDescription) -> AnyClass? {
    attribute.attributeValueClassName.flatMap { foundationClasses[$0] ?? ProcessClasses.only($0) }
  }

  /// Whether a value may be set, by the value class of its attribute.
  static func accepts(_ value: Any, _ info: AttributeInfo) -> Bool {
    guard let wanted = info.valueClass else { return true }
    if SecureArchive.allows(value, [wanted]) { return true }
    var mirror: Mirror? = Mirror(reflecting: value)
    while let current = mirror {
      if current.subjectType == wanted { return true }
      mirror = current.superclassMirror
    }
    return false
  }

  static func decode(_ data: Data, _ attribute: NSAttributeDescription) -> Any? {
    ValueTransformer.forAttribute(attribute)?.reverse(data)
  }

  /// The bytes to store, nil where the transformer refuses the value or is not registered.
  static func encode(_ value: Any, _ attribute: NSAttributeDescription) -> Data? {
    ValueTransformer.forAttribute(attribute)?.forward(value)
  }
}
