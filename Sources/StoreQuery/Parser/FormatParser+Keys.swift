extension FormatParser {
  /// Parses the keys after an operand.
  mutating func keys(of node: Node) throws(FormatError) -> Node {
    let base = try expression(node)
    var keys: [String] = []
    while take(.dot) { keys.append(try key()) }
    let path = keys.joined(separator: ".")
    switch base {
    case .evaluatedObject: return try self.node(.expression(.keyPath(path)), at: node.position)
    case .keyPath(let first): return try self.node(.expression(.keyPath(first + "." + path)), at: node.position)
    case .keyPathOf(let base, let first):
      let content = Node.Content.expression(.keyPathOf(base, first + "." + path))
      return Node(content: content, height: node.height, position: node.position)
    default: return try self.node(.expression(.keyPathOf(base, path)), above: node.height, at: node.position)
    }
  }

  /// A key after a dot, where no word is reserved.
  private mutating func key() throws(FormatError) -> String {
    switch token.kind {
    case .identifier(let name) where !name.utf8.contains(UInt8(ascii: ":")):
      index += 1
      return name
    case .escaped(let name), .operatorKey(let name):
      index += 1
      return name
    case .substitution(.keyPath): return try keyPathArgument()
    default: throw failure(expected: "a key after '.'")
    }
  }

  /// Parses `[FIRST]`, `[LAST]` or `[SIZE]`; nil for any other index.
  mutating func symbolicElement(of node: Node) throws(FormatError) -> Node? {
    guard let word = following.keyword, let symbol = Expression.indexSymbols[word], index + 2 < tokens.count,
      tokens[index + 2].kind == .sign(.closeBracket)
    else { return nil }
    let function = Expression.function("objectFrom:withIndex:", [try expression(node), symbol], target: nil)
    index += 3
    return try self.node(.expression(function), above: node.height, at: node.position)
  }
}

extension Expression {
  /// `FIRST` in `a[FIRST]`: a function with that name without arguments, as are ``lastIndex`` and ``sizeIndex``.
  public static let firstIndex = Expression.function("FIRST", [], target: nil)
  /// `LAST` in `a[LAST]`.
  public static let lastIndex = Expression.function("LAST", [], target: nil)
  /// `SIZE` in `a[SIZE]`, which is the number of elements.
  public static let sizeIndex = Expression.function("SIZE", [], target: nil)

  static let indexSymbols = ["FIRST": firstIndex, "LAST": lastIndex, "SIZE": sizeIndex]
}
