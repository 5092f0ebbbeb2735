import StoreSchema

/// Replaces assigned variables by their assigned expressions, so that stores get no `$name := value`.
///
/// It follows the order of evaluation: left to right, and only evaluated parts assign. If an object's values decide
/// whether an assignment is evaluated, the variable cannot be replaced: such a predicate is rejected.
struct AssignmentReplacement {
  private enum Binding: Equatable {
    case value(Expression)
    /// The reason why the variable has no known value.
    case unknown(String)
  }
  private typealias Bindings = [String: Binding]

  /// The number of parts that may still be inserted. Variables that are assigned to each other repeatedly could make an
  /// enormous predicate of a short one.
  private var budget = 10_000

  /// Variables are nil before they are assigned.
  private static func start(_ names: Set<String>) -> Bindings {
    Dictionary(uniqueKeysWithValues: names.map { ($0, .value(.constant(.null))) })
  }

  static func replace(_ predicate: Predicate) throws(ResolutionError) -> Predicate {
    let names = predicate.assignedVariables
    if names.isEmpty { return predicate }
    var replacement = AssignmentReplacement()
    let result = try replacement.predicate(predicate, start(names)).predicate
    if TreeHeight.isExceeded(by: result) { throw tooLarge }
    return result
  }

  static func replace(_ expression: Expression) throws(ResolutionError) -> Expression {
    let names = expression.assignedVariables
    if names.isEmpty { return expression }
    var (replacement, bindings) = (AssignmentReplacement(), start(names))
    let result = try replacement.expression(expression, &bindings)
    if TreeHeight.isExceeded(by: result) { throw tooLarge }
    return result
  }

  private static let tooLarge = ResolutionError.unsupported(
    "The values of the predicate's assigned variables make it too large for a fetch; assign simpler ones.")

  // MARK: Predicates

  /// A predicate without assignments, and the assignments after it, where it was true and where it was false.
  private typealias Replaced = (predicate: Predicate, whenTrue: Bindings, whenFalse: Bindings)

  private mutating func predicate(
    _ predicate: Predicate, _ bindings: Bindings
  ) throws(ResolutionError) -> Replaced {
    switch predicate {
    case .value, .variable: return (predicate, bindings, bindings)
    case .and(let parts):
      let (parts, all, one) = try sequence(parts, bindings, goesOnWhen: true)
      return (.and(parts), all, one)
    case .or(let parts):
      let (parts, none, one) = try sequence(parts, bindings, goesOnWhen: false)
      return (.or(parts), one, none)
    case .not(let part):
      let replaced = try self.predicate(part, bindings)
      return (.not(replaced.predicate), replaced.whenFalse, replaced.whenTrue)
    case .comparison(var comparison):
      var bindings = bindings
      comparison.left = try expression(comparison.left, &bindings)
      comparison.right = try expression(comparison.right, &bindings)
      return (.comparison(comparison), bindings, bindings)
    }
  }

  /// Parts that are evaluated one after another until one is not `isGoingOn`. Returns also the assignments where all
  /// parts were evaluated, and where one of them was the last.
  private mutating func sequence(
    _ parts: [Predicate], _ bindings: Bindings, goesOnWhen isGoingOn: Bool
  ) throws(ResolutionError) -> (parts: [Predicate], afterAll: Bindings, afterOne: Bindings) {
    var (result, current) = ([Predicate](), bindings)
    var ends: Bindings?
    for part in parts {
      let replaced = try predicate(part, current)
      result.append(replaced.predicate)
      let (next, end) =
        isGoingOn ? (replaced.whenTrue, replaced.whenFalse) : (replaced.whenFalse, replaced.whenTrue)
      ends = ends.map { Self.merged($0, end) } ?? end
      current = next
    }
    return (result, current, ends ?? current)
  }

  private static func merged(_ a: Bindings, _ b: Bindings) -> Bindings {
    a.merging(b) { x, y in
      x == y ? x : .unknown("it depends on the object which assignment to it was evaluated")
    }
  }

  // MARK: Expressions

  private mutating func expression(
    _ expression: Expression, _ bindings: inout Bindings
  ) throws(ResolutionError) -> Expression {
    switch expression {
    case .literal, .nullObject, .object, .evaluatedObject, .keyPath, .anyKey: return expression
    case .variable(let name): return try value(of: name, bindings) ?? expression
    case .assignment(let name, let value):
      let value = try self.expression(value, &bindings)
      bindings[name] = .value(value)
      return value
    case .keyPathOf(let base, let path): return try self.expression(base, &bindings).key(path)
    case .cast(let value, let type): return .cast(try self.expression(value, &bindings), type)
    case .aggregate(let elements): return .aggregate(try expressions(elements, &bindings))
    case .function(let name, let arguments, let target):
      var replaced: Expression?
      if let target { replaced = try self.expression(target, &bindings) }
      return .function(name, try expressions(arguments, &bindings), target: replaced)
    case .set(let operation, let left, let right):
      return .set(operation, try self.expression(left, &bindings), try self.expression(right, &bindings))
    case .fetch(let request, let context, let countOnly):
      return .fetch(
        try self.expression(request, &bindings), context: try self.expression(context, &bindings),
        countOnly: countOnly)
    case .subquery(let collection, let variable, let condition):
      let collection = try self.expression(collection, &bindings)
      let inner = try predicate(condition, Self.within(variable, bindings))
      return .subquery(collection, variable: variable, inner.predicate)
    case .conditional(let condition, let yes, let no):
      var (condition, whenTrue, whenFalse) = try predicate(condition, bindings)
      let yes = try self.expression(yes, &whenTrue)
      let no = try self.expression(no, &whenFalse)
      bindings = Self.merged(whenTrue, whenFalse)
      return .conditional(condition, yes, no)
    }
  }

  private mutating func expressions(
    _ list: [Expression], _ bindings: inout Bindings
  ) throws(ResolutionError) -> [Expression] {
    var result: [Expression] = []
    for element in list { result.append(try expression(element, &bindings)) }
    return result
  }

  /// Nil for a variable that is not assigned.
  private mutating func value(of name: String, _ bindings: Bindings) throws(ResolutionError) -> Expression? {
    switch bindings[name] {
    case nil: return nil
    case .unknown(let reason):
      throw .unsupported(
        "A fetch cannot tell what $\(name) is: \(reason). Assign it before, in a part that is always evaluated.")
    case .value(let value):
      budget -= value.partCount(upTo: budget + 1)
      if budget < 0 { throw Self.tooLarge }
      return value
    }
  }

  /// The assignments within a subquery. The subquery's variable hides others with its name.
  private static func within(_ variable: String, _ bindings: Bindings) -> Bindings {
    var inner = bindings.mapValues { binding in
      if case .value(let value) = binding, value.mentions(variable) {
        Binding.unknown("its value is about $\(variable), of which there is another one here")
      } else {
        binding
      }
    }
    inner[variable] = nil
    return inner
  }
}

extension Expression {
  /// The number of parts, counted up to `limit`.
  fileprivate func partCount(upTo limit: Int) -> Int {
    var count = 0
    visit { _ in
      count += 1
      return count < limit
    }
    return count
  }

  /// Whether the variable occurs in it.
  fileprivate func mentions(_ variable: String) -> Bool {
    var isFound = false
    visit { part in
      isFound = isFound || part == .variable(variable)
      return !isFound
    }
    return isFound
  }

  /// Visits all expressions in it until `body` returns false.
  private func visit(_ body: (Expression) -> Bool) {
    var pending = [self]
    while let next = pending.popLast() {
      guard body(next) else { return }
      pending += TreeHeight.expressions(in: next)
    }
  }
}
