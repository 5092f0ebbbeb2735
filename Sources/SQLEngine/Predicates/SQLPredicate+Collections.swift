import StoreQuery
import StoreSchema

/// Collections: rows of other tables, selected by the current row.
extension SQLPredicate {
  /// The source of a subselect. Its rows are the last scope while it is open.
  struct Selection {
    var from: String
    var conditions: [SQLText]
    /// The order of the elements, empty where it is unknown.
    var order: [String]
  }

  // MARK: Conditions

  mutating func exists(
    _ collection: ResolvedCollection, _ variable: Int, _ inner: ResolvedPredicate, _ negated: Bool
  ) -> SQLText? {
    guard var selection = open(collection, asSet: true) else { return nil }
    guard scopes.count == variable + 1, let condition = condition(inner) else {
      scopes.removeLast()
      return nil
    }
    selection.conditions.append(condition)
    return existence(close(selection, "1"), negated)
  }

  mutating func member(
    _ value: ResolvedExpression, _ collection: ResolvedCollection, _ options: Predicate.Options, _ negated: Bool
  ) -> SQLText? {
    switch collection {
    case .constants(let values): return among(value, values, options, negated)
    case .distinct(let base): return member(value, base, options, negated)
    case .set(let operation, let left, let right):
      // Sets use equality without options.
      if operation != .union && !options.isEmpty { return nil }
      let a = ResolvedPredicate.member(value, of: left, options)
      let b = ResolvedPredicate.member(value, of: right, options)
      switch operation {
      case .union: return condition(.or([a, b]), negated: negated)
      case .intersect: return condition(.and([a, b]), negated: negated)
      case .minus: return condition(.and([a, .not(b)]), negated: negated)
      }
    case .list(let elements):
      return condition(.or(elements.map { .comparison(value, .equalTo, $0, options) }), negated: negated)
    case .elements: return nil
    case .members, .following, .filtered, .values:
      guard let term = term(value), let (opened, element) = elements(collection, asSet: true) else { return nil }
      var selection = opened
      guard let isEqual = comparison(element, .equalTo, term, options, false) else {
        scopes.removeLast()
        return nil
      }
      selection.conditions.append(isEqual)
      return existence(close(selection, "1"), negated)
    }
  }

  private func existence(_ select: SQLText, _ negated: Bool) -> SQLText {
    negated ? "NOT EXISTS \(select)" : "EXISTS \(select)"
  }

  private mutating func among(
    _ value: ResolvedExpression, _ constants: [Value], _ options: Predicate.Options, _ negated: Bool
  ) -> SQLText? {
    guard let term = term(value) else { return nil }
    if term.type.hasDecimals || term.type.isText && options.isFolding
      || constants.contains(where: { if case .decimal = $0 { true } else { false } })
    {
      if constants.count > 100 { return nil }
      return condition(
        .or(constants.map { .comparison(value, .equalTo, .constant($0), options) }), negated: negated)
    }
    if term.type == .opaque { return nil }
    var fitting: [Value] = []
    for constant in constants where !constant.isNull {
      guard let constant = comparable(constant, with: term) else { continue }
      fitting.append(constant)
    }
    // Several entities may have the same key.
    if term.type.isReference && fitting.count > 1 {
      var seen: Set<Value> = []
      fitting = fitting.filter { seen.insert($0).inserted }
    }
    let hasNull = constants.contains(where: \.isNull)
    // An empty IN list is false in SQLite, for NULL too.
    if fitting.isEmpty { return hasNull ? isNull(term, !negated) : negated ? "1" : "0" }
    let isIn: SQLText = "\(term.text) IN \(list(fitting))"
    if !negated && !hasNull { return isIn }
    // NULL is neither in nor not in a list that has elements.
    if !term.isPlain { return "(\(isIn)) \(!negated ? "IS NOT FALSE" : hasNull ? "IS FALSE" : "IS NOT TRUE")" }
    if !negated { return "(\(isIn) OR \(term.text) IS NULL)" }
    return hasNull ? "(\(term.text) IS NOT NULL AND NOT \(isIn))" : "(\(term.text) IS NULL OR NOT \(isIn))"
  }

  /// Longer lists become a table instead of parameters.
  private static let longestList = 512

  /// The values in parentheses. Lists of similar length share one statement: the last value is repeated up to a power
  /// of two.
  private func list(_ values: [Value]) -> SQLText {
    guard values.count <= Self.longestList || isForIndex else { return "\(list: values)" }
    let marks = isForIndex ? values : values.filled
    return "(\(SQLText(joining: marks.map { "\(value: $0)" }, by: ", ")))"
  }

  /// The form of a constant in the column of a term; nil where it equals none of the column's values.
  private func comparable(_ constant: Value, with term: SQLTerm) -> Value? {
    switch constant {
    case .reference(let reference):
      return term.type == .reference(root: layout.schema.entities[reference.entity].root) ? .int(reference.key) : nil
    case .int(let entity) where term.type == .entity:
      let index = Int(clamping: entity)
      let isStored = layout.entityNumbers.indices.contains(index) && layout.schema.stores(index)
      return isStored ? .int(layout.entityNumbers[index]) : nil
    default:
      guard let type = SQLTerm(constant)?.type, type.isComparable(with: term.type) else { return nil }
      return constant
    }
  }

  // MARK: Values

  mutating func aggregate(_ aggregate: ResolvedAggregate, _ collection: ResolvedCollection) -> SQLTerm? {
    if case .size = aggregate {
      guard !isDistinct(collection), let selection = open(collection.elements) else { return nil }
      return SQLTerm(close(selection, "count(*)"), .number)
    }
    guard let (selection, element) = elements(collection.all) else { return nil }
    let isDistinct = isDistinct(collection)
    let column =
      switch aggregate {
      case .size: SQLTerm?.none
      case .aggregate(let aggregate): result(of: aggregate, element, isDistinct: isDistinct)
      case .function(let function): isDistinct ? nil : result(of: function, element)
      }
    guard let column else {
      scopes.removeLast()
      return nil
    }
    var term = SQLTerm(close(selection, column.text), column.type)
    term.isMaybeInteger = column.isMaybeInteger
    return term
  }

  /// The result column of an aggregate; nil where SQL has no exact one.
  func result(of aggregate: Aggregate, _ element: SQLTerm, isDistinct: Bool) -> SQLTerm? {
    let type = element.type
    switch aggregate {
    case .count:
      if isDistinct && (type.hasDecimals || type == .opaque) { return nil }
      return SQLTerm("count(\(isDistinct ? "DISTINCT " : "")\(element.text))", .number)
    case .minimum, .maximum:
      if type.hasDecimals {
        return call(.aggregate(aggregate), [], [element]).map { SQLTerm($0, .decimalOrDouble) }
      }
      if type.isReference || type == .entity || type == .opaque { return nil }
      return SQLTerm("\(aggregate == .minimum ? "min" : "max")(\(element.text))", type)
    case .sum, .average:
      guard type.isNumeric, !isDistinct, let text = call(.aggregate(aggregate), [], [element]) else {
        return nil
      }
      var term = SQLTerm(text, type.hasDecimals ? .decimalOrDouble : aggregate == .sum ? .number : .real)
      term.isMaybeInteger = type.hasDecimals && aggregate == .sum
      return term
    }
  }

  /// The same for a function of a collection.
  private func result(of function: Function, _ element: SQLTerm) -> SQLTerm? {
    guard let type = function.type(of: [element.type.valueType]).flatMap(SQLValueType.init) else { return nil }
    return call(.collection(function), [], [element]).map { SQLTerm($0, type) }
  }

  mutating func element(_ collection: ResolvedCollection, isLast: Bool, offset: Int64) -> SQLTerm? {
    guard let (selection, element) = elements(collection) else { return nil }
    if selection.order.isEmpty {
      scopes.removeLast()
      return nil
    }
    let order = selection.order.map { isLast ? $0 + " DESC" : $0 }.joined(separator: ", ")
    let rest: SQLText = " ORDER BY \(order) LIMIT 1 OFFSET \(value: .int(offset))"
    return SQLTerm(close(selection, element.text, rest), element.type)
  }

  private func isDistinct(_ collection: ResolvedCollection) -> Bool {
    if case .distinct = collection { true } else { false }
  }

  // MARK: Selections

  /// A selection of the elements of a collection, and the term of each element's value.
  private mutating func elements(_ collection: ResolvedCollection, asSet: Bool = false) -> (Selection, SQLTerm)? {
    guard let selection = open(collection.elements, asSet: asSet) else { return nil }
    var path = SlotPath(leaf: .object)
    if case .values(_, let own) = collection { path = own }
    path.variable = scopes.count - 1
    guard let element = column(path) else {
      scopes.removeLast()
      return nil
    }
    return (selection, element)
  }

  private mutating func close(_ selection: Selection, _ column: SQLText, _ rest: SQLText = "") -> SQLText {
    let joins = scopes.removeLast().joins
    let condition = SQLText(joining: selection.conditions, by: " AND ")
    var text: SQLText = "(SELECT \(column) FROM \(selection.from)\(joins) WHERE \(condition)\(rest))"
    text.isSelect()
    return text
  }

  /// Opens a scope for the objects of a collection. Returns nil, and opens none, where the elements are no objects, or
  /// SQL cannot express them. With `asSet` duplicates do not matter.
  private mutating func open(_ collection: ResolvedCollection, asSet: Bool = false) -> Selection? {
    if isForIndex { return nil }
    switch collection {
    case .members(let variable, let hops):
      guard scopes.indices.contains(variable) else { return nil }
      var selection = Selection(from: "", conditions: [], order: [])
      return open(hops, from: scopes[variable].alias, &selection)
    case .following(let base, let hops):
      guard var selection = open(base, asSet: asSet) else { return nil }
      let scope = scopes.removeLast()
      selection.from += scope.joins
      selection.order = []
      return open(hops, from: scope.alias, &selection)
    case .filtered(let base, variable: let variable, let condition):
      guard var selection = open(base, asSet: asSet) else { return nil }
      guard scopes.count == variable + 1, let condition = self.condition(condition) else {
        scopes.removeLast()
        return nil
      }
      selection.conditions.append(condition)
      return selection
    case .distinct(let base): return asSet ? open(base, asSet: true) : nil
    case .constants, .list, .values, .set, .elements: return nil
    }
  }

  private mutating func open(_ hops: [Relationship], from alias: String, _ selection: inout Selection) -> Selection? {
    var source = alias
    for (index, hop) in hops.enumerated() {
      let name = newAlias()
      guard let link = SQLLink(layout, hop, owner: source, alias: name) else { return nil }
      if !link.rest.isEmpty { aliasCount += 1 }
      if selection.from.isEmpty {
        selection.from = link.source + link.rest
        selection.conditions.append("\(link.condition)")
      } else {
        selection.from += " JOIN \(link.source) ON \(link.condition)\(link.rest)"
      }
      if index == hops.count - 1 && hops.count == 1 { selection.order = link.order }
      source = name
    }
    guard let last = hops.last else { return nil }
    scopes.append(Scope(entity: layout.schema.entities[last.destination], alias: source))
    return selection
  }
}

extension Array {
  /// The same with the last element repeated up to a power of two.
  var filled: [Element] {
    guard let last else { return self }
    return self + repeatElement(last, count: (1 << (Int.bitWidth - (count - 1).leadingZeroBitCount)) - count)
  }
}

extension ResolvedCollection {
  /// The collection without ``distinct``.
  fileprivate var all: ResolvedCollection { if case .distinct(let base) = self { base } else { self } }

  /// The objects that a collection of values is read from.
  fileprivate var elements: ResolvedCollection { if case .values(let base, _) = self { base } else { self } }
}

/// The joins to the rows that a relationship leads to.
private struct SQLLink {
  let source: String
  let condition: String
  /// The tables joined to the source.
  var rest = ""
  /// The order of the members: by order keys, or by their keys.
  let order: [String]

  init?(_ layout: SQLLayout, _ relationship: Relationship, owner: String, alias: String) {
    guard layout.schema.stores(relationship) else { return nil }
    let table = layout.table(relationship.destination)
    if !relationship.isToMany {
      guard let slot = relationship.slot else { return nil }
      let key = layout.column(layout.schema.entities[relationship.declaringEntity], slot).name
      (source, condition, order) = ("\(table.name) \(alias)", "\(alias).Z_PK = \(owner).\(key)", ["\(alias).Z_PK"])
      return
    }
    let key = SQLLayout.RelationshipKey(relationship)
    if let side = layout.joinOfRelationship[key] {
      let join = layout.joins[side.join]
      let (own, other) = side.ownerIsFirst ? (join.first, join.second) : (join.second, join.first)
      let orderColumn = (side.ownerIsFirst ? join.secondOrder : join.firstOrder).map { "j\(alias).\($0)" }
      // A reflexive pair is stored once and counts in both directions.
      let pairs =
        join.isReflexive
        ? "(SELECT \(own), \(other) FROM \(join.name) UNION SELECT \(other), \(own) FROM \(join.name))" : join.name
      source = "\(pairs) j\(alias)"
      rest = " JOIN \(table.name) \(alias) ON \(alias).Z_PK = j\(alias).\(other)"
      condition = "j\(alias).\(own) = \(owner).Z_PK"
      order = [orderColumn, "\(alias).Z_PK"].compactMap { $0 }
      return
    }
    source = "\(table.name) \(alias)"
    if let link = layout.linkColumns[key] {
      condition = "\(alias).\(table.columns[link.owner].name) = \(owner).Z_PK"
      order = [link.order.map { "\(alias).\(table.columns[$0].name)" }, "\(alias).Z_PK"].compactMap { $0 }
      return
    }
    guard let slot = layout.schema.inverse(of: relationship)?.slot else { return nil }
    let column = layout.column(layout.schema.entities[relationship.destination], slot).name
    (condition, order) = ("\(alias).\(column) = \(owner).Z_PK", ["\(alias).Z_PK"])
  }
}
