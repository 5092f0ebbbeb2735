import StoreQuery
import StoreSchema

/// Translates resolved predicates and sorts to SQL that means exactly the same.
///
/// Predicates have two truth values and SQL has three. So a predicate is first brought into negation normal form: only
/// leaves are negated. Each leaf has its own text for true and for false, which is never NULL where that matters.
///
/// Values are bound, and not written into a statement. Only the condition of an index cannot have parameters.
struct SQLPredicate {
  /// The rows of a variable. The first scope is that of the table that is fetched from.
  struct Scope {
    let entity: Entity
    let alias: String
    /// The alias of each joined chain of to-one relationships.
    var aliases: [[Relationship]: String] = [:]
    /// ` LEFT JOIN …` for each alias.
    var joins = ""
  }

  /// The name of the SQL dialect, for ``Function/sql(_:)``.
  static let dialect = "sqlite"

  let layout: SQLLayout
  /// Whether the text is the condition of an index. Then values are written out, only the table's own columns are used,
  /// and no function that another program's connection may lack.
  let isForIndex: Bool
  var scopes: [Scope]
  var aliasCount = 0
  private var leaves = 0
  private var parameters = 0

  /// SQLite's limits for one statement: 32 766 parameters, 64 tables, and those of ``SQLTextSize``. Each leaf is
  /// written out, so the number of leaves limits the work too. Sorting joins tables of its own.
  static let (maximumLeaves, maximumParameters, maximumAliases, maximumAliasesSorted) = (900, 30_000, 40, 60)

  /// `entity` is the entity of table `t0`.
  init(_ layout: SQLLayout, entity: Entity) { self.init(layout, entity, isForIndex: false) }

  private init(_ layout: SQLLayout, _ entity: Entity, isForIndex: Bool) {
    self.layout = layout
    self.isForIndex = isForIndex
    scopes = [Scope(entity: entity, alias: "t0")]
  }

  /// ` LEFT JOIN …` for the table that is fetched from.
  var joins: String { scopes[0].joins }

  /// The condition of a partial index on the table of `entity`, nil where SQL has none with the same meaning.
  static func indexCondition(_ format: String, _ layout: SQLLayout, entity: Entity) -> String? {
    guard let predicate = try? Predicate(format: format),
      let resolved = try? PredicateResolver(layout.schema, entity).resolve(predicate)
    else { return nil }
    var translation = SQLPredicate(layout, entity, isForIndex: true)
    return translation.condition(resolved)?.literal
  }

  /// The condition, nil where SQL cannot express it with the same meaning.
  mutating func condition(_ predicate: ResolvedPredicate, negated: Bool = false) -> SQLText? {
    switch predicate {
    case .constant(let value): return value != negated ? "1" : "0"
    case .not(let inner): return condition(inner, negated: !negated)
    case .and(let parts): return combine(parts, negated ? " OR " : " AND ", empty: !negated, negated)
    case .or(let parts): return combine(parts, negated ? " AND " : " OR ", empty: negated, negated)
    case .dynamic: return nil
    case .between(let value, let low, let high, let options):
      return condition(
        .and([
          .comparison(value, .greaterThanOrEqualTo, low, options),
          .comparison(value, .lessThanOrEqualTo, high, options),
        ]), negated: negated)
    case .comparison(let left, let op, let right, let options):
      guard let left = term(left), let right = term(right) else { return nil }
      return checked(comparison(left, op, right, options, negated))
    case .member(let value, of: let collection, let options):
      return checked(member(value, collection, options, negated))
    case .exists(let collection, variable: let variable, let inner):
      return checked(exists(collection, variable, inner, negated))
    }
  }

  /// The sort terms, nil where SQL cannot express one of them.
  mutating func order(_ sorts: [ResolvedSort]) -> [String]? {
    var terms: [String] = []
    for sort in sorts {
      guard let term = term(.path(sort.path)), term.type != .decimal, term.type != .entity, term.type != .opaque,
        !term.type.isReference
      else { return nil }
      let collated = term.type.isText ? SQLCollation(order: sort.comparison).suffix : ""
      terms.append(term.text.statement.text + collated + (sort.isAscending ? "" : " DESC"))
    }
    if aliasCount > Self.maximumAliasesSorted { return nil }
    return terms
  }

  mutating func checked(_ text: SQLText?) -> SQLText? {
    guard let text else { return nil }
    leaves += 1
    parameters += text.parameters.count
    let isTooLarge =
      leaves > Self.maximumLeaves || parameters > Self.maximumParameters || aliasCount > Self.maximumAliases
    return isTooLarge || !text.size.isTaken ? nil : text
  }

  private mutating func combine(
    _ parts: [ResolvedPredicate], _ joiner: String, empty: Bool, _ negated: Bool
  ) -> SQLText? {
    if parts.isEmpty { return empty ? "1" : "0" }
    var texts: [SQLText] = []
    for part in parts {
      guard let text = condition(part, negated: negated) else { return nil }
      texts.append(text)
    }
    let text: SQLText = "(\(SQLText(joining: texts, by: joiner)))"
    return text.size.isTaken ? text : nil
  }
}
