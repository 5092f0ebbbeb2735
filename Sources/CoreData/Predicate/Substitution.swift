import Foundation
import StoreQuery
import StoreSchema

/// Replaces `$variables` by values.
enum Substitution {
  static func replace(_ predicate: StoreQuery.Predicate, _ values: [String: Any]) -> StoreQuery.Predicate {
    switch predicate {
    case .value: return predicate
    case .and(let parts): return .and(parts.map { replace($0, values) })
    case .or(let parts): return .or(parts.map { replace($0, values) })
    case .not(let inner): return .not(replace(inner, values))
    case .comparison(var comparison):
      comparison.left = replace(comparison.left, values)
      comparison.right = replace(comparison.right, values)
      return .comparison(comparison)
    case .variable(let name):
      if let value = values[name] as? NSPredicate, let tree = PredicateTree.of(value) { return tree }
      return predicate
    }
  }

  static func replace(_ expression: StoreQuery.Expression, _ values: [String: Any]) -> StoreQuery.Expression {
    switch expression {
    case .variable(let name):
      guard let value = values[name] else { return expression }
      return literal(PredicateArgument.make(value))
    case .keyPathOf(let base, let path): return .keyPathOf(replace(base, values), path)
    case .aggregate(let elements): return .aggregate(elements.map { replace($0, values) })
    case .function(let name, let arguments, let target):
      return .function(name, arguments.map { replace($0, values) }, target: target.map { replace($0, values) })
    default: return expression
    }
  }

  static func literal(_ argument: FormatArgument) -> StoreQuery.Expression {
    switch argument {
    case .value(let value): .constant(value)
    case .array(let elements): .aggregate(elements.map(literal))
    case .keyPath(let path): .keyPath(path)
    case .expression(let expression): expression
    case .predicate(let predicate): .conditional(predicate, .constant(.bool(true)), .constant(.bool(false)))
    }
  }
}
