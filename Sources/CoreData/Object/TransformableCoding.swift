import Foundation
import StoreSchema

/// Encodes and decodes the values of transformable attributes.
enum TransformableCoding {
  /// Stands in a changed slot for bytes that are made at save.
  static let pending = Value.data(Data())

  static func decode(_ data: Data, _ attribute: NSAttributeDescription) -> Any? {
    ValueTransformer.forAttribute(attribute)?.reverse(data)
  }

  /// The bytes to store, nil where the transformer refuses the value or is not registered.
  static func encode(_ value: Any, _ attribute: NSAttributeDescription) -> Data? {
    ValueTransformer.forAttribute(attribute)?.forward(value)
  }
}
