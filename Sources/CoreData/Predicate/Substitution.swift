import Foundation
import StoreQuery
import StoreSchema

/// Replaces `$variables` by values.
enum Substitution {
  /// Replaces all variables except those that the predicate assigns itself.
  static func bind(_ predicate: StoreQuery.Predicate, _ values: [String: Any]) -> StoreQuery.Predicate {
    replace(predicate, outer(values, predicate.assignedVariables))
  }

  static func bind(_ expression: StoreQuery.Expression, _ values: [String: Any]) -> StoreQuery.Expression {
    replace(expression, outer(values, expression.assignedVariables))
  }

  static func outer(_ values: [String: Any], _ own: Set<String>) -> [String: Any] {
    own.isEmpty ? values : values.filter { !own.contains($0.key) }
  }

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
      if let value = values[name] as? NSPredicate, let tree = PredicateTree.part(value) { return tree }
      return predicate
    }
  }

  static func replace(_ expression: StoreQuery.Expression, _ values: [String: Any]) -> StoreQuery.Expression {
    switch expression {
    case .variable(let name):
      guard let value = values[name] else { return expression }
      if let source = value as? FetchedPropertyVariable { return literal(PredicateArgument.make(source.object)) }
      return literal(PredicateArgument.make(value))
    case .keyPathOf(.variable(let name), let path):
      guard let source = values[name] as? FetchedPropertyVariable else {
        return .keyPathOf(replace(.variable(name), values), path)
      }
      return literal(PredicateArgument.make(source.value(path)))
    case .keyPathOf(let base, let path): return .keyPathOf(replace(base, values), path)
    case .aggregate(let elements): return .aggregate(elements.map { replace($0, values) })
    case .function(let name, let arguments, let target):
      return .function(name, arguments.map { replace($0, values) }, target: target.map { replace($0, values) })
    case .set(let operation, let left, let right):
      return .set(operation, replace(left, values), replace(right, values))
    case .subquery(let collection, let variable, let condition):
      // The subquery's variable hides an outer one of the same name.
      let inner = values.filter { $0.key != variable }
      return .subquery(replace(collection, values), variable: variable, replace(condition, inner))
    case .conditional(let condition, let yes, let no):
      return .conditional(replace(condition, values), replace(yes, values), replace(no, values))
    case .assignment(let name, let value): return .assignment(name, replace(value, values))
    case .fetch(let request, let context, let countOnly):
      return .fetch(replace(request, values), context: replace(context, values), countOnly: countOnly)
    case .cast(let value, let type): return .cast(replace(value, values), type)
    case .literal, .nullObject, .object, .evaluatedObject, .keyPath, .anyKey: return expression
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
