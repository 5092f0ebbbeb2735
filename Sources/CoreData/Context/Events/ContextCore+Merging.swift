import Foundation
import StoreSchema

/// Merging changes that were saved elsewhere.
extension ContextCore {
  func merge(_ elsewhere: ChangesElsewhere) {
    checkQueue()
    takeUpKeys()
    checkInvariants()
    defer { checkInvariants() }
    processPendingChanges()
    let changes = elsewhere.locations(in: self)
    origins.dropViews()
    for location in changes.updated + changes.deleted { dropRow(location) }
    var announcement = RefreshAnnouncement()
    let refreshed = changes.updated.compactMap { registry.object($0.reference, store: $0.store) }
    for object in refreshed {
      let former = object.flags
      // A parent may have an object again that it had deleted.
      if former.contains(.inaccessible) { readAgain(object) }
      // A deletion keeps the row that it was made with, so that the save reports the conflict.
      if object.flags.isDeleted {
        if object.flags.contains(.listed) { self.changes.outdatedDeletions[ObjectIdentifier(object)] = object }
      } else {
        refresh(object, mergeChanges: true)
      }
      announcement.add(object, former)
    }
    let deleted = changes.deleted.compactMap { registry.object($0.reference, store: $0.store) }
    let formers = deleted.map(\.flags)
    becomeDeletedElsewhere(deleted)
    for (object, former) in zip(deleted, formers) { announcement.addGone(object, former) }
    dropMembers(changes.inserted + changes.updated + changes.deleted)
    var inserted: [NSManagedObject] = []
    for location in changes.inserted {
      let known = registry.object(location.reference, store: location.store)
      guard let object = known ?? fault(location.reference, store: location.store) else { continue }
      let former = object.flags
      readAgain(object)
      inserted.append(object)
      // What this context has already is not inserted again: a child's own new object, when the parent saves it.
      if known == nil { announcement.addNew(object) } else { announcement.add(object, former) }
    }
    announcing(announcement.sets(self)) { tellObserversOfAll() }
    announce(announcement, inserted: inserted, refreshed: refreshed, deleted: deleted)
  }

  /// Makes up for a merge of what others have changed in an object while it was deleted here.
  func refreshOutdated(_ object: NSManagedObject) {
    guard changes.outdatedDeletions.removeValue(forKey: ObjectIdentifier(object)) != nil else { return }
    refresh(object, mergeChanges: true)
  }

  /// Reads an object, also one that was known to be gone. The client did not request this read. Where it fails, the
  /// object stays a fault, and the next read reports the error.
  private func readAgain(_ object: NSManagedObject) {
    lookAgain(for: object)
    _ = look(at: object)
  }

  private func dropRow(_ location: ChangesElsewhere.Location) {
    guard let origin = origin(location.store), let frozen else { return }
    origin.cache.remove(frozen.infos[location.reference.entity].root, [location.reference.key])
  }

  /// Marks objects as deleted, with nothing left to save.
  func becomeDeletedElsewhere(_ objects: [NSManagedObject]) {
    if objects.isEmpty { return }
    unlist(objects, marks: .linksChanged)
    for object in objects { changes.becomeInaccessible(object) }
  }

  /// Makes to-many relationships that may have changed be read again, unless they have unsaved changes.
  private func dropMembers(_ locations: [ChangesElsewhere.Location]) {
    guard let frozen else { return }
    let roots = Set(locations.map { frozen.infos[$0.reference.entity].root })
    if roots.isEmpty { return }
    for object in registry.all where !object.toManys.isEmpty {
      for info in object.info.relationships {
        guard let state = object.toManys[info.relationship],
          roots.contains(frozen.infos[info.relationship.destination].root)
        else { continue }
        if state.hasChanges {
          for member in state.members where member.flags.contains(.inaccessible) {
            changes.omissions.append(.init(owner: object, relationship: info.relationship, member: member))
          }
          state.forget { $0.flags.contains(.inaccessible) }
        } else if !state.isFault {
          object.toManys.remove(info.relationship)
        }
      }
    }
  }

  private func announce(
    _ announcement: RefreshAnnouncement, inserted: [NSManagedObject], refreshed: [NSManagedObject],
    deleted: [NSManagedObject]
  ) {
    // Objects that others have updated are refreshed here, so their IDs are reported under both keys.
    let lists: [([NSManagedObjectContext.NotificationKey], [NSManagedObject])] = [
      ([.insertedObjectIDs], inserted.filter { !$0.flags.isDeleted }),
      ([.updatedObjectIDs, .refreshedObjectIDs], refreshed.filter { !$0.flags.isDeleted }),
      ([.deletedObjectIDs], deleted),
    ]
    var ids: [AnyHashable: Any] = [:]
    for (keys, objects) in lists where !objects.isEmpty {
      for key in keys { ids[key.rawValue] = Set(objects.map(\.ownID)) }
    }
    let sets = announcement.sets(self)
    if !sets.isEmpty { post(.didChange) { sets } }
    if !ids.isEmpty { post(NSManagedObjectContext.didMergeChangesObjectIDsNotification, ids) }
  }
}
