import StoreProtocol
import StoreQuery
import StoreSchema
import StoreSupport

/// The triggers that keep one derived attribute such as `books.pages.@sum`, or a count of pairs. Core Data's names for
/// these triggers are unknown.
struct DerivedAggregateTriggers {
  private let derivation: LinkedDerivation
  private let links: DerivedAttributeTriggers.Links
  /// The owner's table, the destinations' table, and the column of the result.
  private let (own, other): (String, String)
  private let column: String
  /// The aggregate with the column and the kind of its source; nil where links are counted.
  private let aggregated: (aggregate: Aggregate, value: String, kind: SlotKind)?

  init(_ layout: SQLLayout, _ derivation: LinkedDerivation, _ links: DerivedAttributeTriggers.Links) {
    (self.derivation, self.links) = (derivation, links)
    let destination = layout.schema.entities[derivation.relationship.destination]
    (own, other) = (layout.table(derivation.entity.index).name, layout.table(destination.index).name)
    column = layout.column(derivation.entity, derivation.attribute.slot).name
    if case .aggregate(let aggregate, let source, _) = derivation.rule {
      aggregated = (aggregate, layout.column(destination, source.attribute.slot).name, source.kind)
    } else {
      aggregated = nil
    }
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
    guard let (aggregate, value, kind) = aggregated else { return [] }
    let result = result
    let increment = DerivedSQL.increment(aggregate, column, "NEW.\(value)", kind, as: derivation.kind)
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
    let (first, second) = sides(join, ownerIsFirst)
    let columns = join.isReflexive ? [join.first, join.second] : [first]
    func owners(_ row: String) -> String {
      "Z_PK IN (\(columns.map { "\(row).\($0)" }.joined(separator: ", ")))"
    }
    let membership = [
      trigger(on: join.name, "PARAMETER_INSERT", "INSERT", update(result, owners("NEW"))),
      trigger(on: join.name, "PARAMETER_DELETE", "DELETE", update(result, owners("OLD"))),
    ]
    guard let value = aggregated?.value else { return membership }
    var linked = "SELECT \(first) FROM \(join.name) WHERE \(second) = NEW.Z_PK"
    if join.isReflexive { linked += " UNION SELECT \(second) FROM \(join.name) WHERE \(first) = NEW.Z_PK" }
    return membership + [
      trigger(on: other, "PARAMETER_UPDATE", "UPDATE OF \(value)", update(result, "Z_PK IN (\(linked))"))
    ]
  }

  /// The columns of the owner and of the destination.
  private func sides(_ join: SQLLayout.JoinTable, _ ownerIsFirst: Bool) -> (String, String) {
    ownerIsFirst ? (join.first, join.second) : (join.second, join.first)
  }

  /// The result for a row of the owner's table, from all destinations. The destinations have an alias, because they may
  /// be in the same table.
  private var result: String {
    let rows: String
    switch links {
    case .column(let key): rows = "\(other) AS D WHERE D.\(key) = \(own).Z_PK"
    case .pairs(let join, let ownerIsFirst):
      let (first, second) = sides(join, ownerIsFirst)
      if aggregated == nil {
        let isOwners = join.isReflexive ? " OR \(second) = \(own).Z_PK" : ""
        return "(SELECT COUNT(*) FROM \(join.name) WHERE \(first) = \(own).Z_PK\(isOwners))"
      }
      rows =
        join.isReflexive
        ? "\(join.name) AS L JOIN \(other) AS D ON D.Z_PK = CASE L.\(first) WHEN \(own).Z_PK THEN L.\(second) ELSE L.\(first) END WHERE (L.\(first) = \(own).Z_PK OR L.\(second) = \(own).Z_PK)"
        : "\(join.name) AS L JOIN \(other) AS D ON D.Z_PK = L.\(second) WHERE L.\(first) = \(own).Z_PK"
    }
    guard let (aggregate, value, kind) = aggregated else { return "NULL" }
    return DerivedSQL.aggregate(aggregate, of: "D.\(value)", kind, as: derivation.kind, from: rows)
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
