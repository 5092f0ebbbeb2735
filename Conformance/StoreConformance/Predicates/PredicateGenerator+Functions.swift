import Foundation
import StoreSchema

/// Arithmetic, functions and deeply nested expressions.
extension PredicateGenerator {
  mutating func calculated(_ variable: Int) -> GeneratedPredicate? {
    guard let found = attribute(of: scopes[variable], where: { $0.isNumber || $0 == .date }) else { return nil }
    let path = GeneratedValue.path(variable, found.keys)
    if random.below(5) == 0 {
      let sign = note(one(["-", "~"]) + "x")
      return compared(.prefixed(String(sign.prefix(1)), path), variable, or: constant(found.name, found.type))
    }
    let signs =
      found.type.isInteger
      ? ["+", "-", "*", "/", "modulus", "**", "&", "|", "^", "<<", ">>"]
      : found.type == .decimal ? ["+", "-", "*", "/", "**", "&"] : ["+", "-", "*", "/", "**", "modulus"]
    let sign = note(one(signs))
    if found.type == .decimal { _ = note("decimal arithmetic") }
    let number: Value =
      switch random.below(6) {
      case 0 where !"&|^<<>>**".contains(sign): edge()
      case 1: .double(2.5)
      case 2 where sign == "<<" || sign == ">>": .int(Int64(one([1, 31, 62, 63, 64, 70, -1, -3])))
      case 3 where found.type == .decimal: .decimal(Decimal(string: "0.75") ?? 1)
      default: .int(Int64(random.below(9)) - 3)
      }
    let isBehind = random.below(5) > 0
    let value: GeneratedValue =
      isBehind ? .arithmetic(path, sign, .constant(number)) : .arithmetic(.constant(number), sign, path)
    return compared(value, variable, or: constant(found.name, found.type))
  }

  mutating func function(_ variable: Int) -> GeneratedPredicate? {
    if random.below(3) == 0 {
      guard let found = attribute(of: scopes[variable], where: { $0 == .string }) else { return nil }
      let function = one(GeneratedFunction.all.filter(\.takesText))
      let value = GeneratedValue.function(note(function.name), .path(variable, found.keys))
      if !function.givesText { return compared(value, variable, or: .int(Int64(random.below(6)))) }
      return compared(value, variable, note(one(["==", "CONTAINS", "<"])), or: constant(found.name, .string))
    }
    guard let found = attribute(of: scopes[variable], where: \.isNumber) else { return nil }
    let name = note(one(GeneratedFunction.all.filter { !$0.takesText }).name)
    return compared(
      .function(name, .path(variable, found.keys)), variable, or: constant(found.name, found.type))
  }

  mutating func cast(_ variable: Int) -> GeneratedPredicate? {
    guard let found = attribute(of: scopes[variable], where: \.isComparable) else { return nil }
    let type = one(["NSNumber", "NSNumber", "NSString", "NSString", "NSDate", "NSDecimalNumber", "NSURL", "NSUUID"])
    _ = note("CAST to \(type)")
    return compared(
      .cast(.path(variable, found.keys), type), variable,
      or: type == "NSString" || type == "NSURL" ? .string(anyText()) : edge())
  }

  /// A predicate that is true at any time of these years.
  mutating func now(_ variable: Int) -> GeneratedPredicate? {
    guard let found = attribute(of: scopes[variable], where: { $0 == .date }) else { return nil }
    _ = note("now()")
    let path = GeneratedValue.path(variable, found.keys)
    let now = random.below(2) == 0 ? GeneratedValue.now : .arithmetic(.now, "+", .constant(.int(1 << 40)))
    return random.below(2) == 0
      ? .comparison(path, one(["<", ">="]), now, options: "") : .comparison(now, one(["<", ">="]), path, options: "")
  }

  mutating func ternary(_ variable: Int, _ depth: Int) -> GeneratedPredicate? {
    ternaries(variable, count: 1 + random.below(2), depth: min(depth - 1, 0))
  }

  /// A conditional with further conditionals as its second value.
  private mutating func ternaries(_ variable: Int, count: Int, depth: Int) -> GeneratedPredicate? {
    let type = one([AttributeType.string, .integer16, .integer32, .double, .date])
    guard let found = attribute(of: scopes[variable], where: { $0 == type }) else { return nil }
    _ = note(count > 2 ? "TERNARY many times" : "TERNARY")
    let path = GeneratedValue.path(variable, found.keys)
    var value = GeneratedValue.constant(constant(found.name, found.type))
    for _ in 0..<count {
      let first = random.below(2) == 0 ? path : .constant(constant(found.name, found.type))
      value = .ternary(predicate(depth: depth), first, value)
    }
    return compared(value, variable, or: constant(found.name, found.type))
  }

  // MARK: Chains

  /// Conditionals or subqueries, each within the previous one.
  mutating func chain(_ length: Int) -> GeneratedPredicate {
    if random.below(2) == 0, let chain = ternaries(0, count: length, depth: 0) { return chain }
    _ = note("SUBQUERY many times")
    return subqueries(length)
  }

  /// Over reports, whose number does not grow from level to level.
  private mutating func subqueries(_ length: Int) -> GeneratedPredicate {
    let (variable, names) = (scopes.count - 1, ["reports", "members", "people"])
    guard length > 0, let hop = scopes[variable].relationships.first(where: { names.contains($0.name) }) else {
      return predicate(depth: 0)
    }
    scopes.append(model.schema.entities[hop.destination])
    let filter = GeneratedFilter(variable + 1, subqueries(length - 1))
    scopes.removeLast()
    let collection = GeneratedCollection(variable: variable, hops: [hop.name], filter: filter)
    return .comparison(
      .count(collection), one(["==", "!=", "<="]), .constant(.int(Int64(random.below(2)))), options: "")
  }
}
