import Foundation
import StoreSchema

/// The attributes and to-one relationships of an object by name, as conflicts show them: IDs of destinations, `NSNull`
/// for nil.
enum ConflictSnapshot {
  /// The values of an object in its context. Data outside the row is left out, because the store may have removed it.
  static func present(of object: NSManagedObject) -> [String: Any] {
    var result: [String: Any] = [:]
    for attribute in object.info.attributes {
      let name = attribute.attribute.name
      result[name] =
        attribute.attribute.type == .transformable
        ? object.modelledValue(forKey: name) ?? NSNull() : decoded(attribute, object.stored)
    }
    for relationship in object.info.entity.relationships where !relationship.isToMany {
      result[relationship.name] = object.toOne(relationship)?.ownID ?? NSNull()
    }
    return result
  }

  /// The values in a row of the object. Data outside the row is left out here too.
  static func row(_ row: Row, of object: NSManagedObject) -> [String: Any] {
    let info = object.info
    var result: [String: Any] = [:]
    func value(_ slot: Int) -> Value {
      slot < row.slotCount ? row.value(slot, info.entity.slots[slot]) : .null
    }
    for attribute in info.attributes {
      guard let decoded = decoded(attribute, value) else { continue }
      result[attribute.attribute.name] = decoded
    }
    for relationship in info.entity.relationships {
      guard let slot = relationship.slot else { continue }
      let reference = row.reference(slot, entitySlot: relationship.entitySlot, destination: relationship.destination)
      let destination = reference.flatMap { object.core?.object($0, store: object.storeIndex) }
      result[relationship.name] = destination?.ownID ?? NSNull()
    }
    return result
  }

  private static func decoded(_ info: AttributeInfo, _ value: (Int) -> Value) -> Any? {
    let attribute = info.attribute
    switch attribute.type {
    case .composite:
      return CompositeCoding.dictionary(attribute) { element in
        let value = value(element.slot)
        guard element.definition.allowsExternalBinaryDataStorage, case .data(let bytes) = value else { return value }
        return bytes.first == 2 ? .null : .data(Data(bytes.dropFirst()))
      } ?? NSNull()
    case .transformable:
      guard case .data(let data) = value(attribute.slot) else { return NSNull() }
      return TransformableCoding.decode(data, info.description) ?? NSNull()
    case .binaryData where attribute.definition.allowsExternalBinaryDataStorage:
      guard case .data(let bytes) = value(attribute.slot) else { return NSNull() }
      return bytes.first == 2 ? nil : Data(bytes.dropFirst())
    default: return AttributeCoding.decode(value(attribute.slot), attribute.type) ?? NSNull()
    }
  }
}
