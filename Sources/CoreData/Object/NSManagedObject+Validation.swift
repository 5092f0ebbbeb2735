import Foundation
import RuntimeAccess
import StoreSchema

/// The validation of the value of one property.
extension NSManagedObject {
  /// See ``validateValue(_:forKey:)``. Replaces a value that must become one of the attribute's type.
  final func checkValue(_ given: inout AnyObject?, forKey key: String) throws {
    var value = AttributeCoding.flattened(given)
    var errors: [any Error]
    switch info.keys[key] {
    case .attribute(let index)?:
      let attribute = info.attributes[index]
      value = value.map { AttributeCoding.coerced($0, attribute.attribute.type) }
      errors = attributeErrors(value, attribute, key)
      if errors.isEmpty { given = Self.typed(value, attribute.attribute, as: given) }
    case .relationship(let index)?: errors = destinationErrors(value, info.relationships[index], key)
    case .transient(let index)?:
      let isMissing = value == nil && info.mandatoryTransients.contains { $0.index == index }
      errors = isMissing ? [missing(key)] : []
    case .fetched?, nil: return
    }
    if errors.isEmpty, let value, let property = info.rules.first(where: { $0.key == key && $0.element == nil }),
      let broken = property.rules.first(where: { !$0.isMet(by: value) })
    {
      errors.append(CoreDataError.brokenRule(broken, self, key, value))
    }
    if !errors.isEmpty { throw CoreDataError.combined(errors) }
  }

  /// The value as the attribute returns it after it is set. A value that is already of that type is returned unchanged.
  private static func typed(_ value: Any?, _ attribute: Attribute, as given: AnyObject?) -> AnyObject? {
    guard let value else { return nil }
    if [.transformable, .composite, .binaryData].contains(attribute.type) { return given }
    guard let typed = AttributeCoding.encode(value, attribute).flatMap({ AttributeCoding.decode($0, attribute.type) })
    else { return given }
    let isSameType = (given as? NSNumber)?.objCType.pointee == (typed as? NSNumber)?.objCType.pointee
    return isSameType && (given as? NSObject)?.isEqual(typed) == true ? given : typed as AnyObject
  }

  private func missing(_ key: String) -> any Error {
    CoreDataError.validation(.validationMissingMandatoryProperty, self, key, nil)
  }

  private func attributeErrors(_ value: Any?, _ attributeInfo: AttributeInfo, _ key: String) -> [any Error] {
    let attribute = attributeInfo.attribute
    if attribute.type == .composite { return compositeErrors(value, attribute) }
    guard let value else {
      return info.slotRules[attribute.slot].isMandatory ? [missing(key)] : []
    }
    if attribute.type == .transformable {
      return TransformableCoding.accepts(value, attributeInfo) ? [] : [unsuitable(value, key)]
    }
    guard let encoded = AttributeCoding.assigned(value, attribute) else { return [unsuitable(value, key)] }
    return ContextCore.rangeError(encoded, attribute.slot, self, key).map { [$0] } ?? []
  }

  private func compositeErrors(_ value: Any?, _ attribute: Attribute) -> [any Error] {
    let leaves: [(slot: Int, value: Value)]
    do { leaves = try CompositeCoding.leaves(value, attribute, AttributeCoding.assigned) } catch {
      return [unsuitable(value, error.key)]
    }
    if leaves.allSatisfy(\.value.isNull) { return attribute.isOptional ? [] : [missing(attribute.name)] }
    return zip(attribute.elements, leaves).compactMap { element, leaf in
      let key = attribute.name + "." + element.name
      if leaf.value.isNull { return element.isOptional ? nil : missing(key) }
      return ContextCore.rangeError(leaf.value, leaf.slot, self, key)
    }
  }

  private func destinationErrors(_ value: Any?, _ relationship: RelationshipInfo, _ key: String) -> [any Error] {
    let found =
      relationship.relationship.isToMany
      ? Self.members(value, isOrdered: relationship.relationship.isOrdered)
      : [value].compactMap(\.self) as? [NSManagedObject]
    guard let members = found, members.allSatisfy({ isDestination($0, relationship) }) else {
      return [unsuitable(value, key)]
    }
    // A destination that is being deleted is none.
    let count = members.count { !$0.flags.isDeleted }
    guard let slot = relationship.relationship.slot else {
      return ContextCore.countError(count, of: value, self, relationship).map { [$0] } ?? []
    }
    return count == 0 && info.slotRules[slot].isMandatory ? [missing(key)] : []
  }

  /// Whether an object can be set as a destination: one of the relationship's entities, in this context or in none.
  private func isDestination(_ object: NSManagedObject, _ relationship: RelationshipInfo) -> Bool {
    (object.core == nil || object.core === core) && !object.flags.contains(.gone)
      && object.info.modelNumber == info.modelNumber
      && relationship.relationship.destinations.contains(object.info.entity.index)
  }

  private func unsuitable(_ value: Any?, _ key: String) -> any Error {
    CoreDataError.validation(.managedObjectValidation, self, key, value)
  }

  /// Calls ``validateValue(_:forKey:)`` for each property, for a class with validations of its own, and sets replaced
  /// values.
  /// Members that nobody has read or changed are not read.
  final func validateValues() throws {
    var (errors, refused) = ([any Error](), Set<Substring>())
    let relationships = info.relationships.filter { info in
      if !info.relationship.isToMany || flags.isInserted { return true }
      return toManys[info.relationship].map { !$0.isFault || $0.hasChanges } ?? false
    }
    let transients = info.transients.enumerated().filter { index, _ in
      row == nil || extras.map { index < $0.transients.count && $0.transients[index] != nil } ?? false
    }
    let keys =
      info.attributes.filter { $0.attribute.derivation == nil }.map(\.attribute.name) + transients.map(\.element.name)
      + relationships.map(\.relationship.name)
    for key in keys {
      let present = modelledValue(forKey: key).map { $0 as AnyObject }
      var value = present
      do { try validateValue(&value, forKey: key) } catch {
        errors.append(error)
        refused.insert(key[...])
        continue
      }
      if value !== present && !Self.areEqual(value, present) { setModelledValue(value, forKey: key) }
    }
    // `validateValue(_:forKey:)` gets a composite as a whole.
    let rules = info.rules.filter { $0.element != nil && !refused.contains($0.key.prefix { $0 != "." }) }
    if let core { errors += core.brokenRules(of: self, rules) }
    // An integer that does not fit its type is cut off in the value that `validateValue(_:forKey:)` gets, and an
    // override may allow what no store can hold. A URI that was read is not judged, as in classes without overrides.
    for (slot, key) in info.leaves where changed(slot) != nil || info.slotRules[slot].range != .uri {
      if refused.contains(key.prefix { $0 != "." }) { continue }
      errors += ContextCore.rangeError(stored(slot), slot, self, key).map { [$0] } ?? []
    }
    if !errors.isEmpty { throw CoreDataError.combined(errors) }
  }

  /// Whether a class overrides `validateValue(_:forKey:)`, or has validation methods.
  static func checksValues(_ type: NSManagedObject.Type) -> Bool {
    VirtualTable.overrides(
      type, NSManagedObject.self, membersOf: ValidatingProbe.self, plain: (PlainProbe.self, OtherPlainProbe.self))
      || !type.keyValueMethods.validations.isEmpty
  }

  private class PlainProbe: NSManagedObject {}
  private class OtherPlainProbe: NSManagedObject {}
  private class ValidatingProbe: NSManagedObject {
    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {}
  }
}
