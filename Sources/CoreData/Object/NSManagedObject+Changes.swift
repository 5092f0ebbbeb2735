import Foundation
import StoreSchema

extension NSManagedObject {
  final func presentChanges() -> [String: Any] {
    var result: [String: Any] = [:]
    // A fault may have primitive values. It stays a fault.
    func present(_ key: String) -> Any {
      (flags.contains(.fault) ? primitive(key) : modelledValue(forKey: key)) ?? NSNull()
    }
    for (key, found) in info.keys {
      switch found {
      case .attribute(let index):
        let attribute = info.attributes[index].attribute
        let slots = attribute.slots
        if slots.contains(where: isChanged) { result[key] = present(key) }
      case .relationship(let index):
        let relationship = info.relationships[index].relationship
        if let slot = relationship.slot {
          if isChanged(slot) { result[key] = present(key) }
        } else if toManys[relationship]?.hasChanges == true {
          result[key] = modelledValue(forKey: key) ?? NSNull()
        }
      case .transient, .fetched: continue
      }
    }
    return result
  }

  private func isChanged(_ slot: Int) -> Bool {
    guard let value = changed(slot) else { return false }
    if row == nil { return !value.isNull }
    return changedSlots().contains(slot)
  }

  final func committed(_ keys: [String]?) -> [String: Any] {
    if flags.contains(.inserted) { return [:] }
    prepareToRead()
    if row == nil && !flags.contains(.fault) { return [:] }
    var result: [String: Any] = [:]
    for key in keys ?? Array(info.keys.keys) {
      guard let found = info.keys[key] else { continue }
      switch found {
      case .attribute(let index):
        let info = info.attributes[index]
        result[key] = committedAttribute(info) ?? NSNull()
      case .relationship(let index):
        let relationship = info.relationships[index].relationship
        if let slot = relationship.slot {
          let reference = row?.reference(
            slot, entitySlot: relationship.entitySlot, destination: relationship.destination)
          result[key] = reference.flatMap { core?.object($0, store: storeIndex) } ?? NSNull()
        } else if keys != nil || toManys[relationship]?.isFault == false {
          result[key] = committedMembers(relationship)
        }
      case .transient, .fetched: continue
      }
    }
    return result
  }

  private func committedAttribute(_ info: AttributeInfo) -> Any? {
    func value(_ slot: Int) -> Value { formerValue(committed(slot), slot) }
    if info.attribute.type == .composite { return CompositeCoding.dictionary(info.attribute) { value($0.slot) } }
    let value = value(info.attribute.slot)
    if info.attribute.type == .transformable, case .data(let data) = value {
      return TransformableCoding.decode(data, info.description)
    }
    return AttributeCoding.decode(value, info.attribute.type)
  }

  private func committedMembers(_ relationship: Relationship) -> Any {
    let members = Array(loadedToMany(relationship).members(before: nil))
    return relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
  }

  final func isUnread(relationship key: String) -> Bool {
    guard case .relationship(let index)? = info.keys[key] else { return false }
    let relationship = info.relationships[index].relationship
    if relationship.isToMany { return toMany(relationship).isFault }
    return flags.contains(.fault) || toOne(relationship)?.flags.isFault ?? false
  }

  final func destinationIDs(relationship key: String) -> [NSManagedObjectID] {
    guard case .relationship(let index)? = info.keys[key] else { return [] }
    let relationship = info.relationships[index].relationship
    if relationship.isToMany {
      // A fault of a child context may have members that were prefetched, and are out of date.
      let isOld = flags.contains(.fault) && core?.asksParent(for: self) == true
      let state = isOld ? loadedToMany(relationship) : toMany(relationship)
      if !state.isFault { return state.members.map(\.ownID) }
      if core == nil { reportLostContext() }
      return core?.memberIDs(state, relationship, of: self) ?? []
    }
    guard let reference = reference(relationship) else { return [] }
    if core == nil { reportLostContext() }
    if let slot = relationship.slot, let other = core?.externalDestination(of: self, slot: slot) {
      return [other.ownID]
    }
    return core?.id(reference, store: storeIndex).map { [$0] } ?? []
  }
}
