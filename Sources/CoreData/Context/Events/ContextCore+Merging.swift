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
      refreshMerged(object)
      announcement.add(object, former)
    }
    let deleted = changes.deleted.compactMap { registry.object($0.reference, store: $0.store) }
    let formers = deleted.map(\.flags)
    becomeDeletedElsewhere(deleted)
    for (object, former) in zip(deleted, formers) { announcement.addGone(object, former) }
    noteMerged(changes.updated)
    dropMembers(changes.inserted + changes.updated + changes.deleted)
    // What this context has already is not inserted again: a child's own new object, when the parent saves it.
    let known = changes.inserted.compactMap { registry.object($0.reference, store: $0.store) }
    let knownFormers = known.map(\.flags)
    let new = changes.inserted.compactMap { location in
      registry.object(location.reference, store: location.store) == nil
        ? fault(location.reference, store: location.store) : nil
    }
    refreshInserted(known)
    for (object, former) in zip(known, knownFormers) { announcement.add(object, former) }
    for object in new {
      readAgain(object)
      announcement.addNew(object)
    }
    let inserted = known + new
    announcing(announcement.sets(self)) { tellObserversOfAll() }
    announce(announcement, inserted: inserted, refreshed: refreshed, deleted: deleted)
  }

  /// Makes an object that others have saved show that, beside its own changes.
  private func refreshMerged(_ object: NSManagedObject) {
    // A parent may have an object again that it had deleted.
    if object.flags.contains(.inaccessible) { readAgain(object) }
    // A deletion keeps the row that it was made with, so that the save reports the conflict.
    if object.flags.isDeleted {
      if object.flags.contains(.listed) { changes.outdatedDeletions[ObjectIdentifier(object)] = object }
    } else {
      refresh(object, mergeChanges: true)
    }
  }

  /// The same for objects that others have inserted. Those that have the present values already stay as they are.
  private func refreshInserted(_ objects: [NSManagedObject]) {
    // The merge announces them.
    let waiting = refetched
    defer { refetched = waiting }
    var unchanged = objects.filter { !$0.flags.hasChanges && !$0.flags.contains(.inaccessible) }
    let names = Set(unchanged.map(ObjectIdentifier.init))
    for object in objects where !names.contains(ObjectIdentifier(object)) { refreshMerged(object) }
    while let first = unchanged.first {
      func isLikeFirst(_ object: NSManagedObject) -> Bool {
        object.storeIndex == first.storeIndex && object.info.root == first.info.root
      }
      let alike = unchanged.filter(isLikeFirst)
      unchanged.removeAll(where: isLikeFirst)
      do { try origin(first.storeIndex)?.refresh(alike.map(\.key), root: first.info.root, self) } catch {
        // The next use of each object reads it, and reports the error.
        for object in alike { refreshMerged(object) }
      }
    }
  }

  /// Notes the versions that a root has merged, so that what its children then change is no conflict. They may have
  /// read objects that the root does not have.
  private func noteMerged(_ locations: [ChangesElsewhere.Location]) {
    guard parent == nil, let frozen, family.contexts.contains(where: { $0 !== self }) else { return }
    let latest = Dictionary(grouping: locations.suffix(ContextFamily.kept), by: \.store)
    for (store, locations) in latest {
      // A client's store would get a request for each object.
      guard let origin = origin(store), case .views? = try? origin.access() else { continue }
      for (root, locations) in Dictionary(grouping: locations, by: { frozen.infos[$0.reference.entity].root }) {
        var rows: [ContextFamily.KnownRow] = []
        // Where this fails, the save has a conflict.
        try? origin.rows(locations.map(\.reference.key), root: root, self) { rows.append(.init($0, root: root)) }
        family.noteKnown(rows, store: store)
      }
    }
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
