import Foundation
import StoreProtocol
import StoreSchema

/// A change set as a case writes it.
public struct Changes {
  /// The change set so far.
  public var set = ChangeSet(time: 0)
  private let session: Session
  private var schema: Schema { session.schema }

  init(_ session: Session) { self.session = session }

  /// A new object. The result refers to it within this change set.
  @discardableResult
  public mutating func insert(_ name: String, _ values: [String: Cell] = [:]) throws -> ObjectReference {
    let entity = try session.entity(name)
    let builder = RowBuilder()
    builder.begin(slots: entity.slots.count)
    try set(values, of: entity, builder)
    set.insertions.append(builder.finishDraft(key: 0, entity: entity.index, version: 1))
    return ObjectReference(entity: entity.index, key: -Int64(set.insertions.count))
  }

  /// Several new objects with the same values.
  public mutating func insert(
    _ count: Int, _ name: String, _ values: [String: Cell] = [:]
  ) throws -> [ObjectReference] {
    var objects: [ObjectReference] = []
    for _ in 0..<count { objects.append(try insert(name, values)) }
    return objects
  }

  /// New values of an object, based on its present state in the store or on a state read before.
  public mutating func update(_ object: ObjectReference, _ values: [String: Cell], from read: Row? = nil) throws {
    let row = try read ?? session.current(object)
    let entity = schema.entities[row.entity]
    let builder = RowBuilder()
    builder.begin(slots: entity.slots.count)
    for (slot, kind) in entity.slots.enumerated() { builder.copy(slot, kind, from: row) }
    let changed = try set(values, of: entity, builder)
    set.updates.append(
      .init(row: builder.finishDraft(key: row.key, entity: row.entity, version: row.version + 1), changed: changed))
  }

  /// Deletes an object in its present version, or in a version read before.
  public mutating func delete(_ object: ObjectReference, version: Int64? = nil) throws {
    let versionRead = try version ?? session.current(object).version
    set.deletions.append(.init(object, versionRead: versionRead))
  }

  /// Deletes an object in the version that was read.
  mutating func delete(_ object: ObjectReference, at version: Int64) {
    set.deletions.append(.init(object, versionRead: version))
  }

  /// The present row of an object in the store.
  func current(_ object: ObjectReference) throws -> Row { try session.current(object) }

  /// Requires that an object still has the version.
  public mutating func check(_ object: ObjectReference, version: Int64) {
    set.checks.append(.init(object, versionRead: version))
  }

  /// Links of a to-many relationship of one owner.
  public mutating func link(
    _ owner: ObjectReference, _ name: String, add: [ObjectReference] = [], remove: [ObjectReference] = [],
    order: [ObjectReference]? = nil
  ) throws {
    let relationship = try session.relationship(name, of: owner)
    set.links.append(
      .init(
        entity: owner.entity, relationship: relationship.index, owner: owner.key, added: add, removed: remove,
        order: order))
  }

  @discardableResult
  private func set(_ values: [String: Cell], of entity: Entity, _ builder: RowBuilder) throws -> SlotSet {
    var changed = SlotSet()
    for (name, cell) in values {
      if let relationship = entity.relationship(named: name), let slot = relationship.slot {
        changed.insert(slot)
        builder.set(slot, cell.value)
        guard let entitySlot = relationship.entitySlot else { continue }
        changed.insert(entitySlot)
        if case .reference(let target) = cell.value {
          builder.setInt(entitySlot, Int64(target.entity))
        } else {
          builder.setNull(entitySlot)
        }
      } else if let attribute = session.attribute(name, of: entity) {
        changed.insert(attribute.slot)
        builder.set(attribute.slot, try stored(cell.value, entity.slots[attribute.slot]))
      } else {
        throw HarnessProblem("\(entity.name) has no \(name) that a row holds")
      }
    }
    return changed
  }

  /// Converts integers to doubles and booleans where the slot needs them. Large data may be written to a file.
  private func stored(_ value: Value, _ kind: SlotKind) throws -> Value {
    switch (kind, value) {
    case (.double, .int(let number)), (.float, .int(let number)): return .double(Double(number))
    case (.externalData, .data(let data)):
      return .data(try session.store.externalDataStore?.keepExternalData(data) ?? Data([1]) + data)
    default: return value
    }
  }

  // MARK: Relationships in the model

  func relationship(_ name: String, of owner: ObjectReference) throws -> Relationship {
    try session.relationship(name, of: owner)
  }

  func isToOne(_ owner: ObjectReference, _ name: String) throws -> Bool {
    try !session.relationship(name, of: owner).isToMany
  }

  func isOrdered(_ owner: ObjectReference, _ name: String) throws -> Bool {
    try session.relationship(name, of: owner).isOrdered
  }

  /// Whether pairs are written from this side.
  func isPrimary(_ owner: ObjectReference, _ name: String) throws -> Bool {
    try session.relationship(name, of: owner).storage == .pairs(isPrimary: true)
  }
}
