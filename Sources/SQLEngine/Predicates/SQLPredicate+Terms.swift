import StoreQuery
import StoreSchema

/// Expressions for one value.
extension SQLPredicate {
  mutating func term(_ expression: ResolvedExpression) -> SQLTerm? {
    switch expression {
    case .constant(.reference(let reference)):
      let root = layout.schema.entities[reference.entity].root
      return SQLTerm(
        "\(value: .int(reference.key))", .reference(root: root), constant: .reference(reference))
    case .constant(let value): return SQLTerm(value)
    case .path(let path): return column(path)
    case .function(let function, let operands): return self.function(function, operands)
    case .conditional(let condition, let yes, let no): return conditional(condition, yes, no)
    case .aggregate(let aggregate, let collection): return self.aggregate(aggregate, collection)
    case .element(let collection, .constant(.int(let index))):
      return index < 0 ? .null : element(collection, isLast: false, offset: index)
    case .element, .dynamic, .collection: return nil
    case .end(let collection, let isLast): return element(collection, isLast: isLast, offset: 0)
    }
  }

  private mutating func conditional(
    _ condition: ResolvedPredicate, _ yes: ResolvedExpression, _ no: ResolvedExpression
  ) -> SQLTerm? {
    if isForIndex { return nil }
    guard let condition = self.condition(condition), let yes = term(yes), let no = term(no) else { return nil }
    let text: SQLText = "CASE WHEN \(condition) THEN \(yes.text) ELSE \(no.text) END"
    if yes.type == no.type || no.type == .null || yes.type == .null {
      var term = SQLTerm(text, yes.type == .null ? no.type : yes.type)
      term.isMaybeInteger = yes.isMaybeInteger || no.isMaybeInteger
      return term
    }
    // A column of reals holds a REAL, so its value is read as one.
    let areNumbers = [yes, no].allSatisfy { $0.type == .number || $0.type == .real }
    return areNumbers ? SQLTerm(text, .number) : nil
  }

  // MARK: Functions

  private mutating func function(_ function: Function, _ operands: [ResolvedExpression]) -> SQLTerm? {
    var terms: [SQLTerm] = []
    for operand in operands {
      guard let term = term(operand) else { return nil }
      terms.append(term)
    }
    if terms.contains(where: { $0.type == .opaque || $0.isMaybeInteger }) { return nil }
    guard let type = function.type(of: terms.map(\.type.valueType)).flatMap(SQLValueType.init) else { return nil }
    if type == .null { return .null }
    if let template = function.sql(Self.dialect) {
      return SQLTerm(SQLText(template: template, terms.map(\.text)), type)
    }
    guard let number = function.number else { return nil }
    return call(.function, [number], terms).map { SQLTerm($0, type) }
  }

  /// A call of a function of the connection: its numbers, then the type and the value of each argument.
  func call(_ function: SQLFunction, _ numbers: [Int], _ arguments: [SQLTerm]) -> SQLText? {
    if isForIndex { return nil }
    var list: [SQLText] = numbers.map { "\($0)" }
    for argument in arguments {
      guard let code = argument.type.code else { return nil }
      list.append("\(code)")
      list.append(argument.text)
    }
    return "\(function.name)(\(SQLText(joining: list, by: ", ")))"
  }

  // MARK: Columns

  mutating func column(_ path: SlotPath) -> SQLTerm? {
    guard scopes.indices.contains(path.variable), let alias = alias(path.hops, in: path.variable) else { return nil }
    let prefix = isForIndex ? "" : alias + "."
    switch path.leaf {
    case .attribute(let slot, let kind, let declaring):
      let name = layout.column(layout.schema.entities[declaring], slot).name
      return SQLValueType(kind).map { SQLTerm(column: prefix + name, $0) }
    case .toOne(let relationship):
      guard let slot = relationship.slot, layout.schema.stores(relationship) else { return nil }
      let name = layout.column(layout.schema.entities[relationship.declaringEntity], slot).name
      return SQLTerm(column: prefix + name, .reference(root: layout.schema.entities[relationship.destination].root))
    case .object:
      let entity = path.hops.last?.destination ?? scopes[path.variable].entity.index
      return SQLTerm(column: prefix + "Z_PK", .reference(root: layout.schema.entities[entity].root))
    case .entity: return SQLTerm(column: prefix + "Z_ENT", .entity)
    case .column: return nil
    }
  }

  /// The table that to-one relationships lead to from a variable.
  mutating func alias(_ hops: [Relationship], in scope: Int) -> String? {
    guard let last = hops.last else { return scopes[scope].alias }
    // A property without a column is evaluated in memory.
    if !layout.schema.stores(last) { return nil }
    if isForIndex || hops.count > Self.maximumAliases { return nil }
    if let known = scopes[scope].aliases[hops] { return known }
    guard let source = alias(Array(hops.dropLast()), in: scope), let slot = last.slot else { return nil }
    let name = newAlias()
    scopes[scope].aliases[hops] = name
    let key = layout.column(layout.schema.entities[last.declaringEntity], slot).name
    scopes[scope].joins +=
      " LEFT JOIN \(layout.table(last.destination).name) \(name) ON \(name).Z_PK = \(source).\(key)"
    return name
  }

  mutating func newAlias() -> String {
    aliasCount += 1
    return "t\(aliasCount)"
  }
}
