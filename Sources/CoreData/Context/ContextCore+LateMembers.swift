import Foundation
import StoreProtocol
import StoreSchema

/// Members that others have given to deleted objects since the delete rules were followed.
extension ContextCore {
  /// Reads the members of the deleted objects once more and follows the delete rules for those that are new, so that no row is left with a link
  /// to one that goes. Objects that have no to-many relationship with a to-one inverse cost nothing: other links are in
  /// rows of their own, whose versions the commit checks.
  ///
  /// A member that comes between this and the commit is not found.
  func followDeletesAgain() throws {
    while deletedCount > 0, try followOnce() { processPendingChanges() }
  }

  private struct Group: Hashable {
    let store: UInt16
    let (entity, relationship): (Int, Int)
  }

  /// Whether there were such members.
  private func followOnce() throws -> Bool {
    var groups: [Group: [Int64: NSManagedObject]] = [:]
    var deleted: ContiguousArray<NSManagedObject> = []
    changed.forEachUncounted { object in
      if object.flags.intersection([.deleted, .inserted, .inaccessible]) == .deleted,
        object.entityInfo._withUnsafeGuaranteedRef({ !$0.ownedMembers.isEmpty })
      {
        deleted.append(object)
      }
    }
    for object in deleted {
      for info in object.info.ownedMembers {
        let group = Group(
          store: object.storeIndex, entity: object.info.entity.index, relationship: info.relationship.index)
        groups[group, default: [:]][object.key] = object
      }
    }
    var isFound = false
    for (group, owners) in groups {
      guard let store = store(group.store), store.custom == nil, let info = frozen?.infos[group.entity],
        let owned = info.ownedMembers.first(where: { $0.relationship.index == group.relationship })
      else { continue }
      var late: [(owner: NSManagedObject, reference: ObjectReference, version: Int64)] = []
      snapshots[store.index] = nil
      do {
        try reading(store) { (snapshot) throws(StoreError) in
          try snapshot.destinations(of: owned.relationship, owners: Array(owners.keys)) { key, row in
            if let owner = owners[key], !isSettled(row, owned.relationship, store) {
              late.append((owner, row.reference, row.version))
            }
          }
        }
      } catch { throw CoreDataError.make(error) }
      for (owner, reference, version) in late {
        guard let member = object(reference, store: group.store) else { continue }
        if member.row?.version != version {
          // The commit tells of one that is written here and has changed elsewhere; this must not hide it.
          if member.isToBeWritten { continue }
          refresh(member, mergeChanges: true)
        }
        member.prepareToRead()
        isFound = follow(owned, owner, member) || isFound
      }
    }
    return isFound
  }

  /// Whether the member of a row goes too, or has another destination here already.
  private func isSettled(_ row: borrowing Row, _ relationship: Relationship, _ store: NSPersistentStore) -> Bool {
    guard let member = registered(row.reference, store: UInt16(store.index)) else { return false }
    return member.isDeleted || relationship.linkedInverse?.slot.map(member.changedSlots().contains) ?? true
  }

  private func follow(_ info: RelationshipInfo, _ owner: NSManagedObject, _ member: NSManagedObject) -> Bool {
    guard !member.isDeleted, let inverse = info.relationship.linkedInverse, let slot = inverse.slot,
      member.toOne(inverse) === owner
    else { return false }
    switch info.deleteRule {
    case .cascadeDeleteRule: delete(member)
    case .nullifyDeleteRule:
      member.setReference(inverse, slot, nil)
      markUpdated(member)
    case .denyDeleteRule, .noActionDeleteRule:
      // The validation of the deletion reads the members anew.
      owner.toMany(info.relationship).unload()
      return false
    }
    return true
  }
}
