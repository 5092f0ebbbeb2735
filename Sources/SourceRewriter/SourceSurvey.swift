/// What a source imports, declares and names, in the branches of `#if` that are compiled where there is none of Apple's
/// frameworks.
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
  /// The names of types, protocols and type aliases that stand in no other type.
  public private(set) var declared: Set<String> = []
  /// Every word and the name of every attribute, with the line of its first use.
  public private(set) var words: [String: Int] = [:]
  /// Whether the program begins here: `@main`, or a file of the name `main.swift`.
  public private(set) var isEntry = false

  /// Reads a source. Any bytes are accepted.
  public init(_ source: Rewriter.Source) {
    let file = SourceFile(path: source.path, bytes: source.bytes)
    isEntry = source.path.split(separator: "/").last == "main.swift"
    var branches = Branches()
    var depth = 0
    let kinds: Set<String> = ["class", "struct", "enum", "protocol", "actor", "typealias"]
    for index in file.tokens.indices {
      let token = file.tokens[index]
      if token.kind == .directive, branches.read(index, in: file) { continue }
      guard branches.isCompiled, token.line != branches.line else { continue }
      let text = file.name(index)
      switch token.kind {
      case .word:
        if words[text] == nil { words[text] = token.line }
        if text == "import", !file.isMark(index - 1, ".") { add(index, in: file) }
        if depth == 0, kinds.contains(text), index + 1 < file.tokens.count, file.tokens[index + 1].kind == .word {
          declared.insert(file.name(index + 1))
        }
      case .attribute:
        if text == "@main" { isEntry = true }
        if words[text] == nil { words[text] = token.line }
      case .mark:
        if file.isMark(index, "{") { depth += 1 }
        if file.isMark(index, "}") { depth -= 1 }
      default: break
      }
    }
  }

  private mutating func add(_ index: Int, in file: SourceFile) {
    let kinds: Set<String> = ["class", "struct", "enum", "protocol", "func", "typealias", "let", "var"]
    let name = index + (kinds.contains(file.text(index + 1)) ? 2 : 1)
    guard file.tokens.indices.contains(name), file.tokens[name].kind == .word else { return }
    imports.append(Import(module: file.name(name), line: file.tokens[index].line))
  }
}

/// The branches of `#if` around a token.
private struct Branches {
  /// For each `#if` that is open: whether the branch is compiled, and whether any branch before it was.
  private var open: [(isCompiled: Bool, wasCompiled: Bool)] = []
  /// The number of open conditions that are not compiled.
  private var left = 0
  /// The line of the last directive: its words are those of a condition.
  private(set) var line = 0

  var isCompiled: Bool { left == 0 }

  /// Returns false for what is no directive of a condition.
  mutating func read(_ index: Int, in file: SourceFile) -> Bool {
    switch file.text(index) {
    case "#if": push(isCompiled: Condition.holds(index, in: file), wasCompiled: false)
    case "#elseif":
      guard let last = pop() else { return true }
      let was = last.isCompiled || last.wasCompiled
      push(isCompiled: !was && Condition.holds(index, in: file), wasCompiled: was)
    case "#else":
      guard let last = pop() else { return true }
      push(isCompiled: !(last.isCompiled || last.wasCompiled), wasCompiled: true)
    case "#endif": _ = pop()
    default: return false
    }
    line = file.tokens[index].line
    return true
  }

  private mutating func push(isCompiled: Bool, wasCompiled: Bool) {
    open.append((isCompiled, wasCompiled))
    if !isCompiled { left += 1 }
  }

  private mutating func pop() -> (isCompiled: Bool, wasCompiled: Bool)? {
    guard let last = open.popLast() else { return nil }
    if !last.isCompiled { left -= 1 }
    return last
  }
}

/// The condition of an `#if` where there is none of Apple's frameworks.
private enum Condition {
  private static let modules: Set<String> = [
    "CoreData", "Dispatch", "Foundation", "Glibc", "Swift", "Testing", "XCTest",
  ]

  /// Whether it holds. Flags, such as `DEBUG`, and conditions that are not known hold.
  static func holds(_ directive: Int, in file: SourceFile) -> Bool {
    var results: [Bool] = []
    // The operators and opening parentheses before the next operand, as in Dijkstra's shunting yard.
    var waiting: [Character] = []
    func apply(_ mark: Character) {
      guard let right = results.popLast() else { return }
      if mark == "!" { return results.append(!right) }
      guard let left = results.popLast() else { return results.append(right) }
      results.append(mark == "&" ? left && right : left || right)
    }
    func strength(_ mark: Character) -> Int { ["|": 1, "&": 2, "!": 3][mark] ?? 0 }
    let line = file.tokens[directive].line
    var index = directive + 1
    while index < file.tokens.count, file.tokens[index].line == line {
      if file.tokens[index].kind == .word {
        let close = file.isMark(index + 1, "(") ? file.closing(index + 1) : nil
        results.append(value(file.text(index), argument: close == nil ? "" : file.name(index + 2)))
        index = close ?? index
      } else if let mark = file.text(index).first {
        switch mark {
        case "(", "!": waiting.append(mark)
        case ")":
          while let last = waiting.popLast(), last != "(" { apply(last) }
        case "&" where file.isMark(index + 1, "&"), "|" where file.isMark(index + 1, "|"):
          while let last = waiting.last, strength(last) >= strength(mark) { apply(waiting.removeLast()) }
          waiting.append(mark)
          index += 1
        default: break
        }
      }
      index += 1
    }
    while let last = waiting.popLast() { apply(last) }
    return results.last ?? true
  }

  private static func value(_ name: String, argument: String) -> Bool {
    switch name {
    case "os": argument == "Linux"
    case "canImport": modules.contains(argument)
    case "targetEnvironment", "false": false
    default: true
    }
  }
}
