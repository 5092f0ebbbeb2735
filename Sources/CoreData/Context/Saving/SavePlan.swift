import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// What one save writes: a change set for each store, and the objects that each of its entries stands for.
final class SavePlan {
  private(set) var parts: [Part] = []
  /// The part that was last asked for: objects of one store come together.
  @exclusivity(unchecked) private var last: Part?

  /// The changes for one store.
  final class Part {
    let origin: RowOrigin
    let storeIndex: UInt16
    let engine: any Store
    // Used by its one save only, so free of exclusivity checks.
    @exclusivity(unchecked) var changes: ChangeSet
    /// The objects behind `changes.insertions`, `updates` and `deletions`, in the same order.
    @exclusivity(unchecked) var inserted: ContiguousArray<NSManagedObject> = []
    @exclusivity(unchecked) var updated: ContiguousArray<NSManagedObject> = []
    @exclusivity(unchecked) var deleted: ContiguousArray<NSManagedObject> = []
    /// The capability to keep external data, looked up once.
    private(set) lazy var externalDataStore = engine.externalDataStore
    /// External data that rows of `changes` name for the first time, with the values that the objects had instead.
    var keptExternalData: [(name: Data, object: NSManagedObject, slot: Int, inline: Data)] = []
    /// Objects with large rows in `changes`.
    var large: [(object: NSManagedObject, row: RowDraft)] = []
    /// Large values that rows of `changes` have and the objects let go of while these are committed.
    var lentValues: [(object: NSManagedObject, slot: Int, row: RowDraft)] = []
    /// The objects behind `changes.obsoleteExternalData`, in the same order.
    var ownersOfObsoleteData: [NSManagedObject] = []

    var store: NSPersistentStore { origin.store }

    init(_ origin: RowOrigin, _ engine: any Store, _ changes: ChangeSet) {
      self.origin = origin
      storeIndex = origin.index
      self.engine = engine
      self.changes = changes
    }

    /// Makes room for so many changes.
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
    // Insertions first: updates and links refer to them by their number.
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
        if !object.info.ownDerivations.isEmpty { core.derive(object, at: part.changes.time) }
        part.changes.insertions.append(try part.pack(object, version: 1, core))
        try addLinks(of: object, to: part, core)
      }
    }
    // Held here: reading a fault runs code of the client's.
    let changed = core.changed
    try changed.forEachUncounted { object in
      if object.flags.isInserted { return }
      if object.flags.isDeleted {
        if object.flags.contains(.inserted) || object.flags.contains(.inaccessible) { return }
        let part = try part(for: object, core, coordinator, &byIndex).takeUnretainedValue()
        // A fault that was never read is deleted at whatever version the store has by now.
        object.prepareToRead()
        // One that was gone before it was ever read is what its deletion wants it to be.
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

  /// The part of an object's store, which the plan keeps: not counted for each object.
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
            "No store of the coordinator takes the entity \(object.info.entity.name); add one before saving."
        ])
    }
    var changes = ChangeSet(time: Date.timeIntervalSinceReferenceDate)
    changes.author = core.context?.transactionAuthor
    changes.contextName = core.context?.name
    // The commit takes the metadata. Metadata that cannot be written fails the save here, before large values are kept.
    _ = try origin.store.metadataToSave()
    let part: Part
    do {
      // Where the rows come from. If the store has moved since, the commit notices.
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
    // A relationship may have changed from its other side only, while the object was a fault.
    if object.row == nil { core.fire(object) }
    guard let version = object.row.view?.version else {
      if object.flags.contains(.inaccessible) { return }
      throw Self.unread(object)
    }
    var changed = object.changedSlots()
    // An object whose values are what they were, and whose links did not change, is not written. One that others link
    // to from now on must still be there, as it was read: as on Apple's platforms, it takes part in optimistic locking.
    if changed.isEmpty && !object.flags.contains(.linksChanged) {
      if !object.hasNewMembers { return }
      let part = try part(for: object, core, coordinator, &byIndex).takeUnretainedValue()
      return part.changes.checks.append(.init(object.reference, versionRead: version))
    }
    try part(for: object, core, coordinator, &byIndex)._withUnsafeGuaranteedRef { part in
      if object.entityInfo._withUnsafeGuaranteedRef({ !$0.ownDerivations.isEmpty }) {
        core.derive(object, at: part.changes.time)
        changed = object.changedSlots()
      }
      let written = try part.pack(object, version: version &+ 1, core)
      part.changes.updates.append(.init(row: written, changed: changed))
      part.noteObsoleteData(of: object, changed)
      part.updated.append(object)
    }
  }

  /// A changed object whose stored state could not be read must not be left out of the save silently.
  private static func unread(_ object: NSManagedObject) -> CocoaError {
    CocoaError(
      .persistentStoreOperation,
      userInfo: [
        NSLocalizedDescriptionKey: "A changed object could not be read from its store; refresh it and save again.",
        NSAffectedObjectsErrorKey: [object],
      ])
  }

  /// Changes of link pairs (from their primary side), one-way links and orders.
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
      var change = ChangeSet.LinkChange(
        entity: object.info.entity.index, relationship: relationship.index, owner: Self.key(object), added: [],
        removed: [])
      if isPrimary {
        change.added.reserveCapacity(state.added.count)
        let added = state.added
        try added.forEachUncounted { member in
          if member.flags.leavesNoLinks { return }
          try core.checkStores(object, relationship, member)
          change.added.append(Self.reference(member))
        }
        // Deleted objects take their pairs with them; objects that were never saved have none.
        for member in state.removed
        where member.flags.contains(.stored)
          && (!member.flags.contains(.deleted) || relationship.storage == .destination)
        {
          change.removed.append(Self.reference(member))
        }
      } else {
        change.removed = state.removed.filter {
          $0.flags.intersection([.stored, .deleted]) == .stored && relationship.storage == .inverseToOne
        }
        .filter { $0.toOne(core.frozen?.schema.inverse(of: relationship) ?? relationship) == nil }
        .map(Self.reference)
      }
      if relationship.isOrdered { change.order = Self.order(of: object, relationship) }
      part.changes.links.append(change)
    }
  }

  private static func order(of object: NSManagedObject, _ relationship: Relationship) -> [ObjectReference] {
    object.loadedToMany(relationship).members.filter { !$0.flags.leavesNoLinks }.map(reference)
  }

  /// An object as the change set refers to it: by its key, or by its number among the insertions.
  static func key(_ object: NSManagedObject) -> Int64 { object.key < 0 ? Int64(-object.ordinal - 1) : object.key }

  static func reference(_ object: NSManagedObject) -> ObjectReference {
    ObjectReference(entity: object.info.entity.index, key: key(object))
  }
}

extension SavePlan.Part {
  /// Takes away the links that a deleted object had lost before it was deleted, where a link that is left would forbid
  /// the deletion.
  func takeLinksAway(of object: NSManagedObject) {
    for relationship in object.info.entity.guardedLinks {
      guard let state = object.toManys[relationship] else { continue }
      for member in state.removed where member.flags.intersection([.stored, .deleted]) == .stored {
        // Pairs are told from their primary side.
        let isPrimary = relationship.storage != .pairs(isPrimary: false)
        let (owner, other) = isPrimary ? (object, member) : (member, object)
        guard let told = isPrimary ? relationship : relationship.linkedInverse else { continue }
        changes.links.append(
          ChangeSet.LinkChange(
            entity: owner.info.entity.index, relationship: told.index, owner: owner.key, added: [],
            removed: [other.reference]))
      }
    }
  }
}

extension ContextCore {
  /// The complete state of an object as a row. Values that only the context understands are encoded here.
  func pack(_ object: NSManagedObject, version: Int64) throws -> RowDraft {
    if object.entityInfo._withUnsafeGuaranteedRef({ $0.hasTransformables }) { try encodeTransformables(object) }
    if let patched = patchedRow(object, version: version) { return patched }
    // Held once, not around each value.
    let (entity, builder) = (object.info.entity, builder)
    builder.begin(slots: entity.slots.count)
    let base = object.row
    for slot in entity.slots.indices {
      if let value = object.changed(slot) {
        if case .reference(let reference) = value {
          if let key = try saveKey(reference, object, slot) { builder.setInt(slot, key) }
        } else {
          builder.set(slot, value)
        }
      } else if let base {
        builder.copy(slot, entity.slots[slot], from: base)
      }
    }
    do { return try builder.finishCheckedDraft(key: max(object.key, 0), entity: entity, version: version) } catch {
      throw CoreDataError.make(error)
    }
  }

  /// The stored row with its changed words, where no changed value needs bytes of its own.
  private func patchedRow(_ object: NSManagedObject, version: Int64) -> RowDraft? {
    if object.overlay.isEmpty || object.row == nil { return nil }
    let count = object.slotCount
    let needsBytes = object.overlay.contains(count) { slot, value in
      switch value {
      case .string, .uri, .uuid, .data, .decimal: true
      case .null: object.info.entity.slots[slot].isBytes
      case .reference(let reference): reference.key < 0 || isGone(reference, object)
      case .bool, .int, .double, .date: false
      }
    }
    if needsBytes { return nil }
    guard let row = object.row.view?.draft(version: version) else { return nil }
    object.overlay.forEach(count) { slot, value in _ = row.patch(slot, value) }
    return row
  }

  /// Whether an object will not be in the store after the save: it is known to have gone since it was read, or is
  /// deleted.
  private func isGone(_ reference: ObjectReference, _ owner: NSManagedObject) -> Bool {
    if !changes.hasInaccessible && changes.counts.deleted == 0 { return false }
    return registry.object(reference, store: owner.storeIndex)?.flags.isDisjoint(with: [.inaccessible, .deleted])
      == false
  }

  /// How the change set refers to a to-one destination; nil for one that will not be there.
  private func saveKey(_ reference: ObjectReference, _ owner: NSManagedObject, _ slot: Int) throws -> Int64? {
    if reference.key > 0 { return isGone(reference, owner) ? nil : reference.key }
    guard let object = registry.object(reference, store: owner.storeIndex), !object.flags.contains(.deleted) else {
      return nil
    }
    if object.storeIndex != owner.storeIndex,
      let info = owner.info.relationships.first(where: { $0.relationship.slot == slot })
    {
      try checkStores(owner, info.relationship, object)
    }
    return object.key > 0 || object.ordinal >= 0 ? SavePlan.key(object) : nil
  }

  private func encodeTransformables(_ object: NSManagedObject) throws {
    guard let values = object.extras?.transformed else { return }
    let keepsObjects = self.keepsObjects(object)
    for info in object.info.attributes where info.attribute.type == .transformable {
      let slot = info.attribute.slot
      guard case .data(let bytes)? = object.changed(slot), let value = values[slot],
        bytes.isEmpty || RowObjects.object(bytes) != nil
      else { continue }
      if keepsObjects {
        object.setOverlay(.data(token(for: value, of: object, slot)), slot)
        continue
      }
      guard let data = TransformableCoding.encode(value, info.description) else {
        throw CocoaError(
          .persistentStoreSave,
          userInfo: [
            NSLocalizedDescriptionKey:
              "The value of the transformable attribute \(info.attribute.name) cannot be encoded; register its transformer and check its class.",
            NSAffectedObjectsErrorKey: [object],
          ])
      }
      object.setOverlay(.data(data), slot)
    }
  }

  /// The token of the equal object that the row has already, or a new one.
  private func token(for value: Any, of object: NSManagedObject, _ slot: Int) -> Data {
    if let row = object.row, !row.isNull(slot) {
      let token = row.data(slot)
      if let old = RowObjects.object(token) as? NSObject, old.isEqual(value) { return token }
    }
    let owner = RowObject(value)
    object.makeExtras().rowObjects[slot] = owner
    return owner.token
  }

  /// Whether the store of an object keeps the objects of transformable attributes.
  private func keepsObjects(_ object: NSManagedObject) -> Bool {
    store(object.storeIndex)?.keepsObjects ?? false
  }
}
