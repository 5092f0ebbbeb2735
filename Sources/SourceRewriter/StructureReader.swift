/// Finds the types and members of a source. Function bodies are passed over but for types in them.
struct StructureReader {
  let bytes: [UInt8]
  let tokens: [Token]
  private let brackets: Brackets
  private var types: [TypeBody] = []
  private var declarations: [Declaration] = []
  /// The brackets that are open.
  private var scopes: [Scope] = []
  private let skipped: SkippedLines
  /// Each `#if` that is open: the brackets that were open at it, and the branch.
  private var conditions: [(scopes: [Scope], branch: Branch)] = []
  /// The number of open brackets beyond those that are kept. More is nested in no source that people write.
  private var deeper = 0
  /// The number of open conditions beyond those that are kept.
  private var deeperConditions = 0
  /// Where the last search for a declaration ended without one: none begins before.
  private var searched = 0
  private static let deepest = 256
  private static let longest = 500
  /// A type whose brace comes next.
  private var pending: TypeBody?

  private struct Scope {
    var bracket: UInt8
    /// The type whose brace it is.
    var type: Int?
  }

  init(bytes: [UInt8], tokens: [Token], brackets: Brackets, skipped: SkippedLines) {
    (self.bytes, self.tokens, self.brackets, self.skipped) = (bytes, tokens, brackets, skipped)
  }

  func read() -> (types: [TypeBody], declarations: [Declaration]) {
    var reader = self
    var index = 0
    while index < tokens.count { index = reader.step(index) }
    return (reader.types, reader.declarations)
  }

  private func text(_ index: Int) -> String {
    tokens.indices.contains(index) ? String(decoding: bytes[tokens[index].range], as: UTF8.self) : ""
  }

  private func mark(_ index: Int) -> UInt8? {
    tokens.indices.contains(index) && tokens[index].kind == .mark ? bytes[tokens[index].range.lowerBound] : nil
  }

  /// Reads what begins at a token, and returns the next one.
  private mutating func step(_ index: Int) -> Int {
    if tokens[index].kind != .directive, skipped.contains(tokens[index].line) { return index + 1 }
    switch tokens[index].kind {
    case .directive: condition(index)
    case .mark: bracket(index)
    case .word, .attribute:
      if index >= searched, mayBeginDeclaration(index), let next = declaration(index) { return next }
    default: break
    }
    return index + 1
  }

  /// The brackets of a branch are those that were open at `#if`.
  private mutating func condition(_ index: Int) {
    switch text(index) {
    case "#if":
      if conditions.count < Self.deepest {
        conditions.append((scopes, Branch(Branch.line(at: index, tokens, bytes))))
      } else {
        deeperConditions += 1
      }
    case "#elseif", "#else":
      if deeperConditions == 0, let saved = conditions.popLast() {
        scopes = saved.scopes
        conditions.append((saved.scopes, saved.branch.next(Branch.line(at: index, tokens, bytes))))
      }
    case "#endif": if deeperConditions > 0 { deeperConditions -= 1 } else { _ = conditions.popLast() }
    default: break
    }
  }

  /// The branches around what is read now, but for those that are always compiled.
  private var branches: [Branch] { conditions.map(\.branch).filter { $0.isCompiled != true } }

  private mutating func bracket(_ index: Int) {
    if let opening = mark(index), [UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "[")].contains(opening),
      scopes.count >= Self.deepest
    {
      deeper += 1
      pending = nil
      return
    }
    switch mark(index) {
    case UInt8(ascii: "{"):
      var scope = Scope(bracket: UInt8(ascii: "}"), type: nil)
      if var type = pending {
        type.open = index
        types.append(type)
        scope.type = types.count - 1
        pending = nil
      }
      scopes.append(scope)
    case UInt8(ascii: "("): scopes.append(Scope(bracket: UInt8(ascii: ")"), type: nil))
    case UInt8(ascii: "["): scopes.append(Scope(bracket: UInt8(ascii: "]"), type: nil))
    case let closing? where [UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]")].contains(closing):
      if deeper > 0 {
        deeper -= 1
        return
      }
      guard scopes.last?.bracket == closing, let scope = scopes.popLast() else { return }
      if let type = scope.type { types[type].close = index }
    default: break
    }
  }

  /// Declarations begin a line, or follow a brace or a semicolon, and are in no parentheses.
  private func mayBeginDeclaration(_ index: Int) -> Bool {
    if let last = scopes.last, last.bracket != UInt8(ascii: "}") { return false }
    if tokens[index].isFirstOnLine || index == 0 { return true }
    return mark(index - 1).map { [UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ";")].contains($0) } ?? false
  }

  // MARK: Declarations

  private static let modifiers: Set<String> = [
    "public", "private", "fileprivate", "internal", "package", "open", "final", "dynamic", "override", "static", "lazy",
    "weak", "unowned", "optional", "required", "convenience", "mutating", "nonmutating", "indirect", "nonisolated",
    "isolated", "async", "prefix", "postfix", "infix", "consuming", "borrowing", "distributed",
  ]
  private static let keywords: Set<String> = [
    "var", "let", "func", "init", "deinit", "subscript", "class", "struct", "enum", "actor", "protocol", "extension",
    "import", "typealias", "associatedtype", "case", "operator", "precedencegroup", "macro",
  ]
  private static let types: Set<String> = ["class", "struct", "enum", "actor", "protocol", "extension"]

  /// Reads attributes, modifiers and the keyword of a declaration. Returns the token behind the keyword, or behind a
  /// directive that was read; nil where no declaration begins here.
  private mutating func declaration(_ start: Int) -> Int? {
    var attributes: [Declaration.Attribute] = []
    var modifiers: [(name: String, tokens: Range<Int>)] = []
    var index = start
    // A directive must not be read twice.
    var behindDirective: Int?
    defer { searched = max(searched, index) }
    while index < tokens.count {
      let word = text(index)
      switch tokens[index].kind {
      case .attribute:
        var end = index + 1
        var arguments: Range<Int>?
        if mark(end) == UInt8(ascii: "("), !tokens[end].followsSpace || word == "@objc",
          let close = brackets.closing(end)
        {
          arguments = end + 1..<close
          end = close + 1
        }
        attributes.append(.init(name: String(word.dropFirst()), tokens: index..<end, arguments: arguments))
        index = end
      case .directive:
        // A condition may contain an attribute.
        let line = tokens[index].line
        guard ["#if", "#elseif", "#else", "#endif"].contains(word), !attributes.isEmpty else {
          return behindDirective
        }
        condition(index)
        while index < tokens.count, tokens[index].line == line { index += 1 }
        behindDirective = index
      case .word where Self.keywords.contains(word) && !isModifier(index):
        add(
          Declaration(
            keyword: word, keywordIndex: index, start: start, attributes: attributes, modifiers: modifiers,
            owner: scopes.last?.type, conditions: branches))
        return index + 1
      case .word where Self.modifiers.contains(word) || word == "class":
        var end = index + 1
        if mark(end) == UInt8(ascii: "("), let close = brackets.closing(end) { end = close + 1 }
        modifiers.append((word, index..<end))
        index = end
      default: return behindDirective
      }
    }
    return behindDirective
  }

  /// `class` before another keyword or modifier is a modifier.
  private func isModifier(_ index: Int) -> Bool {
    let next = text(index + 1)
    return text(index) == "class" && (Self.keywords.contains(next) || Self.modifiers.contains(next))
  }

  private mutating func add(_ declaration: Declaration) {
    // What functions declare is of no interest, but for types.
    if scopes.isEmpty || scopes.last?.type != nil { declarations.append(declaration) }
    guard Self.types.contains(declaration.keyword) else { return }
    var index = declaration.keywordIndex + 1
    guard index < tokens.count, tokens[index].kind == .word else { return }
    var name = text(index)
    index += 1
    while mark(index) == UInt8(ascii: "."), index + 1 < tokens.count, tokens[index + 1].kind == .word {
      name += "." + text(index + 1)
      index += 2
    }
    let afterName = tokens[index - 1].range.upperBound
    let (inherited, afterColon) = inheritance(index)
    let outer = scopes.compactMap(\.type).last.map { types[$0].name + "." } ?? ""
    let kinds: [String: TypeBody.Kind] = ["class": .class, "extension": .extension, "protocol": .protocol]
    pending = TypeBody(
      kind: kinds[declaration.keyword] ?? .other, name: declaration.keyword == "extension" ? name : outer + name,
      inherited: inherited, open: declaration.keywordIndex, close: nil, keyword: declaration.keywordIndex,
      attributes: Set(declaration.attributes.map(\.name)), conditions: branches,
      isGeneric: mark(index) == UInt8(ascii: "<"),
      isPublic: declaration.has("public") || declaration.has("open"), inheritanceOffset: afterColon ?? afterName)
  }

  /// The names behind the colon of a type's header, and the offset behind the colon.
  private func inheritance(_ start: Int) -> (names: [String], offset: Int?) {
    var (index, depth) = (start, 0)
    var names: [String] = []
    var offset: Int?
    var current = ""
    while index < min(tokens.count, start + Self.longest) {
      let word = text(index)
      switch mark(index) {
      case UInt8(ascii: "<"), UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ">"), UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      let next = mark(index)
      if next == UInt8(ascii: "}") || next == UInt8(ascii: ";") { break }
      if depth == 0, next == UInt8(ascii: "{") || word == "where" { break }
      if depth == 0, mark(index) == UInt8(ascii: ":"), offset == nil {
        offset = tokens[index].range.upperBound
      } else if offset != nil {
        if depth == 0, mark(index) == UInt8(ascii: ",") {
          names.append(current)
          current = ""
        } else {
          current += word
        }
      }
      index += 1
    }
    if !current.isEmpty { names.append(current) }
    return (names, offset)
  }
}
