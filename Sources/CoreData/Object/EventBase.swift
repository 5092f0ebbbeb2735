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
    for (key, found) in info.keys {
      switch found {
      case .attribute(let index): if let old = eventOrigin(info.attributes[index]) { result[key] = old }
      case .relationship(let index):
        if let old = eventOrigin(info.relationships[index].relationship) { result[key] = old }
      case .transient, .fetched: continue
      }
    }
    return result
  }

  /// The value of a slot at the start of the event.
  final func eventValue(_ slot: Int) -> Value {
    extras?.eventBase?.values[slot] ?? row?.value(slot, info.entity.slots[slot]) ?? .null
  }

  private func hasChangedInEvent(_ slot: Int) -> Bool {
    changed(slot).map { $0 != eventValue(slot) } ?? false
  }

  /// Nil where the value has not changed; `NSNull` where there was no value.
  private func eventOrigin(_ info: AttributeInfo) -> Any? {
    let attribute = info.attribute
    switch attribute.type {
    case .composite:
      if !attribute.elements.contains(where: { hasChangedInEvent($0.slot) }) { return nil }
      return CompositeCoding.dictionary(attribute) { plain(eventValue($0.slot), $0.slot) } ?? NSNull()
    case .transformable: return transformedOrigin(info)
    default:
      if !hasChangedInEvent(attribute.slot) { return nil }
      return AttributeCoding.decode(plain(eventValue(attribute.slot), attribute.slot), attribute.type) ?? NSNull()
    }
  }

  private func transformedOrigin(_ info: AttributeInfo) -> Any? {
    let slot = info.attribute.slot
    guard let present = changed(slot) else { return nil }
    let base = extras?.eventBase
    guard base?.values[slot] == TransformableCoding.pending else {
      if present == eventValue(slot) { return nil }
      guard case .data(let bytes) = eventValue(slot) else { return NSNull() }
      return TransformableCoding.decode(bytes, info.description) ?? NSNull()
    }
    let old = base?.transformed[slot]
    if present == TransformableCoding.pending, let old, Self.areEqual(old, extras?.transformed[slot]) { return nil }
    return old ?? NSNull()
  }

  /// Whether two values of transformable or transient attributes are equal.
  static func areEqual(_ one: Any?, _ other: Any?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    // `NSString` compares texts by canonical equivalence.
    if let one = one as? String, let other = other as? String { return UTF8Order.areEqual(one, other) }
    return (one as? NSObject)?.isEqual(other) ?? ((one as AnyObject) === (other as AnyObject))
  }

  private func eventOrigin(_ relationship: Relationship) -> Any? {
    if let slot = relationship.slot {
      guard let present = changed(slot) else { return nil }
      let old = eventReference(relationship, slot)
      var key: Int64?
      if case .reference(let reference) = present { key = reference.key }
      if old?.key == key { return nil }
      return old.flatMap { core?.object($0, store: storeIndex) } ?? NSNull()
    }
    guard let index = relationship.toManyIndex, let state = toManys[index] else { return nil }
    let base = eventMembers(index)
    if !state.hasChanges(since: base) { return nil }
    let old = Array(loadedToMany(relationship).members(before: base))
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
