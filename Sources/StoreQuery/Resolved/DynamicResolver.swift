import StoreSchema

/// Makes programs for objects without a schema. A program looks keys up while it runs.
///
/// Resolving never fails: an expression that cannot be evaluated becomes a part that reports this when it is reached
/// (``DynamicForm/failure(_:)``).
public struct DynamicResolver {
  /// The variables of the enclosing subqueries, by their numbers.
  private var variables: [String: Int] = [:]
  private var depth = 0

  private init() {}

  /// The program of a predicate.
  public static func resolve(_ predicate: Predicate) -> ResolvedPredicate { DynamicResolver().test(predicate) }

  /// The program of an expression.
  public static func resolve(_ expression: Expression) -> ResolvedExpression { DynamicResolver().operand(expression) }

  private func test(_ predicate: Predicate) -> ResolvedPredicate {
    switch predicate {
    case .value(let value): .constant(value)
    case .and(let parts): .and(parts.map(test))
    case .or(let parts): .or(parts.map(test))
    case .not(let part): .not(test(part))
    case .variable(let name): .comparison(Self.unbound(name), .equalTo, .constant(.null), [])
    case .comparison(let comparison):
      .dynamic(
        DynamicComparison(modifier: comparison.modifier, op: comparison.op, options: comparison.options),
        operand(comparison.left), operand(comparison.right))
    }
  }

  private func operand(_ expression: Expression) -> ResolvedExpression {
    switch expression {
    case .literal(let literal): .constant(literal.value)
    case .nullObject: .constant(.null)
    case .object(let object): .dynamic(.object(object), [])
    case .evaluatedObject: .path(SlotPath(leaf: .object))
    case .variable(let name):
      variables[name].map { .path(SlotPath(variable: $0, leaf: .object)) } ?? .dynamic(.variable(name), [])
    case .keyPath(let path): .dynamic(.keyPath(path), [.path(SlotPath(leaf: .object))])
    case .keyPathOf(let base, let path): .dynamic(.keyPath(path), [operand(base)])
    case .aggregate(let elements): list(elements.map(operand))
    case .set(let operation, let left, let right): .dynamic(.set(operation), [operand(left), operand(right)])
    case .subquery(let collection, variable: let name, let condition): subquery(collection, name, condition)
    case .conditional(let condition, let yes, let no): .conditional(test(condition), operand(yes), operand(no))
    case .assignment(let name, let value): .dynamic(.assignment(name), [operand(value)])
    case .cast(let value, let type):
      Function.cast(to: type).map { .folded($0, [operand(value)]) }
        ?? .dynamic(.failure("CAST to the class \(type) is not known."), [])
    case .fetch(let request, let context, let countOnly):
      .dynamic(.fetch(countOnly: countOnly), [operand(request), operand(context)])
    case .function(let name, let arguments, target: nil): function(name, arguments)
    case .function(let name, let arguments, let target?):
      .dynamic(.method(name), [operand(target)] + arguments.map(operand))
    case .anyKey: .dynamic(.failure("The expression \(expression.format) cannot be evaluated in memory."), [])
    }
  }

  private static func unbound(_ name: String) -> ResolvedExpression {
    .dynamic(
      .failure("The predicate's variable $\(name) has no value; use withSubstitutionVariables(_:)."), [])
  }

  private func list(_ elements: [ResolvedExpression]) -> ResolvedExpression {
    var constants: [Value] = []
    for case .constant(let value) in elements { constants.append(value) }
    return constants.count == elements.count ? .collection(.constants(constants)) : .dynamic(.list, elements)
  }

  private func subquery(_ collection: Expression, _ name: String, _ condition: Predicate) -> ResolvedExpression {
    var inner = self
    inner.depth += 1
    inner.variables[name] = inner.depth
    // A condition that assigns to the subquery's own variable begins with one that was assigned the element.
    let isAssigned = condition.assignedVariables.contains(name)
    if isAssigned { inner.variables[name] = nil }
    var test = inner.test(condition)
    if isAssigned {
      let element = ResolvedExpression.path(SlotPath(variable: inner.depth, leaf: .object))
      let assignment = ResolvedPredicate.dynamic(
        DynamicComparison(modifier: .direct, op: .equalTo, options: []), .dynamic(.assignment(name), [element]), element
      )
      test = .and([.or([assignment, .constant(true)]), test])
    }
    return .collection(.filtered(.elements(of: operand(collection), .nothing), variable: inner.depth, test))
  }

  // MARK: Functions

  private func function(_ name: String, _ arguments: [Expression]) -> ResolvedExpression {
    guard let function = Function.named(name), function.castClass == nil, function.parameters.count == arguments.count
    else { return .dynamic(.failure("There is no function \(name) with such arguments."), []) }
    switch function.kernel {
    case .values, .random:
      let operands = arguments.map(operand)
      return function.takesLocations ? .dynamic(.function(function), operands) : .folded(function, operands)
    case .collection, .aggregate:
      guard let aggregate = ResolvedAggregate(function) else { return .constant(.null) }
      return .aggregate(aggregate, .elements(of: operand(arguments[0]), .elementUnlessNil))
    case .now: return .dynamic(.now, [])
    case .operand: return operand(arguments[0])
    case .distinct: return .dynamic(.distinct, [operand(arguments[0])])
    case .element: return element(of: operand(arguments[0]), arguments[1])
    }
  }

  private func element(of base: ResolvedExpression, _ index: Expression) -> ResolvedExpression {
    switch index {
    case .firstIndex: .dynamic(.element(.first), [base])
    case .lastIndex: .dynamic(.element(.last), [base])
    case .sizeIndex: .dynamic(.element(.size), [base])
    default: .dynamic(.element(.at), [base, operand(index)])
    }
  }
}
