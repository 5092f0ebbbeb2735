import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Reading faults, to-many relationships and external values.
extension ContextCore {
  /// Calls `body` while faults keep the rows that a fetch has given them, so that its results agree with each other.
  func keepingRows<R>(_ body: () throws -> R) rethrows -> R {
    rowKeeping.beginFetch()
    defer { rowKeeping.endFetch() }
    return try body()
  }

  /// The same for the whole of a fetch in a child context. A root reads the rows of a store in one view.
  func keepingRowsOfParent<R>(_ body: () throws -> R) rethrows -> R {
    parent == nil ? try body() : try keepingRows(body)
  }

  /// Reads a fault's row, from the cache if it is there, and fills the object. Callers may hold no reference to the
  /// core.
  func fire(_ object: NSManagedObject) {
    checkQueue()
    if stalenessInterval >= 0, rowKeeping.fetches == 0 || object.row == nil, object.flags.contains(.stored),
      let origin = origin(object.storeIndex), origin.store.readsRows,
      origin.cache.removeOlder(object.info.root, object.key, than: stalenessInterval)
    {
      object.forgetRow()
      // The shared view may be as old as the dropped row.
      origin.dropView()
    }
    if object.row == nil {
      readRow(of: object)
      // A fault that could not be read stays one.
      if object.row == nil && object.flags.intersection([.inaccessible, .stored]) == .stored { return }
      if !object.toManys.isEmpty { object.unloadMembers() }
    } else if !keepsRow(of: object) {
      takeNewestRow(object)
    }
    object.setFault(false)
    guard object.row != nil else { return }
    // Inside a block the caller holds the context; elsewhere the client's code may release it.
    let held = queue.depth > 0 ? nil : Unmanaged.passRetained(self)
    awake(object)
    if fetchBatches.hasOptions { applyOptions(of: object) }
    held?.release()
  }

  /// Whether a fault that has a row fires with it, rather than with a newer one.
  @inline(__always)
  func keepsRow(of object: NSManagedObject) -> Bool {
    parent == nil ? rowKeeping.keepsRows : rowKeeping.keepsRowOfParent(object)
  }

  /// Whether a fault takes its parent's row when it fires.
  func asksParent(for object: NSManagedObject) -> Bool { parent != nil && !keepsRow(of: object) }

  /// Gives a fault that has a row the newest one.
  private func takeNewestRow(_ object: NSManagedObject) {
    guard let origin = origin(object.storeIndex) else { return }
    if origin.isOfChild { return takeRowOfParent(object, origin) }
    if let newer = origin.cache.row(object.info.root, object.key), newer.entity == object.row?.entity {
      takeCached(newer, object, origin)
    }
  }

  /// The origin of an object that was saved. An object of a child context may have been saved before there was a store.
  private func originOfStored(_ object: NSManagedObject) -> RowOrigin? {
    findStore(for: object)
    return origin(object.storeIndex)
  }

  private func readRow(of object: NSManagedObject) {
    // An inserted object may have its permanent ID already; the store has no row of it yet.
    guard object.flags.contains(.stored), let origin = originOfStored(object) else { return }
    let root = object.info.root
    if let row = origin.rowReadAlong(object.key, root: root) {
      if row.entity == object.info.entity.index { object.row = row } else { becameInaccessible(object) }
      return
    }
    if let row = origin.cache.row(root, object.key) {
      if row.entity == object.info.entity.index { takeCached(row, object, origin) } else { becameInaccessible(object) }
      return
    }
    do {
      var found: Row?
      if let batch = fetchBatches.batch(object.key, store: Int(origin.index), root: root) {
        var others: [NSManagedObject] = []
        try origin.rows(Array(batch), root: root, self) { row in
          if row.key == object.key { return found = row }
          // A row that another fetch has given stays, so that the results of that fetch agree with each other.
          guard let other = registry.object(row.reference, store: object.storeIndex), other.flags.isFault,
            other.row == nil, other.info.entity.index == row.entity
          else { return }
          other.take(row)
          others.append(other)
        }
        noteRows(of: others)
      } else {
        found = try origin.rowOfFault(object.key, root: root, self)
      }
      // An ID may name another entity of the hierarchy than the row does. Such an object does not exist.
      if let found, found.entity == object.info.entity.index { object.row = found }
    } catch {
      // The getter cannot throw. The error is kept, so that no save depends on values that were not read.
      faultError = faultError ?? error
      report("a fault could not be read: \(error)")
      return
    }
    if object.row != nil { return }
    // Its temporary key may have become a key in another store meanwhile.
    if object.storeIndex != origin.index { return readRow(of: object) }
    becameInaccessible(object)
  }

  /// Runs `body`, and returns the first error of its reads. The next save does not throw this error. Errors of earlier
  /// reads stay for the save.
  func errors(_ body: () -> Void) -> StoreError? {
    let earlier = faultError
    faultError = nil
    defer { faultError = earlier }
    body()
    return faultError
  }

  /// Reads an object to find out whether it exists. If it does not, that is no error, and the context's
  /// ``NSManagedObjectContext/shouldHandleInaccessibleFault(_:for:triggeredByProperty:)`` is not called.
  func look(at object: NSManagedObject) -> StoreError? {
    let former = lookedAt
    lookedAt = object
    defer { lookedAt = former }
    return errors { object.prepareToRead() }
  }

  /// Marks an object whose row is gone: it counts as deleted, with nothing left to save.
  func becameInaccessible(_ object: NSManagedObject) {
    // Its changes have no row to be saved to. A deletion stays listed, because the save reports it.
    if object.flags.contains(.listed) && !object.flags.contains(.deleted) { unlist([object]) }
    changes.becomeInaccessible(object)
    if object === lookedAt { return }
    guard
      context?.shouldHandleInaccessibleFault(object, for: object.ownID, triggeredByProperty: nil) ?? true
    else { misuse("CoreData could not fulfill a fault for '\(object.ownID)': its row is gone.") }
  }

  /// Notes faults that have got rows.
  func noteRows(of objects: [NSManagedObject]) {
    if parent != nil { rowKeeping.noteRowsOfParent(objects, isInBlock: queue.depth > 0) }
  }

  /// Makes and registers the object of a row or, without one, a fault.
  func makeObject(_ info: EntityInfo, key: Int64, store: UInt16, row: Row?) -> NSManagedObject {
    let object = info.objectClass.make(info.description)
    object.core = self
    object.key = key
    object.storeIndex = store
    object.row = row
    ChangeTracker.adopt(object, tracksReads: tracksReads)
    registry.add(object)
    return object
  }

  /// Gives a fault the row in the cache, and notes whether the row may be newer than the shared view.
  func takeCached(_ row: Row, _ object: NSManagedObject, _ origin: RowOrigin) {
    let isOther = object.flags.contains(.rowOfOthers) || object.row?.version != row.version
    object.take(row)
    if isOther, let shared = origin.sharedStamp, origin.cache.hasRows(after: shared) {
      object.setRowOfOthers(true)
    }
  }

  /// Reads the members of a to-many relationship with their rows.
  func load(_ state: ToManyState, _ relationship: Relationship, of object: NSManagedObject) {
    noteRead(relationship)
    guard object.flags.contains(.stored), let origin = originOfStored(object) else {
      return state.load([], isOrdered: relationship.isOrdered)
    }
    do { fill(state, with: try origin.members(of: relationship, object, self), relationship, of: object) } catch {
      noteUnreadRelationship(error)
    }
  }

  /// Fills an unread relationship with members that were read.
  func fill(
    _ state: ToManyState, with members: ContiguousArray<NSManagedObject>, _ relationship: Relationship,
    of owner: NSManagedObject
  ) { state.load(living(members, relationship, of: owner), isOrdered: relationship.isOrdered) }

  /// The IDs of the members of a relationship that has not been read. The relationship is not read for them.
  func memberIDs(_ state: ToManyState, _ relationship: Relationship, of object: NSManagedObject) -> [NSManagedObjectID]
  {
    var found: [NSManagedObjectID] = []
    do {
      if object.flags.contains(.stored), let origin = originOfStored(object) {
        found = try origin.memberIDs(of: relationship, object, self)
      }
    } catch {
      noteUnreadRelationship(error)
      return []
    }
    let removed = Set(state.removed.map(\.ownID))
    let present = found.filter { (id) -> Bool in
      guard let known = registry.object(id.reference, store: object.storeIndex) else { return !removed.contains(id) }
      if relationship.storage == .inverseToOne, let slot = relationship.linkedInverse?.slot,
        isMoved(known, slot, from: object)
      {
        return false
      }
      return !removed.contains(id) && (!known.flags.isDeleted || isDeletionReported(known))
    }
    let known = Set(present)
    return present + state.added.map(\.ownID).filter { !known.contains($0) }
  }

  /// The ID for a reference, without an object.
  func id(_ reference: ObjectReference, store: UInt16) -> NSManagedObjectID? {
    if let known = registry.object(reference, store: store) { return known.ownID }
    guard canBeStored(reference), let frozen, reference.entity < frozen.infos.count else { return nil }
    return NSManagedObjectID(
      frozen.infos[reference.entity], key: reference.key, store: self.store(store), family: family.number)
  }

  private func noteUnreadRelationship(_ error: any Error) {
    faultError =
      faultError ?? error as? StoreError ?? StoreError(.io, "A relationship could not be read.", cause: "\(error)")
    report("a relationship could not be read: \(error)")
  }

  /// The members that are not deleted, and were not moved to another owner in this context. The others are noted,
  /// because their change may be undone.
  func living(
    _ members: ContiguousArray<NSManagedObject>, _ relationship: Relationship, of owner: NSManagedObject
  ) -> ContiguousArray<NSManagedObject> {
    let slot = relationship.storage == .inverseToOne ? relationship.linkedInverse?.slot : nil
    if changes.counts.deleted == 0 && !changes.hasInaccessible && (slot == nil || changes.counts.updated == 0) {
      return members
    }
    // A member that was removed before stays removed, even if its deletion is undone.
    let removed = Set((owner.toManys[relationship]?.removed ?? []).map(ObjectIdentifier.init))
    return members.filter { member in
      if removed.contains(ObjectIdentifier(member)) { return true }
      if let slot, isMoved(member, slot, from: owner) {
        changes.omissions.append(.init(owner: owner, relationship: relationship, member: member))
        return false
      }
      if !member.flags.contains(.deleted) { return true }
      // Apple's documentation says that `prepareForDeletion` is called before the relationships are removed.
      if isDeletionReported(member) { return true }
      changes.omissions.append(.init(owner: owner, relationship: relationship, member: member))
      return false
    }
  }

  /// Whether an unsaved change has set a member's to-one relationship to another owner, or to none.
  private func isMoved(_ member: NSManagedObject, _ slot: Int, from owner: NSManagedObject) -> Bool {
    guard member.flags.contains(.updated), let link = member.changed(slot) else { return false }
    if case .reference(let reference) = link { return reference.key != owner.key }
    return true
  }

  func externalData(_ name: Data, of object: NSManagedObject) -> Data? {
    guard let origin = origin(object.storeIndex) else { return nil }
    do {
      let engine = try origin.store.requireEngine()
      // The row may have been read before the store moved. Then its name refers to a file at the former URL.
      if let former = origin.engine, former !== engine,
        let data = try? former.externalData(name)
      {
        return data
      }
      return try engine.externalData(name)
    } catch {
      var error = error
      error.context["object"] = object.ownID.uri.absoluteString
      faultError = faultError ?? error
      report("an external value could not be read: \(error)")
      return nil
    }
  }

  /// Turns an object into a fault again: its values are read again when they are next used.
  func turnIntoFault(_ object: NSManagedObject) {
    if object.flags.contains(.fault) { return object.forgetValues() }
    object.willTurnIntoFault()
    object.forgetValues()
    object.didTurnIntoFault()
  }
}
