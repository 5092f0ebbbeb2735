import Foundation
import StoreSchema

/// The validation of the objects that a save writes and deletes.
extension ContextCore {
  func validateAll() throws {
    var errors: [any Error] = []
    // Held here, because a client's validation may change the list.
    let objects = changed
    objects.forEachUncounted { object in
      do {
        // Validation reads a fault, whose row may be gone.
        if object.flags.isInserted {
          try object.validateForInsert()
        } else if object.flags.isUpdated {
          try object.validateForUpdate()
        } else if object.flags.isDeleted && !object.flags.contains(.inserted) {
          try object.validateForDelete()
        }
      } catch { errors.append(error) }
    }
    if errors.isEmpty { return }
    throw CoreDataError.combined(errors)
  }

  /// Validates all properties of an object, changed or not: mandatory values, the range of types, the number of
  /// destinations that stay, and the model's validation predicates. Leaves out to-many relationships that were neither
  /// read nor changed here, and transients that were not set.
  func validate(_ object: NSManagedObject) throws {
    object.prepareToRead()
    // An error of the read fails the save by itself.
    if object.flags.contains(.fault) || object.flags.contains(.inaccessible) { return }
    if object.entityInfo._withUnsafeGuaranteedRef({ $0.validatesValues })
      || hasMismatchedClasses && type(of: object) != object.info.objectClass
        && NSManagedObject.checksValues(type(of: object))
    {
      return try object.validateValues()
    }
    let isBroken = breaksSlotRule(object) || hasRowOutOfRange(object)
    let mayMiss = isBroken || mayMissValue(object)
    let isUsual = !changes.hasInaccessible && !object.entityInfo._withUnsafeGuaranteedRef({ $0.hasWiderRules })
    if !mayMiss && isUsual { return }
    var errors: [any Error] = []
    if mayMiss {
      for (slot, name) in object.info.mandatorySlots where isMissing(object, slot) {
        errors.append(CoreDataError.validation(.validationMissingMandatoryProperty, object, name, nil))
      }
    }
    if isBroken {
      for (slot, key) in object.info.leaves {
        errors += Self.rangeError(object.stored(slot), slot, object, key).map { [$0] } ?? []
      }
    }
    for attribute in object.info.mandatoryComposites { errors += missingElements(object, attribute) }
    for (index, name) in object.info.mandatoryTransients where isMissingTransient(object, index) {
      errors.append(CoreDataError.validation(.validationMissingMandatoryProperty, object, name, nil))
    }
    for info in object.info.relationships where isLooseMandatoryLink(object, info) {
      let name = info.relationship.name
      errors.append(CoreDataError.validation(.validationMissingMandatoryProperty, object, name, nil))
    }
    for info in object.info.boundedRelationships {
      if let error = countError(object, info) { errors.append(error) }
    }
    if !object.info.rules.isEmpty { errors += brokenRules(of: object, object.info.rules) }
    if !errors.isEmpty { throw CoreDataError.combined(errors) }
  }

  /// Whether a mandatory relationship leads to an object that the save deletes, or was set to one that others have
  /// deleted. Such a destination is none.
  private func isLooseMandatoryLink(_ object: NSManagedObject, _ info: RelationshipInfo) -> Bool {
    let relationship = info.relationship
    guard let slot = relationship.slot, !relationship.isOptional else { return false }
    if changes.hasInaccessible && object.changed(slot) != nil
      && object.toOne(relationship)?.flags.contains(.inaccessible) == true
    {
      return true
    }
    return object.info.mandatoryLooseLinks.contains { $0.relationship === relationship }
      && object.toOne(relationship)?.flags.isDeleted == true
  }

  /// Whether a changed value is null or out of range where it must not be.
  @inline(__always)
  private func breaksSlotRule(_ object: NSManagedObject) -> Bool {
    object.entityInfo._withUnsafeGuaranteedRef { info in
      object.overlay.contains(info.slotCount) { slot, address in !info.slotRules[slot].allows(address) }
    }
  }

  /// Whether a number in the object's row does not fit its type. It also counts where the number has been changed
  /// since. Null counts as zero. A URI is checked when it is set.
  @inline(__always)
  private func hasRowOutOfRange(_ object: NSManagedObject) -> Bool {
    object.entityInfo._withUnsafeGuaranteedRef { info in
      guard let row = object.row.view else { return false }
      return info.numberSlots.contains { number in
        if number.half == 0 { return row.double(number.slot).isNaN }
        return UInt64(bitPattern: row.int(number.slot) &+ number.half) >= UInt64(bitPattern: number.half &* 2)
      }
    }
  }

  /// Whether the object's row lacks a mandatory value or, for an object without a row, one has not been set.
  @inline(__always)
  private func mayMissValue(_ object: NSManagedObject) -> Bool {
    object.entityInfo._withUnsafeGuaranteedRef { info in
      guard let row = object.row.view else { return !object.overlay.covers(info.mandatoryBits) }
      for group in info.mandatoryBits.indices where row.nulls(group) & info.mandatoryBits[group] != 0 { return true }
      return false
    }
  }

  private func isMissing(_ object: NSManagedObject, _ slot: Int) -> Bool {
    if let value = object.changed(slot) { return value.isNull }
    return object.row.view?.isNull(slot) ?? true
  }

  /// No transient of an object that was read is missing until one of them is set.
  private func isMissingTransient(_ object: NSManagedObject, _ index: Int) -> Bool {
    guard let values = object.extras?.transients, index < values.count else { return object.row == nil }
    return values[index] == nil
  }

  /// The errors of missing mandatory elements. A composite without any value counts as nil. The elements of a composite
  /// with a value are checked one by one.
  private func missingElements(_ object: NSManagedObject, _ attribute: Attribute) -> [any Error] {
    var missing: [String] = []
    if attribute.elements.allSatisfy({ isMissing(object, $0.slot) }) {
      if !attribute.isOptional { missing = [attribute.name] }
    } else {
      missing = attribute.elements.filter { !$0.isOptional && isMissing(object, $0.slot) }.map {
        attribute.name + "." + $0.name
      }
    }
    return missing.map { CoreDataError.validation(.validationMissingMandatoryProperty, object, $0, nil) }
  }

  /// The error of a value that its type does not allow; nil for a value that it allows.
  static func rangeError(_ value: Value, _ slot: Int, _ object: NSManagedObject, _ key: String) -> (any Error)? {
    let range = object.info.slotRules[slot].range
    if range.contains(value) { return nil }
    switch value {
    case .int(let x):
      let code: CocoaError.Code = x < 0 ? .validationNumberTooSmall : .validationNumberTooLarge
      return CoreDataError.validation(code, object, key, x)
    case .double(let x), .date(let x): return CoreDataError.validation(.managedObjectValidation, object, key, x)
    case .decimal(let x) where range == .finiteDecimal || !x.isFinite:
      return CoreDataError.validation(.managedObjectValidation, object, key, x)
    case .decimal(let x):
      let code: CocoaError.Code = x < 0 ? .validationNumberTooSmall : .validationNumberTooLarge
      return CoreDataError.validation(code, object, key, x)
    case .uri(let x), .string(let x): return CoreDataError.validation(.validationInvalidURI, object, key, x)
    default: return nil
    }
  }

  /// The error of the present number of members; nil also where nobody has read or changed them.
  private func countError(_ object: NSManagedObject, _ info: RelationshipInfo) -> (any Error)? {
    let relationship = info.relationship
    guard relationship.isToMany, object.toManys[relationship] != nil || object.flags.isInserted else { return nil }
    let state = object.toMany(relationship)
    if state.isFault && !state.hasChanges { return nil }
    let count = object.loadedToMany(relationship).members.count { !$0.flags.isDeleted }
    return Self.countError(count, of: object.modelledValue(forKey: relationship.name), object, info)
  }

  /// The error of a number of members, of the collection `value`; nil for one that is allowed.
  static func countError(
    _ count: Int, of value: @autoclosure () -> Any?, _ object: NSManagedObject, _ info: RelationshipInfo
  ) -> (any Error)? {
    let (relationship, definition) = (info.relationship, info.relationship.definition)
    // Zero members are valid in an optional relationship, and without a minimum count.
    if count == 0 && (relationship.isOptional || definition.minCount == 0) { return nil }
    if count == 0 {
      return CoreDataError.validation(.validationMissingMandatoryProperty, object, relationship.name, nil)
    }
    if count < definition.minCount {
      return CoreDataError.validation(.validationRelationshipLacksMinimumCount, object, relationship.name, value())
    }
    if definition.maxCount > 1 && count > definition.maxCount {
      return CoreDataError.validation(.validationRelationshipExceedsMaximumCount, object, relationship.name, value())
    }
    return nil
  }

  /// Throws for a relationship with the deny rule that has a destination which is not deleted.
  func validateDeletion(_ object: NSManagedObject) throws {
    var errors: [any Error] = []
    for info in object.info.relationships where info.deleteRule == .denyDeleteRule {
      let relationship = info.relationship
      let stays =
        relationship.isToMany
        ? object.loadedToMany(relationship).members.contains { !$0.flags.isDeleted }
        : object.toOne(relationship).map { !$0.flags.isDeleted } ?? false
      if stays {
        errors.append(CoreDataError.validation(.validationRelationshipDeniedDelete, object, relationship.name, nil))
      }
    }
    if !errors.isEmpty { throw CoreDataError.combined(errors) }
  }
}
