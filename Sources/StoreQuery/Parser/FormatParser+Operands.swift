import StoreSchema

extension FormatParser {
  /// Operator words between operands. They cannot be keys unless `#` escapes them.
  private static let infixWords: Set<String> = [
    "AND", "OR", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES",
  ]

  private static let prefixWords: [String: Prefix] = [
    "NOT": .not, "ANY": .any, "SOME": .any, "ALL": .all, "NONE": .none,
  ]

  /// The frame of a prefix operator, a parenthesis, a brace or a call at the current token, which is consumed.
  mutating func opening() throws(FormatError) -> Frame? {
    let position = token.range.lowerBound
    guard let kind = openingKind() else { return nil }
    index += 1
    if case .call = kind { index += 1 }
    return Frame(kind, at: position)
  }

  private func openingKind() -> Frame.Kind? {
    switch token.kind {
    case .sign(.not): .prefix(.not)
    case .sign(.minus): isSignOfNumber ? nil : .prefix(.negate)
    case .sign(.plus): .prefix(.plus)
    case .sign(.complement): .prefix(.complement)
    case .sign(.openParenthesis): .group
    case .sign(.openBrace): .aggregate
    case .identifier(let name): openingKind(of: name)
    default: nil
    }
  }

  private func openingKind(of name: String) -> Frame.Kind? {
    let word = name.uppercased()
    if let prefix = Self.prefixWords[word] { return .prefix(prefix) }
    return following.kind == .sign(.openParenthesis) && !Self.infixWords.contains(word) ? .call(name) : nil
  }

  /// Whether the minus at the current token belongs to a number alone. A power, key or index after the number would
  /// bind tighter than the sign.
  private var isSignOfNumber: Bool {
    guard case .number = following.kind else { return false }
    guard index + 2 < tokens.count, case .sign(let sign) = tokens[index + 2].kind else { return true }
    return sign != .power && sign != .dot && sign != .openBracket
  }

  /// Whether the current token starts `<null>`.
  private var isNullObject: Bool {
    index + 2 < tokens.count && tokens[index + 1].kind == .identifier("null")
      && tokens[index + 2].kind == .sign(.greater)
  }

  /// Parses an operand of one token, or of two for a negative number.
  mutating func primary() throws(FormatError) -> Node {
    switch token.kind {
    case .number(let text): return leaf(.constant(try number(text, negative: false)))
    case .string(let text): return leaf(.constant(.string(text)))
    case .variable(let name): return leaf(.variable(name))
    case .escaped(let name), .operatorKey(let name): return leaf(.keyPath(name))
    case .substitution(let kind): return try substitution(kind)
    case .identifier(let name): return try named(name)
    case .sign(.minus): return try negativeNumber()
    case .sign(.less) where isNullObject:
      index += 2
      return leaf(.nullObject)
    default: throw failure(expected: "a value, a key path or a predicate")
    }
  }

  private mutating func negativeNumber() throws(FormatError) -> Node {
    let position = token.range.lowerBound
    index += 1
    guard case .number(let text) = token.kind else { throw failure(expected: "a number") }
    var node = leaf(.constant(try number(text, negative: true)))
    node.position = position
    return node
  }

  /// Parses a keyword or the first key of a key path.
  private mutating func named(_ name: String) throws(FormatError) -> Node {
    let word = name.uppercased()
    if name.utf8.contains(UInt8(ascii: ":")) {
      index += 1
      throw failure(expected: "'(' after the function name '\(name)'")
    }
    guard !Self.infixWords.contains(word) else {
      throw failure(expected: "a value or a key path before '\(name)'")
    }
    switch word {
    case "NULL", "NIL": return leaf(.constant(.null))
    case "TRUE", "YES": return leaf(.constant(.bool(true)))
    case "FALSE", "NO": return leaf(.constant(.bool(false)))
    case "SELF": return leaf(.evaluatedObject)
    case "ANYKEY": return leaf(.anyKey)
    case "TRUEPREDICATE": return leaf(.predicate(.value(true)))
    case "FALSEPREDICATE": return leaf(.predicate(.value(false)))
    default: return leaf(.keyPath(name))
    }
  }
}
