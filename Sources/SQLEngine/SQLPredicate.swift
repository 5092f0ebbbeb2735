import StoreQuery
import StoreSchema

/// Translates resolved predicates and sorts to SQL that means exactly the same.
///
/// Predicates have two values and SQL has three, so a predicate is brought into negation normal form first: only leaves
/// are negated, and each leaf has its own text for true and for false that never is NULL where it matters.
/// Values are bound, never written into the text of a statement; the condition of an index cannot have parameters.
public struct SQLPredicate {
  private let layout: SQLLayout
  private let entity: Entity
  /// Whether the text is the condition of an index: values written out, the table's own columns alone, and no function that
  /// another program's connection may lack.
  private let isForIndex: Bool
  /// The alias of each chain of to-one hops that has been joined.
  private var aliases: [[Relationship]: String] = [:]
  /// ` LEFT JOIN …` for each alias.
  public private(set) var joins = ""
  public private(set) var values: [Value] = []
  private var leaves = 0

  /// What SQLite takes in one statement: expressions 1000 deep, 32 766 parameters, 64 tables. Sorting may join some too.
  private static let (maximumLeaves, maximumValues, maximumJoins) = (900, 30_000, 40)
  private var isTooLarge: Bool {
    leaves > Self.maximumLeaves || values.count > Self.maximumValues || aliases.count > Self.maximumJoins
  }

  /// `entity` is the one whose table is `t0`.
  public init(_ layout: SQLLayout, entity: Entity) {
    self.layout = layout
    self.entity = entity
    isForIndex = false
  }

  /// The condition of a partial index on the table of `entity`, nil where there is none that means the same.
  static func indexCondition(_ format: String, _ layout: SQLLayout, entity: Entity) -> String? {
    guard let predicate = try? Predicate(format: format),
      let resolved = try? PredicateResolver(layout.schema, entity).resolve(predicate)
    else { return nil }
    var text = SQLPredicate(forIndexOn: entity, layout)
    return text.condition(resolved)
  }

  private init(forIndexOn entity: Entity, _ layout: SQLLayout) {
    self.layout = layout
    self.entity = entity
    isForIndex = true
  }

  /// The condition, or nil when it cannot be said in SQL with the same meaning.
  public mutating func condition(_ predicate: ResolvedPredicate, negated: Bool = false) -> String? {
    switch predicate {
    case .constant(let value): return value != negated ? "1" : "0"
    case .not(let inner): return condition(inner, negated: !negated)
    case .and(let parts): return combine(parts, negated ? " OR " : " AND ", empty: !negated, negated)
    case .or(let parts): return combine(parts, negated ? " AND " : " OR ", empty: negated, negated)
    case .comparison(let left, let op, let right, let options):
      leaves += 1
      let text = comparison(left, op, right, options, negated: negated)
      return isTooLarge ? nil : text
    case .between(.path(let path), .constant(let low), .constant(let high), _):
      return between(path, low, high, negated)
    case .member(.path(let path), of: .constants(let list), []): return membership(path, list, negated)
    case .between, .member, .exists: return nil
    }
  }

  /// The sort terms, or nil when one of them cannot be said in SQL.
  public mutating func order(_ sorts: [ResolvedSort]) -> [String]? {
    var terms: [String] = []
    for sort in sorts {
      guard sort.comparison == .literal, let column = column(sort.path), kind(sort.path) != .decimal else { return nil }
      terms.append(column + (sort.isAscending ? "" : " DESC"))
    }
    return terms
  }

  private mutating func combine(
    _ parts: [ResolvedPredicate], _ joiner: String, empty: Bool, _ negated: Bool
  ) -> String? {
    if parts.isEmpty { return empty ? "1" : "0" }
    var texts: [String] = []
    for part in parts {
      guard let text = condition(part, negated: negated) else { return nil }
      texts.append(text)
    }
    return "(" + texts.joined(separator: joiner) + ")"
  }

  // MARK: Leaves

  private mutating func comparison(
    _ left: ResolvedExpression, _ op: Predicate.Operator, _ right: ResolvedExpression, _ options: Predicate.Options,
    negated: Bool
  ) -> String? {
    switch (left, right) {
    case (.path(let path), .constant(let value)): return against(path, op, value, options, negated)
    case (.constant(let value), .path(let path)):
      guard let mirrored = op.mirrored else { return nil }
      return against(path, mirrored, value, options, negated)
    case (.path(let a), .path(let b)): return between(a, op, b, options, negated)
    default: return nil
    }
  }

  private mutating func against(
    _ path: SlotPath, _ op: Predicate.Operator, _ value: Value, _ options: Predicate.Options, _ negated: Bool
  ) -> String? {
    guard let kind = kind(path), kind != .decimal, kind != .externalData, kind != .transformable else { return nil }
    if value.isNull {
      guard op == .equalTo || op == .notEqualTo else { return nil }
      guard let column = column(path) else { return nil }
      return (op == .equalTo) != negated ? "\(column) IS NULL" : "\(column) IS NOT NULL"
    }
    if case .reference(let reference) = value { return against(path, op, reference, negated) }
    guard ValueClass(kind) == ValueClass(value), ValueClass(kind) != nil else { return nil }
    let folded = !options.intersection([.caseInsensitive, .diacriticInsensitive, .localeSensitive]).isEmpty
    switch op {
    case .equalTo, .notEqualTo:
      if folded && ValueClass(value) == .text { return function(path, op, value, options, negated) }
      guard let column = column(path) else { return nil }
      return bind("\(column) \((op == .equalTo) != negated ? "=" : "IS NOT") ?", [value])
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      if folded && ValueClass(value) == .text { return function(path, op, value, options, negated) }
      guard let column = column(path), let sign = op.sign, let opposite = op.opposite else { return nil }
      return bind(negated ? "(\(column) IS NULL OR \(column) \(opposite) ?)" : "\(column) \(sign) ?", [value])
    case .beginsWith where !folded: return prefix(path, value, negated) ?? function(path, op, value, options, negated)
    case .beginsWith, .endsWith, .contains, .like, .matches:
      guard ValueClass(value) == .text else { return nil }
      return function(path, op, value, options, negated)
    default: return nil
    }
  }

  /// A prefix as a range, which an index can serve.
  private mutating func prefix(_ path: SlotPath, _ value: Value, _ negated: Bool) -> String? {
    guard case .string(let text) = value, !text.isEmpty, let column = column(path),
      let upper = Self.successor(text)
    else { return nil }
    let range = [Value.string(text), .string(upper)]
    return bind(
      negated ? "(\(column) IS NULL OR \(column) < ? OR \(column) >= ?)" : "(\(column) >= ? AND \(column) < ?)", range)
  }

  /// The least string greater than every string that begins with `text`, nil where there is none.
  private static func successor(_ text: String) -> String? {
    var scalars = Array(text.unicodeScalars)
    while let last = scalars.popLast() {
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      if let scalar = Unicode.Scalar(next) {
        scalars.append(scalar)
        var result = String.UnicodeScalarView()
        result.append(contentsOf: scalars)
        return String(result)
      }
    }
    return nil
  }

  private mutating func against(
    _ path: SlotPath, _ op: Predicate.Operator, _ reference: ObjectReference, _ negated: Bool
  ) -> String? {
    guard op == .equalTo || op == .notEqualTo, let root = destinationRoot(path) else { return nil }
    let wantsEqual = (op == .equalTo) != negated
    if layout.schema.entities[reference.entity].root != root || reference.key <= 0 { return wantsEqual ? "0" : "1" }
    guard let column = column(path) else { return nil }
    return bind("\(column) \(wantsEqual ? "=" : "IS NOT") ?", [.int(reference.key)])
  }

  private mutating func between(_ path: SlotPath, _ low: Value, _ high: Value, _ negated: Bool) -> String? {
    guard let kind = kind(path), let group = ValueClass(kind), ValueClass(low) == group, ValueClass(high) == group,
      let column = column(path)
    else { return nil }
    return bind(
      negated
        ? "(\(column) IS NULL OR \(column) < ? OR \(column) > ?)" : "(\(column) >= ? AND \(column) <= ?)", [low, high])
  }

  private mutating func membership(_ path: SlotPath, _ list: [Value], _ negated: Bool) -> String? {
    guard let kind = kind(path), kind != .decimal, kind != .externalData, kind != .transformable, list.count <= 500,
      let column = column(path)
    else { return nil }
    let hasNull = list.contains(where: \.isNull)
    var fitting: [Value] = []
    for value in list where !value.isNull {
      if case .reference(let reference) = value {
        guard let root = destinationRoot(path) else { return nil }
        if layout.schema.entities[reference.entity].root == root { fitting.append(.int(reference.key)) }
      } else {
        guard ValueClass(value) == ValueClass(kind), ValueClass(kind) != nil else { return nil }
        fitting.append(value)
      }
    }
    let marks = Array(repeating: "?", count: fitting.count).joined(separator: ", ")
    // An empty IN list is false in SQLite, for NULL too.
    guard let positive = bind("\(column) IN (\(marks))", fitting) else { return nil }
    switch (negated, hasNull) {
    case (false, false): return positive
    case (false, true): return "(\(positive) OR \(column) IS NULL)"
    case (true, false): return "(\(column) IS NULL OR NOT \(positive))"
    case (true, true): return "(\(column) IS NOT NULL AND NOT \(positive))"
    }
  }

  private mutating func between(
    _ a: SlotPath, _ op: Predicate.Operator, _ b: SlotPath, _ options: Predicate.Options, _ negated: Bool
  ) -> String? {
    guard options.isEmpty, let x = kind(a), let y = kind(b), ValueClass(x) == ValueClass(y), ValueClass(x) != nil,
      x != .reference || destinationRoot(a) == destinationRoot(b), let left = column(a), let right = column(b)
    else { return nil }
    switch op {
    case .equalTo: return "\(left) \(negated ? "IS NOT" : "IS") \(right)"
    case .notEqualTo: return "\(left) \(negated ? "IS" : "IS NOT") \(right)"
    default:
      guard let sign = op.sign, let opposite = op.opposite, x != .reference else { return nil }
      return negated
        ? "(\(left) IS NULL OR \(right) IS NULL OR \(left) \(opposite) \(right))" : "\(left) \(sign) \(right)"
    }
  }

  /// A comparison by the shared kernel, as a function of the connection that returns 0 or 1.
  private mutating func function(
    _ path: SlotPath, _ op: Predicate.Operator, _ value: Value, _ options: Predicate.Options, _ negated: Bool
  ) -> String? {
    guard !isForIndex, ValueClass(kind(path)) == .text, let column = column(path) else { return nil }
    let call = bind("\(Self.functionName)(\(column), \(op.rawValue), \(options.rawValue), ?)", [value])
    return call.map { negated ? "NOT \($0)" : $0 }
  }

  /// The connection's function over (value, operator, options, constant); see `SQLConnection`.
  public static let functionName = "OCDCompare"

  /// Nil for a value that cannot be written out where it must be.
  private mutating func bind(_ text: String, _ bound: [Value]) -> String? {
    if !isForIndex {
      values += bound
      return text
    }
    let parts = text.split(separator: "?", omittingEmptySubsequences: false)
    guard parts.count == bound.count + 1 else { return nil }
    var result = String(parts[0])
    for (part, value) in zip(parts.dropFirst(), bound) {
      guard let literal = SQLLiteral.text(value) else { return nil }
      result += literal + part
    }
    return result
  }

  // MARK: Columns

  private func kind(_ path: SlotPath) -> SlotKind? {
    switch path.leaf {
    case .attribute(_, let kind, _): kind
    case .toOne, .object: .reference
    case .entity: nil
    }
  }

  /// The root entity of the objects that a reference path leads to.
  private func destinationRoot(_ path: SlotPath) -> Int? {
    switch path.leaf {
    case .attribute, .entity: nil
    case .toOne(let relationship): layout.schema.entities[relationship.destination].root
    case .object: layout.schema.entities[path.hops.last?.destination ?? entity.index].root
    }
  }

  private mutating func column(_ path: SlotPath) -> String? {
    let prefix: String
    if isForIndex {
      if !path.hops.isEmpty { return nil }
      prefix = ""
    } else {
      guard let alias = alias(path.hops) else { return nil }
      prefix = alias + "."
    }
    switch path.leaf {
    case .attribute(let slot, _, let declaring):
      return prefix + layout.column(layout.schema.entities[declaring], slot).name
    case .toOne(let relationship):
      guard let slot = relationship.slot else { return nil }
      return prefix + layout.column(layout.schema.entities[relationship.declaringEntity], slot).name
    case .object: return prefix + "Z_PK"
    case .entity: return nil
    }
  }

  private mutating func alias(_ hops: [Relationship]) -> String? {
    guard let last = hops.last else { return "t0" }
    if let known = aliases[hops] { return known }
    guard let source = alias(Array(hops.dropLast())), let slot = last.slot else { return nil }
    let name = "t\(aliases.count + 1)"
    aliases[hops] = name
    let key = layout.column(layout.schema.entities[last.declaringEntity], slot).name
    joins += " LEFT JOIN \(layout.table(last.destination).name) \(name) ON \(name).Z_PK = \(source).\(key)"
    return name
  }
}

/// Groups of types whose values SQL compares as the evaluator does; across groups it must not be asked.
private enum ValueClass {
  case number, date, text, uri, uuid, data, reference

  init?(_ kind: SlotKind?) {
    switch kind {
    case .int16, .int32, .int64, .bool, .double, .float: self = .number
    case .date: self = .date
    case .string: self = .text
    case .uri: self = .uri
    case .uuid: self = .uuid
    case .data: self = .data
    case .reference: self = .reference
    case nil, .decimal, .transformable, .externalData, .referenceEntity: return nil
    }
  }

  init?(_ value: Value) {
    switch value {
    // SQLite would take NaN for NULL.
    case .double(let x) where x.isNaN: return nil
    case .date(let x) where x.isNaN: return nil
    case .bool, .int, .double: self = .number
    case .date: self = .date
    case .string: self = .text
    case .uri: self = .uri
    case .uuid: self = .uuid
    case .data: self = .data
    case .reference: self = .reference
    case .null, .decimal: return nil
    }
  }
}

extension StoreQuery.Predicate.Operator {
  fileprivate var sign: String? {
    switch self {
    case .lessThan: "<"
    case .lessThanOrEqualTo: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqualTo: ">="
    default: nil
    }
  }

  fileprivate var opposite: String? {
    switch self {
    case .lessThan: ">="
    case .lessThanOrEqualTo: ">"
    case .greaterThan: "<="
    case .greaterThanOrEqualTo: "<"
    default: nil
    }
  }

  /// The operator with its sides exchanged.
  fileprivate var mirrored: Self? {
    switch self {
    case .lessThan: .greaterThan
    case .lessThanOrEqualTo: .greaterThanOrEqualTo
    case .greaterThan: .lessThan
    case .greaterThanOrEqualTo: .lessThanOrEqualTo
    case .equalTo, .notEqualTo: self
    default: nil
    }
  }
}
