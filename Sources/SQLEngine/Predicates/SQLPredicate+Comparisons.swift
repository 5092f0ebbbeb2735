import StoreQuery
import StoreSchema

/// Comparisons of single values.
extension SQLPredicate {
  mutating func comparison(
    _ a: SQLTerm, _ op: Predicate.Operator, _ b: SQLTerm, _ options: Predicate.Options, _ negated: Bool
  ) -> SQLText? {
    if a.type == .entity || b.type == .entity { return nil }
    if a.type == .opaque && b.type != .null || b.type == .opaque && a.type != .null { return nil }
    switch op {
    case .equalTo: return equality(a, b, options, isEqual: !negated)
    case .notEqualTo: return equality(a, b, options, isEqual: negated)
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      return order(a, op, b, options, negated)
    case .in: return search(b, .contains, a, options, negated)
    case .contains, .beginsWith, .endsWith, .like, .matches: return search(a, op, b, options, negated)
    case .between, .customSelector: return negated ? "1" : "0"
    }
  }

  // MARK: Equality

  private mutating func equality(
    _ a: SQLTerm, _ b: SQLTerm, _ options: Predicate.Options, isEqual: Bool
  ) -> SQLText? {
    if a.type == .null { return isNull(b, isEqual) }
    if b.type == .null { return isNull(a, isEqual) }
    if a.type.isText && b.type.isText && options.isFolding {
      return kernel(a, .equalTo, b, options, negated: !isEqual)
    }
    if a.type.isComparable(with: b.type) {
      let sign = a.isConstant != b.isConstant ? "=" : "IS"
      return "\(a.text) \(isEqual ? sign : "IS NOT") \(b.text)"
    }
    if a.type.isNumeric && b.type.isNumeric { return kernel(a, .equalTo, b, [], negated: !isEqual) }
    // Values of different types are never equal, except that null equals null.
    if a.isConstant || b.isConstant { return isEqual ? "0" : "1" }
    return isEqual
      ? "(\(a.text) IS NULL AND \(b.text) IS NULL)" : "(\(a.text) IS NOT NULL OR \(b.text) IS NOT NULL)"
  }

  func isNull(_ term: SQLTerm, _ isEqual: Bool) -> SQLText {
    term.type == .null ? (isEqual ? "1" : "0") : "\(term.text) \(isEqual ? "IS NULL" : "IS NOT NULL")"
  }

  // MARK: Order

  private mutating func order(
    _ a: SQLTerm, _ op: Predicate.Operator, _ b: SQLTerm, _ options: Predicate.Options, _ negated: Bool
  ) -> SQLText? {
    if a.type.isText && b.type.isText && options.isFolding { return kernel(a, op, b, options, negated: negated) }
    guard a.type.isComparable(with: b.type), !a.type.isReference, let sign = op.sign, let opposite = op.opposite else {
      if a.type.isNumeric && b.type.isNumeric { return kernel(a, op, b, [], negated: negated) }
      if a.type.isReference || b.type.isReference { return nil }
      return negated ? "1" : "0"
    }
    if !negated { return "\(a.text) \(sign) \(b.text)" }
    if !a.isPlain || !b.isPlain { return "(\(a.text) \(sign) \(b.text)) IS NOT TRUE" }
    let nulls = [a, b].filter { !$0.isConstant }.map { "\($0.text) IS NULL" as SQLText }
    return "(\(SQLText(joining: nulls + ["\(a.text) \(opposite) \(b.text)"], by: " OR ")))"
  }

  // MARK: Texts

  private mutating func search(
    _ a: SQLTerm, _ op: Predicate.Operator, _ b: SQLTerm, _ options: Predicate.Options, _ negated: Bool
  ) -> SQLText? {
    guard a.type.isText, b.type.isText else { return negated ? "1" : "0" }
    if op == .beginsWith, !options.isFolding, a.isColumn, case .string(let prefix)? = b.constant,
      let range = Self.range(a.text, prefix, negated)
    {
      return range
    }
    if op == .like, !options.isFolding, a.isColumn, case .string(let pattern)? = b.constant,
      let range = Self.range(a.text, Self.prefix(of: pattern), negated),
      let isLike = kernel(a, op, b, options, negated: negated)
    {
      return negated ? "(\(range) OR \(isLike))" : "(\(range) AND \(isLike))"
    }
    return kernel(a, op, b, options, negated: negated)
  }

  /// The beginning that all texts matching a pattern share.
  private static func prefix(of pattern: String) -> String {
    String(String.UnicodeScalarView(pattern.unicodeScalars.prefix { !["*", "?", "\\"].contains($0) }))
  }

  /// A prefix as a range, which can use an index.
  private static func range(_ column: SQLText, _ prefix: String, _ negated: Bool) -> SQLText? {
    guard !prefix.isEmpty, let end = successor(prefix) else { return nil }
    let (low, high) = (Value.string(prefix), Value.string(end))
    return negated
      ? "(\(column) IS NULL OR \(column) < \(value: low) OR \(column) >= \(value: high))"
      : "(\(column) >= \(value: low) AND \(column) < \(value: high))"
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

  /// A comparison by the shared kernel: a function of the connection that returns 0 or 1.
  private func kernel(
    _ a: SQLTerm, _ op: Predicate.Operator, _ b: SQLTerm, _ options: Predicate.Options, negated: Bool
  ) -> SQLText? {
    call(.compare, [Int(op.rawValue), Int(options.rawValue)], [a, b]).map { negated ? "NOT \($0)" : $0 }
  }
}

extension StoreQuery.Predicate.Options {
  /// Whether texts are not compared by their bytes.
  var isFolding: Bool { !intersection([.caseInsensitive, .diacriticInsensitive, .localeSensitive]).isEmpty }
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
}
