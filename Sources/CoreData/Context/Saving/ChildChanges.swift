import StoreSchema

/// The changes of a child context's save, by keys and values: the parent has other objects, on another queue.
struct ChildChanges {
  /// An object by its keys. A link may lead to another store.
  struct Target: Hashable {
    let reference: ObjectReference
    let store: UInt16

    init(_ object: NSManagedObject) { (reference, store) = (object.reference, object.storeIndex) }
  }

  struct Object {
    let target: Target
    /// The row that the child had of the object before it changed it; nil for a new object, and for one whose values
    /// the child has not read.
    let base: Row?
    let changes: ObjectChanges<Target>
    /// Whether the save needs the object. It does if the object is new, if it has changes of its own, or if links that
    /// the child has set lead to it. An owner that has only lost members counts as updated, but is not needed: the rows
    /// of the members store those links.
    fileprivate(set) var isNeeded: Bool

    fileprivate init(_ object: NSManagedObject, _ changes: ObjectChanges<Target>) {
      (target, base, self.changes) = (Target(object), object.flags.isFault ? nil : object.row, changes)
      isNeeded = object.flags.contains(.inserted) || !changes.isUnsaved
    }
  }

  private(set) var inserted: [Object] = []
  private(set) var updated: [Object] = []
  private(set) var deleted: [Object] = []
  /// New objects that were assigned to a store whose configuration does not have their entity.
  let misplaced: Set<Target>

  init(_ objects: ContiguousArray<NSManagedObject>, misplaced: [NSManagedObject]) {
    self.misplaced = Set(misplaced.map(Target.init))
    for object in objects {
      switch object.flags.savedChange {
      case .inserted?: inserted.append(Object(object, Self.changes(of: object)))
      case .updated?:
        updated.append(Object(object, Self.changes(of: object)))
      // Includes an object that the parent does not show at present: the parent may undo its own deletion.
      case .deleted?: deleted.append(Object(object, ObjectChanges()))
      case nil: continue
      }
    }
    let links = (inserted + updated).flatMap(\.changes.toOnes).filter { $0.relationship.linkedInverse != nil }
    let destinations = Set(links.compactMap(\.destination))
    for index in updated.indices where destinations.contains(updated[index].target) {
      updated[index].isNeeded = true
    }
    updated.removeAll { !$0.isNeeded && $0.changes.isEmpty }
  }

  private static func changes(of object: NSManagedObject) -> ObjectChanges<Target> {
    var changes = ObjectChanges<Target>()
    let kinds = object.info.entity.slots
    var changed = object.changedSlots()
    for slots in object.info.composites where slots.contains(where: changed.contains) {
      for slot in slots where kinds[slot] != .externalData { changed.insert(slot) }
    }
    for slot in kinds.indices where changed.contains(slot) {
      if kinds[slot] == .reference || kinds[slot] == .referenceEntity { continue }
      let value = object.stored(slot)
      if kinds[slot] == .transformable, !value.isNull, let given = object.extras?.transformed[slot] {
        changes.transformed.append((slot, given))
      } else {
        changes.values.append((slot, value))
      }
    }
    if let extras = object.extras {
      // A new object of the parent has no defaults.
      for (index, value) in extras.transients.enumerated()
      where extras.changedTransients.contains(index) || object.flags.contains(.inserted) && value != nil {
        changes.transients.append((index, value))
      }
    }
    for info in object.info.relationships {
      let relationship = info.relationship
      if let slot = relationship.slot {
        if !changed.contains(slot) { continue }
        let destination = object.toOne(relationship).flatMap { $0.flags.leavesNoLinks ? nil : $0 }
        changes.toOnes.append((relationship, destination.map(Target.init)))
      } else if let state = object.toManys[relationship], state.hasChanges {
        // New members of an ordered relationship have positions.
        let isToBeRead = state.isFault && state.hasAdditions && relationship.isOrdered
        changes.toManys.append(members(isToBeRead ? object.loadedToMany(relationship) : state, relationship))
      }
    }
    return changes
  }

  private static func members(_ state: ToManyState, _ relationship: Relationship) -> ObjectChanges<Target>.Members {
    func targets(_ objects: ContiguousArray<NSManagedObject>) -> [Target] {
      objects.filter { !$0.flags.leavesNoLinks }.map(Target.init)
    }
    let isOfMembers = relationship.storage == .inverseToOne
    let hasOrder = relationship.isOrdered && !state.isFault && (state.isOrderChanged || state.hasAdditions)
    // The others keep the order that the parent has.
    let isAppended = hasOrder && !state.isOrderChanged
    return ObjectChanges.Members(
      relationship: relationship, added: isOfMembers ? [] : targets(state.added),
      // Without an inverse nothing else takes a deleted object out of the parent's relationship.
      removed: isOfMembers
        ? [] : relationship.linkedInverse == nil ? state.removed.map(Target.init) : targets(state.removed),
      order: hasOrder ? targets(isAppended ? state.added : state.members) : nil, isAppended: isAppended)
  }
}
