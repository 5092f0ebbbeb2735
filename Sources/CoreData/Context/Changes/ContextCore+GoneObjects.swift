import StoreSchema

/// Objects whose rows were not there, or were said not to be.
extension ContextCore {
  /// Makes a fault of such an object, so that it is looked for once more. What was done with it meanwhile is given up,
  /// on the other side of its links too: no save would write it, and none must seem to.
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
    // A save walks over the list.
    if !activity.isSaving { forgetUnchanged(links.map(\.partner)) }
  }

  /// The relationships that were read without an object which is there again, taken off the list. They are held by whom
  /// they are given to: the `deinit` of an owner's class may read, and so add to the list.
  func takeOmissions(of object: NSManagedObject) -> [(owner: NSManagedObject, Relationship)] {
    let found = changes.omissions.filter { $0.member === object }.map { ($0.owner, $0.relationship) }
    changes.omissions.removeAll { $0.member === object }
    return found
  }

  /// Members are read again where they were read without an object that is gone: somebody may have told of a deletion
  /// that was none. Those that are let go are added to `states`.
  func forgetMembers(without omissions: [ChangeTracker.Omission], _ states: inout ContiguousArray<ToManyState>) {
    for omission in omissions where omission.member.flags.contains(.inaccessible) {
      guard let state = omission.owner.toManys[omission.relationship], !state.hasChanges else { continue }
      states.append(state)
      omission.owner.toManys.remove(omission.relationship)
    }
  }

  /// The row of a member says who its owner is: what has changed there stays a change, and its owner shows it.
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

  /// The objects that were linked to an object here, or whose link was taken away.
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
      // It has been saved since, and has another key.
      partners += registry.all.filter { other in
        relationship.destinations.contains(other.info.entity.index)
          && other.toManys[inverse]?.contains(object) == true
      }
    }
    return partners
  }
}
