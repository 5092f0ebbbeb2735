import StoreProtocol
import StoreQuery
import StoreSchema
import StoreSupport

/// The triggers that keep derived attributes over relationships, in Core Data's words.
///
/// Derivations within one object need none: the store computes them when it writes the row.
struct DerivedAttributeTriggers {
  private let layout: SQLLayout
  private var schema: Schema { layout.schema }

  init(_ layout: SQLLayout) { self.layout = layout }

  var statements: [String] { StoreShape(schema).derivations.flatMap(triggers) }

  private func triggers(_ derivation: LinkedDerivation) -> [String] {
    if case .copy(let source, let reference) = derivation.rule { return copy(derivation, source, reference) }
    guard let links = links(derivation.relationship) else { return [] }
    if case .count = derivation.rule, case .column(let key) = links { return count(derivation, key) }
    return DerivedAggregateTriggers(layout, derivation, links).statements
  }

  /// The location of the links of a to-many relationship.
  enum Links {
    /// In a column of the destinations' rows.
    case column(String)
    case pairs(SQLLayout.JoinTable, ownerIsFirst: Bool)
  }

  private func links(_ relationship: Relationship) -> Links? {
    let key = SQLLayout.RelationshipKey(relationship)
    if let side = layout.joinOfRelationship[key] {
      return .pairs(layout.joins[side.join], ownerIsFirst: side.ownerIsFirst)
    }
    if let slot = relationship.linkedInverse?.slot {
      return .column(layout.column(schema.entities[relationship.destination], slot).name)
    }
    return layout.linkColumns[key].map { .column(layout.tables[$0.table].columns[$0.owner].name) }
  }

  private func copy(_ derivation: LinkedDerivation, _ source: LinkedDerivation.Source, _ slot: Int) -> [String] {
    let (entity, attribute) = (derivation.entity, derivation.attribute)
    let destination = schema.entities[derivation.relationship.destination]
    let (own, other) = (layout.table(entity.index).name, layout.table(destination.index).name)
    let (column, key) = (layout.column(entity, attribute.slot).name, layout.column(entity, slot).name)
    let value = layout.column(destination, source.attribute.slot).name
    func converted(_ value: String) -> String {
      DerivedSQL.converted(value, from: source.kind, to: derivation.kind)
    }
    let prefix = "Z_DA_"
    let suffix = "\(entity.name)_\(attribute.name)"
    let read =
      "UPDATE \(own) SET \(column) = (SELECT \(converted(value)) FROM \(other) WHERE Z_PK = NEW.\(key)) WHERE Z_PK = NEW.Z_PK;"
    let push = "UPDATE \(own) SET \(column) = \(converted("NEW." + value)) WHERE \(key) = NEW.Z_PK;"
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

  private func count(_ derivation: LinkedDerivation, _ key: String) -> [String] {
    let (entity, attribute) = (derivation.entity, derivation.attribute)
    let (own, other) = (layout.table(entity.index).name, layout.table(derivation.relationship.destination).name)
    let column = layout.column(entity, attribute.slot).name
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

  static let updated = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
  static let insertUpdated = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
}
