import StoreProtocol
import StoreSchema

extension ChangeSet {
  /// The stored objects that new links lead to, each once, in the order of their entities and keys.
  ///
  /// New links are the to-one slots of insertions, the changed to-one slots of updates, and added links. Objects that
  /// the change set inserts are left out, and so are objects that it updates or checks: their version is compared
  /// anyway. Empty for ``isPartOfCopy``.
  ///
  /// Call it before references to insertions are resolved. A commit makes sure that these objects exist after it.
  public func linkTargets(_ schema: Schema) -> [ObjectReference] {
    if isPartOfCopy { return [] }
    var targets = LinkTargets(schema)
    for index in insertions.indices { targets.add(insertions[index], changed: nil) }
    for index in updates.indices { targets.add(updates[index].row, changed: updates[index].changed) }
    for index in links.indices where links.adds(at: index) {
      for destination in links.added(at: index) { targets.addMember(destination) }
    }
    if targets.found.isEmpty { return [] }
    var known = ReferenceSet(capacity: checks.count + updates.count + targets.found.count)
    for check in checks { _ = known.insert(check.reference) }
    for update in updates { _ = known.insert(update.row.reference) }
    return targets.found.filter { known.insert($0) }.sorted { ($0.entity, $0.key) < ($1.entity, $1.key) }
  }
}

private struct LinkTargets {
  private let schema: Schema
  /// May have duplicates.
  private(set) var found: [ObjectReference] = []
  /// What rows of the current entity need; rows of one entity are adjacent.
  private var entity = -1
  private var toOnes: [ToOne] = []

  private struct ToOne {
    let relationship: Relationship
    let slot: Int
    /// Keys met before, each at the index given by its last bits: most objects lead to few others.
    var met: [Int64]
  }
  private static let metCount = 256
  /// Members met before, likewise.
  private var metMembers: ContiguousArray<ObjectReference> = []

  init(_ schema: Schema) { self.schema = schema }

  mutating func add(_ row: borrowing RowDraft, changed: SlotSet?) {
    if row.entity != entity {
      entity = row.entity
      toOnes = schema.entities[entity].relationships.compactMap { relationship in
        relationship.slot.map {
          ToOne(relationship: relationship, slot: $0, met: Array(repeating: 0, count: Self.metCount))
        }
      }
    }
    for index in toOnes.indices {
      let slot = toOnes[index].slot
      if let changed, !changed.contains(slot) { continue }
      // Zero where the slot is null, negative for an insertion of the change set.
      let key = row.view.int(slot)
      let metIndex = Int(truncatingIfNeeded: key) & (Self.metCount - 1)
      if key <= 0 || key == toOnes[index].met[metIndex] { continue }
      toOnes[index].met[metIndex] = key
      let relationship = toOnes[index].relationship
      if let target = row.view.reference(
        slot, entitySlot: relationship.entitySlot, destination: relationship.destination)
      {
        add(target)
      }
    }
  }

  mutating func addMember(_ member: ObjectReference) {
    if metMembers.isEmpty { metMembers = ContiguousArray(repeating: ReferenceSet.none, count: Self.metCount) }
    let metIndex = Int(truncatingIfNeeded: member.key) & (Self.metCount - 1)
    if member == metMembers[metIndex] { return }
    metMembers[metIndex] = member
    add(member)
  }

  private mutating func add(_ target: ObjectReference) {
    if target.key > 0 && schema.entities.indices.contains(target.entity) { found.append(target) }
  }
}

/// A set of references that takes a few instructions each.
private struct ReferenceSet {
  static let none = ObjectReference(entity: -1, key: 0)
  private static let factor = UInt64.random(in: 0...UInt64.max) | 1
  private var slots: ContiguousArray<ObjectReference>
  private let shift: Int

  init(capacity: Int) {
    // Half of the slots stay free at least.
    let bits = max(4, Int.bitWidth - (capacity * 2).leadingZeroBitCount)
    slots = ContiguousArray(repeating: Self.none, count: 1 << bits)
    shift = 64 - bits
  }

  /// Adds a reference. True where it was not in the set.
  mutating func insert(_ reference: ObjectReference) -> Bool {
    let mixed = (UInt64(bitPattern: reference.key) ^ UInt64(truncatingIfNeeded: reference.entity) << 48) &* Self.factor
    var index = Int(truncatingIfNeeded: mixed >> UInt64(shift))
    while slots[index] != Self.none {
      if slots[index] == reference { return false }
      index = (index + 1) & (slots.count - 1)
    }
    slots[index] = reference
    return true
  }
}
