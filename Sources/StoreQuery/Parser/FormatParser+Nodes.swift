extension FormatParser {
  func node(_ content: Node.Content, above height: Int = 0, at position: Int) throws(FormatError) -> Node {
    guard height < Self.heightLimit else { throw tooDeep() }
    return Node(content: content, height: height + 1, position: position)
  }

  /// A node of the current token as a whole expression.
  mutating func leaf(_ expression: Expression) -> Node { leaf(.expression(expression)) }

  mutating func leaf(_ content: Node.Content) -> Node {
    defer { index += 1 }
    return Node(content: content, height: 1, position: token.range.lowerBound)
  }

  func expression(_ node: Node) throws(FormatError) -> Expression {
    guard case .expression(let expression) = node.content else {
      throw failure(at: node.position, expected: "an expression, not a predicate,")
    }
    return expression
  }

  func expressions(_ nodes: [Node]) throws(FormatError) -> [Expression] {
    var expressions: [Expression] = []
    for node in nodes { expressions.append(try expression(node)) }
    return expressions
  }

  /// The node as a predicate. A variable counts as one.
  func predicate(_ node: Node) throws(FormatError) -> Predicate {
    switch node.content {
    case .predicate(let predicate): return predicate
    case .expression(.variable(let name)): return .variable(name)
    case .expression:
      let message = "The expression at offset \(node.position) is not a predicate: a comparison operator is missing."
      throw failure(at: node.position, expected: "a predicate", message: message)
    }
  }

  func predicates(_ nodes: [Node]) throws(FormatError) -> [Predicate] {
    var predicates: [Predicate] = []
    for node in nodes { predicates.append(try predicate(node)) }
    return predicates
  }

  // MARK: Tokens

  var token: Token { tokens[min(index, tokens.count - 1)] }

  /// The token after the current one.
  var following: Token { tokens[min(index + 1, tokens.count - 1)] }

  mutating func take(_ sign: Token.Sign) -> Bool {
    guard token.kind == .sign(sign) else { return false }
    index += 1
    return true
  }

  // MARK: Errors

  func failure(at position: Int? = nil, expected: String, message: String? = nil) -> FormatError {
    let position = position ?? token.range.lowerBound
    let token = tokens.first { $0.range.lowerBound >= position } ?? token
    return FormatError(position: position, expected: expected, found: text(of: token), message: message)
  }

  func tooDeep() -> FormatError {
    let position = token.range.lowerBound
    let message = "The format describes a tree of more than \(Self.heightLimit) levels at offset \(position)."
    return FormatError(position: position, found: text(of: token), message: message)
  }

  private func text(of token: Token) -> String {
    token.kind == .end ? "the end" : "'" + String(decoding: format[token.range], as: UTF8.self) + "'"
  }
}
