import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// The content of one save: a change set for each store, and the objects of its entries.
final class SavePlan {
  private(set) var parts: [Part] = []
  /// The part of the last object. Objects of one store are mostly adjacent.
  @exclusivity(unchecked) private var last: Part?

  /// The changes for one store.
  final class Part {
    let origin: RowOrigin
    let storeIndex: UInt16
    let engine: any Store
    // Only one save uses these, so they need no exclusivity checks.
    @exclusivity(unchecked) var changes: ChangeSet
    /// The objects behind `changes.insertions`, `updates` and `deletions`, in the same order.
    @exclusivity(unchecked) var inserted: ContiguousArray<NSManagedObject> = []
    @exclusivity(unchecked) var updated: ContiguousArray<NSManagedObject> = []
    @exclusivity(unchecked) var deleted: ContiguousArray<NSManagedObject> = []
    /// The objects whose derived attributes the context has computed.
    private(set) var derived: [NSManagedObject] = []
    /// The capability to keep external data, once it was looked up.
    private var knownExternalDataStore: (any ExternalDataStore)??
    /// External data that rows of `changes` name for the first time, with the former values of the objects.
    var keptExternalData: [(name: Data, object: NSManagedObject, slot: Int, inline: Data)] = []
    /// Objects with large rows in `changes`.
    var large: [(object: NSManagedObject, row: RowDraft)] = []
    /// Large values that are only in rows of `changes` while these are committed; the objects get them back afterwards.
    var lentValues: [(object: NSManagedObject, slot: Int, row: RowDraft)] = []
    /// The objects behind `changes.obsoleteExternalData`, in the same order.
    var ownersOfObsoleteData: [NSManagedObject] = []

    var store: NSPersistentStore { origin.store }

    /// Whether the part writes something, rather than only checking objects.
    var writes: Bool { !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty || !changes.links.isEmpty }

    /// The store as one that keeps large data outside the rows; nil where it has no such capability.
    func externalDataStore() throws(StoreError) -> (any ExternalDataStore)? {
      if let known = knownExternalDataStore { return known }
      let found = try engine.capability((any ExternalDataStore).self)
      knownExternalDataStore = .some(found)
      return found
    }

    init(_ origin: RowOrigin, _ engine: any Store, _ changes: ChangeSet) {
      self.origin = origin
      storeIndex = origin.index
      self.engine = engine
      self.changes = changes
    }

    func derive(_ object: NSManagedObject, _ core: ContextCore) {
      if core.derive(object, at: changes.time) { derived.append(object) }
    }

    /// Makes room for the changes of a store.
    func reserve(_ counts: ChangeCounts) {
      inserted.reserveCapacity(counts.inserted)
      changes.updates.reserveCapacity(counts.updated)
      updated.reserveCapacity(counts.updated)
    }
  }

  init(_ core: ContextCore, _ coordinator: NSPersistentStoreCoordinator) throws {
    do { try collect(core, coordinator) } catch {
      takeBack()
      throw error
    }
  }

  private func collect(_ core: ContextCore, _ coordinator: NSPersistentStoreCoordinator) throws {
    var byIndex: [UInt16: Part] = [:]
    try core.checkAssignments()
    // Insertions come first: updates and links refer to them by their number.
    let new = core.changes.counts.inserted > 0 ? core.changed : []
    try new.forEachUncounted { object in
      if !object.flags.isInserted { return }
      try part(for: object, core, coordinator, &byIndex)._withUnsafeGuaranteedRef { part in
        object.ordinal = Int32(part.inserted.count)
        part.inserted.append(object)
      }
    }
    for part in parts {
      let inserted = part.inserted
      part.changes.insertions.reserveCapacity(inserted.count)
      try inserted.forEachUncounted { object in
        if !object.info.ownDerivations.isEmpty { part.derive(object, core) }
        part.changes.insertions.append(try part.pack(object, version: 1, core))
        try addLinks(of: object, to: part, core)
      }
    }
    // Held here, because reading a fault runs code of the client.
    let changed = core.changed
    try changed.forEachUncounted { object in
      if object.flags.isInserted { return }
      if object.flags.isDeleted {
        if object.flags.contains(.inserted) || object.flags.contains(.inaccessible) { return }
        let part = try part(for: object, core, coordinator, &byIndex).takeUnretainedValue()
        // A fault that was never read is deleted at whatever version the store has now.
        object.prepareToRead()
        // The row was gone before the object was ever read, so its deletion has nothing to do.
        if object.flags.contains(.inaccessible) { return }
        guard let row = object.row else { throw Self.unread(object) }
        part.changes.deletions.append(.init(object.reference, versionRead: row.version, row: row))
        part.noteObsoleteData(of: object, SlotSet?.none)
        if !object.info.entity.guardedLinks.isEmpty { part.takeLinksAway(of: object) }
        part.deleted.append(object)
      } else if object.flags.contains(.updated) {
        try addUpdate(object, core, coordinator, &byIndex)
      }
    }
    for part in parts {
      let updated = part.updated
      try updated.forEachUncounted { if $0.flags.contains(.linksChanged) { try addLinks(of: $0, to: part, core) } }
    }
    try core.checkExternalLinks()
    var checked: Set<ObjectIdentifier> = []
    for object in core.changes.checks where !object.flags.isDeleted && !object.isToBeWritten {
      if !checked.insert(ObjectIdentifier(object)).inserted { continue }
      guard let version = object.row?.version else { continue }
      let part = try part(for: object, core, coordinator, &byIndex).takeUnretainedValue()
      part.changes.checks.append(.init(object.reference, versionRead: version))
    }
  }

  /// The part of an object's store. The plan holds it, so it is not retained for each object.
  private func part(
    for object: NSManagedObject, _ core: ContextCore, _ coordinator: NSPersistentStoreCoordinator,
    _ byIndex: inout [UInt16: Part]
  ) throws -> Unmanaged<Part> {
    if let last, last.storeIndex == object.storeIndex { return .passUnretained(last) }
    if let known = byIndex[object.storeIndex] {
      last = known
      return .passUnretained(known)
    }
    core.findStore(for: object)
    if let known = byIndex[object.storeIndex] { return .passUnretained(known) }
    guard let origin = core.origin(object.storeIndex) else {
      throw CocoaError(
        coordinator.openStores.isEmpty ? .persistentStoreOpen : .persistentStoreSave,
        userInfo: [
          NSLocalizedDescriptionKey:
            "No store of the coordinator can save the entity \(object.info.entity.name); add one before saving."
        ])
    }
    var changes = ChangeSet(time: Date.timeIntervalSinceReferenceDate)
    changes.author = core.context?.transactionAuthor
    changes.contextName = core.context?.name
    // The commit writes the metadata. If it cannot be encoded, the save fails here, before large values are kept.
    _ = try origin.store.metadataToSave()
    let part: Part
    do {
      // The engine that the rows were read from. If the store has moved since, the commit notices.
      let engine = try origin.store.requireEngine()
      part = Part(origin, origin.engine ?? engine, changes)
    } catch { throw CoreDataError.make(error) }
    part.reserve(core.changes.counts)
    byIndex[object.storeIndex] = part
    parts.append(part)
    return .passUnretained(part)
  }

  private func addUpdate(
    _ object: NSManagedObject, _ core: ContextCore, _ coordinator: NSPersistentStoreCoordinator,
    _ byIndex: inout [UInt16: Part]
  ) throws {
    // A relationship may have changed only from its other side, while the object was a fault.
    if object.row == nil { core.fire(object) }
    guard let version = object.row.view?.version else {
      if object.flags.contains(.inaccessible) { return }
      throw Self.unread(object)
    }
    var changed = object.changedSlots()
    // An object with its former values and links is not written. But one to which other objects link now must still
    // exist, as it was read: as on Apple's platforms, it takes part in optimistic locking.
    if object.flags.contains(.linksChanged) { object.toManys.forEach { $0.forgetUnchangedOrder() } }
    if changed.isEmpty && !object.hasChangedLinks {
      if !object.hasNewMembers { return }
      let part = try part(for: object, core, coordinator, &byIndex).takeUnretainedValue()
      return part.changes.checks.append(.init(object.reference, versionRead: version))
    }
    try part(for: object, core, coordinator, &byIndex)._withUnsafeGuaranteedRef { part in
      if object.entityInfo._withUnsafeGuaranteedRef({ !$0.ownDerivations.isEmpty }) {
        part.derive(object, core)
        changed = object.changedSlots()
      }
      let written = try part.pack(object, version: version &+ 1, core)
      part.changes.updates.append(.init(row: written, changed: changed))
      part.noteObsoleteData(of: object, changed)
      part.updated.append(object)
    }
  }

  /// The error of a changed object whose stored state could not be read. The save must not leave it out silently.
  static func unread(_ object: NSManagedObject) -> CocoaError {
    CocoaError(
      .persistentStoreOperation,
      userInfo: [
        NSLocalizedDescriptionKey: "A changed object could not be read from its store; refresh it and save again.",
        NSAffectedObjectsErrorKey: [object],
      ])
  }

  /// Adds the changes of link pairs (from their primary side), of one-way links and of orders.
  private func addLinks(of object: NSManagedObject, to part: Part, _ core: ContextCore) throws {
    guard object.flags.contains(.linksChanged) else { return }
    for index in object.info.toManys.indices {
      guard let state = object.toManys[index], state.hasChanges else { continue }
      let relationship = object.info.toManys[index]
      let isPrimary: Bool
      switch relationship.storage {
      case .toOne: continue
      case .inverseToOne: isPrimary = false
      case .destination: isPrimary = true
      case .pairs(let primary): isPrimary = primary
      }
      if !isPrimary && !relationship.isOrdered { continue }
      part.changes.links.begin(
        entity: object.info.entity.index, relationship: relationship.index, owner: Self.key(object))
      if isPrimary {
        let added = state.added
        try added.forEachUncounted { member in
          if member.flags.leavesNoLinks { return }
          try core.checkStores(object, relationship, member)
          part.changes.links.add(Self.reference(member))
        }
        // The store removes the pairs of deleted objects; objects that were never saved have none.
        for member in state.removed
        where member.flags.contains(.stored)
          && (!member.flags.contains(.deleted) || relationship.storage == .destination)
        {
          part.changes.links.remove(Self.reference(member))
        }
      } else if relationship.storage == .inverseToOne {
        let inverse = core.frozen?.schema.inverse(of: relationship) ?? relationship
        for member in state.removed
        where member.flags.intersection([.stored, .deleted]) == .stored && member.toOne(inverse) == nil {
          part.changes.links.remove(Self.reference(member))
        }
      }
      if relationship.isOrdered { part.changes.links.order(Self.order(of: object, relationship)) }
    }
  }

  private static func order(of object: NSManagedObject, _ relationship: Relationship) -> [ObjectReference] {
    object.loadedToMany(relationship).members.filter { !$0.flags.leavesNoLinks }.map(reference)
  }

  /// The key of an object in the change set: its own, or the negative of its number among the insertions.
  static func key(_ object: NSManagedObject) -> Int64 { object.key < 0 ? Int64(-object.ordinal - 1) : object.key }

  static func reference(_ object: NSManagedObject) -> ObjectReference {
    ObjectReference(entity: object.info.entity.index, key: key(object))
  }
}

extension SavePlan.Part {
  /// Removes the links that a deleted object had lost before it was deleted, for relationships where a remaining link
  /// would prevent the deletion.
  func takeLinksAway(of object: NSManagedObject) {
    for relationship in object.info.entity.guardedLinks {
      guard let state = object.toManys[relationship] else { continue }
      for member in state.removed where member.flags.intersection([.stored, .deleted]) == .stored {
        // Pairs are changed from their primary side.
        let isPrimary = relationship.storage != .pairs(isPrimary: false)
        let (owner, other) = isPrimary ? (object, member) : (member, object)
        guard let side = isPrimary ? relationship : relationship.linkedInverse else { continue }
        changes.links.begin(entity: owner.info.entity.index, relationship: side.index, owner: owner.key)
        changes.links.remove(other.reference)
      }
    }
  }
}
