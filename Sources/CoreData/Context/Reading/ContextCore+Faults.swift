import Foundation
import StoreProtocol
import StoreSchema

/// Reading faults, to-many relationships and external values.
extension ContextCore {
  /// Calls `body` with the view of a store that the reads of a block share.
  ///
  /// The view is kept until the outermost block ends, or a commit of this process makes it old: all faults that fire
  /// meanwhile cost one read transaction.
  func reading<R>(
    _ store: NSPersistentStore, _ body: (StoreView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    if let kept = sharedReads[store], store.cache.isCurrent(kept.view.stamp) { return try body(kept.view) }
    sharedReads.drop(store)
    if let incremental = try store.openIncremental() {
      return try body(StoreView(store.cache) { incremental.snapshot(for: self) })
    }
    let view = try store.view()
    if queue.depth > 0 && store.keepsSnapshots { sharedReads.keep(view, of: store) }
    return try body(view)
  }

  /// Calls `body` while faults keep the rows that a fetch has given them: its results are of one moment.
  func keepingRows<R>(_ body: () throws -> R) rethrows -> R {
    sharedReads.beginFetch()
    defer { sharedReads.endFetch() }
    return try body()
  }

  /// Reads a fault's row, from the cache if it is there, and makes the object real. Callers hold no reference to the
  /// core.
  func fire(_ object: NSManagedObject) {
    checkQueue()
    if stalenessInterval >= 0, sharedReads.fetches == 0 || object.row == nil, object.flags.contains(.stored),
      let store = store(object.storeIndex), store.readsRows,
      store.cache.removeOlder(object.info.root, object.key, than: stalenessInterval)
    {
      object.forgetRow()
      // The shared view may be as old as what was dropped.
      sharedReads.drop(store)
    }
    if object.row == nil {
      readRow(of: object)
      // A fault that could not be read stays one.
      if object.row == nil && object.flags.intersection([.inaccessible, .stored]) == .stored { return }
      if !object.toManys.isEmpty { object.unloadMembers() }
    } else if !sharedReads.keepsRows, let store = store(object.storeIndex),
      let newer = store.cache.row(object.info.root, object.key),
      newer.entity == object.row?.entity
    {
      takeCached(newer, object, store)
    }
    object.setFault(false)
    guard object.row != nil else { return }
    // Inside a block the context is held by who called it; elsewhere the client's code may let go of it.
    let held = queue.depth > 0 ? nil : Unmanaged.passRetained(self)
    awake(object)
    if fetchBatches.hasOptions { applyOptions(of: object) }
    held?.release()
  }

  private func readRow(of object: NSManagedObject) {
    // An inserted object may have its permanent ID already; the store has no row of it yet.
    guard object.flags.contains(.stored), let store = store(object.storeIndex) else { return }
    let root = object.info.root
    if let row = rowReadAlong(object.key, root, store) {
      if row.entity == object.info.entity.index { object.row = row } else { becameInaccessible(object) }
      return
    }
    if let row = store.cache.row(root, object.key) {
      if row.entity == object.info.entity.index { takeCached(row, object, store) } else { becameInaccessible(object) }
      return
    }
    do {
      let found = try reading(store) { (view) throws(StoreError) in
        guard let batch = fetchBatches.batch(object.key, store: store.index, root: root) else {
          return try row(object.key, root, store, view.snapshot).map {
            store.cache.merge(root, $0, view: view.stamp)
          }
        }
        var found: Row?
        try view.snapshot.rows(of: root, keys: Array(batch)) {
          let row = store.cache.merge(root, $0, view: view.stamp)
          if row.key == object.key { return found = row }
          // A row that another fetch has given stays: its results are of one moment.
          guard let other = registry.object(row.key, root: root, store: object.storeIndex), other.flags.isFault,
            other.row == nil, other.info.entity.index == row.entity
          else { return }
          other.take(row)
        }
        return found
      }
      // An ID may name another entity of the tree than the row has; that object does not exist.
      if let found, found.entity == object.info.entity.index { object.row = found }
    } catch {
      // The getter cannot throw. The error is kept, so that no save builds on what was not read.
      faultError = faultError ?? error
      report("a fault could not be read: \(error)")
      return
    }
    if object.row == nil { becameInaccessible(object) }
  }

  /// A row that was read along with others, nil where none was or another commit has come since.
  @inline(__always)
  private func rowReadAlong(_ key: Int64, _ root: Int, _ store: NSPersistentStore) -> Row? {
    guard let kept = sharedReads[store], let ahead = kept.ahead(root: root), store.cache.isCurrent(kept.view.stamp),
      let row = ahead.take(key)
    else { return nil }
    return store.cache.merge(root, row, view: kept.view.stamp)
  }

  private func row(
    _ key: Int64, _ root: Int, _ store: NSPersistentStore, _ snapshot: any StoreSnapshot
  ) throws(StoreError) -> Row? {
    guard let frozen, let kept = sharedReads[store] else { return try snapshot.row(of: root, key: key) }
    return try kept.madeAhead(root: root, subtree: frozen.schema.entities[root].subtree).row(key, in: snapshot)
  }

  /// Runs `body`, and gives the first error of its reads, which the next save then does not throw: it is for the caller
  /// alone. Errors of earlier reads stay for the save.
  func errors(_ body: () -> Void) -> StoreError? {
    let earlier = faultError
    faultError = nil
    defer { faultError = earlier }
    body()
    return faultError
  }

  /// Reads an object for whoever wants to know whether it is there. That it is not is no error, and the context's
  /// ``NSManagedObjectContext/shouldHandleInaccessibleFault(_:for:triggeredByProperty:)`` is not asked.
  func look(at object: NSManagedObject) -> StoreError? {
    let former = lookedAt
    lookedAt = object
    defer { lookedAt = former }
    return errors { object.prepareToRead() }
  }

  /// The row is gone: the object counts as deleted, with nothing left to save.
  private func becameInaccessible(_ object: NSManagedObject) {
    // What was changed has no row to go to. A deletion stays listed: the save tells of it.
    if object.flags.contains(.listed) && !object.flags.contains(.deleted) { unlist([object]) }
    changes.becomeInaccessible(object)
    if object === lookedAt { return }
    guard
      context?.shouldHandleInaccessibleFault(object, for: object.ownID, triggeredByProperty: nil) ?? true
    else { misuse("CoreData could not fulfill a fault for '\(object.ownID)': its row is gone.") }
  }

  /// Makes and registers the object of a row or, without one, a fault.
  func makeObject(_ info: EntityInfo, key: Int64, store: UInt16, row: Row?) -> NSManagedObject {
    let object = info.objectClass.make(info.description)
    object.core = self
    object.key = key
    object.storeIndex = store
    object.row = row
    ChangeTracker.adopt(object)
    registry.add(object)
    return object
  }

  /// Gives a fault the row that contexts share, and notes whether it may be newer than the view that is kept.
  func takeCached(_ row: Row, _ object: NSManagedObject, _ store: NSPersistentStore) {
    let isOther = object.flags.contains(.rowOfOthers) || object.row?.version != row.version
    object.take(row)
    if isOther, let kept = sharedReads[store], store.cache.hasRows(after: kept.view.stamp) {
      object.setRowOfOthers(true)
    }
  }

  /// Lets go of this burst's view where it is older than the rows of owners that come from the cache: members must not
  /// be older than the row of their owner (decision 062).
  func catchUp(_ store: NSPersistentStore, with owners: [NSManagedObject]) throws(StoreError) {
    let doubtful = owners.filter { $0.flags.contains(.rowOfOthers) }
    if doubtful.isEmpty { return }
    for (root, owners) in Dictionary(grouping: doubtful, by: \.info.root) {
      guard let kept = sharedReads[store] else { break }
      var versions: [Int64: Int64] = [:]
      try kept.view.snapshot.rows(of: root, keys: owners.map(\.key)) { versions[$0.key] = $0.version }
      let isBehind = owners.contains { owner in
        versions[owner.key].map { $0 < owner.row?.version ?? 0 } ?? true
      }
      if isBehind { sharedReads.drop(store) }
    }
    for owner in doubtful { owner.setRowOfOthers(false) }
  }

  /// Reads the members of a to-many relationship with their rows.
  func load(_ state: ToManyState, _ relationship: Relationship, of object: NSManagedObject) {
    noteRead(relationship)
    guard object.flags.contains(.stored), let store = store(object.storeIndex) else { return state.load([]) }
    do {
      if let incremental = try store.openIncremental() {
        return state.load(living(try incremental.members(relationship, of: object, self), relationship, of: object))
      }
      if object.flags.contains(.rowOfOthers) { try catchUp(store, with: [object]) }
      var rows: ContiguousArray<Row> = []
      let view = try reading(store) { (view) throws(StoreError) in
        try view.snapshot.destinations(of: relationship, owners: [object.key]) { rows.append($1) }
        return view.stamp
      }
      state.load(living(members(rows, relationship, store, view: view), relationship, of: object))
    } catch { noteUnreadRelationship(error) }
  }

  /// The IDs of the members of a relationship that has not been read, and is not for this.
  func memberIDs(_ state: ToManyState, _ relationship: Relationship, of object: NSManagedObject) -> [NSManagedObjectID]
  {
    var found: [NSManagedObjectID] = []
    do {
      if object.flags.contains(.stored), let store = store(object.storeIndex) {
        found = try storedMemberIDs(relationship, of: object, store)
      }
    } catch {
      noteUnreadRelationship(error)
      return []
    }
    let removed = Set(state.removed.map(\.ownID))
    let present = found.filter { (id) -> Bool in
      guard let known = registry.object(id.reference, store: object.storeIndex) else { return !removed.contains(id) }
      return !removed.contains(id) && (!known.flags.isDeleted || isToldOfDeletion(known))
    }
    let known = Set(present)
    return present + state.added.map(\.ownID).filter { !known.contains($0) }
  }

  /// The ID for a reference, without an object.
  func id(_ reference: ObjectReference, store: UInt16) -> NSManagedObjectID? {
    if let known = registry.object(reference, store: store) { return known.ownID }
    guard reference.key > 0, let frozen, reference.entity < frozen.infos.count else { return nil }
    return NSManagedObjectID(frozen.infos[reference.entity], key: reference.key, store: self.store(store), context: nil)
  }

  private func storedMemberIDs(
    _ relationship: Relationship, of object: NSManagedObject, _ store: NSPersistentStore
  ) throws -> [NSManagedObjectID] {
    if let incremental = try store.openIncremental() {
      return try incremental.memberIDs(relationship, of: object, self)
    }
    if object.flags.contains(.rowOfOthers) { try catchUp(store, with: [object]) }
    var found: [NSManagedObjectID] = []
    try reading(store) { (view) throws(StoreError) in
      try view.snapshot.destinations(of: relationship, owners: [object.key]) { _, row in
        if let id = id(ObjectReference(entity: row.entity, key: row.key), store: object.storeIndex) { found.append(id) }
      }
    }
    return found
  }

  private func noteUnreadRelationship(_ error: any Error) {
    faultError =
      faultError ?? error as? StoreError ?? StoreError(.io, "A relationship could not be read.", cause: "\(error)")
    report("a relationship could not be read: \(error)")
  }

  /// The members that are not deleted. The others are noted, for the case that their deletion is taken back.
  func living(
    _ members: ContiguousArray<NSManagedObject>, _ relationship: Relationship, of owner: NSManagedObject
  ) -> ContiguousArray<NSManagedObject> {
    if changes.counts.deleted == 0 && !changes.hasInaccessible { return members }
    // Who was removed before is no member, whatever becomes of the deletion.
    let removed = Set((owner.toManys[relationship]?.removed ?? []).map(ObjectIdentifier.init))
    return members.filter { member in
      if !member.flags.contains(.deleted) || removed.contains(ObjectIdentifier(member)) { return true }
      // "before relationships are torn down", as Apple's documentation says of `prepareForDeletion`
      if isToldOfDeletion(member) { return true }
      changes.omissions.append(.init(owner: owner, relationship: relationship, member: member))
      return false
    }
  }

  /// The objects of rows that were read as members from a view.
  func members(
    _ rows: ContiguousArray<Row>, _ relationship: Relationship, _ store: NSPersistentStore, view: ViewStamp
  ) -> ContiguousArray<NSManagedObject> {
    guard let frozen else { return [] }
    var maker = ObjectMaker(self, store, root: frozen.schema.entities[relationship.destination].root, view: view)
    for row in rows { maker.add(row) }
    return ContiguousArray(maker.finish())
  }

  func externalData(_ name: Data, of object: NSManagedObject) -> Data? {
    guard let store = store(object.storeIndex) else { return nil }
    do {
      let engine = try store.requireEngine()
      // The row may be from before the store moved: its name means the file there.
      if let former = knownStores.engine(object.storeIndex), former !== engine,
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

  /// Turns an object back into a fault: its values are read again when they are next used.
  func turnIntoFault(_ object: NSManagedObject) {
    if object.flags.contains(.fault) { return object.forgetValues() }
    object.willTurnIntoFault()
    object.forgetValues()
    object.didTurnIntoFault()
  }
}
