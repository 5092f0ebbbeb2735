import StoreQuery
import StoreSchema

/// Visits all parts of a syntax tree, with a worklist instead of recursion.
struct PredicateWalk {
  enum Part {
    case predicate(StoreQuery.Predicate)
    case expression(StoreQuery.Expression)
  }

  /// Parts to visit, each with the variables that subqueries around it bind.
  private var pending: [(part: Part, bound: Set<String>)]

  /// Variables in `bound` have a value everywhere in the tree.
  init(_ tree: StoreQuery.Predicate, bound: Set<String> = []) { pending = [(.predicate(tree), bound)] }

  init(_ expression: StoreQuery.Expression) { pending = [(.expression(expression), [])] }

  mutating func next() -> (part: Part, bound: Set<String>)? {
    guard let next = pending.popLast() else { return nil }
    switch next.part {
    case .predicate(let predicate): add(partsOf: predicate, next.bound)
    case .expression(let expression): add(partsOf: expression, next.bound)
    }
    return next
  }

  private mutating func add(partsOf predicate: StoreQuery.Predicate, _ bound: Set<String>) {
    switch predicate {
    case .value, .variable: break
    case .and(let parts), .or(let parts): for part in parts { pending.append((.predicate(part), bound)) }
    case .not(let part): pending.append((.predicate(part), bound))
    case .comparison(let comparison):
      pending.append((.expression(comparison.left), bound))
      pending.append((.expression(comparison.right), bound))
    }
  }

  private mutating func add(partsOf expression: StoreQuery.Expression, _ bound: Set<String>) {
    switch expression {
    case .literal, .nullObject, .object, .evaluatedObject, .variable, .keyPath, .anyKey: break
    case .keyPathOf(let inner, _), .assignment(_, let inner), .cast(let inner, _):
      pending.append((.expression(inner), bound))
    case .function(_, let arguments, let target):
      for part in arguments + (target.map { [$0] } ?? []) { pending.append((.expression(part), bound)) }
    case .aggregate(let parts): for part in parts { pending.append((.expression(part), bound)) }
    case .set(_, let left, let right), .fetch(let left, context: let right, countOnly: _):
      pending.append((.expression(left), bound))
      pending.append((.expression(right), bound))
    case .subquery(let collection, variable: let variable, let predicate):
      pending.append((.expression(collection), bound))
      pending.append((.predicate(predicate), bound.union([variable])))
    case .conditional(let predicate, let yes, let no):
      pending.append((.predicate(predicate), bound))
      pending.append((.expression(yes), bound))
      pending.append((.expression(no), bound))
    }
  }

  /// The `$variables` that the predicate neither assigns nor binds in a subquery.
  static func variables(of tree: StoreQuery.Predicate) -> Set<String> {
    var walk = PredicateWalk(tree, bound: tree.assignedVariables)
    var result: Set<String> = []
    while let (part, bound) = walk.next() {
      switch part {
      case .predicate(.variable(let name)), .expression(.variable(let name)):
        if !bound.contains(name) { result.insert(name) }
      default: continue
      }
    }
    return result
  }

  /// Whether a key path has one of these keys.
  mutating func reaches(_ names: Set<String>) -> Bool {
    if names.isEmpty { return false }
    while let (part, _) = next() {
      switch part {
      case .expression(.keyPath(let path)), .expression(.keyPathOf(_, let path)):
        if path.split(separator: ".").contains(where: { names.contains(String($0)) }) { return true }
      default: continue
      }
    }
    return false
  }

  /// Whether constants of the tree are objects or IDs.
  static func namesObjects(_ tree: StoreQuery.Predicate) -> Bool {
    var walk = PredicateWalk(tree)
    while let (part, _) = walk.next() {
      switch part {
      case .expression(.object), .expression(.fetch): return true
      default: continue
      }
    }
    return false
  }

  /// The text of the first part that cannot be evaluated in memory; nil if there is none.
  static func obstacle(in tree: StoreQuery.Predicate) -> String? {
    var walk = PredicateWalk(tree, bound: tree.assignedVariables)
    while let (part, bound) = walk.next() {
      switch part {
      case .predicate(.variable(let name)): return "$" + name
      case .predicate(.comparison(let comparison)) where comparison.op == .customSelector:
        return StoreQuery.Predicate.comparison(comparison).format
      case .predicate: continue
      case .expression(let expression): if !isEvaluable(expression, bound) { return expression.format }
      }
    }
    return nil
  }

  private static func isEvaluable(_ expression: StoreQuery.Expression, _ bound: Set<String>) -> Bool {
    switch expression {
    case .literal, .nullObject, .object, .evaluatedObject, .aggregate, .conditional, .set, .subquery, .assignment: true
    case .keyPath(let path), .keyPathOf(_, let path):
      path.utf8.count { $0 == UInt8(ascii: ".") } < TreeHeight.limit
        && path.split(separator: ".").allSatisfy {
          !$0.hasPrefix("@") || ObjectCollection.knows(collectionOperator: String($0))
        }
    case .function("FIRST", [], target: nil), .function("LAST", [], target: nil), .function("SIZE", [], target: nil):
      true
    case .function(LocationKernel.selector, let arguments, target: nil):
      arguments.count == 2 && arguments.allSatisfy(isMaybeLocation)
    case .function(let name, let arguments, target: nil):
      Function.named(name).map { $0.castClass == nil && $0.parameters.count == arguments.count } ?? false
    case .variable(let name): bound.contains(name)
    case .cast(_, let type): Function.cast(to: type) != nil
    case .function(ExpressionBlock.selector, _, .object(_)?), .fetch: true
    case .function(let name, let arguments, target: _?): MethodRegistry.knows(name, argumentCount: arguments.count)
    case .anyKey: false
    }
  }

  /// Whether the argument may be a location for `distanceToLocation`, as far as its form says.
  private static func isMaybeLocation(_ argument: StoreQuery.Expression) -> Bool {
    switch argument {
    case .literal(let literal): literal.value.isNull
    case .aggregate(let elements): elements.count == 2
    case .cast, .conditional, .nullObject, .object, .evaluatedObject, .variable, .keyPath, .keyPathOf, .function, .set,
      .subquery, .assignment, .anyKey, .fetch:
      true
    }
  }
}
