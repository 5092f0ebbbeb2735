import StoreSchema

extension FormatParser {
  /// The expression of `name(…)`: a keyword of the grammar or a function by name.
  func call(_ name: String, _ nodes: [Node], at position: Int) throws(FormatError) -> Expression {
    switch name.uppercased() {
    case "SUBQUERY": return try subquery(nodes, at: position)
    case "CAST": return try cast(nodes, at: position)
    case "TERNARY": return try ternary(nodes, at: position)
    case "FETCH": return try fetch(nodes, at: position)
    case "FUNCTION": return try function(nodes, at: position)
    default: return try function(named: name, nodes, at: position)
    }
  }

  /// `SUBQUERY(collection, $variable, predicate)`.
  private func subquery(_ nodes: [Node], at position: Int) throws(FormatError) -> Expression {
    guard nodes.count == 3, case .expression(.variable(let name)) = nodes[1].content else {
      throw failure(at: position, expected: "SUBQUERY with a collection, a variable such as '$x' and a predicate")
    }
    return .subquery(try expression(nodes[0]), variable: name, try predicate(nodes[2]))
  }

  /// `TERNARY(predicate, yes, no)`.
  private func ternary(_ nodes: [Node], at position: Int) throws(FormatError) -> Expression {
    guard nodes.count == 3 else {
      throw failure(at: position, expected: "TERNARY with a predicate and two expressions")
    }
    return .conditional(try predicate(nodes[0]), try expression(nodes[1]), try expression(nodes[2]))
  }

  /// `FETCH(request, context, countOnly)`.
  private func fetch(_ nodes: [Node], at position: Int) throws(FormatError) -> Expression {
    guard nodes.count == 3, let countOnly = try expression(nodes[2]).constantBool else {
      throw failure(at: position, expected: "FETCH with a request, a context and YES or NO")
    }
    return .fetch(try expression(nodes[0]), context: try expression(nodes[1]), countOnly: countOnly)
  }

  /// `CAST(value, 'ClassName')`; a constant where the cast denotes one.
  private func cast(_ nodes: [Node], at position: Int) throws(FormatError) -> Expression {
    guard nodes.count == 2, case .string(let type) = try expression(nodes[1]).literal else {
      throw failure(at: position, expected: "CAST with a value and the name of a class")
    }
    let value = try expression(nodes[0])
    return TypedLiteral.value(of: value, as: type).map(Expression.constant) ?? .cast(value, type)
  }

  /// `FUNCTION(target, 'selector:', argument, …)`.
  private func function(_ nodes: [Node], at position: Int) throws(FormatError) -> Expression {
    guard nodes.count >= 2, case .string(let selector) = try expression(nodes[1]).literal else {
      throw failure(at: position, expected: "FUNCTION with a receiver and the name of a selector")
    }
    let arguments = try expressions(Array(nodes.dropFirst(2)))
    return .function(selector, arguments, target: try expression(nodes[0]))
  }

  /// `sum(x)`, `now()`, `modulus:by:(a, b)`. Whether such a function exists is checked at evaluation.
  private func function(named name: String, _ nodes: [Node], at position: Int) throws(FormatError) -> Expression {
    let arguments = try expressions(nodes)
    guard let selector = FunctionName.selector(name, argumentCount: arguments.count) else {
      let message = "The function '\(name)' at offset \(position) cannot take \(arguments.count) arguments."
      throw failure(at: position, expected: "another number of arguments", message: message)
    }
    return selector == "castObject:toType:"
      ? try cast(nodes, at: position) : .function(selector, arguments, target: nil)
  }
}

extension Expression {
  /// The truth value of a constant. Numbers are true unless they are zero.
  fileprivate var constantBool: Bool? {
    switch literal {
    case .bool(let value): value
    case .int(let value): value != 0
    default: nil
    }
  }
}
