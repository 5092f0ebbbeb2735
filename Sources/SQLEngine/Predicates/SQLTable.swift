import StoreProtocol
import StoreQuery
import StoreSchema

/// A table without groups as one statement with exactly the same meaning: values of each object, or aggregates of all.
struct SQLTable {
  let text: SQLText
  let columns: [SQLResultColumn]

  /// Nil where SQL cannot express the plan with the same meaning.
  init?(_ plan: TablePlan, _ layout: SQLLayout) {
    guard plan.groups.isEmpty, !plan.isDistinct, plan.having == .constant(true), plan.defect == nil,
      let first = plan.fetch.entities.first, layout.schema.stores(first)
    else { return nil }
    var translation = SQLPredicate(layout, entity: layout.schema.entities[first])
    guard let condition = translation.condition(plan.fetch.predicate) else { return nil }
    var (results, columns) = ([SQLText](), [SQLResultColumn]())
    for column in plan.columns {
      guard let term = translation.term(column), term.type != .opaque, !term.isMaybeInteger, term.text.size.isTaken,
        let form = translation.form(column, term.type)
      else { return nil }
      results.append(term.text)
      if let number = translation.number(column) { results.append(number) }
      columns.append(form)
    }
    guard let sorts = translation.order(plan.fetch.sort), translation.checked("") != nil else { return nil }
    let order = plan.isGrouped ? "" : " ORDER BY " + (sorts + ["t0.Z_PK"]).joined(separator: ", ")
    let filter = SQLBinding.filter(plan.fetch.entities, of: layout)
    text =
      "SELECT \(SQLText(joining: results, by: ", ")) FROM \(layout.table(first).name) t0\(translation.joins) WHERE \(filter) AND \(condition)\(order)"
    self.columns = columns
  }
}

extension SQLPredicate {
  fileprivate mutating func term(_ column: TablePlan.Column) -> SQLTerm? {
    switch column {
    case .value(let expression): return term(expression)
    case .aggregate(.size, _, isDistinct: _): return SQLTerm("count(*)", .number)
    case .aggregate(.function, _, isDistinct: _): return nil
    // An object is never null.
    case .aggregate(.aggregate(.count), .path(SlotPath(leaf: .object)), isDistinct: false):
      return SQLTerm("count(*)", .number)
    case .aggregate(.aggregate(let aggregate), let expression, let isDistinct):
      guard let element = term(expression) else { return nil }
      return result(of: aggregate, element, isDistinct: isDistinct)
    }
  }

  /// How a result column is read; nil where it has no value.
  fileprivate func form(_ column: TablePlan.Column, _ type: SQLValueType) -> SQLResultColumn? {
    var path: SlotPath?
    switch column {
    case .value(.path(let own)), .aggregate(.aggregate(.minimum), .path(let own), isDistinct: _),
      .aggregate(.aggregate(.maximum), .path(let own), isDistinct: _):
      path = own
    default: break
    }
    switch path?.leaf {
    case .attribute(_, let kind, _)?: return .attribute(kind)
    case .toOne(let relationship)?:
      return .reference(hasNumber: relationship.entitySlot != nil, destination: relationship.destination)
    case .object?: return .reference(hasNumber: true, destination: 0)
    case .entity?, .column?: return nil
    case nil: break
    }
    if type == .null { return .null }
    return type.code.map { .value(code: Int64($0)) }
  }

  /// The entity number of a reference, where a column has it.
  fileprivate mutating func number(_ column: TablePlan.Column) -> SQLText? {
    guard case .value(.path(let path)) = column, let alias = alias(path.hops, in: 0) else { return nil }
    switch path.leaf {
    case .object: return "\(alias).Z_ENT"
    case .toOne(let relationship):
      guard let slot = relationship.entitySlot else { return nil }
      return "\(alias).\(layout.column(layout.schema.entities[relationship.declaringEntity], slot).name)"
    default: return nil
    }
  }
}

/// The way to read a result column.
public enum SQLResultColumn: Sendable {
  /// The value of an attribute of that kind.
  case attribute(SlotKind)
  /// A key. The entity's number is in the next result column, or it is that of the relationship's destination.
  case reference(hasNumber: Bool, destination: Int)
  /// A value of the type with that code (`SQLValueType`).
  case value(code: Int64)
  /// Always null, whatever the column holds.
  case null

  /// The value of an attribute's column that has no faster way; null for a value that the attribute cannot have.
  public static func value(_ stored: SQLStoredValue, _ kind: SlotKind) -> Value {
    if case .sound(let value) = stored.inspected(as: kind) { return value }
    return .null
  }

  /// A value of the type with that code (`SQLValueType`).
  public static func value(_ stored: SQLStoredValue, code: Int64) -> Value { SQLValueType.value(stored, code: code) }
}
