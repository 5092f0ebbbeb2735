import StoreSchema

/// Objects whose rows were missing, or were reported as deleted.
extension ContextCore {
  /// Makes a fault of such an object, so that its row is read once more. Its changes are discarded, on the other side
  /// of its links too: no save would write them, so no object may show them.
  func lookAgain(for object: NSManagedObject) {
    guard object.flags.contains(.inaccessible), !object.flags.contains(.listed) else { return }
    var links: [(relationship: Relationship, inverse: Relationship, partner: NSManagedObject)] = []
    for relationship in object.info.entity.relationships {
      guard let inverse = relationship.linkedInverse else { continue }
      links += changedPartners(of: object, relationship, inverse).map { (relationship, inverse, $0) }
    }
    changes.externalLinks.removeAll { $0.owner === object }
    changes.lookAgain(for: object)
    object.forgetValues()
    for (owner, relationship) in takeOmissions(of: object) { owner.forget(object, in: relationship) }
    observed.touchAll()
    if links.isEmpty { return }
    for (relationship, inverse, partner) in links {
      if inverse.isToMany {
        partner.forget(object, in: inverse)
      } else if relationship.isToMany {
        keep(relationship, of: object, partner, inverse)
      } else if let slot = inverse.slot, partner.changed(slot) != nil, partner.toOne(inverse) === object {
        partner.setReference(inverse, slot, nil)
      }
    }
    // A save is walking over the list.
    if !activity.isSaving { forgetUnchanged(links.map(\.partner)) }
  }

  /// Takes the relationships that were read without `object`, which exists again, off the list. The caller must hold
  /// them: the `deinit` of an owner's class may read relationships and so add to the list.
  func takeOmissions(of object: NSManagedObject) -> [(owner: NSManagedObject, Relationship)] {
    let found = changes.omissions.filter { $0.member === object }.map { ($0.owner, $0.relationship) }
    changes.omissions.removeAll { $0.member === object }
    return found
  }

  /// Forgets members that were read without an object that is gone, because the report of its deletion may have been
  /// wrong. They are read again. The released states are added to `states`.
  func forgetMembers(without omissions: [ChangeTracker.Omission], _ states: inout ContiguousArray<ToManyState>) {
    for omission in omissions where omission.member.flags.contains(.inaccessible) {
      guard let state = omission.owner.toManys[omission.relationship], !state.hasChanges else { continue }
      states.append(state)
      omission.owner.toManys.remove(omission.relationship)
    }
  }

  /// Shows a change of a member's to-one relationship in the relationship of its owner. The change is kept because the
  /// link is in the row of the member.
  private func keep(
    _ relationship: Relationship, of owner: NSManagedObject, _ member: NSManagedObject, _ inverse: Relationship
  ) {
    guard let slot = inverse.slot, member.changed(slot) != nil else { return }
    let state = owner.toMany(relationship)
    if member.toOne(inverse) === owner {
      state.add(member)
    } else {
      state.remove(member, keepsOrder: relationship.isOrdered)
    }
    markUpdated(owner)
  }

  /// The objects that were linked to an object in this context, or whose link was removed.
  private func changedPartners(
    of object: NSManagedObject, _ relationship: Relationship, _ inverse: Relationship
  ) -> [NSManagedObject] {
    if relationship.isToMany {
      guard let state = object.toManys[relationship] else { return [] }
      return Array(state.added + state.removed)
    }
    guard let slot = relationship.slot, let value = object.changed(slot) else { return [] }
    let stored = object.row.view?.reference(
      slot, entitySlot: relationship.entitySlot, destination: relationship.destination)
    var partners = stored.flatMap { registry.object($0, store: object.storeIndex) }.map { [$0] } ?? []
    if let other = externalDestination(of: object, slot: slot) { return partners + [other] }
    guard case .reference(let reference) = value else { return partners }
    if let partner = registry.object(reference, store: object.storeIndex) {
      partners.append(partner)
    } else if reference.key < 0 {
      // The stored object has been saved since, and has another key.
      partners += registry.all.filter { other in
        relationship.destinations.contains(other.info.entity.index)
          && other.toManys[inverse]?.contains(object) == true
      }
    }
    return partners
  }
}
