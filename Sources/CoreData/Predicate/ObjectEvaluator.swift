import Foundation
import StoreQuery
import StoreSchema

/// Evaluates syntax trees over managed objects, dictionaries and plain values, by key.
///
/// Comparisons and functions are the kernels that stores use, so that a predicate means in memory what it means in a
/// fetch. What cannot be evaluated stops the program, as it raises an exception on Apple's platforms.
struct ObjectEvaluator {
  /// The variables that are assigned, and the elements that those of subqueries stand for.
  typealias Variables = [String: Any?]

  private let object: Any?
  private let whole: Whole
  private var variables: Variables = [:]
  /// What `now()` is, wherever it stands in the predicate.
  private let now = Value.date(Date().timeIntervalSinceReferenceDate)

  /// What is evaluated, of which a predicate or an expression may be a part.
  enum Whole {
    case tree(StoreQuery.Predicate)
    case expression(StoreQuery.Expression)
    case compound(NSCompoundPredicate)

    /// The variables that are assigned somewhere in it.
    var assignedVariables: Set<String> {
      switch self {
      case .tree(let tree): tree.assignedVariables
      case .expression(let expression): expression.assignedVariables
      case .compound(let compound): PredicateTree.of(compound)?.assignedVariables ?? []
      }
    }
  }

  private init(_ object: Any?, _ whole: Whole) { (self.object, self.whole) = (object, whole) }

  static func evaluate(_ predicate: StoreQuery.Predicate, _ object: Any?) -> Bool {
    var evaluator = ObjectEvaluator(object, .tree(predicate))
    return evaluator.evaluate(predicate)
  }

  /// Evaluates a part of a compound. `variables` are those that the parts before it have assigned.
  static func evaluate(
    _ predicate: StoreQuery.Predicate, _ object: Any?, of compound: NSCompoundPredicate, _ variables: inout Variables
  ) -> Bool {
    var evaluator = ObjectEvaluator(object, .compound(compound))
    evaluator.variables = variables
    defer { variables = evaluator.variables }
    return evaluator.evaluate(predicate)
  }

  /// The value of an expression as an object.
  static func value(of expression: StoreQuery.Expression, _ object: Any?) -> Any? {
    assigningValue(of: expression, object).value
  }

  /// The value of an expression as an object, and the variables that it has assigned.
  static func assigningValue(
    of expression: StoreQuery.Expression, _ object: Any?
  ) -> (value: Any?, assigned: [String: Any]) {
    var evaluator = ObjectEvaluator(object, .expression(expression))
    let value = evaluator.value(of: expression)
    return (value, evaluator.variables.mapValues { plain($0) ?? NSNull() })
  }

  // MARK: Predicates

  private mutating func evaluate(_ predicate: StoreQuery.Predicate) -> Bool {
    switch predicate {
    case .value(let value): value
    case .and(let parts): parts.allSatisfy { evaluate($0) }
    case .or(let parts): parts.contains { evaluate($0) }
    case .not(let inner): !evaluate(inner)
    case .variable(let name): Self.unbound(name)
    case .comparison(let comparison): compare(comparison)
    }
  }

  private static func unbound(_ name: String) -> Never {
    misuse("The predicate's variable $\(name) has no value; use withSubstitutionVariables(_:).")
  }

  private mutating func compare(_ comparison: StoreQuery.Predicate.Comparison) -> Bool {
    let left = operand(comparison.left)
    let test = ObjectComparison(comparison.op, comparison.options, with: right(comparison.right))
    switch comparison.modifier {
    case .direct: return test(left)
    case .any: return (ObjectCollection.elements(left) ?? [left]).contains { test($0) }
    case .all: return (ObjectCollection.elements(left) ?? [left]).allSatisfy { test($0) }
    }
  }

  /// The right side of a comparison. A list of constants may be long, and is looked at for each object.
  private mutating func right(_ expression: StoreQuery.Expression) -> Any? {
    guard case .aggregate(let elements) = expression else { return operand(expression) }
    var values: [Value] = []
    values.reserveCapacity(elements.count)
    for element in elements {
      guard let value = element.literal else { return operand(expression) }
      values.append(value)
    }
    return ConstantList(values: values)
  }

  /// The value of what has one, for functions; null for objects.
  static func value(_ operand: Any?) -> Value {
    if let value = operand as? Value { return value }
    return AttributeCoding.flattened(operand).flatMap(PredicateArgument.constant) ?? .null
  }

  // MARK: Expressions

  private mutating func value(of expression: StoreQuery.Expression) -> Any? {
    Self.plain(operand(expression))
  }

  private static func plain(_ operand: Any?) -> Any? {
    if let value = operand as? Value { return AttributeCoding.decode(value, .undefined) }
    guard let elements = operand as? [Any?] else { return operand }
    return elements.map { plain($0) ?? NSNull() }
  }

  private mutating func operand(_ expression: StoreQuery.Expression) -> Any? {
    switch expression {
    case .literal(let literal): return literal.value
    case .nullObject: return Value.null
    case .object(let constant): return ObjectInPredicate(constant)?.value
    case .evaluatedObject: return object
    case .variable(let name):
      if let element = variables[name] { return element }
      // What is assigned in a part that has not been evaluated is nil.
      guard whole.assignedVariables.contains(name) else { Self.unbound(name) }
      return nil
    case .keyPath(let path): return ObjectCollection.value(of: object, path)
    case .keyPathOf(let base, let path): return ObjectCollection.value(of: operand(base), path)
    case .aggregate(let elements): return elements.map { operand($0) }
    case .function("objectFrom:withIndex:", let arguments, target: nil) where arguments.count == 2:
      return element(arguments[0], arguments[1])
    case .function("now", [], target: nil): return now
    case .function(let name, let arguments, target: nil):
      return FunctionEvaluator.value(name, arguments.map { operand($0) })
    case .function(ExpressionBlock.selector, let arguments, .object(let target)?):
      guard let block = ObjectInPredicate(target)?.value as? ExpressionBlock else { return nil }
      return block.body(object, arguments.map { value(of: $0) ?? NSNull() }, nil)
    case .function(let name, let arguments, let target?):
      return MethodRegistry.value(name, of: value(of: target), arguments.map { value(of: $0) })
    case .set(let operation, let left, let right):
      return ObjectCollection.combine(operation, operand(left), operand(right))
    case .subquery(let collection, variable: let name, let condition):
      return subquery(operand(collection), name, condition)
    case .conditional(let predicate, let yes, let no): return operand(evaluate(predicate) ? yes : no)
    case .assignment(let name, let value):
      let value = operand(value)
      variables[name] = .some(value)
      return value
    case .cast(let value, let type):
      guard let target = CastKernel.Target(rawValue: type) else { misuse("CAST to the class \(type) is not known.") }
      return CastKernel.evaluate(Self.value(operand(value)), as: target)
    case .fetch(let request, let context, let countOnly):
      do { return try NestedFetch.value(value(of: request), value(of: context), countOnly: countOnly) } catch {
        misuse("The fetch within \(expression.format) failed: \(error)")
      }
    case .anyKey: misuse("The expression \(expression.format) cannot be evaluated in memory.")
    }
  }

  private func subquery(_ collection: Any?, _ name: String, _ condition: StoreQuery.Predicate) -> Any? {
    // What is assigned for one element is forgotten with it.
    (ObjectCollection.elements(collection) ?? []).filter { element in
      var inner = self
      inner.variables[name] = .some(element)
      return inner.evaluate(condition)
    }
  }

  private mutating func element(_ collection: StoreQuery.Expression, _ index: StoreQuery.Expression) -> Any? {
    let base = operand(collection)
    let elements = ObjectCollection.elements(base)
    switch index {
    case .firstIndex: return elements?.first ?? nil
    case .lastIndex: return elements?.last ?? nil
    case .sizeIndex: return elements.map { Value.int(Int64($0.count)) }
    default:
      guard let elements else {
        // `dictionary['key']`.
        return (value(of: index) as? String).flatMap { ObjectCollection.value(of: base, $0) }
      }
      guard case .int(let place) = Self.value(operand(index)), elements.indices.contains(Int(clamping: place)) else {
        return nil
      }
      return elements[Int(place)]
    }
  }
}
