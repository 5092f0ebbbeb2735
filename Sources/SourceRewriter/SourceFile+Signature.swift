/// Functions and their parameters.
extension SourceFile {
  /// The signature of a function.
  struct Signature {
    /// The name in Swift.
    var name: String
    var nameIndex = 0
    /// The labels, `_` for none.
    var labels: [String]
    /// The names of the parameters in the body.
    var parameters: [String] = []
    /// Whether each parameter is `inout`.
    var isInout: [Bool] = []
    /// The token behind the signature: that of the brace, where there is one.
    var end = 0
    /// The tokens of each parameter, with its default argument.
    var parts: [Range<Int>] = []
    /// The tokens of the type of the result; nil for none.
    var result: Range<Int>?
    var isGeneric = false
    var isAsync = false
    var isThrowing = false
    /// The name as `#selector` has it, with the labels.
    var fullName: String { "\(name)(\(labels.map { $0 + ":" }.joined()))" }
    /// The name in Objective-C where none is stated.
    var selector: String {
      guard let first = labels.first else { return name }
      let prepositions = ["with", "for", "from", "in", "at", "of", "to", "by", "on", "as", "into", "using"]
      let isPreposition = prepositions.contains {
        first == $0 || first.hasPrefix($0) && first.dropFirst($0.count).first?.isUppercase == true
      }
      let joined = first == "_" ? "" : (isPreposition ? "" : "With") + first.prefix(1).uppercased() + first.dropFirst()
      return name + joined + ":" + labels.dropFirst().map { ($0 == "_" ? "" : $0) + ":" }.joined()
    }
  }

  /// The name of a variable, or that of a function with its labels; nil for other members.
  func memberName(_ declaration: Declaration) -> String? {
    switch declaration.keyword {
    case "var": name(declaration.keywordIndex + 1)
    case "func": signature(declaration)?.fullName
    default: nil
    }
  }

  func signature(_ declaration: Declaration) -> Signature? {
    let nameIndex = declaration.keywordIndex + 1
    guard tokens.indices.contains(nameIndex), tokens[nameIndex].kind == .word else { return nil }
    var index = nameIndex + 1
    let isGeneric = isMark(index, "<")
    if isGeneric { index = endOfGenerics(index) }
    guard isMark(index, "("), let close = closing(index) else { return nil }
    var signature = Signature(name: name(nameIndex), nameIndex: nameIndex, labels: [], end: close + 1)
    signature.isGeneric = isGeneric
    signature.parts = parts(index + 1..<close)
    for part in signature.parts {
      let words = Array(part.prefix { !isMark($0, ":") }).filter { tokens[$0].kind == .word }
      guard let first = words.first, let last = words.last else { return nil }
      signature.labels.append(name(first))
      signature.parameters.append(text(last))
      signature.isInout.append(part.contains { isWord($0, "inout") })
    }
    // Effects, the result and conditions.
    index = close + 1
    while index < tokens.count, !isMark(index, "{"), !isMark(index, "}"), !isMark(index, ";") {
      let isEffect = ["async", "throws", "rethrows", "where"].contains(text(index))
      if isMark(index, "-") || text(index) == "where" {
        let start = isMark(index, "-") ? index + 2 : index + 1
        let isResult = start == index + 2
        // A source may end behind the arrow.
        index = min(max(endOfType(start), index + 1), tokens.count)
        if isResult, start < index { signature.result = start..<index }
      } else if isEffect {
        signature.isAsync = signature.isAsync || isWord(index, "async")
        signature.isThrowing = signature.isThrowing || text(index).hasSuffix("throws")
        index += 1
        if isMark(index, "("), let end = closing(index) { index = end + 1 }
      } else {
        break
      }
      signature.end = index
    }
    return signature
  }

  /// The token behind generic parameters or arguments.
  func endOfGenerics(_ start: Int) -> Int {
    var (index, depth) = (start, 0)
    while index < min(tokens.count, start + 2000) {
      if isMark(index, "<") { depth += 1 }
      if isMark(index, ">"), !isMark(index - 1, "-") { depth -= 1 }
      index += 1
      if depth == 0 { return index }
    }
    return index
  }

  /// The parts between commas that are in no bracket.
  func parts(_ range: Range<Int>) -> [Range<Int>] {
    var result: [Range<Int>] = []
    var (start, index, depth) = (range.lowerBound, range.lowerBound, 0)
    while index < range.upperBound {
      if let close = closing(index) {
        index = close
      } else if isMark(index, "<") {
        depth += 1
      } else if isMark(index, ">"), !isMark(index - 1, "-") {
        depth -= 1
      } else if depth <= 0, isMark(index, ",") {
        result.append(start..<index)
        start = index + 1
      }
      index += 1
    }
    if start < range.upperBound { result.append(start..<range.upperBound) }
    return result
  }
}
