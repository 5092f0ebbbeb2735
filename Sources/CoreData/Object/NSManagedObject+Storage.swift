import Foundation
import StoreSchema

/// Reading and writing by slot, below key-value coding and typed accessors.
extension NSManagedObject {
  /// Reads the object from its store if it is a fault.
  @inline(__always)
  final func prepareToRead() {
    if flags.contains(.fault), withCore({ $0.fire(self) }) == nil { reportLostContext() }
  }

  @inline(__always)
  final var slotCount: Int { entityInfo._withUnsafeGuaranteedRef { $0.slotCount } }

  @inline(__always)
  final func changed(_ slot: Int) -> Value? { overlay[slot] }

  /// The present value of a slot, changed or stored.
  final func stored(_ slot: Int) -> Value {
    prepareToRead()
    if let value = changed(slot) { return value }
    guard let row else { return .null }
    return row.value(slot, info.entity.slots[slot])
  }

  /// The value that was last read or saved.
  final func committed(_ slot: Int) -> Value {
    prepareToRead()
    return row?.value(slot, info.entity.slots[slot]) ?? .null
  }

  /// Sets a slot and marks the object as changed. The caller notifies observers.
  final func change(_ slot: Int, to value: consuming Value) {
    prepareToRead()
    withCore { $0.markUpdated(self) }
    setOverlay(value, slot)
  }

  /// Sets a slot, marks the object as changed and notifies observers.
  final func store(_ value: consuming Value, in slot: Int) {
    change(slot, to: value)
    if flags.contains(.observed) { tellObservers() }
  }

  @inline(__always)
  final func setOverlay(_ value: consuming Value, _ slot: Int) {
    endDirectReads()
    overlay.set(slot, value, slots: slotCount, isSpread: row == nil)
  }

  final func clearOverlay() {
    if !overlay.isEmpty { overlay.removeAll(slots: slotCount) }
  }

  /// Makes the object a fault without values. Members are released last: that may run the `deinit` of a client's class,
  /// which must see a fault.
  final func forgetValues() {
    ChangeTracker.forgetLinks(of: self)
    setFault(true)
    row = nil
    clearOverlay()
    extras?.forgetValues()
    toManys.removeAll()
  }

  final func becomeEmptyFault() {
    ChangeTracker.reset(self)
    forgetValues()
  }

  /// The slots whose present value differs from the stored one.
  final func changedSlots() -> SlotSet {
    var result = SlotSet()
    _ = overlay.contains(slotCount) { slot, address in
      if !hasStored(address, slot) { result.insert(slot) }
      return false
    }
    return result
  }

  /// Makes properties that were set, but are as the row has them, count as not set: a value that was set back is no
  /// change, and must not replace what another context has saved. An object made of stored bytes is made again.
  ///
  /// With `links`, to-one relationships too, unless the inverse is to-one: the partner's side would have to change.
  final func forgetUnchangedValues(links: Bool) {
    guard row != nil, !overlay.isEmpty || extras != nil else { return }
    let changed = changedSlots()
    var unchanged = SlotSet()
    for attribute in info.entity.attributes {
      let slots = attribute.slots
      if slots.contains(where: changed.contains) { continue }
      for slot in slots where self.changed(slot) != nil { unchanged.insert(slot) }
      extras?.transformed[attribute.slot] = nil
    }
    for relationship in info.entity.relationships where links && relationship.linkedInverse?.isToMany ?? true {
      guard let slot = relationship.slot, self.changed(slot) != nil, !changed.contains(slot) else { continue }
      unchanged.insert(slot)
      if let slot = relationship.entitySlot, self.changed(slot) != nil { unchanged.insert(slot) }
    }
    forgetOverlay(unchanged)
  }

  private func forgetOverlay(_ slots: SlotSet) {
    if slots.isEmpty { return }
    var kept: [(slot: Int, value: Value)] = []
    overlay.forEach(slotCount) { slot, value in if !slots.contains(slot) { kept.append((slot, value)) } }
    clearOverlay()
    for (slot, value) in kept { setOverlay(value, slot) }
  }

  /// Takes back that links of the object have ended because its destination was deleted, or got another partner, where
  /// its row has another link now: `former` is the row that it had then. A nil that the client has set looks the same.
  final func forgetEndedLinks(_ former: Row, _ registry: ObjectRegistry) {
    var slots = SlotSet()
    for relationship in info.entity.relationships {
      guard let inverse = relationship.linkedInverse, let slot = relationship.slot, changed(slot)?.isNull == true,
        let row, !row.isNull(slot)
      else { continue }
      func link(_ row: Row) -> ObjectReference? {
        row.reference(slot, entitySlot: relationship.entitySlot, destination: relationship.destination)
      }
      guard let reference = link(former), reference != link(row),
        let ended = registry.object(reference, store: storeIndex)
      else { continue }
      var partner: ObjectReference?
      if let slot = inverse.slot, case .reference(let other)? = ended.changed(slot) { partner = other }
      if !ended.flags.isDeleted && (partner == nil || partner == self.reference) { continue }
      slots.insert(slot)
      if let slot = relationship.entitySlot { slots.insert(slot) }
    }
    forgetOverlay(slots)
  }

  @inline(__always)
  private func hasStored(_ address: UnsafePointer<Value?>, _ slot: Int) -> Bool {
    guard let row = row.view else { return false }
    switch address.pointee {
    case .null?: return row.isNull(slot)
    case .bool(let x)?: return !row.isNull(slot) && row.int(slot) == (x ? 1 : 0)
    case .int(let x)?: return !row.isNull(slot) && row.int(slot) == x
    case .double(let x)?, .date(let x)?: return !row.isNull(slot) && row.double(slot) == x
    case .reference(let x)?: return !row.isNull(slot) && row.int(slot) == x.key
    default: return self.row?.value(slot, info.entity.slots[slot]) == address.pointee
    }
  }

  /// A to-one destination as a reference, nil where there is none.
  final func reference(_ relationship: Relationship) -> ObjectReference? { reference(ToOneSlot(relationship)) }

  @inline(__always)
  private func reference(_ target: ToOneSlot) -> ObjectReference? {
    if target.slot < 0 { return nil }
    prepareToRead()
    if let value = changed(target.slot) {
      if case .reference(let reference) = value { return reference }
      return nil
    }
    return row.view?.reference(target.slot, entitySlot: target.entitySlot, destination: target.destination)
  }

  final func toOne(_ relationship: Relationship) -> NSManagedObject? { toOne(ToOneSlot(relationship)) }

  @inline(__always)
  final func toOne(_ target: ToOneSlot) -> NSManagedObject? {
    guard let reference = reference(target) else { return nil }
    if core == nil { reportLostContext() }
    return withCore {
      if !$0.changes.externalLinks.isEmpty, let other = $0.externalDestination(of: self, slot: target.slot) {
        return other
      }
      return $0.destination(reference, store: storeIndex)
    } ?? nil
  }
}
