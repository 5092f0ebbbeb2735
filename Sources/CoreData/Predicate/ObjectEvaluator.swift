import Foundation
import StoreQuery
import StoreSchema

/// Evaluates syntax trees over managed objects, dictionaries and plain values, by key.
enum ObjectEvaluator {
  static func evaluate(_ predicate: StoreQuery.Predicate, _ object: Any?) -> Bool {
    switch predicate {
    case .value(let value): return value
    case .and(let parts): return parts.allSatisfy { evaluate($0, object) }
    case .or(let parts): return parts.contains { evaluate($0, object) }
    case .not(let inner): return !evaluate(inner, object)
    case .variable(let name):
      misuse("The predicate's variable $\(name) has no value; use withSubstitutionVariables(_:).")
    case .comparison(let comparison): return compare(comparison, object)
    }
  }

  private static func compare(_ comparison: StoreQuery.Predicate.Comparison, _ object: Any?) -> Bool {
    let left = operand(comparison.left, object)
    let right = operand(comparison.right, object)
    switch comparison.modifier {
    case .direct: return compare(left, comparison.op, comparison.options, right)
    case .any: return elements(left).contains { compare($0, comparison.op, comparison.options, right) }
    case .all: return elements(left).allSatisfy { compare($0, comparison.op, comparison.options, right) }
    }
  }

  private static func compare(
    _ left: Any?, _ op: StoreQuery.Predicate.Operator, _ options: StoreQuery.Predicate.Options, _ right: Any?
  ) -> Bool {
    switch (collection(left), collection(right)) {
    case (nil, nil): return ComparisonKernel.evaluate(op, options, left: value(left), right: value(right))
    case (nil, let list?): return ComparisonKernel.evaluate(op, options, left: value(left), right: list)
    case (let list?, nil): return ComparisonKernel.evaluate(op, options, left: list, right: value(right))
    case (let a?, let b?): return op == .notEqualTo ? a != b : (op == .equalTo && a == b)
    }
  }

  private static func elements(_ operand: Any?) -> [Any?] {
    switch operand {
    case let set as NSSet: set.allObjects
    case let set as NSOrderedSet: set.array
    case let array as [Any]: array
    default: [operand]
    }
  }

  private static func collection(_ operand: Any?) -> [Value]? {
    switch operand {
    case let set as NSSet: set.allObjects.map(value)
    case let set as NSOrderedSet: set.array.map(value)
    case let array as [Any?]: array.map(value)
    default: nil
    }
  }

  private static func value(_ operand: Any?) -> Value {
    if let value = operand as? Value { return value }
    return AttributeCoding.flattened(operand).flatMap(PredicateArgument.constant) ?? .null
  }

  /// The value of an expression as an object.
  static func value(of expression: StoreQuery.Expression, _ object: Any?) -> Any? {
    if case .object(let constant) = expression { return NewObject(constant)?.value }
    return plain(operand(expression, object))
  }

  private static func plain(_ operand: Any?) -> Any? {
    if let value = operand as? Value { return ConstantCoding.object(value) }
    guard let elements = operand as? [Any?] else { return operand }
    return elements.map { plain($0) ?? NSNull() }
  }

  private static func operand(_ expression: StoreQuery.Expression, _ object: Any?) -> Any? {
    switch expression {
    case .constant(let value): return value
    case .object(let constant):
      return NewObject(constant).map { Value.reference($0.reference(in: (object as? NSManagedObject)?.core)) }
    case .evaluatedObject: return object
    case .keyPath(let path):
      return KeyPathValue.value(of: object, path.split(separator: ".").map(String.init)[...])
    case .keyPathOf(.object(let constant), let path):
      return KeyPathValue.value(of: NewObject(constant)?.value, path.split(separator: ".").map(String.init)[...])
    case .keyPathOf(let base, let path):
      return KeyPathValue.value(of: operand(base, object), path.split(separator: ".").map(String.init)[...])
    case .aggregate(let elements): return elements.map { operand($0, object) }
    case .function(let name, let arguments, target: nil):
      return FunctionEvaluator.value(name, arguments.map { value(of: $0, object) })
    case .conditional(let predicate, let yes, let no):
      return operand(evaluate(predicate, object) ? yes : no, object)
    case .variable(let name):
      misuse("The predicate's variable $\(name) has no value; use withSubstitutionVariables(_:).")
    default: misuse("The expression \(expression.format) cannot be evaluated yet.")
    }
  }
}
