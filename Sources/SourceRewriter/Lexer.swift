/// Cuts a Swift source into tokens. It knows string literals with interpolations, raw and multi-line ones, nested
/// comments, regular expression literals, and directives. It accepts any bytes: what ends too early ends with the file.
///
/// The grammar: https://docs.swift.org/swift-book/documentation/the-swift-programming-language/lexicalstructure/
struct Lexer {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var lineOfLastToken = 0
  private var endOfLastToken = -1
  private var tokens: [Token] = []
  /// Whether a regular expression with pounds was found to have no end.
  private var hasNoEnd = false
  /// The string literals whose interpolations are open, from the outside to the inside.
  private var open: [OpenString] = []

  private struct OpenString {
    var pounds: Int
    var isMultiline: Bool
    /// The number of parentheses that are open in the interpolation.
    var depth = 0
  }

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The tokens of a source in their order.
  static func tokens(_ bytes: [UInt8]) -> [Token] {
    var lexer = Lexer(bytes)
    lexer.run()
    return lexer.tokens
  }

  private func byte(_ offset: Int) -> UInt8 {
    let index = position + offset
    return index >= 0 && index < bytes.count ? bytes[index] : 0
  }

  private func starts(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { text in
      position + text.count <= bytes.count && bytes[position..<position + text.count].elementsEqual(text)
    }
  }

  private mutating func run() {
    // The mark of UTF-8.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    if starts("#!") { skipLine() }
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\n"):
        line += 1
        position += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), 0x0B, 0x0C, 0: position += 1
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"): skipLine()
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): skipComment()
      default: token()
      }
    }
  }

  private mutating func skipLine() {
    while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
  }

  /// Comments between slashes and stars are nested.
  private mutating func skipComment() {
    var depth = 0
    repeat {
      if starts("/*") {
        depth += 1
        position += 2
      } else if starts("*/") {
        depth -= 1
        position += 2
      } else {
        if byte(0) == UInt8(ascii: "\n") { line += 1 }
        position += 1
      }
    } while depth > 0 && position < bytes.count
  }

  private mutating func add(_ kind: Token.Kind, from start: Int, line first: Int) {
    // The text behind an interpolation may be empty, at the end of a line.
    if start == position { return }
    tokens.append(
      Token(
        kind: kind, range: start..<position, line: first, isFirstOnLine: first != lineOfLastToken,
        followsSpace: start != endOfLastToken))
    lineOfLastToken = line
    endOfLastToken = position
  }

  // MARK: Tokens

  private mutating func token() {
    let (start, first, current) = (position, line, bytes[position])
    switch current {
    case UInt8(ascii: "@"):
      position += 1
      skipWord()
      add(.attribute, from: start, line: first)
    case UInt8(ascii: "#"): pound()
    case UInt8(ascii: "\""): string(pounds: 0, from: start)
    case UInt8(ascii: "`"):
      let end = bytes[(start + 1)...].firstIndex { $0 == UInt8(ascii: "`") || $0 == UInt8(ascii: "\n") }
      position = end.map { bytes[$0] == UInt8(ascii: "`") ? $0 + 1 : $0 } ?? bytes.count
      add(.word, from: start, line: first)
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      number()
      add(.number, from: start, line: first)
    case UInt8(ascii: "/") where canBeginRegex:
      if !regex(pounds: 0, from: start) { mark() }
    case UInt8(ascii: "("), UInt8(ascii: ")"):
      parenthesis()
    default:
      if Self.isWord(current) {
        skipWord()
        add(.word, from: start, line: first)
      } else {
        mark()
      }
    }
  }

  private mutating func mark() {
    position += 1
    add(.mark, from: position - 1, line: line)
  }

  /// A parenthesis may end an interpolation; then the text of the literal goes on.
  private mutating func parenthesis() {
    let isOpening = bytes[position] == UInt8(ascii: "(")
    guard let last = open.indices.last else { return mark() }
    open[last].depth += isOpening ? 1 : -1
    mark()
    if open[last].depth == 0 {
      let string = open.removeLast()
      stringText(string, kind: .stringPart, from: position, line: line)
    }
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
      UInt8(ascii: "$"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
      true
    default: false
    }
  }

  private mutating func skipWord() {
    while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
  }

  /// A number with its letters, and with a point where digits follow it: `1.0e3`, but not `1...3` or `1.max`.
  private mutating func number() {
    skipWord()
    let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte(1))
    if byte(0) == UInt8(ascii: "."), isDigit {
      position += 1
      skipWord()
    }
  }

  private mutating func pound() {
    let (start, first) = (position, line)
    var pounds = 0
    while byte(pounds) == UInt8(ascii: "#") { pounds += 1 }
    switch byte(pounds) {
    case UInt8(ascii: "\""):
      position += pounds
      string(pounds: pounds, from: start)
    case UInt8(ascii: "/"):
      position += pounds
      if !regex(pounds: pounds, from: start) {
        position = start
        mark()
      }
    default:
      position += pounds
      skipWord()
      add(.directive, from: start, line: first)
    }
  }

  // MARK: Literals

  private mutating func string(pounds: Int, from start: Int) {
    let isMultiline = starts("\"\"\"") && !(pounds > 0 && endsOnLine(pounds))
    position += isMultiline ? 3 : 1
    stringText(OpenString(pounds: pounds, isMultiline: isMultiline), kind: .string, from: start, line: line)
  }

  /// Whether a raw literal that begins with three quotes ends on its line. Then it is of one line: `#"""#` is a quote.
  private func endsOnLine(_ pounds: Int) -> Bool {
    var index = position + 1
    while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
      if bytes[index] == UInt8(ascii: "\""), self.pounds(after: index + 1) >= pounds { return true }
      index += 1
    }
    return false
  }

  /// The text of a literal, up to an interpolation or the end. A literal of one line ends with the line at the latest.
  private mutating func stringText(_ string: OpenString, kind: Token.Kind, from start: Int, line first: Int) {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\n"):
        guard string.isMultiline else { return add(kind, from: start, line: first) }
        line += 1
        position += 1
      case UInt8(ascii: "\""):
        if ends(string) { return add(kind, from: start, line: first) }
      case UInt8(ascii: "\\"):
        if pounds(after: position + 1) >= string.pounds {
          position += 1 + string.pounds
          if byte(0) == UInt8(ascii: "(") {
            add(kind, from: start, line: first)
            open.append(string)
            return parenthesis()
          }
          // The escaped character may be a quote. A line end is counted by the loop.
          if byte(0) != UInt8(ascii: "\n") { position = min(position + 1, bytes.count) }
        } else {
          position += 1
        }
      default: position += 1
      }
    }
    add(kind, from: start, line: first)
  }

  private func pounds(after index: Int) -> Int {
    bytes[min(index, bytes.count)...].prefix { $0 == UInt8(ascii: "#") }.count
  }

  /// Skips the quote at the position, and the rest of the closing quotes where it begins them. Returns whether it does.
  private mutating func ends(_ string: OpenString) -> Bool {
    let quotes = string.isMultiline ? 3 : 1
    guard !string.isMultiline || starts("\"\"\""), pounds(after: position + quotes) >= string.pounds else {
      position += 1
      return false
    }
    position += quotes + string.pounds
    return true
  }

  /// Whether a slash here begins a literal: an operand may begin here, and no space follows.
  private var canBeginRegex: Bool {
    if [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "/")].contains(byte(1)) {
      return false
    }
    guard let last = tokens.last else { return true }
    // Behind a mark of an operator it belongs to that operator.
    if last.range.upperBound == position, last.kind == .mark, "=<>&|+-*/%^~?!.".utf8.contains(byte(-1)) { return false }
    switch last.kind {
    case .number, .string, .stringPart, .regex, .attribute, .directive: return false
    case .word:
      let words = ["return", "case", "in", "try", "await", "where", "if", "guard", "while", "throw", "else"]
      return words.contains(String(decoding: bytes[last.range], as: UTF8.self))
    case .mark:
      let closing = [")", "]", "}", ">", "?", "!", "."].map { Character($0).asciiValue }
      return !closing.contains(bytes[last.range.lowerBound])
    }
  }

  /// A literal between slashes; with pounds it may have several lines. Returns false, and stays, where it does not end.
  private mutating func regex(pounds count: Int, from start: Int) -> Bool {
    let (from, first) = (position, line)
    var (isInClass, depth) = (false, 0)
    position += 1
    // The search ends, as sources may have many slashes that begin no literal.
    let limit = min(bytes.count, from + (count == 0 ? 1000 : 100_000))
    if count > 0, hasNoEnd { return false }
    while position < limit {
      switch bytes[position] {
      case UInt8(ascii: "\n") where count == 0:
        (position, line) = (from, first)
        return false
      case UInt8(ascii: "(") where !isInClass: depth += 1
      case UInt8(ascii: ")") where !isInClass:
        depth -= 1
        if depth < 0, count == 0 {
          (position, line) = (from, first)
          return false
        }
      case UInt8(ascii: "\n"): line += 1
      case UInt8(ascii: "\\"): position += byte(1) == UInt8(ascii: "\n") ? 0 : 1
      case UInt8(ascii: "["): isInClass = true
      case UInt8(ascii: "]"): isInClass = false
      case UInt8(ascii: "/") where (count > 0 || !isInClass) && pounds(after: position + 1) >= count:
        position += 1 + count
        add(.regex, from: start, line: first)
        return true
      default: break
      }
      position += 1
    }
    (position, line) = (from, first)
    if count > 0 { hasNoEnd = true }
    return false
  }
}
