import Foundation
import StoreQuery
import StoreSchema
import TestSupport

/// Random syntax trees in the form that parsing yields (see `Predicate.format`).
struct RandomTrees {
  var random: SeededGenerator

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  private mutating func pick<T>(_ values: [T], _ fallback: T) -> T { values.randomElement(using: &random) ?? fallback }

  // MARK: Predicates

  mutating func predicate(_ depth: Int) -> StoreQuery.Predicate {
    guard depth > 0 else { return .comparison(comparison(0)) }
    switch below(10) {
    case 0: return .value(below(2) == 0)
    case 1: return .variable(name())
    case 2: return .not(predicate(depth - 1))
    case 3, 4: return .and(predicates(depth - 1))
    case 5, 6: return .or(predicates(depth - 1))
    default: return .comparison(comparison(depth - 1))
    }
  }

  private mutating func predicates(_ depth: Int) -> [StoreQuery.Predicate] {
    (0..<2 + below(3)).map { _ in predicate(depth) }
  }

  private mutating func comparison(_ depth: Int) -> StoreQuery.Predicate.Comparison {
    let raw = pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99, 100] as [UInt], 4)
    let options = below(2) == 0 ? 0 : UInt(below(16))
    return .init(
      expression(depth), .init(rawValue: raw) ?? .equalTo, expression(depth),
      modifier: pick([.direct, .direct, .any, .all], .direct), options: .init(rawValue: options))
  }

  // MARK: Expressions

  mutating func expression(_ depth: Int) -> StoreQuery.Expression {
    guard depth > 0 else { return leaf() }
    switch below(14) {
    case 0: return .keyPathOf(base(depth - 1), keyPath())
    case 1, 2, 3: return function(depth - 1)
    case 4: return .aggregate(expressions(depth - 1))
    case 5: return .set(pick([.union, .intersect, .minus], .union), expression(depth - 1), expression(depth - 1))
    case 6: return .subquery(expression(depth - 1), variable: name(), predicate(depth - 1))
    case 7: return .conditional(predicate(depth - 1), expression(depth - 1), expression(depth - 1))
    case 8: return .assignment(name(), expression(depth - 1))
    case 9: return .fetch(expression(depth - 1), context: expression(depth - 1), countOnly: below(2) == 0)
    case 10: return .cast(expression(depth - 1), "NSCustom")
    default: return leaf()
    }
  }

  private mutating func expressions(_ depth: Int) -> [StoreQuery.Expression] {
    (0..<below(4)).map { _ in expression(depth) }
  }

  private mutating func leaf() -> StoreQuery.Expression {
    switch below(8) {
    case 0: .evaluatedObject
    case 1: .variable(name())
    case 2, 3: .keyPath(keyPath())
    case 4: below(8) == 0 ? .anyKey : .nullObject
    default: .constant(value())
    }
  }

  /// An expression that can precede a key path: neither a key path nor SELF.
  private mutating func base(_ depth: Int) -> StoreQuery.Expression {
    while true {
      let expression = expression(depth)
      switch expression {
      case .evaluatedObject, .keyPath, .keyPathOf: continue
      default: return expression
      }
    }
  }

  private mutating func function(_ depth: Int) -> StoreQuery.Expression {
    let unary = ["sum:", "negate:", "onesComplement:", "uppercase:", "custom:", "cast:", "négate:"]
    let binary = [
      "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "raise:toPower:", "modulus:by:", "bitwiseAnd:with:",
      "bitwiseOr:with:", "bitwiseXor:with:", "leftshift:by:", "rightshift:by:", "objectFrom:withIndex:", "my:own:",
    ]
    switch below(10) {
    case 0: return .function(pick(["now", "random", "FIRST"], "now"), [], target: nil)
    case 1, 2, 3: return .function(pick(unary, "sum:"), [expression(depth)], target: nil)
    case 4: return .function("any text", expressions(depth), target: expression(depth))
    case 5:
      let symbol = pick([.firstIndex, .lastIndex, .sizeIndex], StoreQuery.Expression.sizeIndex)
      return .function("objectFrom:withIndex:", [expression(depth), symbol], target: nil)
    default: return .function(pick(binary, "add:to:"), [expression(depth), expression(depth)], target: nil)
    }
  }

  // MARK: Names and values

  private mutating func name() -> String {
    pick(["x", "SELF", "first", "größe", "a b", "", "1a", "名前", "x\"y", "_1"], "x")
  }

  private mutating func keyPath() -> String {
    let keys = [
      "name", "a", "in", "Last", "größe", "@count", "@sum", "with space", "a-b", "", "1", "NOT", "@", "#x", "%@",
      "é'\"",
    ]
    return (0...below(3)).map { _ in pick(keys, "a") }.joined(separator: ".")
  }

  mutating func value() -> Value {
    switch below(12) {
    case 0: .null
    case 1: .bool(below(2) == 0)
    case 2, 3: .int(pick([0, -1, 7, .min, .max, Int64.random(in: -99...99, using: &random)], 0))
    case 4, 5: .double(double())
    case 6: .decimal(pick([1, -1, Decimal(string: "0.1") ?? 0, Decimal(string: "1e127") ?? 0], 0))
    case 7: .date(double())
    case 8: .uuid(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID())
    case 9: pick([.data(Data([0, 255, 1])), .data(Data()), .uri("http://a/\"b\"?c=%20")], .null)
    case 10: .reference(ObjectReference(entity: below(9), key: Int64(below(99)) - 50))
    default: .string(pick(["", "Bob", "a\"b'c\\", "tab\tline\n\u{0}\u{7F}", "e\u{301}", "é", "🙂%@", "100%"], ""))
    }
  }

  private mutating func double() -> Double {
    let special: [Double] = [
      0, -0.0, 0.1, -2.5, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity, 123, 700_000_000.123456,
    ]
    return below(2) == 0 ? pick(special, 0) : Double.random(in: -1e6...1e6, using: &random)
  }
}
