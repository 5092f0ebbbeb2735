import Foundation
import StoreSchema

/// The values of an object at the start of an event. Kept only for an object with changes that an earlier event has
/// reported; for other objects the row has these values.
struct EventBase {
  fileprivate let values: [Int: Value]
  fileprivate let transformed: [Int: Any]
  /// By to-many relationship; nil where the members were unknown.
  fileprivate let members: [ToManyState.Moment?]
  let isDeleted: Bool

  init(_ object: NSManagedObject) {
    var values: [Int: Value] = [:]
    object.overlay.forEach(object.slotCount) { values[$0] = $1 }
    self.values = values
    transformed = object.extras?.transformed ?? [:]
    members = object.toManys.isEmpty ? [] : object.info.toManys.map { object.toManys[$0]?.now }
    isDeleted = object.flags.contains(.deleted)
  }
}

extension NSManagedObject {
  /// Called before a value changes. Keeps the present values where the row alone no longer has them.
  @inline(__always)
  final func noteEventBase() {
    if flags.intersection([.listed, .pending]) == .listed { keepEventBase() }
  }

  private func keepEventBase() {
    // Changes that observers of an event make belong to the next event.
    if flags.contains(.reported) {
      ChangeTracker.endTelling(of: self)
      extras?.eventBase = nil
    }
    if extras?.eventBase == nil { makeExtras().eventBase = EventBase(self) }
  }

  /// Called when all observers have been notified of the event.
  final func forgetEventBase() {
    ChangeTracker.endTelling(of: self)
    if let extras, !flags.contains(.pending) { extras.eventBase = nil }
  }

  /// The properties changed since the last event, with their values from then; for a new object, none. While observers
  /// are notified of an event, the changes of that event.
  final func eventChanges() -> [String: Any] {
    if flags.isDisjoint(with: [.pending, .reported]) { return [:] }
    var result: [String: Any] = [:]
    for (key, found) in info.keys where hasChangedInEvent(found) {
      switch found {
      case .attribute(let index): result[key] = eventOrigin(info.attributes[index]) ?? NSNull()
      case .relationship(let index): result[key] = eventOrigin(info.relationships[index].relationship) ?? NSNull()
      case .transient, .fetched: continue
      }
    }
    return result
  }

  /// The keys of ``eventChanges()``. No value is decoded, and no file is read.
  final func changedKeysOfEvent() -> Set<String> {
    if flags.isDisjoint(with: [.pending, .reported]) { return [] }
    return Set(info.keys.lazy.filter { self.hasChangedInEvent($0.value) }.map(\.key))
  }

  /// The value of a slot at the start of the event.
  final func eventValue(_ slot: Int) -> Value {
    extras?.eventBase?.values[slot] ?? row?.value(slot, info.entity.slots[slot]) ?? .null
  }

  private func hasChangedInEvent(_ slot: Int) -> Bool {
    changed(slot).map { $0 != eventValue(slot) } ?? false
  }

  private func hasChangedInEvent(_ key: EntityInfo.Key) -> Bool {
    switch key {
    case .attribute(let index):
      let attribute = info.attributes[index].attribute
      if attribute.type == .transformable { return hasChangedObject(attribute.slot) }
      return attribute.slots.contains(where: hasChangedInEvent)
    case .relationship(let index):
      let relationship = info.relationships[index].relationship
      if let slot = relationship.slot {
        guard let present = changed(slot) else { return false }
        var key: Int64?
        if case .reference(let reference) = present { key = reference.key }
        return eventReference(relationship, slot)?.key != key
      }
      guard let index = relationship.toManyIndex, let state = toManys[index] else { return false }
      return state.hasChanges(since: eventMembers(index))
    case .transient, .fetched: return false
    }
  }

  private func hasChangedObject(_ slot: Int) -> Bool {
    guard let present = changed(slot) else { return false }
    guard let base = extras?.eventBase, base.values[slot] == TransformableCoding.pending else {
      return present != eventValue(slot)
    }
    guard present == TransformableCoding.pending, let old = base.transformed[slot] else { return true }
    return !Self.areEqual(old, extras?.transformed[slot])
  }

  private func eventOrigin(_ info: AttributeInfo) -> Any? {
    let attribute = info.attribute
    switch attribute.type {
    case .composite: return CompositeCoding.dictionary(attribute) { formerValue(eventValue($0.slot), $0.slot) }
    case .transformable:
      let old = eventValue(attribute.slot)
      if old == TransformableCoding.pending { return eventObject(attribute.slot) }
      guard case .data(let bytes) = old else { return nil }
      return TransformableCoding.decode(bytes, info.description)
    default: return AttributeCoding.decode(formerValue(eventValue(attribute.slot), attribute.slot), attribute.type)
    }
  }

  /// The same as ``plain(_:_:)`` for a value that the object had before. Where it cannot be read it is nil, and that is
  /// no error of the context: no save depends on it.
  final func formerValue(_ value: Value, _ slot: Int) -> Value {
    guard let core else { return plain(value, slot) }
    var found = Value.null
    _ = core.errors { found = plain(value, slot) }
    return found
  }

  /// Whether two values of transformable or transient attributes are equal.
  static func areEqual(_ one: Any?, _ other: Any?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    // `NSString` compares texts by canonical equivalence.
    if let one = one as? String, let other = other as? String { return UTF8Order.areEqual(one, other) }
    return (one as? NSObject)?.isEqual(other) ?? ((one as AnyObject) === (other as AnyObject))
  }

  private func eventOrigin(_ relationship: Relationship) -> Any? {
    guard let index = relationship.toManyIndex else {
      return relationship.slot.flatMap { eventReference(relationship, $0) }.flatMap {
        core?.object($0, store: storeIndex)
      }
    }
    let old = Array(loadedToMany(relationship).members(before: eventMembers(index)))
    return relationship.isOrdered ? NSOrderedSet(array: old) : NSSet(array: old)
  }

  /// The known members of a to-many relationship at the start of the event; nil where they were those of the last save.
  final func eventMembers(_ index: Int) -> ToManyState.Moment? {
    extras?.eventBase.flatMap { index < $0.members.count ? $0.members[index] : nil }
  }

  /// The value of a transformable attribute at the start of the event, where it was not encoded yet.
  final func eventObject(_ slot: Int) -> Any? { extras?.eventBase?.transformed[slot] }

  final func eventReference(_ relationship: Relationship, _ slot: Int) -> ObjectReference? {
    guard let value = extras?.eventBase?.values[slot] else {
      return row?.reference(slot, entitySlot: relationship.entitySlot, destination: relationship.destination)
    }
    if case .reference(let reference) = value { return reference }
    return nil
  }
}
