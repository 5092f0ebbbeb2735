/// Limits the depth of trees, because evaluating, resolving and printing them recurse once for each level.
public enum TreeHeight {
  /// The limit of the format language.
  public static let limit = FormatParser.heightLimit

  /// The text that is printed for a deeper tree.
  public static let excuse = "(nested deeper than \(limit) levels)"

  private enum Node {
    case predicate(Predicate)
    case expression(Expression)
  }

  /// Whether a tree exceeds the limit. Checked without recursion.
  public static func isExceeded(by predicate: Predicate) -> Bool { height(of: .predicate(predicate)) > limit }
  /// Whether a tree exceeds the limit. Checked without recursion.
  public static func isExceeded(by expression: Expression) -> Bool { height(of: .expression(expression)) > limit }

  static func height(of predicate: Predicate) -> Int { height(of: .predicate(predicate)) }
  static func height(of expression: Expression) -> Int { height(of: .expression(expression)) }

  /// The number of levels, counted up to the first one beyond the limit.
  private static func height(of root: Node) -> Int {
    var (pending, height) = ([(node: root, depth: 1)], 0)
    while let (node, depth) = pending.popLast() {
      height = max(height, depth)
      if depth > limit { return depth }
      for child in children(node) { pending.append((child, depth + 1)) }
    }
    return height
  }

  private static func children(_ node: Node) -> [Node] {
    switch node {
    case .predicate(.and(let parts)), .predicate(.or(let parts)): parts.map(Node.predicate)
    case .predicate(.not(let inner)): [.predicate(inner)]
    case .predicate(.comparison(let comparison)): [.expression(comparison.left), .expression(comparison.right)]
    case .predicate(.value), .predicate(.variable): []
    case .expression(let expression): children(expression)
    }
  }

  /// The direct operands of an expression, including those inside of its predicates.
  static func expressions(in expression: Expression) -> [Expression] {
    var (result, pending) = ([Expression](), children(expression))
    while let node = pending.popLast() {
      switch node {
      case .expression(let part): result.append(part)
      case .predicate: pending += children(node)
      }
    }
    return result
  }

  private static func children(_ expression: Expression) -> [Node] {
    switch expression {
    case .literal, .nullObject, .object, .evaluatedObject, .variable, .keyPath, .anyKey: []
    case .keyPathOf(let inner, _), .assignment(_, let inner), .cast(let inner, _): [.expression(inner)]
    case .function(_, let arguments, let target): (arguments + [target].compactMap { $0 }).map(Node.expression)
    case .aggregate(let elements): elements.map(Node.expression)
    case .set(_, let left, let right): [.expression(left), .expression(right)]
    case .subquery(let collection, variable: _, let predicate): [.expression(collection), .predicate(predicate)]
    case .conditional(let condition, let yes, let no): [.predicate(condition), .expression(yes), .expression(no)]
    case .fetch(let request, let context, countOnly: _): [.expression(request), .expression(context)]
    }
  }
}

extension Predicate {
  /// The same predicate with nested conjunctions, or nested disjunctions, combined to one: a chain that was built step
  /// by step is as deep as it is long.
  var flattened: Predicate {
    var (parts, pending, isAnd) = ([Predicate](), [self], false)
    if case .and = self { isAnd = true }
    while let part = pending.popLast() {
      switch part {
      case .and(let inner) where isAnd: pending += inner.reversed()
      case .or(let inner) where !isAnd: pending += inner.reversed()
      default: parts.append(part)
      }
    }
    switch self {
    case .and: return .and(parts)
    case .or: return .or(parts)
    default: return self
    }
  }
}
