import Foundation
import StoreProtocol
import StoreSchema

/// Objects that refer to a deleted object in its store, although its delete rules were applied: another save has linked
/// them since the deleted object was read.
struct Referrers {
  let deleted: NSManagedObject
  let info: RelationshipInfo
  let objects: [ObjectReference]
}

extension ContextCore {
  /// Reads the referrers that a commit has reported, and applies the delete rules to them.
  ///
  /// Throws 133020 where eight earlier attempts of the save have done so, and others still add objects.
  func propagateDeletes(to referrers: [Referrers], attempt: Int) throws {
    if attempt > 8 {
      throw CoreDataError.conflicts(
        referrers.map {
          NSMergeConflict(
            $0.deleted, versionRead: $0.deleted.row?.version ?? 0, persisted: $0.deleted.row, isCached: false)
        })
    }
    for found in referrers {
      if found.info.deleteRule == .denyDeleteRule {
        // The validation of the deletion then reads the members again.
        found.deleted.toMany(found.info.relationship).unload()
        origin(found.deleted.storeIndex)?.dropView()
        continue
      }
      for member in try members(found) where isStillDeleted(found.deleted) {
        propagateDelete(found.info, of: found.deleted, to: member)
      }
    }
    processPendingChanges()
  }

  /// The referrers that still exist. Unchanged referrers get their newest rows. Changed ones keep their rows, because
  /// the commit must report their conflicts.
  private func members(_ found: Referrers) throws -> [NSManagedObject] {
    let storeIndex = found.deleted.storeIndex
    guard let origin = origin(storeIndex), let frozen else { return [] }
    let root = frozen.schema.entities[found.info.relationship.destination].root
    let keys = found.objects.map(\.key)
    var versions: [Int64: Int64] = [:]
    origin.dropView()
    do {
      try origin.read(self) { (view) throws(StoreError) in
        try view.snapshot.rows(of: root, keys: keys) { versions[$0.key] = $0.version }
      }
    } catch { throw CoreDataError.make(error) }
    return found.objects.compactMap { reference in
      guard let version = versions[reference.key], let member = object(reference, store: storeIndex),
        !member.flags.isDeleted
      else { return nil }
      if member.row?.version != version && !member.isToBeWritten { refresh(member, mergeChanges: true) }
      return member
    }
  }

  private func propagateDelete(_ info: RelationshipInfo, of owner: NSManagedObject, to member: NSManagedObject) {
    if let inverse = info.relationship.linkedInverse, inverse.slot != nil, member.toOne(inverse) !== owner { return }
    switch info.deleteRule {
    case .cascadeDeleteRule: delete(member)
    case .nullifyDeleteRule:
      guard let inverse = info.relationship.linkedInverse, let slot = inverse.slot else { return }
      markUpdated(member)
      member.setReference(inverse, slot, nil)
    case .denyDeleteRule, .noActionDeleteRule: return
    }
  }
}
