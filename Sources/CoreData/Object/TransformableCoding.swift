import Foundation
import StoreSchema

/// Encodes and decodes the values of transformable attributes.
enum TransformableCoding {
  /// Stands in a changed slot for bytes that are made at save.
  static let pending = Value.data(Data())

  /// Foundation's classes of values, by the names that models give.
  private static let valueClasses: [String: AnyClass] = [
    "NSString": NSString.self, "NSNumber": NSNumber.self, "NSDecimalNumber": NSDecimalNumber.self,
    "NSArray": NSArray.self, "NSDictionary": NSDictionary.self, "NSSet": NSSet.self, "NSDate": NSDate.self,
    "NSData": NSData.self, "NSURL": NSURL.self, "NSUUID": NSUUID.self,
  ]

  /// Whether a value may be set, by the value class that the model names. Classes of the application are not checked.
  static func accepts(_ value: Any, _ attribute: NSAttributeDescription) -> Bool {
    guard let wanted = attribute.attributeValueClassName.flatMap({ valueClasses[$0] }) else { return true }
    return SecureArchive.allows(value, [wanted])
  }

  static func decode(_ data: Data, _ attribute: NSAttributeDescription) -> Any? {
    ValueTransformer.forAttribute(attribute)?.reverse(data)
  }

  /// The bytes to store, nil where the transformer refuses the value or is not registered.
  static func encode(_ value: Any, _ attribute: NSAttributeDescription) -> Data? {
    ValueTransformer.forAttribute(attribute)?.forward(value)
  }
}
