/// How deep trees may be: what evaluates, resolves and prints them calls itself once a level.
public enum TreeHeight {
  /// What the format language refuses too.
  public static let limit = FormatParser.heightLimit

  private enum Node {
    case predicate(Predicate)
    case expression(Expression)
  }

  /// Whether a tree is deeper than the limit; found without recursion.
  public static func isExceeded(by predicate: Predicate) -> Bool {
    var pending = [(node: Node.predicate(predicate), depth: 1)]
    while let (node, depth) = pending.popLast() {
      if depth > limit { return true }
      for child in children(node) { pending.append((child, depth + 1)) }
    }
    return false
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
