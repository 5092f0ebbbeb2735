import StoreProtocol
import StoreQuery
import StoreSchema

/// A fetch plan in SQL: translated once, then run, counted or explained.
public struct SQLFetch {
  /// The part of the plan that SQL cannot express with the same meaning.
  public let residual: FetchResidual
  /// The part of the plan that the statement runs.
  let plan: FetchPlan
  /// The entity of table `t0`; nil if the entities are not stored. Then there are no rows.
  let entity: Int?
  /// The statement behind its columns, up to its order.
  private let source: SQLText
  private let order: [String]

  init(_ plan: FetchPlan, _ layout: SQLLayout) {
    guard let first = plan.entities.first, layout.schema.stores(first) else {
      (residual, self.plan, entity, source, order) = (.none, plan, nil, "", [])
      return
    }
    var translation = SQLPredicate(layout, entity: layout.schema.entities[first])
    let (condition, rest) = Self.condition(plan.predicate, &translation)
    var sorted = translation
    if rest == nil, let order = sorted.order(plan.sort) {
      (residual, self.plan, self.order) = (.none, plan, order + ["t0.Z_PK"])
      translation = sorted
    } else {
      residual = FetchResidual(of: plan, predicate: rest)
      (self.plan, order) = (FetchPlan(entities: plan.entities), ["t0.Z_PK"])
    }
    entity = first
    let (table, filter) = (layout.table(first).name, SQLBinding.filter(plan.entities, of: layout))
    source = " FROM \(table) t0\(translation.joins) WHERE \(filter) AND \(condition)"
  }

  /// The part of a predicate that one statement can express, and the conditions that are left over; nil for none.
  private static func condition(
    _ predicate: ResolvedPredicate, _ translation: inout SQLPredicate
  ) -> (SQLText, ResolvedPredicate?) {
    let start = translation
    if let whole = translation.condition(predicate) { return (whole, nil) }
    translation = start
    let parts = predicate.conjuncts
    var (texts, rest, size) = ([SQLText](), [ResolvedPredicate](), SQLTextSize())
    for part in parts {
      var (attempt, larger) = (translation, size)
      guard parts.count > 1, let text = attempt.condition(part), larger.join(text.size, texts.count + 1) else {
        rest.append(part)
        continue
      }
      (translation, size) = (attempt, larger)
      texts.append(text)
    }
    if texts.isEmpty { return ("1", .and(rest)) }
    let text: SQLText = "(\(SQLText(joining: texts, by: " AND ")))"
    if text.size.isTaken { return (text, .and(rest)) }
    translation = start
    return ("1", .and(parts))
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
