/// A Swift source with its tokens, types and members. It is read from tokens alone, so that sources with errors and
/// conditional parts are read too.
struct SourceFile {
  /// The path, as it is in messages and in `#sourceLocation`.
  let path: String
  let bytes: [UInt8]
  let tokens: [Token]
  private let brackets: Brackets
  /// The types and extensions in their order, those inside of others and of functions included.
  private(set) var types: [TypeBody] = []
  /// The members of types, and the declarations of the file, in their order.
  private(set) var declarations: [Declaration] = []
  /// The types by the tokens of their keywords, as indexes.
  private(set) var typesByKeyword: [Int: Int] = [:]
  /// The lines of branches that are never compiled off Apple's platforms.
  let skipped: SkippedLines
  /// The members of each type.
  private(set) var members: [Int: [Declaration]] = [:]

  init(path: String, bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
    tokens = Lexer.tokens(bytes)
    skipped = SkippedLines(tokens, bytes)
    brackets = Brackets(tokens, bytes, skipped)
    let structure = StructureReader(bytes: bytes, tokens: tokens, brackets: brackets, skipped: skipped).read()
    types = structure.types
    declarations = structure.declarations
    for (index, type) in types.enumerated() { typesByKeyword[type.keyword] = index }
    for declaration in declarations {
      if let owner = declaration.owner { members[owner, default: []].append(declaration) }
    }
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
  func text(_ index: Int) -> String { tokens.indices.contains(index) ? text(tokens[index].range) : "" }

  /// The text from a token to before another one, without space at the end.
  func text(tokens range: Range<Int>) -> String {
    guard let first = range.first, let last = range.last else { return "" }
    return text(tokens[first].range.lowerBound..<tokens[last].range.upperBound)
  }

  /// The text of tokens on one line, without comments.
  func oneLine(_ range: Range<Int>) -> String {
    var result = ""
    for index in range {
      if index > range.lowerBound, tokens[index].followsSpace { result += " " }
      result += text(index).split(whereSeparator: \.isNewline).joined(separator: " ")
    }
    return result
  }

  /// The name without backticks.
  func name(_ index: Int) -> String { text(index).filter { $0 != "`" } }

  func isMark(_ index: Int, _ mark: Character) -> Bool {
    tokens.indices.contains(index) && tokens[index].kind == .mark
      && bytes[tokens[index].range.lowerBound] == mark.asciiValue
  }

  func isWord(_ index: Int, _ word: String) -> Bool {
    tokens.indices.contains(index) && tokens[index].kind == .word && text(index) == word
  }

  /// The token that closes the bracket at a token; nil where nothing does.
  func closing(_ index: Int) -> Int? { brackets.closing(index) }
}

extension SourceFile {
  /// A directive that gives the line behind it this number in messages.
  func location(_ line: Int) -> String {
    let quoted = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "#sourceLocation(file: \"\(quoted)\", line: \(line))"
  }

  /// The name in `@objc(name)`; nil where none is stated.
  func objectiveCName(_ declaration: Declaration) -> String? {
    guard let arguments = declaration.attribute("objc")?.arguments else { return nil }
    let name = text(tokens: arguments).filter { !$0.isWhitespace }
    let isName = !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || "_:$".contains($0) }
    return isName ? name : nil
  }

  /// The module of an import, whatever kind of declaration it names.
  func imported(_ declaration: Declaration) -> String {
    let kinds: Set<String> = ["class", "struct", "enum", "protocol", "func", "typealias", "let", "var"]
    let index = declaration.keywordIndex + 1
    return name(kinds.contains(text(index)) ? index + 1 : index)
  }
}

/// A type or an extension with its braces.
struct TypeBody: Hashable {
  enum Kind: Hashable { case `class`, `extension`, `protocol`, other }

  var kind: Kind
  /// The name with those of the types around it, such as `Outer.Inner`; of an extension as it is written.
  var name: String
  /// What stands behind the colon, such as `NSManagedObject`.
  var inherited: [String]
  /// The tokens of the braces. The closing one is nil where the file ends before.
  var open: Int
  var close: Int?
  /// The token of its keyword.
  var keyword: Int
  /// The names of its attributes, such as `objcMembers`.
  var attributes: Set<String>
  /// The branches of `#if` around it, from the outside, but for those that are always compiled.
  var conditions: [Branch]
  var isGeneric = false
  /// Whether it has the modifier `public` or `open`.
  var isPublic = false
  /// The offset behind the colon, or behind the name, at which a further protocol can be added.
  var inheritanceOffset: Int
}

/// A declaration with its attributes and modifiers.
struct Declaration: Hashable {
  struct Attribute: Hashable {
    /// The name without `@`.
    var name: String
    /// The tokens, with the arguments.
    var tokens: Range<Int>
    /// The tokens between the parentheses; nil for none.
    var arguments: Range<Int>?
  }

  /// `var`, `func` and so on.
  var keyword: String
  var keywordIndex: Int
  /// The first token of the attributes and modifiers.
  var start: Int
  var attributes: [Attribute]
  /// The modifiers with their tokens, such as `private(set)`.
  var modifiers: [(name: String, tokens: Range<Int>)]
  /// The type that it is a member of, as an index of `types`; nil in a file.
  var owner: Int?
  /// The branches of `#if` around it, from the outside, but for those that are always compiled.
  var conditions: [Branch]

  func has(_ modifier: String) -> Bool { modifiers.contains { $0.name == modifier } }
  func attribute(_ name: String) -> Attribute? { attributes.first { $0.name == name } }

  static func == (one: Declaration, other: Declaration) -> Bool {
    one.keywordIndex == other.keywordIndex && one.start == other.start
  }
  func hash(into hasher: inout Hasher) { hasher.combine(keywordIndex) }
}

/// Which brackets belong together.
struct Brackets {
  /// For each token that is an opening bracket, the one that closes it.
  private let partners: [Int: Int]

  /// One pass over the tokens. The text of a literal is not looked into, but its interpolations are.
  init(_ tokens: [Token], _ bytes: [UInt8], _ skipped: SkippedLines) {
    var partners: [Int: Int] = [:]
    var open: [(bracket: UInt8, index: Int)] = []
    for (index, token) in tokens.enumerated() where token.kind == .mark && !skipped.contains(token.line) {
      switch bytes[token.range.lowerBound] {
      case UInt8(ascii: "("): open.append((UInt8(ascii: ")"), index))
      case UInt8(ascii: "["): open.append((UInt8(ascii: "]"), index))
      case UInt8(ascii: "{"): open.append((UInt8(ascii: "}"), index))
      case let mark where mark == open.last?.bracket:
        if let last = open.popLast() { partners[last.index] = index }
      default: break
      }
    }
    self.partners = partners
  }

  /// The token that closes the bracket at a token; nil where nothing does, and for other tokens.
  func closing(_ index: Int) -> Int? { partners[index] }
}
