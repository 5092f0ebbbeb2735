import StoreSchema

/// The triggers that keep derived attributes over relationships, in Core Data's words.
///
/// Derivations within one object need none: the store computes them when it writes the row.
struct DerivedAttributeTriggers {
  private let layout: SQLLayout
  private var schema: Schema { layout.schema }

  init(_ layout: SQLLayout) { self.layout = layout }

  var statements: [String] {
    schema.entities.flatMap { entity in
      entity.attributes.filter { $0.declaringEntity == entity.index }.flatMap { triggers($0, of: entity) }
    }
  }

  private func triggers(_ attribute: Attribute, of entity: Entity) -> [String] {
    switch attribute.derivation {
    case .keyPath(let path) where path.count == 2:
      guard let relationship = entity.relationship(named: path[0]), !relationship.isToMany else { return [] }
      return value(attribute, of: entity, over: relationship, path[1])
    case .count(let name):
      guard let relationship = entity.relationship(named: name) else { return [] }
      if let side = layout.joinOfRelationship[SQLLayout.RelationshipKey(relationship)] {
        return count(attribute, of: entity, over: layout.joins[side.join], ownerIsFirst: side.ownerIsFirst)
      }
      guard let slot = schema.inverse(of: relationship)?.slot else { return [] }
      return count(attribute, of: entity, over: schema.entities[relationship.destination], inverseSlot: slot)
    default: return []
    }
  }

  private func value(
    _ attribute: Attribute, of entity: Entity, over relationship: Relationship, _ name: String
  ) -> [String] {
    let destination = schema.entities[relationship.destination]
    guard let source = destination.attribute(named: name), let slot = relationship.slot else { return [] }
    let (own, other) = (layout.table(entity.index).name, layout.table(destination.index).name)
    let (column, key) = (layout.column(entity, attribute.slot).name, layout.column(entity, slot).name)
    let value = layout.column(destination, source.slot).name
    let prefix = "Z_DA_"
    let suffix = "\(entity.name)_\(attribute.name)"
    let read =
      "UPDATE \(own) SET \(column) = (SELECT \(value) FROM \(other) WHERE Z_PK = NEW.\(key)) WHERE Z_PK = NEW.Z_PK;"
    let push = "UPDATE \(own) SET \(column) = NEW.\(value) WHERE \(key) = NEW.Z_PK;"
    func note(_ function: String, _ filter: String) -> String {
      "SELECT \(function)('\(own)', Z_ENT, Z_PK, '\(attribute.name)', \(column)) FROM \(own) WHERE \(filter);"
    }
    let (inserted, updated) = (Self.insertUpdated, Self.updated)
    return [
      "CREATE TRIGGER \(prefix)\(own)_\(suffix)_SOURCE_INSERT AFTER INSERT ON \(own) FOR EACH ROW BEGIN \(read) \(note(inserted, "Z_PK = NEW.Z_PK")) END",
      "CREATE TRIGGER \(prefix)\(own)_\(suffix)_SOURCE_UPDATE AFTER UPDATE OF \(key) ON \(own) FOR EACH ROW BEGIN \(read) \(note(updated, "Z_PK = NEW.Z_PK")) END",
      "CREATE TRIGGER \(prefix)\(other)_\(suffix)_PARAMETER_INSERT AFTER INSERT ON \(other) FOR EACH ROW BEGIN \(push) \(note(inserted, "\(key) = NEW.Z_PK")) END",
      "CREATE TRIGGER \(prefix)\(other)_\(suffix)_PARAMETER_UPDATE AFTER UPDATE OF \(value) ON \(other) FOR EACH ROW BEGIN \(push) \(note(updated, "\(key) = NEW.Z_PK")) END",
    ]
  }

  private func count(
    _ attribute: Attribute, of entity: Entity, over destination: Entity, inverseSlot: Int
  ) -> [String] {
    let (own, other) = (layout.table(entity.index).name, layout.table(destination.index).name)
    let column = layout.column(entity, attribute.slot).name
    let key = layout.column(destination, inverseSlot).name
    let suffix = "\(entity.name)_\(attribute.name)"
    func note(_ function: String, _ row: String) -> String {
      "SELECT \(function)('\(own)', Z_ENT, Z_PK, '\(attribute.name)', \(column)) FROM \(own) WHERE Z_PK = \(row);"
    }
    func parameter(_ kind: String, _ event: String, _ row: String, _ value: String) -> String {
      "CREATE TRIGGER Z_DA_\(other)_\(suffix)_PARAMETER_\(kind) AFTER \(event) ON \(other) FOR EACH ROW WHEN (\(row).\(key) NOT NULL) BEGIN UPDATE \(own) SET \(column) = \(value) WHERE Z_PK = \(row).\(key); \(note(Self.updated, "\(row).\(key)")) END"
    }
    return [
      parameter("INSERT", "INSERT", "NEW", "IFNULL(\(column), 0) + 1"),
      parameter("UPDATE_INCREMENT", "UPDATE OF \(key)", "NEW", "\(column) + 1"),
      parameter("UPDATE_DECREMENT", "UPDATE OF \(key)", "OLD", "\(column) - 1"),
      parameter("DELETE", "DELETE", "OLD", "\(column) - 1"),
      "CREATE TRIGGER Z_DA_\(own)_\(suffix)_SOURCE_INSERT AFTER INSERT ON \(own) FOR EACH ROW BEGIN UPDATE \(own) SET \(column) = (SELECT IFNULL(COUNT(\(key)), 0) FROM \(other) WHERE \(key) = NEW.Z_PK) WHERE Z_PK = NEW.Z_PK; \(note(Self.insertUpdated, "NEW.Z_PK")) END",
    ]
  }

  /// Over pairs. What Core Data calls these triggers is not known.
  private func count(
    _ attribute: Attribute, of entity: Entity, over join: SQLLayout.JoinTable, ownerIsFirst: Bool
  ) -> [String] {
    let own = layout.table(entity.index).name
    let column = layout.column(entity, attribute.slot).name
    let suffix = "\(entity.name)_\(attribute.name)"
    let owners = join.isReflexive ? [join.first, join.second] : [ownerIsFirst ? join.first : join.second]
    let isOwners = owners.map { "\($0) = \(own).Z_PK" }.joined(separator: " OR ")
    let value = "(SELECT COUNT(*) FROM \(join.name) WHERE \(isOwners))"
    func update(_ filter: String, _ function: String) -> String {
      "UPDATE \(own) SET \(column) = \(value) WHERE \(filter); SELECT \(function)('\(own)', Z_ENT, Z_PK, '\(attribute.name)', \(column)) FROM \(own) WHERE \(filter);"
    }
    func parameter(_ event: String, _ row: String) -> String {
      let keys = owners.map { "\(row).\($0)" }.joined(separator: ", ")
      return
        "CREATE TRIGGER Z_DA_\(join.name)_\(suffix)_PARAMETER_\(event) AFTER \(event) ON \(join.name) FOR EACH ROW BEGIN \(update("Z_PK IN (\(keys))", Self.updated)) END"
    }
    return [
      parameter("INSERT", "NEW"), parameter("DELETE", "OLD"),
      "CREATE TRIGGER Z_DA_\(own)_\(suffix)_SOURCE_INSERT AFTER INSERT ON \(own) FOR EACH ROW BEGIN \(update("Z_PK = NEW.Z_PK", Self.insertUpdated)) END",
    ]
  }

  private static let updated = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
  private static let insertUpdated = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
}
