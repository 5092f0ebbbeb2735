import StoreProtocol
import StoreQuery
import StoreSchema

/// A fetch plan in SQL: translated once, then run, counted or explained.
public struct SQLFetch {
  /// What SQL cannot express with the same meaning.
  public let residual: FetchResidual
  /// What the statement runs of the plan.
  let plan: FetchPlan
  /// The entity of table `t0`; nil where the entities are not stored, so that there are no rows.
  let entity: Int?
  /// The statement behind its columns, up to its order.
  private let source: SQLText
  private let order: [String]

  init(_ plan: FetchPlan, _ layout: SQLLayout) {
    guard let first = plan.entities.first, layout.schema.stores(first) else {
      (residual, self.plan, entity, source, order) = (.none, plan, nil, "", [])
      return
    }
    let start = SQLPredicate(layout, entity: layout.schema.entities[first])
    var (translation, condition, rest) = (start, SQLText?.none, ResolvedPredicate?.none)
    condition = translation.condition(plan.predicate)
    if condition == nil {
      (translation, condition, rest) = Self.conjunction(plan.predicate.conjuncts, start)
    }
    var sorted = translation
    let filter = SQLBinding.filter(plan.entities, of: layout)
    let table = layout.table(first).name
    if rest == nil, let order = sorted.order(plan.sort) {
      (residual, self.plan, self.order) = (.none, plan, order + ["t0.Z_PK"])
      translation = sorted
    } else {
      residual = FetchResidual(of: plan, predicate: rest)
      (self.plan, order) = (FetchPlan(entities: plan.entities), ["t0.Z_PK"])
    }
    entity = first
    source = " FROM \(table) t0\(translation.joins) WHERE \(filter) AND \(condition ?? "1")"
  }

  /// The conditions that one statement takes together, and the others.
  private static func conjunction(
    _ parts: [ResolvedPredicate], _ start: SQLPredicate
  ) -> (SQLPredicate, SQLText?, ResolvedPredicate?) {
    var (translation, texts, rest) = (start, [SQLText](), [ResolvedPredicate]())
    var size = SQLTextSize()
    for part in parts {
      var (attempt, larger) = (translation, size)
      guard let text = attempt.condition(part), larger.join(text.size, texts.count + 1) else {
        rest.append(part)
        continue
      }
      (translation, size) = (attempt, larger)
      texts.append(text)
    }
    if texts.isEmpty { return (start, nil, .and(rest)) }
    let text: SQLText = "(\(SQLText(joining: texts, by: " AND ")))"
    return text.size.isTaken ? (translation, text, .and(rest)) : (start, nil, .and(parts))
  }

  /// The statement that gives columns of the rows.
  func text(columns: String) -> SQLText {
    var text: SQLText = "SELECT \(columns)\(source) ORDER BY \(order.joined(separator: ", "))"
    text.append(Self.window(plan))
    return text
  }

  /// The statement that counts the rows, without offset and limit.
  var counted: SQLText { "SELECT count(*)\(source)" }

  /// The limits of the rows that a plan selects; empty for all rows.
  static func window(_ plan: FetchPlan) -> SQLText {
    if plan.limit == nil && plan.offset == 0 { return "" }
    return " LIMIT \(value: .int(Int64(plan.limit ?? -1))) OFFSET \(value: .int(Int64(plan.offset)))"
  }
}
