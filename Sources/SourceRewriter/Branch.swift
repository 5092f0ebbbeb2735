/// A branch of `#if` with the directives that lead to it, such as `#if A` and `#elseif B`.
struct Branch: Hashable {
  /// The texts of the directives; the last one begins the branch.
  private(set) var directives: [String]
  /// Whether the branch is compiled where rewritten sources are, which is off Apple's platforms; nil where the sources
  /// do not show it.
  private(set) var isCompiled: Bool?
  /// Whether a branch before it is compiled: false if none is, nil if one may be.
  private var isDecided: Bool?
  /// More branches has no condition that people write.
  private static let most = 64

  init(_ directive: String) {
    directives = [directive]
    isCompiled = ConditionReader.value(directive)
    isDecided = isCompiled
  }

  /// The branch that another directive of the same condition begins.
  func next(_ directive: String) -> Branch {
    var branch = self
    if directives.count < Self.most { branch.directives.append(directive) }
    let value = ConditionReader.value(directive)
    switch isDecided {
    case true?: branch.isCompiled = false
    case false?: branch.isCompiled = value
    case nil: branch.isCompiled = value == false ? false : nil
    }
    // A branch that is not known to be compiled leaves the rest open.
    branch.isDecided = isDecided == true || branch.isCompiled == true ? true : (value == false ? isDecided : nil)
    return branch
  }

  /// The text of the line of a directive.
  static func line(at index: Int, _ tokens: [Token], _ bytes: [UInt8]) -> String {
    var text = ""
    for next in index..<min(index + 500, tokens.count) where tokens[next].line == tokens[index].line {
      if tokens[next].followsSpace, next > index { text += " " }
      text += String(decoding: bytes[tokens[next].range], as: UTF8.self)
    }
    return text
  }

  /// Whether its directives are all kept, so that it can be written again.
  var isComplete: Bool { directives.count < Self.most }
}

/// The lines of branches that are never compiled off Apple's platforms. They may contain anything.
struct SkippedLines {
  /// In their order, without overlaps.
  private var ranges: [Range<Int>] = []

  init(_ tokens: [Token], _ bytes: [UInt8]) {
    // The branch of each condition that is open, and the line of the directive from which on lines are skipped.
    var open: [(branch: Branch, line: Int?)] = []
    var (deeper, skipping) = (0, 0)
    for (index, token) in tokens.enumerated() where token.kind == .directive {
      let word = String(decoding: bytes[token.range], as: UTF8.self)
      switch word {
      case "#if" where open.count >= Self.deepest: deeper += 1
      case "#endif" where deeper > 0: deeper -= 1
      case "#if", "#elseif", "#else", "#endif":
        guard deeper == 0 else { continue }
        let last = word == "#if" ? nil : open.popLast()
        if let line = last?.line {
          skipping -= 1
          ranges.append(line + 1..<max(line + 1, token.line))
        }
        if word == "#endif" || word != "#if" && last == nil { continue }
        let text = Branch.line(at: index, tokens, bytes)
        let branch = last?.branch.next(text) ?? Branch(text)
        let isSkipped = branch.isCompiled == false && skipping == 0
        if isSkipped { skipping += 1 }
        open.append((branch, isSkipped ? token.line : nil))
      default: break
      }
    }
  }

  private static let deepest = 256

  func contains(_ line: Int) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound <= line { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(line)
  }
}

extension [Branch] {
  /// A text within the same branches. It begins and ends on lines of its own.
  func around(_ text: String) -> String {
    flatMap(\.directives).map { $0 + "\n" }.joined() + text + String(repeating: "\n#endif", count: count)
  }
}

/// Reads a condition of `#if`: true, false, or nil where it depends on more than the system.
private struct ConditionReader {
  private let words: [String]
  private var position = 0
  private var depth = 0
  private static let deepest = 32

  static func value(_ directive: String) -> Bool? {
    let bytes = Array(directive.utf8)
    let words = Lexer.tokens(bytes).map { String(decoding: bytes[$0.range], as: UTF8.self) }
    if words.first == "#else" { return true }
    var reader = ConditionReader(words: Array(words.dropFirst()))
    let value = reader.either()
    // A condition with a rest was not understood.
    return reader.position == reader.words.count ? value : nil
  }

  private init(words: [String]) { self.words = words }

  private func word(_ offset: Int = 0) -> String {
    position + offset < words.count ? words[position + offset] : ""
  }

  /// Marks are tokens of one character, so that an operator is two.
  private mutating func takes(_ mark: String) -> Bool {
    guard word() == mark, word(1) == mark else { return false }
    position += 2
    return true
  }

  private mutating func either() -> Bool? {
    var result = both()
    while takes("|") {
      let next = both()
      result = result == true || next == true ? true : (result == false ? next : (next == false ? result : nil))
    }
    return result
  }

  private mutating func both() -> Bool? {
    var result = single()
    while takes("&") {
      let next = single()
      result = result == false || next == false ? false : (result == true ? next : (next == true ? result : nil))
    }
    return result
  }

  private mutating func single() -> Bool? {
    depth += 1
    defer { depth -= 1 }
    guard depth < Self.deepest else { return nil }
    if word() == "!" {
      position += 1
      return single().map { !$0 }
    }
    if word() == "(" {
      position += 1
      let value = either()
      if word() == ")" { position += 1 }
      return value
    }
    let name = word()
    position += 1
    guard word() == "(" else { return ["true": true, "false": false][name] }
    let arguments = words[(position + 1)...].prefix { $0 != ")" }
    position = min(arguments.endIndex + 1, words.count)
    return Self.value(of: name, Array(arguments))
  }

  private static let appleSystems: Set<String> = ["OSX", "iOS", "macOS", "tvOS", "visionOS", "watchOS"]
  private static let appleModules: Set<String> = ["AppKit", "Cocoa", "ObjectiveC", "UIKit"]
  private static let modules: Set<String> = ["CoreData", "Foundation", "Swift"]

  private static func value(of name: String, _ arguments: [String]) -> Bool? {
    let first = arguments.first ?? ""
    switch name {
    case "os": return appleSystems.contains(first) ? false : nil
    case "canImport":
      return appleModules.contains(first) ? false : (modules.contains(first) && arguments.count == 1 ? true : nil)
    case "targetEnvironment": return ["macCatalyst", "simulator"].contains(first) ? false : nil
    case "_runtime": return first == "_Native"
    // Rewritten sources need a compiler of version 6. The language may be that of version 4.
    case "compiler", "swift":
      let limit = name == "compiler" ? 5 : 4
      guard let version = arguments.last?.split(separator: ".").first.flatMap({ Int($0) }), version <= limit else {
        return nil
      }
      return arguments.dropLast() == [">", "="] ? true : (arguments.dropLast() == ["<"] ? false : nil)
    default: return nil
    }
  }
}
