/// Parses a format string by operator precedence, with its own stack instead of recursion.
///
/// One grammar covers predicates and expressions, because `(a + 1) > 2` and `(a > 1) OR b` begin alike. Each node knows
/// which of the two it is; that is checked only where it matters. So no text is parsed twice.
struct FormatParser {
  /// The greatest height of a tree that a format may describe. Parentheses do not count, and a chain of ANDs or ORs is
  /// one level. Measured: equality, hashing and release of such trees fit a stack of 512 KiB in unoptimized builds.
  static let heightLimit = 200

  let format: [UInt8]
  let tokens: [Token]
  let arguments: [FormatArgument]
  var index = 0
  var usedArguments = 0
  /// The operators and openings that still need an operand, outermost first.
  var pending: [Frame] = []

  init(_ format: String, _ arguments: [FormatArgument]) throws(FormatError) {
    self.format = Array(format.utf8)
    self.tokens = try Lexer.tokens(of: format)
    self.arguments = arguments
  }

  /// The node of the whole format.
  mutating func parseAll() throws(FormatError) -> Node {
    var root: Node?
    while root == nil { root = try continued(try operand()) }
    guard usedArguments == arguments.count, let root else {
      let message = "The format uses \(usedArguments) arguments, but \(arguments.count) were given."
      throw FormatError(position: format.count, found: "\(arguments.count) arguments", message: message)
    }
    return root
  }

  /// Parses prefix operators and openings, and the first operand after them.
  private mutating func operand() throws(FormatError) -> Node {
    while let frame = try opening() {
      pending.append(frame)
      if let node = try emptyList() { return node }
    }
    return try primary()
  }

  /// Parses the tokens after an operand, up to the next operand, or returns the root at the end of the format.
  private mutating func continued(_ operand: Node) throws(FormatError) -> Node? {
    var node = operand
    while true {
      if case .sign(let sign) = token.kind, let next = try postfix(node, sign) {
        node = next
      } else if let infix = Infix(token) {
        try shift(infix, after: node)
        return nil
      } else if case .sign(.openBracket) = token.kind {
        pending.append(Frame(.element, at: node.position, nodes: [node]))
        index += 1
        return nil
      } else if case .sign(.comma) = token.kind {
        try shiftComma(after: node)
        return nil
      } else {
        return try finished(node)
      }
    }
  }

  /// The node with the following keys, index or closing sign; nil if none of these follows.
  private mutating func postfix(_ node: Node, _ sign: Token.Sign) throws(FormatError) -> Node? {
    switch sign {
    case .dot: try keys(of: node)
    case .openBracket: try symbolicElement(of: node)
    case .closeParenthesis, .closeBrace, .closeBracket: try close(sign, after: node)
    default: nil
    }
  }

  /// Pushes an operator on the stack, with its left operand.
  private mutating func shift(_ infix: Infix, after operand: Node) throws(FormatError) {
    let left = try reduced(operand, before: infix)
    index += 1
    if infix.isChain, pending.last?.kind == .infix(infix) {
      pending[pending.count - 1].nodes.append(left)
      return
    }
    var frame = Frame(.infix(infix), at: left.position, nodes: [left])
    if case .comparison = infix { frame.options = try options() }
    pending.append(frame)
  }

  /// The node after applying all operators that bind tighter than the next one; all operators where `infix` is nil.
  private mutating func reduced(_ operand: Node, before infix: Infix?) throws(FormatError) -> Node {
    var node = operand
    while let frame = pending.last, let binding = frame.binding {
      if let infix, infix.precedence >= binding || (infix.isChain && frame.kind == .infix(infix)) { break }
      pending.removeLast()
      node = try build(frame, last: node)
    }
    return node
  }

  private mutating func shiftComma(after operand: Node) throws(FormatError) {
    let node = try reduced(operand, before: nil)
    guard pending.last?.isList == true else { throw failure(expected: pending.expectedEnd) }
    pending[pending.count - 1].nodes.append(node)
    index += 1
  }

  private mutating func close(_ sign: Token.Sign, after operand: Node) throws(FormatError) -> Node {
    let node = try reduced(operand, before: nil)
    guard let frame = pending.last, frame.closing == sign else { throw failure(expected: pending.expectedEnd) }
    pending.removeLast()
    index += 1
    return try build(frame, last: node)
  }

  /// An empty list, such as in `now()`, if the opened frame is closed at once.
  private mutating func emptyList() throws(FormatError) -> Node? {
    guard let frame = pending.last, frame.isList, let closing = frame.closing, take(closing) else { return nil }
    pending.removeLast()
    return try build(frame, last: nil)
  }

  private mutating func finished(_ operand: Node) throws(FormatError) -> Node {
    let node = try reduced(operand, before: nil)
    guard token.kind == .end, pending.isEmpty else { throw failure(expected: pending.expectedEnd) }
    return node
  }

  /// `[cdnl]` in any order and case; empty where no bracket follows the operator.
  private mutating func options() throws(FormatError) -> Predicate.Options {
    guard take(.openBracket) else { return [] }
    guard case .identifier(let letters) = token.kind else { throw failure(expected: "options such as 'cd'") }
    var options: Predicate.Options = []
    for letter in letters.unicodeScalars {
      guard let option = Predicate.Options(letter: letter) else { throw failure(expected: "options out of c, d, n, l") }
      options.insert(option)
    }
    index += 1
    guard take(.closeBracket) else { throw failure(expected: "']'") }
    return options
  }
}
