import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Makes rows of the values that clients' stores return.
struct CustomRow {
  let info: EntityInfo
  /// The object that a value of a to-one relationship refers to; nil for a value that is not an object.
  let reference: (Any) -> ObjectReference?

  /// A row of the values that `value` returns by name; nil and `NSNull` stand for none.
  ///
  /// Throws `invalidArgument` for a value that its property cannot have.
  func row(
    key: Int64, version: Int64, _ value: (NSPropertyDescription) throws(StoreError) -> Any?
  ) throws(StoreError) -> Row {
    try packed(value).finishChecked(key: key, entity: info.entity, version: version)
  }

  /// The same as a builder with the values. Its row is not finished.
  func packed(_ value: (NSPropertyDescription) throws(StoreError) -> Any?) throws(StoreError) -> RowBuilder {
    let builder = RowBuilder()
    builder.begin(slots: info.slotCount)
    for attribute in info.attributes {
      guard let given = AttributeCoding.flattened(try value(attribute.description)) else { continue }
      for (slot, value) in try stored(given, attribute) { builder.set(slot, value) }
    }
    for relationship in info.relationships {
      guard let slot = relationship.relationship.slot,
        let given = AttributeCoding.flattened(try value(relationship.description))
      else { continue }
      guard let target = reference(given), relationship.relationship.destinations.contains(target.entity) else {
        throw fault(relationship.relationship.name, given)
      }
      builder.setInt(slot, target.key)
      if let entitySlot = relationship.relationship.entitySlot { builder.setInt(entitySlot, Int64(target.entity)) }
    }
    return builder
  }

  private func stored(_ given: Any, _ info: AttributeInfo) throws(StoreError) -> [(slot: Int, value: Value)] {
    let attribute = info.attribute
    if attribute.type == .composite {
      do { return try CompositeCoding.leaves(given, attribute).map { ($0.slot, $0.value) } } catch {
        throw fault(attribute.name, given)
      }
    }
    let value =
      attribute.type == .transformable
      ? TransformableCoding.encode(given, info.description).map(Value.data) : AttributeCoding.encode(given, attribute)
    guard let value else { throw fault(attribute.name, given) }
    return [(attribute.slot, value)]
  }

  private func fault(_ name: String, _ given: Any) -> StoreError {
    StoreError(
      .invalidArgument,
      "The store has returned a value that its property cannot have. Return a value of the property's type.",
      context: ["property": "\(info.entity.name).\(name)", "type": "\(type(of: given))"])
  }
}

/// The objects of a change set, for stores that clients implement.
struct CustomSave {
  var inserted: [NSManagedObject] = []
  var updated: [NSManagedObject] = []
  var deleted: [NSManagedObject] = []
  var locked: [NSManagedObject] = []
  var context: NSManagedObjectContext?
}
