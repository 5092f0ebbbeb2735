import StoreProtocol
import StoreQuery
import StoreSchema

/// The triggers that keep one derived attribute such as `books.pages.@sum`. What Core Data calls these triggers is not known.
struct DerivedAggregateTriggers {
  private let derivation: LinkedDerivation
  private let links: DerivedAttributeTriggers.Links
  private let aggregate: Aggregate
  private let source: LinkedDerivation.Source
  /// The owner's table, the destinations' table, and the columns of the result and of the source in them.
  private let (own, other): (String, String)
  private let (column, value): (String, String)

  init(
    _ layout: SQLLayout, _ derivation: LinkedDerivation, _ links: DerivedAttributeTriggers.Links,
    _ aggregate: Aggregate,
    _ source: LinkedDerivation.Source
  ) {
    (self.derivation, self.links, self.aggregate, self.source) = (derivation, links, aggregate, source)
    let destination = layout.schema.entities[derivation.relationship.destination]
    (own, other) = (layout.table(derivation.entity.index).name, layout.table(destination.index).name)
    column = layout.column(derivation.entity, derivation.attribute.slot).name
    value = layout.column(destination, source.attribute.slot).name
  }

  var statements: [String] {
    switch links {
    case .column(let key): [sourceInsert] + columnTriggers(key)
    case .pairs(let join, let ownerIsFirst): [sourceInsert] + pairTriggers(join, ownerIsFirst)
    }
  }

  private var sourceInsert: String {
    trigger(
      on: own, "SOURCE_INSERT", "INSERT", update(result, "Z_PK = NEW.Z_PK", DerivedAttributeTriggers.insertUpdated))
  }

  private func columnTriggers(_ key: String) -> [String] {
    let increment = DerivedSQL.increment(
      aggregate, column, "NEW.\(value)", source.kind, as: derivation.kind)
    return [
      trigger(
        on: other, "PARAMETER_INSERT", "INSERT",
        update(increment.map { "IFNULL(\($0), \(result))" } ?? result, "Z_PK = NEW.\(key)")),
      trigger(
        on: other, "PARAMETER_UPDATE", "UPDATE OF \(key), \(value)", update(result, "Z_PK IN (OLD.\(key), NEW.\(key))")),
      trigger(on: other, "PARAMETER_DELETE", "DELETE", update(result, "Z_PK = OLD.\(key)")),
    ]
  }

  private func pairTriggers(_ join: SQLLayout.JoinTable, _ ownerIsFirst: Bool) -> [String] {
    let columns = join.isReflexive ? [join.first, join.second] : [ownerIsFirst ? join.first : join.second]
    func owners(_ row: String) -> String {
      "Z_PK IN (\(columns.map { "\(row).\($0)" }.joined(separator: ", ")))"
    }
    let (first, second) = ownerIsFirst ? (join.first, join.second) : (join.second, join.first)
    var linked = "SELECT \(first) FROM \(join.name) WHERE \(second) = NEW.Z_PK"
    if join.isReflexive { linked += " UNION SELECT \(second) FROM \(join.name) WHERE \(first) = NEW.Z_PK" }
    return [
      trigger(on: join.name, "PARAMETER_INSERT", "INSERT", update(result, owners("NEW"))),
      trigger(on: join.name, "PARAMETER_DELETE", "DELETE", update(result, owners("OLD"))),
      trigger(on: other, "PARAMETER_UPDATE", "UPDATE OF \(value)", update(result, "Z_PK IN (\(linked))")),
    ]
  }

  /// The result for a row of the owner's table, from all destinations. They have a name of their own: they may be in the same table.
  private var result: String {
    let rows: String
    switch links {
    case .column(let key): rows = "\(other) AS D WHERE D.\(key) = \(own).Z_PK"
    case .pairs(let join, let ownerIsFirst):
      let (first, second) = ownerIsFirst ? (join.first, join.second) : (join.second, join.first)
      rows =
        join.isReflexive
        ? "\(join.name) AS L JOIN \(other) AS D ON D.Z_PK = CASE L.\(first) WHEN \(own).Z_PK THEN L.\(second) ELSE L.\(first) END WHERE (L.\(first) = \(own).Z_PK OR L.\(second) = \(own).Z_PK)"
        : "\(join.name) AS L JOIN \(other) AS D ON D.Z_PK = L.\(second) WHERE L.\(first) = \(own).Z_PK"
    }
    return DerivedSQL.aggregate(aggregate, of: "D.\(value)", source.kind, as: derivation.kind, from: rows)
  }

  private func update(
    _ result: String, _ filter: String, _ function: String = DerivedAttributeTriggers.updated
  ) -> String {
    "UPDATE \(own) SET \(column) = \(result) WHERE \(filter); SELECT \(function)('\(own)', Z_ENT, Z_PK, '\(derivation.attribute.name)', \(column)) FROM \(own) WHERE \(filter);"
  }

  private func trigger(on table: String, _ kind: String, _ event: String, _ body: String) -> String {
    "CREATE TRIGGER Z_DA_\(table)_\(derivation.entity.name)_\(derivation.attribute.name)_\(kind) AFTER \(event) ON \(table) FOR EACH ROW BEGIN \(body) END"
  }
}
