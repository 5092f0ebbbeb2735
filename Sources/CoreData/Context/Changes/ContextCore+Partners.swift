import StoreSchema

/// One-to-one relationships. The link is in the rows of both sides.
///
/// The rows of a context were read at different times, so the two sides may name different partners. A save must not
/// write one of them alone.
extension ContextCore {
  /// Updates the other side of changed one-to-one relationships. Repeats until no side changes. Where the row of one
  /// side must be out of date, the commit checks that row.
  func reconcilePartners() {
    var objects: ContiguousArray<NSManagedObject> = []
    changed.forEachUncounted { object in
      if object.entityInfo._withUnsafeGuaranteedRef({ !$0.oneToOnes.isEmpty }) { objects.append(object) }
    }
    if objects.isEmpty { return }
    var index = 0
    // Partners whose link is set here are appended and visited as well, more than once if necessary.
    while index < objects.count {
      let object = objects[index]
      index += 1
      if object.flags.contains(.gone) { continue }
      for relationship in object.info.oneToOnes {
        guard let inverse = relationship.linkedInverse else { continue }
        if object.flags.isDeleted {
          leave(relationship, inverse, object, &objects)
        } else if let slot = relationship.slot, object.changed(slot) != nil, object.changedSlots().contains(slot) {
          join(relationship, inverse, object, &objects)
          leave(relationship, inverse, object, &objects)
        }
      }
    }
  }

  private func join(
    _ relationship: Relationship, _ inverse: Relationship, _ object: NSManagedObject,
    _ waiting: inout ContiguousArray<NSManagedObject>
  ) {
    guard let slot = relationship.slot, let inverseSlot = inverse.slot, let partner = object.toOne(relationship),
      partner.storeIndex == object.storeIndex, !partner.flags.isDeleted
    else { return }
    if partner.toOne(inverse) === object {
      changes.dependedOn.append(partner)
    } else if partner.changedSlots().contains(inverseSlot) {
      // The partner has got another object since.
      object.setReference(relationship, slot, nil)
    } else {
      markUpdated(partner)
      partner.setReference(inverse, inverseSlot, object)
      waiting.append(partner)
    }
  }

  /// Removes the link of the stored partner to an object that has another partner, or is deleted.
  private func leave(
    _ relationship: Relationship, _ inverse: Relationship, _ object: NSManagedObject,
    _ waiting: inout ContiguousArray<NSManagedObject>
  ) {
    guard let slot = relationship.slot, let inverseSlot = inverse.slot,
      let stored = object.row?.reference(
        slot, entitySlot: relationship.entitySlot, destination: relationship.destination),
      let partner = self.object(stored, store: object.storeIndex), !partner.flags.isDeleted
    else { return }
    if object.flags.isDeleted {
      let rule = object.info.relationships.first { $0.relationship === relationship }?.deleteRule
      if rule == .noActionDeleteRule || rule == .denyDeleteRule { return }
    } else if partner === object.toOne(relationship) {
      return
    }
    if partner.toOne(inverse) === object {
      markUpdated(partner)
      partner.setReference(inverse, inverseSlot, nil)
      waiting.append(partner)
    } else {
      changes.dependedOn.append(partner)
    }
  }
}
