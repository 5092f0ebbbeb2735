import StoreSchema

/// The changes of a child context's save, by keys and values: the parent has other objects, on another queue.
struct ChildChanges {
  /// An object by its keys. A link may lead to another store.
  struct Target {
    let reference: ObjectReference
    let store: UInt16

    init(_ object: NSManagedObject) { (reference, store) = (object.reference, object.storeIndex) }
  }

  struct Object {
    let target: Target
    /// The row that the child had of the object before it changed it; nil for a new object.
    let base: Row?
    /// The changed values that are no links.
    fileprivate(set) var values: [(slot: Int, value: Value)] = []
    /// The changed values of transformable attributes, as objects.
    fileprivate(set) var transformed: [(slot: Int, value: Any)] = []
    /// The values of transient attributes by their index, whether changed or not: their former values are not kept.
    fileprivate(set) var transients: [(index: Int, value: Any)] = []
    fileprivate(set) var toOnes: [(relationship: Relationship, destination: Target?)] = []
    fileprivate(set) var toManys: [Members] = []

    /// Whether a save would write nothing of the object, such as one whose values were set to what they are.
    var isEmpty: Bool { values.isEmpty && transformed.isEmpty && toOnes.isEmpty && toManys.allSatisfy(\.isEmpty) }
  }

  /// The changes of a to-many relationship.
  struct Members {
    let relationship: Relationship
    /// Empty where the inverse is a to-one relationship: as in a store, the link belongs to the member.
    let added, removed: [Target]
    /// All members in their order; nil where it has not changed.
    let order: [Target]?

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && order == nil }
  }

  private(set) var inserted: [Object] = []
  private(set) var updated: [Object] = []
  private(set) var deleted: [Object] = []

  init(_ objects: ContiguousArray<NSManagedObject>) {
    for object in objects {
      switch object.flags.savedChange {
      case .inserted?: inserted.append(Self.changes(of: object))
      case .updated?: updated.append(Self.changes(of: object))
      // Includes an object that the parent does not show at present: the parent may undo its own deletion.
      case .deleted?: deleted.append(Object(target: Target(object), base: object.row))
      case nil: continue
      }
    }
  }

  private static func changes(of object: NSManagedObject) -> Object {
    var changes = Object(target: Target(object), base: object.row)
    let kinds = object.info.entity.slots
    let changed = object.changedSlots()
    for slot in kinds.indices where changed.contains(slot) {
      guard let value = object.changed(slot), kinds[slot] != .reference, kinds[slot] != .referenceEntity else {
        continue
      }
      if kinds[slot] == .transformable, !value.isNull, let given = object.extras?.transformed[slot] {
        changes.transformed.append((slot, given))
      } else {
        changes.values.append((slot, value))
      }
    }
    for (index, value) in (object.extras?.transients ?? []).enumerated() {
      if let value { changes.transients.append((index, value)) }
    }
    for info in object.info.relationships {
      let relationship = info.relationship
      if let slot = relationship.slot {
        if !changed.contains(slot) { continue }
        let destination = object.toOne(relationship).flatMap { $0.flags.leavesNoLinks ? nil : $0 }
        changes.toOnes.append((relationship, destination.map(Target.init)))
      } else if let state = object.toManys[relationship], state.hasChanges {
        changes.toManys.append(members(state, relationship))
      }
    }
    return changes
  }

  private static func members(_ state: ToManyState, _ relationship: Relationship) -> Members {
    func targets(_ objects: ContiguousArray<NSManagedObject>) -> [Target] {
      objects.filter { !$0.flags.leavesNoLinks }.map(Target.init)
    }
    let isOfMembers = relationship.storage == .inverseToOne
    let hasOrder = relationship.isOrdered && !state.isFault && (state.isOrderChanged || state.hasAdditions)
    return Members(
      relationship: relationship, added: isOfMembers ? [] : targets(state.added),
      removed: isOfMembers ? [] : targets(state.removed),
      order: hasOrder ? targets(state.members) : nil)
  }
}
