/// What a source imports, declares and names, but for branches of `#if` that are never compiled off Apple's platforms.
public struct SourceSurvey: Hashable, Sendable {
  /// An import, with its line.
  public struct Import: Hashable, Sendable {
    /// The module, without the names of submodules and of declarations.
    public var module: String
    /// From 1.
    public var line: Int
  }

  /// The imports in their order.
  public private(set) var imports: [Import] = []
  /// The names of types, protocols and type aliases that stand in no other type and are not private to the file.
  public private(set) var declared: Set<String> = []
  /// The names of all types of the file, those in others and private ones too.
  public private(set) var types: Set<String> = []
  /// The names of functions, variables and constants that stand in no type or in an extension.
  public private(set) var members: Set<String> = []
  /// Every word and the name of every attribute, with the line of its first use.
  public private(set) var words: [String: Int] = [:]
  /// The modules that a condition of `#if` asks for.
  public private(set) var checkedModules: Set<String> = []

  /// Reads a source. Any bytes are accepted.
  public init(_ source: Rewriter.Source) {
    let file = SourceFile(path: source.path, bytes: source.bytes)
    var depth = 0
    var directive = 0
    // A brace that each branch of a condition opens is one brace: the depth where each condition begins.
    var conditions: [Int] = []
    let kinds: Set<String> = ["class", "struct", "enum", "protocol", "actor", "typealias"]
    for declaration in file.declarations where ["func", "var", "let"].contains(declaration.keyword) {
      let owner = declaration.owner.map { file.types[$0].kind }
      let isPrivate = declaration.has("private") || declaration.has("fileprivate")
      if owner == nil || owner == .extension, !isPrivate { members.insert(file.name(declaration.keywordIndex + 1)) }
    }
    for index in file.tokens.indices {
      let token = file.tokens[index]
      let text = file.name(index)
      if token.kind == .directive {
        if text == "#if" { conditions.append(depth) }
        if ["#elseif", "#else"].contains(text) { depth = conditions.last ?? depth }
        if text == "#endif" { _ = conditions.popLast() }
        if ["#if", "#elseif"].contains(text) { directive = token.line }
      }
      if token.line == directive {
        if text == "canImport" { checkedModules.insert(file.name(index + 2)) }
        continue
      }
      guard !file.skipped.contains(token.line) else { continue }
      switch token.kind {
      case .word:
        if words[text] == nil { words[text] = token.line }
        if text == "import", !file.isMark(index - 1, ".") { add(index, in: file) }
        if kinds.contains(text), index + 1 < file.tokens.count, file.tokens[index + 1].kind == .word {
          types.insert(file.name(index + 1))
          if depth == 0, !isPrivate(index, in: file) { declared.insert(file.name(index + 1)) }
        }
      case .attribute:
        if words[text] == nil { words[text] = token.line }
      case .mark:
        if file.isMark(index, "{") { depth += 1 }
        if file.isMark(index, "}") { depth -= 1 }
      default: break
      }
    }
  }

  /// Whether one of the modifiers directly before a keyword makes the declaration one of its file.
  private func isPrivate(_ index: Int, in file: SourceFile) -> Bool {
    var before = index - 1
    while before >= max(0, index - 8), file.tokens[before].kind == .word || file.tokens[before].kind == .attribute {
      if file.isWord(before, "private") || file.isWord(before, "fileprivate") { return true }
      before -= 1
    }
    return false
  }

  private mutating func add(_ index: Int, in file: SourceFile) {
    let kinds: Set<String> = ["class", "struct", "enum", "protocol", "func", "typealias", "let", "var"]
    let name = index + (kinds.contains(file.text(index + 1)) ? 2 : 1)
    guard file.tokens.indices.contains(name), file.tokens[name].kind == .word else { return }
    imports.append(Import(module: file.name(name), line: file.tokens[index].line))
  }
}
