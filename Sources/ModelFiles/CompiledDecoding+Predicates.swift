import PropertyLists
import StoreQuery
import StoreSchema

/// Archived predicates. Their nesting is bounded like that of the format language.
extension CompiledDecoding {
  static let depthLimit = 200

  mutating func optionalPredicate(_ object: ArchivedObject?) throws(ModelFileError) -> Predicate? {
    guard let object else { return nil }
    return try predicate(object, depth: 0)
  }

  mutating func predicate(_ object: ArchivedObject, depth: Int) throws(ModelFileError) -> Predicate {
    try spend()
    guard depth < Self.depthLimit else { throw ModelFileError(.malformed, "a predicate is nested too deeply") }
    switch object.className {
    case "NSTruePredicate": return .value(true)
    case "NSFalsePredicate": return .value(false)
    case "NSComparisonPredicate": return .comparison(try comparison(object, depth: depth))
    case "NSCompoundPredicate": return try compound(object, depth: depth)
    default: throw ModelFileError(.unsupported, "a predicate is of the class \(object.className ?? "none")")
    }
  }

  private mutating func compound(_ object: ArchivedObject, depth: Int) throws(ModelFileError) -> Predicate {
    var members: [Predicate] = []
    for member in object["NSSubpredicates"]?.array ?? [] {
      members.append(try predicate(member, depth: depth + 1))
    }
    switch object["NSCompoundPredicateType"]?.integer ?? 0 {
    case 0:
      guard let member = members.first, members.count == 1 else {
        throw ModelFileError(.malformed, "a negation has \(members.count) predicates")
      }
      return .not(member)
    case 1: return .and(members)
    case 2: return .or(members)
    case let type: throw ModelFileError(.unsupported, "a compound predicate is of type \(type)")
    }
  }

  private mutating func comparison(
    _ object: ArchivedObject, depth: Int
  ) throws(ModelFileError) -> Predicate.Comparison {
    guard let archived = object["NSPredicateOperator"],
      let op = archived["NSOperatorType"]?.integer.flatMap({ UInt(exactly: $0) }).flatMap(Predicate.Operator.init),
      let modifier = Predicate.Modifier(rawValue: UInt(clamping: archived["NSModifier"]?.integer ?? 0)),
      op != .customSelector
    else { throw ModelFileError(.unsupported, "a comparison has an unknown operator") }
    // String operators name their options NSFlags, the others NSOptions.
    let options = archived["NSFlags"]?.integer ?? archived["NSOptions"]?.integer ?? 0
    return Predicate.Comparison(
      try side(object, "NSLeftExpression", depth: depth), op, try side(object, "NSRightExpression", depth: depth),
      modifier: modifier, options: Predicate.Options(rawValue: UInt(clamping: options)))
  }

  mutating func side(_ object: ArchivedObject, _ key: String, depth: Int) throws(ModelFileError) -> Expression {
    guard let side = object[key] else {
      throw ModelFileError(.malformed, "an \(object.className ?? "object") has no \(key)")
    }
    return try expression(side, depth: depth + 1)
  }
}
