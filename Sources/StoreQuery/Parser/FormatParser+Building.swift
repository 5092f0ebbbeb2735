import StoreSchema

extension FormatParser {
  /// The node of an operator or opening whose operands are complete.
  func build(_ frame: Frame, last: Node?) throws(FormatError) -> Node {
    let nodes = frame.nodes + (last.map { [$0] } ?? [])
    let height = nodes.lazy.map(\.height).max() ?? 0
    guard let first = nodes.first, let last = nodes.last else {
      return try built(frame, try list(frame, nodes), above: 0)
    }
    return switch frame.kind {
    case .group: Node(content: last.content, height: last.height, position: frame.position)
    case .prefix(let prefix): try build(prefix, last, at: frame.position)
    case .infix(let infix): try built(frame, try content(infix, frame.options, nodes, first, last), above: height)
    case .element: try built(frame, try element(of: first, at: last), above: height)
    case .aggregate, .call: try built(frame, try list(frame, nodes), above: height)
    }
  }

  private func built(_ frame: Frame, _ content: Node.Content, above height: Int) throws(FormatError) -> Node {
    guard height < Self.heightLimit else { throw tooDeep() }
    return Node(content: content, height: height + 1, position: frame.position)
  }

  private func element(of base: Node, at index: Node) throws(FormatError) -> Node.Content {
    let arguments = [try expression(base), try expression(index)]
    return .expression(.function("objectFrom:withIndex:", arguments, target: nil))
  }

  private func list(_ frame: Frame, _ nodes: [Node]) throws(FormatError) -> Node.Content {
    if case .call(let name) = frame.kind { return .expression(try call(name, nodes, at: frame.position)) }
    return .expression(.aggregate(try expressions(nodes)))
  }

  private func content(
    _ infix: Infix, _ options: Predicate.Options, _ nodes: [Node], _ left: Node, _ right: Node
  ) throws(FormatError) -> Node.Content {
    switch infix {
    case .or: return .predicate(.or(try predicates(nodes)))
    case .and: return .predicate(.and(try predicates(nodes)))
    case .comparison(let op):
      return .predicate(.comparison(.init(try expression(left), op, try expression(right), options: options)))
    case .function(let selector, _):
      return .expression(.function(selector, [try expression(left), try expression(right)], target: nil))
    case .set(let operation):
      return .expression(.set(operation, try expression(left), try expression(right)))
    case .assignment:
      guard case .expression(.variable(let name)) = left.content else {
        throw failure(at: left.position, expected: "a variable on the left of ':='")
      }
      return .expression(.assignment(name, try expression(right)))
    }
  }

  // MARK: Prefixes

  private func build(_ prefix: Prefix, _ operand: Node, at position: Int) throws(FormatError) -> Node {
    switch prefix {
    case .plus: return operand
    case .negate: return try unary("negate:", operand, at: position)
    case .complement: return try unary("onesComplement:", operand, at: position)
    case .not: return try negated(operand, at: position)
    case .any: return try quantified(.any, operand, at: position)
    case .all: return try quantified(.all, operand, at: position)
    // `NONE x` means `NOT ANY x`.
    case .none: return try negated(try quantified(.any, operand, at: position), at: position)
    }
  }

  private func unary(_ selector: String, _ operand: Node, at position: Int) throws(FormatError) -> Node {
    let function = Expression.function(selector, [try expression(operand)], target: nil)
    return try node(.expression(function), above: operand.height, at: position)
  }

  private func negated(_ operand: Node, at position: Int) throws(FormatError) -> Node {
    try node(.predicate(.not(try predicate(operand))), above: operand.height, at: position)
  }

  private func quantified(
    _ modifier: Predicate.Modifier, _ operand: Node, at position: Int
  ) throws(FormatError) -> Node {
    guard case .predicate(.comparison(var comparison)) = operand.content, comparison.modifier == .direct else {
      throw failure(at: position, expected: "a modifier with one comparison after it")
    }
    comparison.modifier = modifier
    return Node(content: .predicate(.comparison(comparison)), height: operand.height, position: position)
  }
}
