/// Variables and their types.
extension SourceFile {
  struct Binding {
    var name: Int
    var type: Range<Int>
  }

  /// The variables of a declaration with their types: `var a, b: Int, c: String`.
  func bindings(_ keyword: Int) -> [Binding] {
    var result: [Binding] = []
    var names: [Int] = []
    var index = keyword + 1
    while index < tokens.count, tokens[index].kind == .word {
      names.append(index)
      index += 1
      if isMark(index, ",") {
        index += 1
        continue
      }
      guard isMark(index, ":") else { return [] }
      let end = endOfType(index + 1)
      guard end > index + 1 else { return [] }
      result += names.map { Binding(name: $0, type: index + 1..<end) }
      names = []
      index = end
      guard isMark(index, ",") else { break }
      index += 1
    }
    return names.isEmpty ? result : []
  }

  /// The token behind a type. A type goes on in the next line only behind or before one of its own marks.
  func endOfType(_ start: Int) -> Int {
    var index = start
    var depth = 0
    // No type of a source that people write is longer.
    while index < min(tokens.count, start + 300) {
      let token = tokens[index]
      if index > start, token.isFirstOnLine, depth == 0, !continues(index) { break }
      if token.kind == .mark {
        switch bytes[token.range.lowerBound] {
        case UInt8(ascii: "("), UInt8(ascii: "["):
          guard let close = closing(index) else { return index }
          index = close
        case UInt8(ascii: "<"): depth += 1
        case UInt8(ascii: ">") where !isArrow(index): depth -= 1
        case UInt8(ascii: ","), UInt8(ascii: "="): if depth <= 0 { return index }
        case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: ";"): return index
        default: break
        }
      } else if token.kind == .directive {
        return index
      }
      index += 1
    }
    return index
  }

  private func isArrow(_ index: Int) -> Bool { isMark(index - 1, "-") && !tokens[index].followsSpace }

  /// Whether a type goes on over a line end before the token.
  private func continues(_ index: Int) -> Bool {
    let marks: [Character] = [".", "?", "!", "&", ":", "<", ","]
    if marks.contains(where: { isMark(index, $0) && $0 != ":" && $0 != "," }) { return true }
    if isMark(index, "-"), isMark(index + 1, ">") { return true }
    return [".", "&", ":", "<"].contains { isMark(index - 1, $0) } || isArrow(index - 1)
      || ["any", "some", "inout"].contains(text(index - 1))
  }
}
