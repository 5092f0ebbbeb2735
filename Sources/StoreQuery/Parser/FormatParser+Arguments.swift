import StoreSchema

extension FormatParser {
  /// Parses a substitution where an operand is expected.
  mutating func substitution(_ kind: Token.Substitution) throws(FormatError) -> Node {
    if kind == .keyPath {
      let position = token.range.lowerBound
      let path = try keyPathArgument()
      return try node(.expression(path.uppercased() == "SELF" ? .evaluatedObject : .keyPath(path)), at: position)
    }
    let argument = try nextArgument()
    switch argument {
    case .value(let value):
      guard kind.accepts(value) else { throw mismatch(kind) }
      return leaf(.constant(value))
    case _ where kind != .object && kind != .pointer: throw mismatch(kind)
    case .predicate(var predicate):
      var height = TreeHeight.height(of: predicate)
      if height > Self.heightLimit / 2 {
        predicate = predicate.flattened
        height = TreeHeight.height(of: predicate)
      }
      return try inserted(.predicate(predicate), height)
    default:
      let expression = try inserted(argument, 1)
      return try inserted(.expression(expression), TreeHeight.height(of: expression))
    }
  }

  /// The key path of a `%K`. The token is consumed.
  mutating func keyPathArgument() throws(FormatError) -> String {
    switch try nextArgument() {
    case .keyPath(let path), .value(.string(let path)), .expression(.keyPath(let path)):
      index += 1
      return path
    default: throw mismatch(.keyPath)
    }
  }

  private mutating func nextArgument() throws(FormatError) -> FormatArgument {
    guard usedArguments < arguments.count else {
      let message = "The format asks for more than the \(arguments.count) arguments that were given."
      throw failure(expected: "an argument", message: message)
    }
    defer { usedArguments += 1 }
    return arguments[usedArguments]
  }

  private mutating func inserted(_ content: Node.Content, _ height: Int) throws(FormatError) -> Node {
    defer { index += 1 }
    return try node(content, above: height - 1, at: token.range.lowerBound)
  }

  private func inserted(_ argument: FormatArgument, _ depth: Int) throws(FormatError) -> Expression {
    guard depth < Self.heightLimit else { throw tooDeep() }
    switch argument {
    case .value(let value): return .constant(value)
    case .keyPath(let path): return .keyPath(path)
    case .expression(let expression): return expression
    case .predicate:
      throw failure(
        expected: "a value", message: "Argument \(usedArguments) is a predicate inside a collection.")
    case .array(let elements):
      var expressions: [Expression] = []
      for element in elements { expressions.append(try inserted(element, depth + 1)) }
      return .aggregate(expressions)
    }
  }

  private func mismatch(_ kind: Token.Substitution) -> FormatError {
    let message = "Argument \(usedArguments) is not \(kind.accepted), as its substitution asks."
    return failure(expected: kind.accepted, message: message)
  }
}

extension Token.Substitution {
  fileprivate var accepted: String {
    switch self {
    case .object, .pointer: "an object"
    case .keyPath: "a key path or a string"
    case .integer, .real: "a number"
    case .text: "a string"
    }
  }

  /// Whether a substitution accepts a value. Any numeric type accepts a number of any kind, and any pointer accepts
  /// null.
  fileprivate func accepts(_ value: Value) -> Bool {
    switch (self, value) {
    case (.object, _), (.pointer, _): true
    case (.integer, .int), (.integer, .bool), (.integer, .double), (.integer, .decimal): true
    case (.real, .int), (.real, .bool), (.real, .double), (.real, .decimal): true
    case (.text, .string), (.text, .null): true
    default: false
    }
  }
}
